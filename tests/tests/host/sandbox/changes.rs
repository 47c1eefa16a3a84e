//! What a run reports of the files it changed.

use super::{Bench, TEN_SECONDS};
use innerloop_core::action::{ChangeKind, Outcome, ReportedChange, ToolError};
use innerloop_sandbox::{CallContext, RunLimits};
use std::{fs, os::unix::fs::symlink, time::Duration};

fn change(
    path: &str,
    kind: ChangeKind,
    before: Option<&str>,
    after: Option<&str>,
) -> ReportedChange {
    ReportedChange {
        path: path.into(),
        kind,
        before: before.map(Into::into),
        after: after.map(Into::into),
    }
}

async fn changes(bench: &Bench, args: &[&str]) -> Vec<ReportedChange> {
    let Outcome { changes, .. } = bench.run("ops", args).await;
    changes
}

#[tokio::test(flavor = "multi_thread")]
async fn created_modified_and_deleted_files_are_reported_with_their_texts() {
    for bench in Bench::both(Bench::new) {
        bench.write("a.txt", "before");
        assert_eq!(
            changes(&bench, &["w", "new.txt"]).await,
            [change("new.txt", ChangeKind::Created, None, Some("x"))]
        );
        assert_eq!(
            changes(&bench, &["w", "a.txt"]).await,
            [change("a.txt", ChangeKind::Modified, Some("before"), Some("x"))]
        );
        assert_eq!(
            changes(&bench, &["t", "a.txt"]).await,
            [change("a.txt", ChangeKind::Modified, Some("x"), Some(""))]
        );
        assert_eq!(
            changes(&bench, &["u", "a.txt"]).await,
            [change("a.txt", ChangeKind::Deleted, Some(""), None)]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_opened_for_writing_is_reported_and_what_is_only_read_is_not() {
    for bench in Bench::both(Bench::new) {
        bench.write("a.txt", "x");
        assert_eq!(changes(&bench, &["r", "a.txt"]).await, []);
        for letter in ["o", "w", "T"] {
            let same = change("a.txt", ChangeKind::Modified, Some("x"), Some("x"));
            assert_eq!(changes(&bench, &[letter, "a.txt"]).await, [same], "{letter}");
        }
        assert_eq!(changes(&bench, &["m", "folder"]).await, []);
        bench.write(".git/config", "config");
        bench.write("full/x", "x");
        for refused in [
            &["w", ".git/config"][..],
            &["u", ".git/config"],
            &["T", ".git/config"],
            &["n", "full", "folder/none/x"],
            &["n", "a.txt", "full"],
        ] {
            assert_eq!(changes(&bench, refused).await, [], "{refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_is_a_deletion_and_a_creation() {
    for bench in Bench::both(Bench::new) {
        bench.write("a.txt", "a");
        bench.write("b.txt", "b");
        bench.write("d/x.txt", "x");
        bench.write("d/e/y.txt", "y");
        assert_eq!(
            changes(&bench, &["n", "a.txt", "b.txt"]).await,
            [
                change("a.txt", ChangeKind::Deleted, Some("a"), None),
                change("b.txt", ChangeKind::Modified, Some("b"), Some("a")),
            ]
        );
        assert_eq!(
            changes(&bench, &["n", "d", "f"]).await,
            [
                change("d/e/y.txt", ChangeKind::Deleted, Some("y"), None),
                change("d/x.txt", ChangeKind::Deleted, Some("x"), None),
                change("f/e/y.txt", ChangeKind::Created, None, Some("y")),
                change("f/x.txt", ChangeKind::Created, None, Some("x")),
            ]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_through_a_link_is_reported_where_it_happened() {
    for bench in Bench::both(Bench::new) {
        bench.write("src/a.txt", "a");
        symlink("src", bench.path("link")).unwrap();
        assert_eq!(
            changes(&bench, &["w", "link/a.txt"]).await,
            [change("src/a.txt", ChangeKind::Modified, Some("a"), Some("x"))]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_text_or_long_is_reported_without_it() {
    for bench in Bench::both(Bench::new) {
        fs::write(bench.path("binary"), b"\xff\xfe").unwrap();
        bench.write("long", &"l".repeat((256 << 10) + 1));
        bench.write("fits", &"f".repeat(256 << 10));
        assert_eq!(
            changes(&bench, &["w", "binary"]).await,
            [change("binary", ChangeKind::Modified, None, Some("x"))]
        );
        assert_eq!(
            changes(&bench, &["w", "long"]).await,
            [change("long", ChangeKind::Modified, None, Some("x"))]
        );
        let fits = changes(&bench, &["w", "fits"]).await;
        assert_eq!(fits[0].before.as_ref().map(String::len), Some(256 << 10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_still_reports_its_changes() {
    let bench = Bench::new().limited(RunLimits { disk_bytes: 100_000, ..RunLimits::default() });
    let outcome = bench.run("ops", &["F", "big"]).await;
    assert_eq!(outcome.error, Some(ToolError::Limit));
    assert_eq!(
        outcome.changes,
        [change("big", ChangeKind::Created, None, Some(&"\0".repeat(65_536)))]
    );

    let bench = Bench::new();
    let action = super::run_program("ops", &["F", "big"]);
    let big = bench.path("big");
    let stop = async move {
        while !big.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let outcome =
        bench.executor.run_until(&CallContext::default(), &action, TEN_SECONDS, None, stop).await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted));
    let kinds: Vec<_> = outcome.changes.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Created]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_writes_files_reports_them() {
    for bench in Bench::both(Bench::qjs) {
        bench.write("notes.txt", "one\n");
        bench.write(
            "t.mjs",
            "import * as std from 'qjs:std';\n\
         import * as os from 'qjs:os';\n\
         let file = std.open('notes.txt', 'a'); file.puts('two\\n'); file.close();\n\
         file = std.open('gone.txt', 'w'); file.puts('never mind'); file.close();\n\
         os.remove('gone.txt');\n",
        );
        let outcome = bench.run("qjs", &["-m", "t.mjs"]).await;
        assert_eq!((outcome.joined_text().as_str(), outcome.exit), ("", Some(0)));
        assert_eq!(
            outcome.changes,
            [change("notes.txt", ChangeKind::Modified, Some("one\n"), Some("one\ntwo\n"))]
        );
    }
}
