//! What the built-in tools do, over files in memory and over a directory: the table of cases, and
//! what no table shows: faults, links, deep trees and large files.

use innerloop_core::action::{Action, Outcome, Part, ToolError};
use innerloop_tests::{
    patience::ends,
    tool_cases::{Case, cases, check, in_directory, in_memory},
};
use innerloop_tools::{
    DirectoryFiles, EntryKind, FaultyFiles, FileError, InMemoryFiles, WorkspaceFiles,
    WorkspacePath, perform,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs};

fn check_everywhere(chosen: impl Fn(&Case) -> bool) {
    let chosen: Vec<Case> = cases().into_iter().filter(|case| chosen(case)).collect();
    assert!(chosen.len() > 5, "only {} cases", chosen.len());
    for case in chosen {
        check(&case, in_memory);
        check(&case, in_directory);
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

fn memory(files: &[(&str, &str)]) -> InMemoryFiles {
    let mut memory = InMemoryFiles::new();
    for (name, text) in files {
        memory.write(&path(name), text.as_bytes().to_vec()).unwrap();
    }
    memory
}

fn act(files: &mut impl WorkspaceFiles, action: Value) -> Outcome {
    perform(files, &serde_json::from_value::<Action>(action).unwrap())
}

#[test]
fn c8_read_numbers_lines_pages_and_hands_images_on() {
    check_everywhere(|case| case.name.starts_with("c8 "));
}

#[test]
fn a_picture_is_read_up_to_what_models_take_or_is_made_smaller() {
    let big = [b"\xff\xd8\xff".as_slice(), &vec![7; 5 << 20]].concat();
    let huge = [big.as_slice(), &vec![7; 26 << 20]].concat();
    let read = |fits: bool, bytes: &[u8]| {
        let mut files = InMemoryFiles::fitting_pictures(fits);
        files.write(&path("big.jpg"), bytes.to_vec()).unwrap();
        let alone = act(&mut files, json!({"action": "read", "path": "big.jpg"}));
        let among = act(&mut files, json!({"action": "read_many", "include": ["big.jpg"]}));
        [alone, among]
    };
    let as_it_is = "The image big.jpg has 5242883 bytes; models take at most 5 MiB.";
    let [alone, among] = read(false, &big);
    assert_eq!((alone.error, &*alone.joined_text()), (Some(ToolError::TooLarge), as_it_is));
    assert!(among.joined_text().contains(as_it_is), "{among:?}");
    let [alone, among] = read(true, &big);
    assert!(matches!(&alone.parts[..], [_, Part::Image { .. }]), "{:?}", alone.error);
    assert!(among.joined_text().contains(as_it_is), "of many none is made smaller");
    let [alone, _] = read(true, &huge);
    let made_smaller =
        "The image big.jpg has 32505859 bytes; it is made smaller here up to 30 MiB.";
    assert_eq!((alone.error, &*alone.joined_text()), (Some(ToolError::TooLarge), made_smaller));
}

#[test]
fn c9_write_makes_folders_and_says_how_many_bytes() {
    check_everywhere(|case| case.name.starts_with("c9 "));
}

#[test]
fn c10_edit_replaces_a_unique_text_and_reports_a_loose_match() {
    check_everywhere(|case| case.name.starts_with("c10 "));
}

#[test]
fn c12_grep_finds_lines_by_expression_path_and_glob() {
    check_everywhere(|case| case.name.starts_with("c12 "));
}

#[test]
fn c13_glob_finds_files_newest_first() {
    check_everywhere(|case| case.name.starts_with("c13 "));
}

#[test]
fn c16_read_many_reads_what_patterns_find() {
    check_everywhere(|case| case.name.starts_with("c16 "));
}

#[test]
fn d1_list_shows_levels_with_folders_first() {
    check_everywhere(|case| case.name.starts_with("d1 "));
}

#[test]
fn the_other_cases_hold_in_memory_and_in_a_directory() {
    let rows = ["c8 ", "c9 ", "c10 ", "c12 ", "c13 ", "c16 ", "d1 "];
    check_everywhere(|case| !rows.iter().any(|row| case.name.starts_with(row)));
}

#[test]
fn the_names_of_the_cases_are_unique() {
    let all = cases();
    assert!(all.len() >= 60, "{} cases", all.len());
    let names: BTreeSet<&str> = all.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), all.len());
}

