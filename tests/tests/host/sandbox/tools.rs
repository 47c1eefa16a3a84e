//! The workspace as such, and the guest tools program over it.

use super::{Bench, TEN_SECONDS};
use innerloop_core::action::{Action, ChangeKind, LineNumbering, ToolError};
use innerloop_sandbox::{
    CallContext, EngineOptions, Executor, ReadIsolation, RunLimits, SandboxEngine,
    programs::ProgramRegistry,
};
use innerloop_tests::tool_cases::{Done, cases, check, lay_out, read_back};
use innerloop_workspace::{Workspace, WorkspaceError};
use std::{fs, time::Duration};

#[test]
fn a_workspace_that_is_no_folder_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none");
    let error = Workspace::open(&missing).unwrap_err();
    assert!(matches!(error, WorkspaceError::Missing(_)));
    assert!(error.to_string().ends_with("none; create it or name another workspace"), "{error}");

    fs::write(dir.path().join("file"), "").unwrap();
    for path in ["file", "file/below"] {
        let error = Workspace::open(dir.path().join(path)).unwrap_err();
        assert!(matches!(error, WorkspaceError::File(_)), "{error}");
    }
    assert!(Workspace::open(dir.path().join(".")).unwrap().root().is_absolute());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_written_file_is_there_and_can_be_read() {
    let bench = Bench::new();
    let write = Action::write("a/b.txt", "grüße\n");
    let outcome = bench.executor.run(&write, TEN_SECONDS, None).await;
    assert_eq!(outcome.error, None, "{outcome:?}");
    assert_eq!(outcome.changes[0].kind, ChangeKind::Created);
    assert_eq!(bench.read("a/b.txt"), "grüße\n");
    let read = Action::read("a/b.txt", None, LineNumbering::None);
    let outcome = bench.executor.run(&read, TEN_SECONDS, None).await;
    assert_eq!(outcome.joined_text().trim_end(), "grüße", "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_can_not_change_git_or_leave_the_workspace() {
    let bench = Bench::new();
    bench.write(".git/config", "config");
    for path in [".git/config", ".git/hooks/new", "../outside.txt"] {
        let write = Action::write(path, "x");
        let outcome = bench.executor.run(&write, TEN_SECONDS, None).await;
        assert_eq!(outcome.error, Some(ToolError::PermissionDenied), "{path}: {outcome:?}");
    }
    assert_eq!(bench.read(".git/config"), "config");
    assert!(!bench.dir.path().join("outside.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn m6_a_file_that_is_another_one_by_now_is_left_alone() {
    let bench = Bench::new();
    bench.write("a.txt", "first");
    bench.write("secret.txt", "not to be lost");
    let run = async |action: &Action, known: &[Option<&String>]| {
        let known = known.iter().map(|known| known.cloned()).collect();
        let call = CallContext { known: Some(known), ..CallContext::default() };
        bench.carry_out(&call, action).await
    };
    let read = Action::read("a.txt", None, LineNumbering::None);
    let outcome = run(&read, &[]).await;
    let [digest] = &outcome.digests[..] else { panic!("{outcome:?}") };
    let write = Action::write("x/../a.txt", "mine");
    let unread = run(&write, &[None]).await;
    assert_eq!(unread.error, Some(ToolError::EditConflict), "{unread:?}");
    assert!(unread.joined_text().contains("Read it before you overwrite it."), "{unread:?}");
    // A link in the file's place leads to a file that nobody has read.
    fs::remove_file(bench.path("a.txt")).unwrap();
    std::os::unix::fs::symlink("secret.txt", bench.path("a.txt")).unwrap();
    let changed = run(&write, &[Some(digest)]).await;
    assert_eq!(changed.error, Some(ToolError::EditConflict), "{changed:?}");
    assert!(changed.joined_text().starts_with("a.txt has changed since you read it."));
    assert_eq!(bench.read("secret.txt"), "not to be lost");
    fs::remove_file(bench.path("a.txt")).unwrap();
    bench.write("a.txt", "first");
    let written = run(&write, &[Some(digest)]).await;
    assert_eq!((written.error, written.digests.len()), (None, 1), "{written:?}");
    assert_ne!(&written.digests[0], digest);
    assert_eq!(bench.read("a.txt"), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_breaks_is_an_outcome() {
    let tiny = RunLimits { memory_bytes: 65_536, ..RunLimits::default() };
    let write = Action::write("a.txt", "x");
    let outcome = Bench::new().limited(tiny).executor.run(&write, TEN_SECONDS, None).await;
    assert_eq!(outcome.error, Some(ToolError::Limit), "{outcome:?}");
    assert!(outcome.joined_text().starts_with("the tool failed: "), "{outcome:?}");

    let bench = Bench::new();
    for n in 0..2000 {
        fs::write(bench.path(&format!("{n}.txt")), "x").unwrap();
    }
    let executor = bench.executor.with_isolation(ReadIsolation::Wasi);
    executor.prepare().await.unwrap();
    let glob = Action::glob("**/*.txt", None);
    let outcome = executor.run(&glob, Duration::from_millis(1), None).await;
    assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Timeout), true));
    assert_eq!(outcome.joined_text(), "the tool failed: the time limit of 1 ms ended it");
}

/// The table that also runs over files in memory and over a directory.
#[tokio::test(flavor = "multi_thread")]
async fn tools_table_over_wasmtime() {
    check_table(ReadIsolation::Wasi).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_table_with_native_reading() {
    check_table(ReadIsolation::Native).await;
}

async fn check_table(isolation: ReadIsolation) {
    let cache = tempfile::tempdir().unwrap();
    let options =
        EngineOptions { cache_dir: Some(cache.path().into()), ..EngineOptions::default() };
    let engine = SandboxEngine::new(options);
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        lay_out(&case.files, folder.path());
        let workspace = Workspace::open(folder.path()).unwrap();
        let executor = Executor::new(engine.clone(), workspace, ProgramRegistry::default());
        let executor = executor.with_isolation(isolation);
        let outcome = executor.run(&case.action, TEN_SECONDS, None).await;
        check(&case, |_| Done { outcome, files: read_back(folder.path()) });
    }
}
