//! Patches: how they are read, what they touch, and what they do to files.

use innerloop_core::action::{FilePatch, Hunk, HunkLine, Operation, Patch, PatchStream};

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
    let paths: Vec<_> = patch.paths().map(|path| (path.path, path.operation)).collect();
    assert_eq!(
        paths,
        [
            ("src/new.py", Operation::Add),
            ("src/old.py", Operation::Delete),
            ("src/a.py", Operation::Delete),
            ("src/b.py", Operation::Add),
        ]
    );
    let text = "*** Begin Patch\n*** Update File: a\n*** Move to: a\n-x\n*** End Patch";
    let patch = Patch::parse(text).unwrap();
    let paths: Vec<_> = patch.paths().map(|path| (path.path, path.operation)).collect();
    assert_eq!(paths, [("a", Operation::Update)]);
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
        // Whoever closed the wrapper had no more to say.
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