#[test]
fn a_program_is_not_a_file_action() {
    let done = act(&mut InMemoryFiles::new(), json!({"action":"run_program","program":"python"}));
    assert_eq!(done.error, Some(ToolError::UnknownTool));
    assert_eq!(done.joined_text(), "Programs cannot run here: only file tools can.");
}

/// Every action, on files that exist.
fn actions() -> Vec<Value> {
    vec![
        json!({"action":"read","path":"src/a"}),
        json!({"action":"read","path":"src/missing"}),
        json!({"action":"write","path":"src/a","content":"new"}),
        json!({"action":"write","path":"src/new","content":"new"}),
        json!({"action":"edit","path":"src/a","old":"one","new":"two"}),
        json!({"action":"list","depth":3}),
        json!({"action":"glob","pattern":"**/*"}),
        json!({"action":"grep","pattern":"one"}),
        json!({"action":"grep","pattern":"one","path":"src/a"}),
    ]
}

#[test]
fn a_fault_of_any_operation_changes_nothing_and_says_why() {
    let whole = || memory(&[("src/a", "one\n"), ("src/b", "one\n"), (".gitignore", "x\n")]);
    for action in actions() {
        let mut counted = FaultyFiles::operation(whole(), u64::MAX, FileError::NotFound);
        let undisturbed = act(&mut counted, action.clone());
        assert!(counted.operations() > 0);
        for n in 1..=counted.operations() {
            for fault in [FileError::Denied, FileError::Full, FileError::Io("broken".to_owned())] {
                let mut files = FaultyFiles::operation(whole(), n, fault);
                let done = act(&mut files, action.clone());
                assert!(!done.joined_text().is_empty(), "{action} {n}");
                if done.error.is_some() {
                    let after = files.into_inner();
                    assert!(done.changes.is_empty(), "{action} {n}: {done:?}");
                    assert!(after.iter().eq(whole().iter()), "{action} {n}");
                } else {
                    assert_eq!(done.changes, undisturbed.changes, "{action} {n}");
                }
            }
        }
    }
}

#[test]
fn faults_are_worded_by_their_kind() {
    let check = |fault: FileError, error: ToolError, text: &str| {
        let mut files = FaultyFiles::writes(memory(&[("a", "one")]), fault);
        let done = act(&mut files, json!({"action":"write","path":"a","content":"two"}));
        assert_eq!((done.error, done.joined_text().as_str()), (Some(error), text));
    };
    let denied = "Permission denied: a. Work on another file, or ask the user.";
    check(FileError::Denied, ToolError::PermissionDenied, denied);
    let full = "a was not written: no space is left. Remove files, or ask the user.";
    check(FileError::Full, ToolError::Limit, full);
    check(FileError::NotRegular, ToolError::WrongFileType, "a is neither a file nor a folder.");
    check(FileError::Io("out of order".to_owned()), ToolError::Io, "a: out of order.");
}

#[test]
fn a_search_goes_on_where_a_file_or_folder_cannot_be_read() {
    let files = memory(&[("a", "x\n"), ("b", "x\n"), ("c/d", "x\n")]);
    let mut files = FaultyFiles::path(files, &path("b"), FileError::Denied);
    let grep = json!({"action":"grep","pattern":"x"});
    let done = act(&mut files, grep.clone());
    assert_eq!(done.joined_text(), "a:1:x\nc/d:1:x\n[1 files or folders could not be read.]");
    let mut files = FaultyFiles::path(files.into_inner(), &path("c"), FileError::Denied);
    let done = act(&mut files, grep);
    assert_eq!(done.joined_text(), "a:1:x\nb:1:x\n[1 files or folders could not be read.]");
    let done = act(&mut files, json!({"action":"list","depth":2}));
    assert_eq!(done.joined_text(), "c/\na\nb\n[1 folders could not be read.]");
}

