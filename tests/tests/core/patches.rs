//! Patches: how they are read, what they touch, and what they do to files.

use innerloop_core::{
    action::{
        Action, ChangeKind, FileOperation, FilePatch, Hunk, HunkLine, Outcome, Patch, PatchStream,
        ToolError,
    },
    guard::{self, KnownFiles},
};
use innerloop_tests::tool_cases::{Case, cases, check, in_directory, in_memory};
use innerloop_tools::{
    FaultyFiles, FileError, InMemoryFiles, MAX_CHANGE_BYTES, WorkspaceFiles, WorkspacePath, perform,
};

/// Everything that the format knows.
const WHOLE: &str = "*** Begin Patch
*** Add File: src/new.py
+def greet():
+
+    return 1
*** Delete File: src/old.py
*** Update File: src/a.py
*** Move to: src/b.py
@@ class A
@@     def f(self):
 x = 1
-y = 2
+y = 3

 z
@@
-tail
+end
*** End of File
*** End Patch
";

fn context(text: &str) -> HunkLine {
    HunkLine::Context(text.into())
}

fn removed(text: &str) -> HunkLine {
    HunkLine::Removed(text.into())
}

fn added(text: &str) -> HunkLine {
    HunkLine::Added(text.into())
}

fn whole() -> Patch {
    let first = Hunk {
        line: 9,
        hints: vec!["class A".into(), "    def f(self):".into()],
        lines: vec![context("x = 1"), removed("y = 2"), added("y = 3"), context(""), context("z")],
        end_of_file: false,
    };
    let second = Hunk {
        line: 16,
        hints: Vec::new(),
        lines: vec![removed("tail"), added("end")],
        end_of_file: true,
    };
    Patch {
        files: vec![
            FilePatch::Add {
                path: "src/new.py".into(),
                content: "def greet():\n\n    return 1\n".into(),
            },
            FilePatch::Delete { path: "src/old.py".into() },
            FilePatch::Update {
                path: "src/a.py".into(),
                move_to: Some("src/b.py".into()),
                hunks: vec![first, second],
            },
        ],
    }
}

/// The hunks of a patch that updates one file with these lines.
fn hunks(lines: &str) -> Vec<Hunk> {
    let text = format!("*** Begin Patch\n*** Update File: a\n{lines}*** End Patch");
    match Patch::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}")).files.remove(0) {
        FilePatch::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

fn error(text: &str) -> String {
    Patch::parse(text).expect_err(text).to_string()
}

#[test]
fn h1_the_grammar_is_read_whole() {
    assert_eq!(Patch::parse(WHOLE), Ok(whole()));
}

#[test]
fn h1_padding_and_missing_marks_are_put_up_with() {
    let padded = "\n *** Begin Patch \n  *** Update File:  a b.txt \n@@ \n-one\n+two\n\n *** End \
                  Patch\n\n";
    let expected = Patch {
        files: vec![FilePatch::Update {
            path: "a b.txt".into(),
            move_to: None,
            hunks: vec![Hunk {
                line: 4,
                lines: vec![removed("one"), added("two")],
                ..Hunk::default()
            }],
        }],
    };
    assert_eq!(Patch::parse(padded), Ok(expected));
    // Without a first `@@`; blank lines between hunks; a tab without its mark.
    let two = hunks("-a\n+b\n\n\n@@ -3,2 +3,4 @@ fn f()\n\tx\n\n-y\n\n");
    assert_eq!(two[0].lines, [removed("a"), added("b")]);
    assert_eq!(two[1].hints, ["fn f()"]);
    assert_eq!(two[1].lines, [context("\tx"), context(""), removed("y")]);
    // Blank lines of a new file.
    let text = "*** Begin Patch\n*** Add File: a\n+x\n\n+y\n\n*** Add File: b\n*** End Patch";
    let FilePatch::Add { content, .. } = &Patch::parse(text).unwrap().files[0] else { panic!() };
    assert_eq!(content, "x\n\ny\n");
}

#[test]
fn h1_markers_in_a_files_own_text_stay_text() {
    let lines = hunks("@@\n *** End Patch\n *** Update File: x\n @@\n-*** End Patch\n+*** End\n");
    assert_eq!(lines.len(), 1);
    assert_eq!(
        lines[0].lines,
        [
            context("*** End Patch"),
            context("*** Update File: x"),
            context("@@"),
            removed("*** End Patch"),
            added("*** End"),
        ]
    );
    // Before the real end it is text, too.
    assert_eq!(hunks("-a\n *** End Patch\n")[0].lines, [removed("a"), context("*** End Patch")]);
}

