//! Reading without a guest: the same answers as in the sandbox and in memory, nothing from outside,
//! whatever stands in the folder, and an end in time.

use super::{Bench, TEN_SECONDS};
use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_sandbox::{CallContext, ReadIsolation, RunLimits};
use innerloop_tests::program::binary;
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform};
use serde_json::{Value, json};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{Seek, SeekFrom, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

fn action(action: Value) -> Action {
    serde_json::from_value(action).unwrap()
}

/// Makes a pipe with a name.
fn mkfifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

async fn both(bench: &Bench, asked: Value) -> Outcome {
    let run = async |isolation| {
        let executor = bench.executor.clone().with_isolation(isolation);
        executor.run(&action(asked.clone()), TEN_SECONDS, None).await
    };
    let native = run(ReadIsolation::Native).await;
    assert_eq!(native, run(ReadIsolation::Wasi).await, "{asked}");
    native
}

/// A folder with all that a hostile one may hold, and a secret beside it.
fn hostile() -> Bench {
    let bench = Bench::tools();
    bench.write("../secret/key.txt", "secret needle\n");
    bench.write("src/a.txt", "one needle\n");
    bench.write("src/deep/er/b.txt", "two\r\nneedle\r\n");
    bench.write(".gitignore", "ignored\n*.log\n!keep.log\n");
    bench.write("src/.gitignore", "/deep/er/c.*\n");
    bench.write("src/deep/er/c.txt", "needle");
    bench.write("ignored/x", "needle");
    bench.write("keep.log", "needle");
    bench.write("other.log", "needle");
    bench.write(".git/config", "needle");
    bench.write("no-end", "x\nneedle");
    fs::write(bench.path("binary"), b"needle\0needle").unwrap();
    fs::write(bench.path("latin"), b"needle caf\xe9\ncaf\xe9 needle \xff\xfe\n").unwrap();
    let (before, behind) = ("x".repeat(300 << 10), "y".repeat(300 << 10));
    bench.write("long", &format!("{before}needle{behind}"));
    fs::write(bench.path("").join(OsStr::from_bytes(b"odd\xff")), "needle").unwrap();
    for (target, name) in [
        ("../secret", "out-folder"),
        ("../secret/key.txt", "out-file"),
        ("/etc", "absolute"),
        ("loop", "loop"),
        ("src/../../secret/key.txt", "climbs"),
        ("src", "in-folder"),
        ("src/a.txt", "in-file"),
        ("nothing", "dangling"),
    ] {
        symlink(target, bench.path(name)).unwrap();
    }
    symlink("../..", bench.path("src/deep/up")).unwrap();
    mkfifo(&bench.path("pipe"));
    for n in 0..600 {
        bench.write(&format!("many/{n:03}.txt"), if n % 7 == 0 { "a needle" } else { "hay" });
    }
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_folder_is_read_as_in_the_sandbox() {
    let bench = hostile();
    let nothing = "nothing";
    for asked in [
        json!({"action":"grep","pattern":"needle"}),
        json!({"action":"grep","pattern":"needle","max_results":1000}),
        json!({"action":"grep","pattern":"needle","hidden":nothing,"max_results":7,"offset":3}),
        json!({"action":"grep","pattern":"caf.","before":1}),
        json!({"action":"grep","pattern":"NEEDLE$","ignore_case":true,"mode":"count"}),
        json!({"action":"grep","pattern":"two.needle","multiline":true}),
        json!({"action":"grep","pattern":"[^x]eedle","mode":"files_with_matches"}),
        json!({"action":"grep","pattern":"needle","path":"in-folder"}),
        json!({"action":"grep","pattern":"needle","path":"in-file"}),
        json!({"action":"grep","pattern":"needle","path":"many","glob":"*7.txt"}),
        json!({"action":"glob","pattern":"**"}),
        json!({"action":"glob","pattern":"*.txt","path":"src","hidden":nothing}),
        json!({"action":"glob","pattern":"many/*","max_results":5}),
        json!({"action":"list"}),
        json!({"action":"list","path":"in-folder","depth":5}),
        json!({"action":"read_many","include":["src","in-file","latin","no-end"]}),
        json!({"action":"read","path":"in-file"}),
        json!({"action":"read","path":"src/deep/up/keep.log"}),
        json!({"action":"read","path":"latin"}),
        json!({"action":"read","path":"binary"}),
        json!({"action":"read","path":"dangling"}),
        json!({"action":"read","path":"src"}),
        json!({"action":"read","path":"src/a.txt/b"}),
        json!({"action":"glob","pattern":"*","path":"pipe"}),
        json!({"action":"view_image","path":"binary"}),
    ] {
        let outcome = both(&bench, asked.clone()).await;
        assert!(!outcome.joined_text().contains("secret"), "{asked}: {outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c12_c13_a_name_that_is_not_utf_8_hides_no_other_and_is_told() {
    let bench = Bench::tools();
    bench.write("below/plain.txt", "needle\n");
    for name in [b"below/caf\xe9.txt".as_slice(), b"below/\xff"] {
        fs::write(bench.path("").join(OsStr::from_bytes(name)), "needle\n").unwrap();
    }
    let note = "[2 names that are not UTF-8, left out.]";
    for (asked, said) in [
        (json!({"action":"glob","pattern":"**/*.txt"}), format!("below/plain.txt\n{note}")),
        (json!({"action":"glob","pattern":"*.rs"}), format!("No files found.\n{note}")),
        (json!({"action":"grep","pattern":"needle"}), format!("below/plain.txt:1:needle\n{note}")),
        (
            json!({"action":"list","path":"below"}),
            "caf\u{fffd}.txt (not UTF-8)\nplain.txt\n\u{fffd} (not UTF-8)".into(),
        ),
    ] {
        assert_eq!(both(&bench, asked.clone()).await.joined_text(), said, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_and_no_pipe_is_read() {
    let bench = hostile();
    for path in ["out-file", "out-folder/key.txt", "climbs", "absolute/passwd", "pipe"] {
        for asked in [
            json!({"action":"read","path":path}),
            json!({"action":"grep","pattern":".","path":path}),
            json!({"action":"read_many","include":[path]}),
        ] {
            let outcome = both(&bench, asked.clone()).await;
            assert!(outcome.error.is_some(), "{asked}: {outcome:?}");
        }
    }
    for path in ["out-folder", "absolute"] {
        let found = both(&bench, json!({"action":"glob","pattern":"*","path":path})).await;
        assert_eq!(found.error, Some(ToolError::PermissionDenied), "{found:?}");
    }
    let asked = action(json!({"action":"read","path":"loop"}));
    let outcome = bench.executor.run(&asked, TEN_SECONDS, None).await;
    assert_eq!(outcome.error, Some(ToolError::Io), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_read_is_counted() {
    let bench = Bench::tools();
    bench.write("a/x", "needle");
    bench.write("b/x", "needle");
    bench.write("c", "needle");
    for path in ["a", "c"] {
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let is_barred = File::open(bench.path("c")).is_err();
    let outcome = both(&bench, json!({"action":"grep","pattern":"needle"})).await;
    // Nothing is barred from the system's administrator.
    let expected = match is_barred {
        true => "b/x:1:needle\n[2 files or folders could not be read.]",
        false => "a/x:1:needle\nb/x:1:needle\nc:1:needle",
    };
    assert_eq!(outcome.joined_text(), expected);
    for path in ["a", "c"] {
        fs::set_permissions(bench.path(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// Random trees and searches: what is found natively is what is found in memory.
#[tokio::test(flavor = "multi_thread")]
async fn random_searches_find_what_they_find_in_memory() {
    let mut state = 3_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let rules = ["*.md", "/b", "a/", "!c.md", "**/b/*.ts", "d*", "b/**", "a/b", "[ab].ts", "*"];
    let mut told = 0;
    for _ in 0..60 {
        let (bench, mut memory) = (Bench::tools(), InMemoryFiles::new());
        let mut write = |path: String, text: String| {
            // Where a folder stands there is no file, and the other way round.
            let there = WorkspacePath::parse(&path).unwrap();
            if memory.write(&there, text.clone().into_bytes()).is_ok() {
                bench.write(&path, &text);
            }
        };
        for _ in 0..random(120) {
            let folders: String = (0..random(4)).map(|_| ["a/", "b/", "d/"][random(3)]).collect();
            let name = ["a.ts", "b.ts", "c.md", "d", "a", "B.md"][random(6)];
            let lines = (0..random(5)).map(|_| ["foo\n", "bar foo\n", "\n", "Foo"][random(4)]);
            write(format!("{folders}{name}"), lines.collect());
            if random(12) == 0 {
                let rules: String =
                    (0..random(4)).map(|_| format!("{}\n", rules[random(rules.len())])).collect();
                write(format!("{folders}.gitignore"), rules);
            }
        }
        for _ in 0..12 {
            let pattern = ["foo", "(?i)foo$", "^$", "b.r|F", "nothing"][random(5)];
            let mode = ["content", "files_with_matches", "count"][random(3)];
            let (most, offset) = (1 + random(40), random(3) * random(20));
            let glob = [None, Some("*.ts"), Some("a/**"), Some("!*.md")][random(4)];
            let path = [None, Some("a"), Some("a/b"), Some("d")][random(4)];
            let unless = [None, Some("bar")][random(2)];
            let hidden = ["ignored", "nothing"][random(2)];
            let asked = action(json!({
                "action": "grep", "pattern": pattern, "mode": mode, "max_results": most,
                "offset": offset, "glob": glob, "path": path, "unless": unless, "hidden": hidden,
                "after": random(2),
            }));
            let natively = bench.executor.run(&asked, TEN_SECONDS, None).await;
            assert_eq!(natively, perform(&mut memory, &asked), "{asked:?}");
            told += usize::from(natively.count > Some(0));
        }
    }
    assert!(told > 150, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_ten_megabytes_is_shown_around_the_match() {
    let bench = Bench::tools();
    bench.write("long", &format!("{}needle{}", "x".repeat(5 << 20), "y".repeat(5 << 20)));
    let expected = format!("long:1:[…] {}needle{} […]", "x".repeat(100), "y".repeat(394));
    for pattern in ["needle", "ne+dle", "x{50}needle"] {
        let asked = action(json!({"action":"grep","pattern":pattern}));
        let outcome = bench.executor.run(&asked, TEN_SECONDS, None).await;
        assert_eq!(outcome.error, None, "{outcome:?}");
        let is_plain = !pattern.starts_with('x');
        assert!(!is_plain || outcome.joined_text() == expected, "{pattern}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_while_it_is_read_does_no_harm() {
    let bench = Bench::tools();
    bench.write("a", "");
    let path = bench.path("a");
    let done = Arc::new(AtomicBool::new(false));
    let is_done = done.clone();
    let changing = thread::spawn(move || {
        let long = "needle and more\n".repeat(200_000);
        while !is_done.load(Ordering::Relaxed) {
            fs::write(&path, &long).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(17).unwrap();
        }
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        for asked in [
            json!({"action":"grep","pattern":"needle"}),
            json!({"action":"read","path":"a","limit":1}),
        ] {
            let outcome = bench.executor.run(&action(asked), TEN_SECONDS, None).await;
            assert_eq!(outcome.error, None, "{outcome:?}");
        }
    }
    done.store(true, Ordering::Relaxed);
    changing.join().unwrap();
}

/// A file whose beginning and end are lines, with `bytes` bytes that take no room between.
fn sparse(bench: &Bench, bytes: u64) {
    let mut file = File::create(bench.path("huge")).unwrap();
    file.write_all("the beginning\n".repeat(1000).as_bytes()).unwrap();
    file.seek(SeekFrom::Current(i64::try_from(bytes).unwrap())).unwrap();
    file.write_all("\nthe end\r\nand no more".as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_a_huge_file_are_read_in_little_memory() {
    const GIB: u64 = 1 << 30;
    let bench = Bench::tools();
    sparse(&bench, 2 * GIB);
    // The program and its stacks fit in this, the file does not.
    let limit = "ulimit -v 1500000; exec \"$0\" \"$@\"";
    let read = |arguments: Value| {
        let mut command = Command::new("sh");
        command.args(["-c", limit]).arg(binary()).args(["tool", "read"]);
        command.arg(arguments.to_string()).arg("-C").arg(bench.path(""));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let told = read(json!({"path":"huge","offset":999,"limit":2,"numbering":"pipe"}));
    let expected = " 999 | the beginning\n1000 | the beginning\n[Lines 999 to 1000 of 1003. Read \
                    on from line 1001.]\n";
    assert_eq!(told, (Some(0), expected.to_owned()));
    let told = read(json!({"path":"huge","offset":1002}));
    assert_eq!(told, (Some(0), "the end\nand no more\n".to_owned()));
    let (code, told) = read(json!({"path":"huge","offset":1001,"limit":1}));
    assert_eq!(code, Some(1));
    assert!(told.starts_with("The lines of huge from 1001 on are longer than 16 MiB."), "{told}");
    let (code, told) = read(json!({"path":"huge","offset":1001,"limit":1,"line_chars":3}));
    assert_eq!((code, told.starts_with("\0\0\0... [truncated]")), (Some(0), true), "{told}");
    let (code, told) = read(json!({"path":"huge","offset":1004}));
    assert_eq!(code, Some(1));
    assert_eq!(told, "The offset 1004 is past the end: huge has 1003 lines.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_ends_at_its_time_limit_and_when_it_is_stopped() {
    let bench = Bench::tools();
    bench.write("0", &"neither this nor that, and a little more of it\n".repeat(1_200_000));
    for n in 1..60 {
        fs::hard_link(bench.path("0"), bench.path(&n.to_string())).unwrap();
    }
    let asked = action(json!({"action":"grep","pattern":"[a-z ]+[0-9]"}));
    let outcome = bench.executor.run(&asked, Duration::from_millis(50), None).await;
    assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Timeout), true));
    assert_eq!(outcome.joined_text(), "the tool failed: the time limit of 50 ms ended it");
    let stop = tokio::time::sleep(Duration::from_millis(50));
    let outcome =
        bench.executor.run_until(&CallContext::default(), &asked, TEN_SECONDS, None, stop).await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_output_holds_for_what_is_read() {
    let bench = Bench::tools().limited(RunLimits { output_bytes: 1000, ..RunLimits::default() });
    bench.write("a", &"x".repeat(900));
    bench.write("b", &"x".repeat(1001));
    for (path, error) in [("a", None), ("b", Some(ToolError::Limit))] {
        let asked = action(json!({"action":"read","path":path}));
        let outcome = bench.executor.run(&asked, TEN_SECONDS, None).await;
        assert_eq!(outcome.error, error, "{outcome:?}");
    }
}