#[test]
fn a_file_of_more_than_64_mib_is_refused_but_may_be_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let big = fs::File::create(folder.path().join("big")).unwrap();
    big.set_len((64 << 20) + 1).unwrap();
    let mut files = DirectoryFiles::new(folder.path());
    for action in [
        json!({"action":"read","path":"big"}),
        json!({"action":"edit","path":"big","old":"x","new":"y"}),
        json!({"action":"grep","path":"big","pattern":"x"}),
    ] {
        let done = act(&mut files, action);
        assert_eq!(done.error, Some(ToolError::TooLarge));
        let text = "big is larger than 64 MiB, which is more than this tool handles.";
        assert_eq!(done.joined_text(), text);
    }
    let done = act(&mut files, json!({"action":"write","path":"big","content":"small"}));
    assert_eq!(done.joined_text(), "Wrote 5 bytes to big (overwritten).");
    assert_eq!(
        (done.changes[0].before.as_deref(), done.changes[0].after.as_deref()),
        (None, Some("small"))
    );
}

#[test]
fn replacing_all_stops_before_the_file_is_too_large() {
    let mut files = memory(&[("a", &"x".repeat(1 << 20))]);
    let new = "y".repeat(1 << 10);
    let action = json!({"action":"edit","path":"a","old":"x","new":new,"all":true});
    assert_eq!(act(&mut files, action).error, Some(ToolError::TooLarge));
    assert_eq!(files.bytes(&path("a")).unwrap().len(), 1 << 20);
}

#[cfg(target_os = "linux")]
#[test]
fn c12_c13_a_name_that_is_not_utf_8_hides_no_other_and_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    for name in [b"plain.txt".as_slice(), b"caf\xe9.txt", b"\xff"] {
        let path = folder.path().join("below").join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, "needle\n").unwrap();
    }
    let mut files = DirectoryFiles::new(folder.path());
    for (action, said) in [
        (json!({"action":"glob","pattern":"**"}), "below/plain.txt\n[2 names that are"),
        (json!({"action":"glob","pattern":"*.rs"}), "No files found.\n[2 names that are"),
        (
            json!({"action":"grep","pattern":"needle"}),
            "below/plain.txt:1:needle\n[2 names that are",
        ),
        (
            json!({"action":"list","path":"below","depth":1}),
            "caf\u{fffd}.txt (not UTF-8)\nplain.txt",
        ),
    ] {
        let told = act(&mut files, action).joined_text();
        assert!(told.starts_with(said), "{told}");
    }
}

