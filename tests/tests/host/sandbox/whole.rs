//! Files that tools write are whole: what was there before, or all of what is new, whatever ends
//! the writer.

use super::{Bench, TEN_SECONDS};
use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_sandbox::{CallContext, RunLimits, SessionLimits};
use serde_json::json;
use std::{fs, io::ErrorKind, os::unix::fs::PermissionsExt as _};

fn action(action: &serde_json::Value) -> Action {
    innerloop_core::json::from_str(&action.to_string()).unwrap()
}

/// A line of the shell.
async fn line(bench: &Bench, command: &str) -> Outcome {
    act(bench, &json!({"action": "shell", "command": command})).await
}

async fn act(bench: &Bench, deed: &serde_json::Value) -> Outcome {
    bench
        .executor
        .run_until(
            &CallContext::default(),
            &action(deed),
            TEN_SECONDS,
            None,
            std::future::pending(),
        )
        .await
}

/// More than the session has room for.
fn long() -> String {
    "line\n".repeat(20_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_meets_the_end_of_the_quota_leaves_what_was_there() {
    let [old, new] = ["old\n", "new\n"].map(|line| line.to_owned() + &long());
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch";
    let deeds = [
        json!({"action": "write", "path": "a.txt", "content": &new}),
        json!({"action": "edit", "path": "a.txt", "old": "old", "new": "new", "all": false}),
        json!({"action": "patch", "patch": patch}),
    ];
    for deed in &deeds {
        for mut bench in Bench::both(Bench::tools) {
            let session = SessionLimits { disk_bytes: 50_000, ..SessionLimits::default() };
            bench.executor = bench.executor.with_session_limits(&session);
            bench.write("a.txt", &old);
            let outcome = act(&bench, deed).await;
            assert_eq!(outcome.error, Some(ToolError::Limit), "{outcome:?}");
            let refused = bench.executor.workspace().refused().expect("it is told at the end");
            assert_eq!((&*refused.path, refused.error.kind()), ("a.txt", ErrorKind::QuotaExceeded));
            assert!(bench.executor.workspace().changes().0.is_empty(), "{deed}");
            assert!(bench.read("a.txt") == old, "what was there is there after {deed}");
            let left = fs::read_dir(bench.path("")).unwrap().count();
            assert_eq!(left, 1, "no draft is left");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_replaced_keeps_its_permissions_and_links_lead_on() {
    for bench in Bench::both(Bench::tools) {
        bench.write("bin/run", "#!/bin/sh\necho old\n");
        let mode = |mode| fs::Permissions::from_mode(mode);
        fs::set_permissions(bench.path("bin/run"), mode(0o750)).unwrap();
        std::os::unix::fs::symlink("bin/run", bench.path("link")).unwrap();
        let edit =
            json!({"action": "edit", "path": "link", "old": "old", "new": "new", "all": false});
        assert_eq!(act(&bench, &edit).await.error, None);
        let fresh = json!({"action": "write", "path": "deep/new.txt", "content": "x\n"});
        assert_eq!(act(&bench, &fresh).await.error, None);
        assert_eq!(bench.read("bin/run"), "#!/bin/sh\necho new\n");
        assert_eq!(bench.read("deep/new.txt"), "x\n");
        assert!(bench.path("link").symlink_metadata().unwrap().is_symlink());
        let found = fs::metadata(bench.path("bin/run")).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, 0o750);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_file_has_its_own_permissions_whatever_it_replaces() {
    for is_over in [false, true] {
        for bench in Bench::both(Bench::tools) {
            let bench = if is_over { bench.over() } else { bench };
            let mode = |mode| fs::Permissions::from_mode(mode);
            for (path, bits) in [("key", 0o600), ("plain", 0o644), ("run", 0o755), ("same", 0o640)]
            {
                bench.write(path, &format!("{path}\n"));
                fs::set_permissions(bench.path(path), mode(bits)).unwrap();
            }
            let moves = "*** Begin Patch\n*** Update File: key\n*** Move to: new/key\n@@\n-key\n\
                         +other\n*** Update File: plain\n*** Move to: run\n@@\n-plain\n+text\n\
                         *** Update File: same\n*** Move to: again\n*** End Patch";
            let outcome = act(&bench, &json!({"action": "patch", "patch": moves})).await;
            assert_eq!(outcome.error, None, "{outcome:?}");
            bench.executor.workspace().apply().unwrap();
            let found = |path: &str| {
                let mode = fs::metadata(bench.path(path)).unwrap().permissions().mode() & 0o777;
                (bench.read(path), mode)
            };
            assert_eq!(found("new/key"), ("other\n".to_owned(), 0o600));
            assert_eq!(found("run"), ("text\n".to_owned(), 0o644));
            assert_eq!(found("again"), ("same\n".to_owned(), 0o640));
            for path in ["key", "plain", "same"] {
                assert!(!bench.path(path).exists(), "{path}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_writes_more_than_there_is_room_for_leaves_the_overlay_as_it_was() {
    let mut bench = Bench::shell().over();
    let limits = RunLimits { disk_bytes: 100_000, ..RunLimits::default() };
    bench.executor = bench.executor.with_limits(limits);
    bench.write("below.txt", "below\n");
    let made = line(&bench, "echo own > own.txt; mv below.txt moved.txt").await;
    assert_eq!(made.exit, Some(0));
    for path in ["own.txt", "moved.txt"] {
        let outcome = line(&bench, &format!("yes > {path}")).await;
        assert_eq!(outcome.error, Some(ToolError::Limit), "{outcome:?}");
        // It was opened, and is what it was.
        assert!(outcome.changes.iter().all(|it| it.before == it.after), "{:?}", outcome.changes);
    }
    assert!(bench.executor.workspace().refused().is_none(), "other lines still have room");
    assert_eq!(bench.read("own.txt"), "own\n");
    assert_eq!(bench.read("moved.txt"), "below\n");
    // What is written whole is what counts.
    assert_eq!(line(&bench, "echo new > own.txt").await.exit, Some(0));
    assert_eq!(bench.read("own.txt"), "new\n");
}
