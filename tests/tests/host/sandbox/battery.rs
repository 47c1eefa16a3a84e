//! Odd calls, odd moments and odd trees: what else a guest may try, and what must come out the same
//! each time.

use super::{Bench, TEN_SECONDS, run_program, wasm};
use innerloop_core::{
    action::{ChangeKind, Outcome, ToolError},
    json::to_string,
};
use innerloop_sandbox::{CallContext, ModuleCall, RegisteredModule};
use innerloop_tests::skip::skip;
use std::{
    fs, future::pending, os::unix::fs::symlink, path::Path, process::Command, time::Duration,
};
use tempfile::TempDir;

const CALLS: &str = include_str!("../guests/calls.wat");

const BADF: i32 = 8;
const ILSEQ: i32 = 25;
const INVAL: i32 = 28;
const ISDIR: i32 = 31;
const NOTSOCK: i32 = 57;
const PERM: i32 = 63;

#[tokio::test(flavor = "multi_thread")]
async fn odd_calls_are_refused_and_break_nothing() {
    let bench = Bench::with(&[("calls", &wasm(CALLS))]);
    bench.write("plain", "plain");
    for (letter, errno) in [
        // A path with a NUL in it.
        ("0", ILSEQ),
        // Writing to what is open for reading, and cutting it off.
        ("w", BADF),
        ("t", BADF),
        // Files that somebody else has open: there is none by any number.
        ("f", 0),
        // Its folder under the number of standard output, and numbers that are not its own.
        ("r", ISDIR),
        ("R", 0),
        // More to wait for than there is memory.
        ("p", INVAL),
        // Sockets.
        ("a", BADF),
        ("s", NOTSOCK),
    ] {
        assert_eq!(bench.run("calls", &[letter]).await.exit, Some(errno), "{letter}");
    }
    // More random bytes than it has memory for.
    assert_eq!(bench.run("calls", &["g"]).await.error, Some(ToolError::Crashed));
    assert_eq!(bench.read("plain"), "plain");
}

/// A device that somebody has put into the workspace.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_can_not_be_opened() {
    let bench = Bench::new();
    let place = bench.path("zero");
    let made = Command::new("mknod").arg(&place).args(["c", "1", "5"]).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("all of it", "only root makes devices");
    }
    for letter in ["r", "w", "o", "t", "z", "F"] {
        assert_eq!(bench.ops(&[letter, "zero"]).await, PERM, "{letter}");
    }
    assert_eq!(bench.ops(&["L", "."]).await, 0);
}

/// A guest has one folder, so that nothing can be moved or linked from where it may read to where
/// it may write; and where it may only read, nothing at all changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_may_only_be_read_is_not_changed_by_any_operation() {
    let bench = Bench::new();
    bench.write("src/a.txt", "a");
    bench.write("b.txt", "b");
    fs::create_dir(bench.path("empty")).unwrap();
    let module = RegisteredModule::open("ops", bench.dir.path().join("programs/ops.wasm")).unwrap();
    let call = async |args: &[&str]| {
        let args = args.iter().map(|&arg| arg.into()).collect();
        let call = ModuleCall { args, may_write: false, ..ModuleCall::default() };
        bench
            .executor
            .call_module(&CallContext::default(), &module, call, TEN_SECONDS, None, pending())
            .await
    };
    for args in [
        &["w", "b.txt"][..],
        &["w", "new.txt"],
        &["t", "b.txt"],
        &["o", "b.txt"],
        &["D", "src", "a.txt"],
        &["D", "src", "new.txt"],
        &["N", "src", "new.txt"],
        &["m", "folder"],
        &["d", "empty"],
        &["u", "b.txt"],
        &["n", "b.txt", "c.txt"],
        &["n", "src/a.txt", "b.txt"],
        &["n", "src", "empty"],
        &["M", "src", "other", "x"],
        &["l", "b.txt", "c.txt"],
        &["s", "b.txt", "link"],
        &["T", "b.txt"],
        &["U", "b.txt"],
        &["z", "b.txt"],
        &["z", "new.txt"],
        &["F", "b.txt"],
    ] {
        let outcome = call(args).await;
        assert_eq!(outcome.exit, Some(PERM), "{args:?}: {outcome:?}");
        assert_eq!(outcome.changes, [], "{args:?}");
    }
    assert_eq!(call(&["r", "src/a.txt"]).await.joined_text(), "a");
    assert_eq!((bench.read("src/a.txt"), bench.read("b.txt")), ("a".into(), "b".into()));
    let mut names: Vec<_> =
        fs::read_dir(bench.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["b.txt", "empty", "src"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_gets_the_arguments_of_its_action_and_no_others() {
    let bench = Bench::qjs();
    bench.write("t.mjs", "console.log(JSON.stringify(scriptArgs));\n");
    let outcome = bench.run("qjs", &["t.mjs", "--flag", "two words", "größe", ""]).await;
    assert_eq!(outcome.joined_text(), "[\"t.mjs\",\"--flag\",\"two words\",\"größe\",\"\"]\n");
}

/// Trees that hold a protected name anywhere, under any of its spellings, as folder, file or link.
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_with_a_protected_name_is_moved_neither_away_nor_over_another() {
    let bench = Bench::new();
    let inside =
        ["/.git/config", "/.GIT", "/a/.git", "/a/b/.innerloop/key", "/a/b/c/.Git ", "/GIT~1"];
    for (n, inside) in inside.iter().enumerate() {
        bench.write(&format!("tree{n}{inside}"), "kept");
        bench.write(&format!("tree{n}/plain"), "plain");
        bench.write(&format!("tree{n}/a/plain"), "plain");
    }
    fs::create_dir_all(bench.path("linked/a")).unwrap();
    symlink("../plain", bench.path("linked/a/.git")).unwrap();
    fs::create_dir(bench.path("empty")).unwrap();
    bench.write("room/x", "");
    let trees: Vec<String> = (0..inside.len()).map(|n| format!("tree{n}")).collect();
    for tree in trees.iter().map(String::as_str).chain(["linked"]) {
        for to in ["moved", "empty", "room/moved", ".git", ".innerloop"] {
            assert_eq!(bench.ops(&["n", tree, to]).await, PERM, "{tree} to {to}");
        }
    }
    // Over one: a folder that is not empty is not replaced anyway, but one that is protected is
    // refused as such.
    fs::create_dir_all(bench.path("hollow/.git")).unwrap();
    for to in ["hollow/.git", "hollow/.git/x", "hollow/.GIT", "hollow/.git./x"] {
        assert_eq!(bench.ops(&["n", "empty", to]).await, PERM, "empty to {to}");
    }
    for (n, inside) in inside.iter().enumerate() {
        assert_eq!(bench.read(&format!("tree{n}{inside}")), "kept");
    }
    // What has no such name goes wherever it likes.
    assert_eq!(bench.ops(&["n", "tree0/a", "free"]).await, 0);
    assert_eq!(bench.ops(&["n", "room", "tree0/room"]).await, 0);
}

/// What is told of a run is read where the guest has written, not where somebody has put a link to.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_is_put_there_before_the_changes_are_told_is_not_read_through() {
    let bench = Bench::new();
    let outside = bench.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("big"), "confidential").unwrap();
    fs::create_dir(bench.path("a")).unwrap();
    let swap = {
        let (a, b) = (bench.path("a"), bench.path("b"));
        move |target: &Path| {
            fs::rename(&a, &b).unwrap();
            symlink(target, &a).unwrap();
        }
    };
    // The folder above the file becomes a link.
    let outcome = stopped_after_a_write(&bench, "a/big", move || swap(&outside)).await;
    assert!(!format!("{outcome:?}").contains("confidential"), "{outcome:?}");
    assert_eq!(outcome.changes.len(), 0, "no file is there by that name: {outcome:?}");

    // The file itself does, to one outside and to one that is protected.
    bench.write(".git/config", "confidential");
    fs::write(bench.dir.path().join("key"), "confidential").unwrap();
    for target in ["../key", ".git/config"] {
        let place = bench.path("big");
        let outcome = stopped_after_a_write(&bench, "big", move || {
            fs::remove_file(&place).unwrap();
            symlink(target, &place).unwrap();
        });
        let outcome = outcome.await;
        assert!(!format!("{outcome:?}").contains("confidential"), "{outcome:?}");
        let kinds: Vec<_> = outcome.changes.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [ChangeKind::Created], "a link is there: {outcome:?}");
        fs::remove_file(bench.path("big")).unwrap();
    }
}