#[test]
fn files_in_memory_are_iterated_replaced_and_removed() {
    let mut files = memory(&[("b", "1"), ("a/c", "2"), ("a-b", "3"), ("a/d/e", "4")]);
    let names: Vec<&str> = files.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a-b", "a/c", "a/d/e", "b"]);
    assert_eq!(files.len(), 4);
    let mut entries = files.list(&path("a")).unwrap();
    entries.sort();
    let entries: Vec<(&str, EntryKind)> =
        entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
    assert_eq!(entries, [("c", EntryKind::File), ("d", EntryKind::Folder)]);
    let first = files.stat(&path("a/c")).unwrap();
    files.write(&path("a/c"), b"22".to_vec()).unwrap();
    let second = files.stat(&path("a/c")).unwrap();
    assert!(second.modified > first.modified && second.size == 2);
    assert_eq!(files.write(&path("a"), Vec::new()), Err(FileError::IsFolder));
    assert_eq!(files.write(&path("b/x"), Vec::new()), Err(FileError::NotFolder));
    assert_eq!(files.remove(&path("a")), Err(FileError::IsFolder));
    assert_eq!(files.remove(&path("b/x")), Err(FileError::NotFolder));
    assert_eq!(files.remove(&path("x")), Err(FileError::NotFound));
    files.remove(&path("a/d/e")).unwrap();
    assert_eq!(files.stat(&path("a/d")), Err(FileError::NotFound));
    assert_eq!(files.list(&path("b")), Err(FileError::NotFolder));
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_out_of_the_workspace_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink(outside.path(), folder.path().join("out")).unwrap();
        symlink(outside.path().join("secret"), folder.path().join("file")).unwrap();
        symlink(outside.path().join("new"), folder.path().join("dangling")).unwrap();
        let mut files = DirectoryFiles::new(folder.path());
        for action in [
            json!({"action":"read","path":"out/secret"}),
            json!({"action":"read","path":"file"}),
            json!({"action":"write","path":"file","content":"x"}),
            json!({"action":"write","path":"out/new","content":"x"}),
            json!({"action":"edit","path":"file","old":"secret","new":"x"}),
            json!({"action":"list","path":"out"}),
            json!({"action":"grep","path":"out","pattern":"secret"}),
            json!({"action":"glob","path":"out","pattern":"*"}),
        ] {
            let done = act(&mut files, action.clone());
            assert_eq!(done.error, Some(ToolError::PermissionDenied), "{action} {done:?}");
        }
        let done = act(&mut files, json!({"action":"write","path":"dangling","content":"x"}));
        assert!(done.error.is_some() && !outside.path().join("new").exists());
        assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
        files.remove(&path("file")).unwrap();
        assert!(outside.path().join("secret").exists());
    }

    #[test]
    fn links_inside_are_followed_by_name_and_passed_over_in_searches() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        fs::write(folder.path().join("real/a"), "text").unwrap();
        symlink("real", folder.path().join("alias")).unwrap();
        symlink(".", folder.path().join("real/loop")).unwrap();
        symlink("round", folder.path().join("round")).unwrap();
        let mut files = DirectoryFiles::new(folder.path());
        let mut said = |action: Value| act(&mut files, action).joined_text();
        assert_eq!(said(json!({"action":"read","path":"alias/loop/a"})), "text");
        assert_eq!(said(json!({"action":"grep","pattern":"text"})), "real/a:1:text");
        assert_eq!(said(json!({"action":"glob","pattern":"**"})), "real/a");
        let list = said(json!({"action":"list","depth":9}));
        assert_eq!(list, "real/\nreal/a\nreal/loop (link)\nalias (link)\nround (link)");
        assert!(act(&mut files, json!({"action":"read","path":"round"})).error.is_some());
    }

    #[test]
    fn writing_keeps_the_mode_of_a_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("run.sh");
        fs::write(&place, "echo 1\n").unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        let mut files = DirectoryFiles::new(folder.path());
        act(&mut files, json!({"action":"edit","path":"run.sh","old":"1","new":"2"}));
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_to_string(&place).unwrap(), "echo 2\n");
    }
}

#[test]
fn deep_trees_are_searched_without_recursion() {
    let deep = "d/".repeat(2000);
    let mut files = memory(&[(&format!("{deep}a"), "needle\n")]);
    let done = act(&mut files, json!({"action":"grep","pattern":"needle"}));
    assert_eq!(done.joined_text(), format!("{deep}a:1:needle"));
    assert_eq!(
        act(&mut files, json!({"action":"glob","pattern":"a"})).joined_text(),
        format!("{deep}a")
    );
    let done = act(&mut files, json!({"action":"list","depth":u32::MAX}));
    assert_eq!(done.joined_text().lines().count(), 2001);
    assert!(done.capped_at_source);
}