#[test]
fn h4_what_is_no_patch_is_told_with_the_line_at_fault() {
    let headers = "Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** \
                   Update File: {path}'";
    for (text, expected) in [
        ("", "Invalid patch: The first line of the patch must be '*** Begin Patch'"),
        ("bad", "Invalid patch: The first line of the patch must be '*** Begin Patch'"),
        (
            "*** Begin Patch\n*** Delete File: a\n",
            "Invalid patch: The last line of the patch must be '*** End Patch'",
        ),
        (
            "*** Begin Patch\n*** End Patch",
            "Invalid patch: No files were modified. Put at least one '*** Add File: {path}', '*** \
             Delete File: {path}' or '*** Update File: {path}' into the patch.",
        ),
        (
            "*** Begin Patch\n*** Frobnicate File: a\n*** End Patch",
            &format!(
                "Invalid patch hunk on line 2: '*** Frobnicate File: a' is not a valid hunk \
                 header. {headers}"
            ),
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            "Invalid patch hunk on line 2: Update file hunk for path 'a' is empty",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@ x\n\n*** End Patch",
            "Invalid patch hunk on line 3: Update hunk does not contain any lines",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n x\nbad\n*** End Patch",
            "Invalid patch hunk on line 5: Unexpected line found in update hunk: 'bad'. Every \
             line should start with ' ' (context line), '+' (added line), or '-' (removed line)",
        ),
        (
            "*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch",
            "Invalid patch hunk on line 4: Unexpected line found in add file hunk: 'y'. Every \
             line should start with '+'",
        ),
        (
            "*** Begin Patch\n*** Add File: \n+x\n*** End Patch",
            "Invalid patch hunk on line 2: '*** Add File:' names no file",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Move to: b\n*** End Patch",
            "Invalid patch hunk on line 3: '*** Move to: {path}' must stand once, with a path, \
             and right after '*** Update File: {path}'",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\n+lost\n",
            "Invalid patch hunk on line 4: Unexpected line after '*** End Patch': '+lost'",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn h5_the_paths_and_operations_are_known_before_the_patch_is_applied() {
    let patch = whole();
    let paths: Vec<_> = patch.paths().iter().map(|path| (path.path, path.operation)).collect();
    assert_eq!(
        paths,
        [
            ("src/new.py", FileOperation::Add),
            ("src/old.py", FileOperation::Delete),
            ("src/a.py", FileOperation::Delete),
            ("src/b.py", FileOperation::Add),
        ]
    );
    let text = "*** Begin Patch\n*** Update File: a\n*** Move to: a\n-x\n*** End Patch";
    let patch = Patch::parse(text).unwrap();
    let paths: Vec<_> = patch.paths().iter().map(|path| (path.path, path.operation)).collect();
    assert_eq!(paths, [("a", FileOperation::Update)]);
}

#[test]
fn h6_a_shells_heredoc_and_a_code_fence_are_taken_off() {
    for (before, after) in [
        ("<<'EOF'\n", "EOF\n"),
        ("<<EOF\n", "EOF"),
        ("apply_patch <<\"PATCH\"\n", "PATCH\n"),
        ("apply_patch\n", ""),
        ("```diff\n", "```\n"),
        ("```\napply_patch << 'END_OF'\n", "END_OF\n```\n\n"),
    ] {
        let text = format!("{before}{WHOLE}{after}");
        let mut patch = Patch::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        // Only the numbers of the lines are others.
        for (file, expected) in patch.files.iter_mut().zip(whole().files) {
            if let (FilePatch::Update { hunks, .. }, FilePatch::Update { hunks: expected, .. }) =
                (file, expected)
            {
                hunks.iter_mut().zip(expected).for_each(|(hunk, other)| hunk.line = other.line);
            }
        }
        assert_eq!(patch, whole(), "{text}");
        // Nothing follows after the wrapper is closed.
        if !after.is_empty() {
            let open = text.replace("*** End Patch\n", "");
            assert_eq!(Patch::parse(&open).unwrap().files.len(), 3, "{open}");
        }
    }
    assert!(Patch::parse(&format!("cd src && apply_patch <<'EOF'\n{WHOLE}EOF\n")).is_err());
    // Two patches, one after the other.
    let twice = Patch::parse(&format!("{WHOLE}\n{WHOLE}")).unwrap();
    assert_eq!(twice.files.len(), 6);
}

#[test]
fn h6_carriage_returns_of_the_transport_are_no_content() {
    assert_eq!(Patch::parse(&WHOLE.replace('\n', "\r\n")), Ok(whole()));
    // Where only the content has them, they are meant.
    let text = "*** Begin Patch\n*** Add File: a\n+x\r\n+y\r\n*** End Patch";
    let FilePatch::Add { content, .. } = &Patch::parse(text).unwrap().files[0] else { panic!() };
    assert_eq!(content, "x\r\ny\r\n");
}

#[test]
fn h6_a_patch_is_read_while_it_arrives() {
    for size in [1, 2, 3, 7, 1000] {
        let mut stream = PatchStream::default();
        let mut seen = Vec::new();
        let characters: Vec<char> = WHOLE.chars().collect();
        for piece in characters.chunks(size) {
            stream.push(&piece.iter().collect::<String>()).unwrap();
            let files = stream.patch().files.len();
            if seen.last() != Some(&files) {
                seen.push(files);
            }
        }
        if size < 8 {
            assert_eq!(seen, [0, 1, 2, 3]);
        }
        assert_eq!(stream.finish(), Ok(whole()));
    }
    let mut stream = PatchStream::default();
    stream.push("*** Begin Patch\n*** Add File: a\n+one\n+tw").unwrap();
    let FilePatch::Add { content, .. } = &stream.patch().files[0] else { panic!() };
    assert_eq!(content, "one\n");
    let failure = stream.push("o\nbad\n").unwrap_err();
    assert_eq!(stream.push("+three\n"), Err(failure.clone()));
    assert_eq!(stream.finish(), Err(failure));
}

#[test]
fn h6_a_cut_patch_is_an_error_and_no_text_is_a_panic() {
    let heredoc = format!("apply_patch <<'EOF'\r\n{WHOLE}EOF\n").replace("tail", "täil – “x”");
    for text in [WHOLE, &heredoc] {
        let end = text.find("*** End Patch").unwrap() + "*** End Patch".len();
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let cut = Patch::parse(&text[..at]);
            assert!(at >= end || cut.is_err(), "cut at {at}: {cut:?}");
        }
        for at in [end, text.len()] {
            assert!(Patch::parse(&text[..at]).is_ok(), "{}", &text[..at]);
        }
    }
    // Every line in every place.
    let lines: Vec<&str> =
        WHOLE.lines().chain(["```", "EOF", "@@x", "\t", "\u{feff}", ""]).collect();
    for first in &lines {
        for second in &lines {
            for third in &lines {
                let text = format!("*** Begin Patch\n{first}\n{second}\n{third}\n*** End Patch");
                let _ = Patch::parse(&text);
            }
        }
    }
}

fn check_everywhere(row: &str, least: usize) {
    let chosen: Vec<Case> = cases().into_iter().filter(|case| case.name.starts_with(row)).collect();
    assert!(chosen.len() >= least, "only {} cases", chosen.len());
    for case in chosen {
        check(&case, in_memory);
        check(&case, in_directory);
    }
}

#[test]
fn h1_each_operation_does_what_it_says() {
    check_everywhere("h1 ", 12);
}

#[test]
fn h2_hunks_files_and_renames_go_together() {
    check_everywhere("h2 ", 6);
}

#[test]
fn h3_hunks_find_their_place_and_say_if_it_is_not_exact() {
    check_everywhere("h3 ", 14);
}

#[test]
fn h4_what_does_not_fit_changes_nothing_and_is_told_with_what_nearly_would() {
    check_everywhere("h4 ", 15);
}

#[test]
fn h6_line_ends_and_the_last_lines_state_stay() {
    check_everywhere("h6 ", 9);
}

fn apply(files: &mut impl WorkspaceFiles, operations: &str) -> Outcome {
    let patch = format!("*** Begin Patch\n{operations}*** End Patch\n");
    perform(files, &Action::patch(patch))
}

fn memory(files: &[(&str, &str)]) -> InMemoryFiles {
    let mut memory = InMemoryFiles::new();
    for (path, text) in files {
        memory.write(&WorkspacePath::parse(path).unwrap(), text.as_bytes().to_vec()).unwrap();
    }
    memory
}

fn texts(files: &InMemoryFiles) -> Vec<(&str, &str)> {
    files.iter().map(|(path, bytes)| (path, str::from_utf8(bytes).unwrap())).collect()
}

#[test]
fn h6_what_was_done_before_a_write_failed_is_told_exactly() {
    let operations = "*** Update File: a\n-a\n+A\n*** Add File: new\n+n\n*** Update File: b\n\
                      *** Move to: c\n-b\n+B\n*** Delete File: d\n";
    let files = [("a", "a\n"), ("b", "b\n"), ("d", "d\n")];
    let count = {
        let mut counting = FaultyFiles::operation(memory(&files), 0, FileError::Full);
        assert_eq!(apply(&mut counting, operations).error, None);
        counting.operations()
    };
    let steps = ["M a\n", "A new\n", "A c\n", "D b\n", "D d\n"];
    let writes = steps.len() as u64;
    for failing in 0..steps.len() {
        let at = count - writes + 1 + failing as u64;
        let mut faulty = FaultyFiles::operation(memory(&files), at, FileError::Full);
        let outcome = apply(&mut faulty, operations);
        let text = outcome.joined_text();
        assert_eq!(outcome.error, Some(ToolError::Limit), "{text}");
        let expected = match failing {
            0 => " No file was changed.".to_owned(),
            _ => format!(
                " The patch was applied in part.\nDone:\n{}Not done:\n{}",
                steps[..failing].concat(),
                steps[failing..].concat()
            ),
        };
        assert!(text.ends_with(&expected), "{failing}: {text}");
        let told: Vec<String> = outcome
            .changes
            .iter()
            .map(|change| {
                let letter = match change.kind {
                    ChangeKind::Created => 'A',
                    ChangeKind::Modified => 'M',
                    ChangeKind::Deleted => 'D',
                };
                format!("{letter} {}\n", change.path)
            })
            .collect();
        assert_eq!(told, steps[..failing]);
        // The files are as the changes tell it, and no content is lost.
        let inner = faulty.into_inner();
        let mut expected: Vec<(String, String)> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        for change in &outcome.changes {
            expected.retain(|(path, _)| *path != change.path);
            expected.extend(change.after.clone().map(|after| (change.path.clone(), after)));
        }
        expected.sort();
        let there: Vec<(String, String)> = texts(&inner)
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        assert_eq!(there, expected);
    }
    // A failure while the patch is worked out changes nothing.
    for at in 1..=count - writes {
        let mut faulty = FaultyFiles::operation(memory(&files), at, FileError::Denied);
        let outcome = apply(&mut faulty, operations);
        assert_eq!(outcome.error, Some(ToolError::PermissionDenied));
        assert!(outcome.joined_text().ends_with(" No file was changed."), "{outcome:?}");
        assert_eq!(texts(&faulty.into_inner()), files);
    }
}

/// What the patch of an action does to which files.
fn outline(action: &Action) -> Patch {
    let Action::Patch { patch, .. } = action else { panic!("{action:?}") };
    Patch::parse(patch).unwrap().outline()
}

#[test]
fn m6_a_patch_needs_what_it_changes_to_be_read() {
    let action =
        |operations: &str| Action::patch(format!("*** Begin Patch\n{operations}*** End Patch"));
    let mut known = KnownFiles::new();
    for (operations, refused) in [
        ("*** Update File: x/a\n-a\n", "x/a"),
        ("*** Add File: n\n+n\n*** Delete File: ./b\n", "./b"),
        ("*** Update File: c\n*** Move to: n\n", "c"),
    ] {
        let action = action(operations);
        let outline = outline(&action);
        let outcome = guard::check(&action, "", Some(&outline), &known).unwrap_err();
        assert_eq!(outcome.error, Some(ToolError::EditConflict));
        assert_eq!(outcome.joined_text(), format!("Read {refused} before you patch it."));
    }
    known = ["x/a", "c"].map(str::to_owned).into_iter().collect();
    let whole = action(
        "*** Update File: /x/./a\n*** Move to: y\n*** Add File: n\n+n\n*** Update File: n\n-n\n+m\n\
         *** Add File: c\n+c\n",
    );
    let outline = outline(&whole);
    let told = guard::check(&whole, "", Some(&outline), &known).unwrap().unwrap();
    let any = || Some(String::new());
    // x/a and y of the move, n as a new file and then as the patch left it, c.
    assert_eq!(told, [any(), None, None, any(), any()]);
    let digests = ["", "1", "2", "2", "3"].map(str::to_owned);
    guard::learn(&whole, "", Some(&outline), &digests, &mut known);
    assert!(known.files().eq([("c", "3"), ("n", "2"), ("y", "1")]), "{known:?}");
}

/// A small generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

/// What two lines that one way of comparing takes for equal have in common.
fn common(pass: usize, line: &str) -> String {
    match pass {
        0 => line.to_owned(),
        1 => line.trim_end().to_owned(),
        2 => line.trim().to_owned(),
        _ => line.trim().replace('–', "-"),
    }
}

/// The first place from `from` on, and how it was compared, found the slow way.
fn slow_place(file: &[String], old: &[String], from: usize) -> Option<(usize, usize)> {
    (0..4).find_map(|pass| {
        let same = |at: &usize| {
            let there = &file[*at..at + old.len()];
            there.iter().zip(old).all(|(a, b)| common(pass, a) == common(pass, b))
        };
        let place = (from..=file.len().checked_sub(old.len())?).find(same)?;
        Some((place, pass))
    })
}

#[test]
fn h3_many_hunks_go_where_a_slow_search_puts_them() {
    let mut numbers = Numbers(7);
    for round in 0..3_000 {
        let size = 1 + numbers.below(60);
        let spellings = ["a - b", "a – b", "c", "c ", "  c", "", "d", "e", "f", "g"];
        let file: Vec<String> =
            (0..size).map(|_| spellings[numbers.below(spellings.len())].to_owned()).collect();
        let mut hunks = String::new();
        let mut expected = file.clone();
        let (mut window, mut cursor, mut grown) = (0, 0, 0);
        while window < file.len() {
            window += numbers.below(4);
            let end = (window + 1 + numbers.below(5)).min(file.len());
            if window >= end {
                break;
            }
            let old: Vec<String> = file[window..end]
                .iter()
                .map(|line| match numbers.below(8) {
                    0 => format!("{line} "),
                    1 => line.replace('–', "-"),
                    _ => line.clone(),
                })
                .collect();
            let (at, pass) = slow_place(&file, &old, cursor).unwrap();
            hunks.push_str("@@\n");
            let mut new = Vec::new();
            for (offset, line) in old.iter().enumerate() {
                if numbers.below(2) == 0 {
                    hunks.push_str(&format!("-{line}\n"));
                } else {
                    hunks.push_str(&format!(" {line}\n"));
                    new.push(file[at + offset].clone());
                }
                // Other indentation would be put before the new lines.
                if numbers.below(4) == 0 && pass < 2 {
                    hunks.push_str(&format!("+{round}\n"));
                    new.push(format!("{round}"));
                }
            }
            let start = usize::try_from(at as isize + grown).unwrap();
            grown += new.len() as isize - old.len() as isize;
            expected.splice(start..start + old.len(), new);
            cursor = at + old.len();
            window = end.max(cursor);
        }
        if hunks.is_empty() {
            continue;
        }
        let text =
            |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut files = memory(&[("a", &text(&file))]);
        let outcome = apply(&mut files, &format!("*** Update File: a\n{hunks}"));
        let case = format!("{round}: {}\n{}{hunks}", outcome.joined_text(), text(&file));
        assert_eq!(outcome.error, None, "{case}");
        assert_eq!(texts(&files), [("a", text(&expected).as_str())], "{case}");
    }
}

#[test]
fn a_file_of_any_length_is_added_over() {
    for length in [10, MAX_CHANGE_BYTES + 1, 2 << 20] {
        let path = WorkspacePath::parse("a.txt").unwrap();
        let old = "x".repeat(length);
        let mut files = InMemoryFiles::new();
        files.write(&path, old.clone().into_bytes()).unwrap();
        let patch = Action::patch("*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch\n");
        let done = perform(&mut files, &patch);
        let new = files.bytes(&path).unwrap();
        assert_eq!((done.error, new), (None, &b"new\n"[..]), "{length}: {done:?}");
        let [change] = &done.changes[..] else { panic!("{done:?}") };
        assert_eq!((change.kind, change.after.as_deref()), (ChangeKind::Modified, Some("new\n")));
        assert_eq!(change.before.is_some(), old.len() <= MAX_CHANGE_BYTES);
    }
}