/// Runs a guest that writes a file, and once it has begun, does that and stops it.
async fn stopped_after_a_write(
    bench: &Bench,
    path: &str,
    then: impl FnOnce() + Send + 'static,
) -> Outcome {
    let (place, action) = (bench.path(path), run_program("ops", &["F", path]));
    let stop = async move {
        while !place.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        then();
    };
    let outcome =
        bench.executor.run_until(&CallContext::default(), &action, TEN_SECONDS, None, stop).await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted));
    outcome
}

/// Neither the order in which files were made, nor their numbers, nor how fast things went shows.
#[tokio::test(flavor = "multi_thread")]
async fn two_runs_over_equal_folders_give_equal_outcomes_byte_for_byte() {
    const SCRIPT: &str = "import * as os from 'qjs:os';\n\
        import * as std from 'qjs:std';\n\
        const walk = (folder) => os.readdir(folder)[0].forEach((name) => {\n\
          if (name === '.' || name === '..') return;\n\
          const path = `${folder}/${name}`;\n\
          const [found] = os.stat(path);\n\
          const isFolder = (found.mode & os.S_IFMT) === os.S_IFDIR;\n\
          console.log(path, isFolder ? '' : found.size);\n\
          if (isFolder) walk(path);\n\
        });\n\
        walk('.');\n\
        for (const name of ['z', 'a', 'm/n']) {\n\
          const file = std.open(name, 'w'); file.puts(name); file.close();\n\
        }\n\
        os.rename('deep', 'moved');\n\
        os.remove('many/7');\n\
        std.err.puts('said beside');\n\
        std.exit(7);\n";
    let mut paths: Vec<String> = (0..300).map(|n| format!("many/{n}")).collect();
    paths.extend(["deep/x/y", "deep/b", "m/k", "t.mjs"].map(String::from));
    let mut told = Vec::new();
    for is_backwards in [false, true] {
        // Some file systems list files in the order in which they were made, others never do.
        let memory = Path::new("/dev/shm");
        let elsewhere = is_backwards && memory.is_dir();
        let dir = if elsewhere { TempDir::new_in(memory) } else { TempDir::new() };
        let bench = Bench::qjs_in(dir.unwrap());
        if is_backwards {
            paths.reverse();
        }
        for path in &paths {
            bench.write(path, if path == "t.mjs" { SCRIPT } else { path });
        }
        let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
        assert_eq!(outcome.exit, Some(7), "{outcome:?}");
        told.push(to_string(&outcome));
    }
    assert_eq!(told[0], told[1]);
    assert!(told[0].contains("./many/299 8") && told[0].contains("moved/x/y"), "{}", told[0]);
}