/// Bytes that mix what tools trip over: line ends, NUL, broken UTF-8, quotes, indentation.
fn odd_text(seed: u64, length: usize) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"a",
        b"bc",
        b"\xff",
        b"\xc3\xa9",
        "“x”".as_bytes(),
        "\u{a0}–".as_bytes(),
        b"\0",
        b"{",
        b"\xe2\x80",
        "🙂".as_bytes(),
        b"  a\n",
        b"a \n",
    ];
    let mut state = seed;
    let mut text = Vec::new();
    while text.len() < length {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let piece = PIECES[(state >> 33) as usize % PIECES.len()];
        // NUL and broken UTF-8 only in every fourth text: the others must get past the checks.
        if seed.is_multiple_of(4) || std::str::from_utf8(piece).is_ok_and(|p| !p.contains('\0')) {
            text.extend_from_slice(piece);
        }
    }
    text
}

#[test]
fn no_bytes_make_a_tool_panic_and_edits_change_only_what_they_name() {
    for seed in 0..2000 {
        let bytes = odd_text(seed, 40);
        let old = String::from_utf8_lossy(&odd_text(seed.wrapping_mul(7) | 1, 4)).into_owned();
        let mut files = InMemoryFiles::new();
        files.write(&path("a"), bytes.clone()).unwrap();
        for action in [
            json!({"action":"read","path":"a","offset":seed % 5,"numbering":"pipe"}),
            json!({"action":"grep","pattern":old,"path":"a"}),
            json!({"action":"grep","pattern":old,"ignore_case":true}),
            json!({"action":"glob","pattern":old}),
        ] {
            act(&mut files, action);
        }
        let new = "<new>\n";
        let action = json!({"action":"edit","path":"a","old":old,"new":new,"all":seed % 2 == 0});
        let done = act(&mut files, action);
        let after = files.bytes(&path("a")).unwrap();
        if done.error.is_some() {
            assert_eq!(after, bytes, "seed {seed}");
        } else {
            check_edit(&bytes, after, seed);
        }
    }
}

/// What stands before the first and behind the last replacement is as it was.
fn check_edit(before: &[u8], after: &[u8], seed: u64) {
    let marks: Vec<usize> =
        (0..after.len()).filter(|at| after[*at..].starts_with(b"<new>")).collect();
    let (first, last) = (marks[0], marks[marks.len() - 1]);
    let head = after[..first].strip_suffix(b"  ").unwrap_or(&after[..first]);
    assert!(before.starts_with(head.trim_ascii_end()), "seed {seed}");
    let tail = &after[last + b"<new>".len()..];
    let tail = tail.strip_prefix(b"\r\n").or(tail.strip_prefix(b"\n")).unwrap();
    assert!(before.ends_with(tail), "seed {seed}");
}

/// Carries an action out on a large file.
fn on_large(what: &str, text: &str, action: Value) -> Outcome {
    let mut files = memory(&[("a", text)]);
    ends(what, move || act(&mut files, action))
}

#[test]
fn large_and_repetitive_files_are_no_trap() {
    // Each of these takes well under a second; an algorithm that is quadratic in lines or in
    // occurrences takes hours.
    let same = "a\n".repeat(1_000_000);
    let one_line = "a".repeat(10_000_000);
    let needle = "a \n".repeat(100_000) + "b";
    let edit =
        |old: &str, all: bool| json!({"action":"edit","path":"a","old":old,"new":"x","all":all});
    let done = on_large("a lenient search", &same, edit(&needle, false));
    assert_eq!(done.error, Some(ToolError::EditConflict));
    let done = on_large("a million replacements", &same, edit("a", true));
    assert!(done.error.is_none(), "{done:?}");
    let asked = json!({"action":"grep","pattern":"a{3}b|A","ignore_case":true});
    let done = on_large("a search in one long line", &one_line, asked);
    assert!(done.joined_text().len() < 700);
    let asked = json!({"action":"read","path":"a","numbering":"pipe"});
    let done = on_large("reading one long line", &one_line, asked);
    let text = done.parts.iter().find_map(Part::as_text).unwrap();
    assert_eq!(text.len(), 10_000_004);
}
