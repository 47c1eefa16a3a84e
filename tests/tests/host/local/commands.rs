//! What a command prints and how it ends, and that files are the same for commands and tools.

use super::{Machine, listener, request, said, shell};
use innerloop_core::action::{Outcome, Part, ToolError};
use innerloop_driver::{ApiKey, SecretKeys, capture::KEPT};
use innerloop_host::environment::{ActionRequest, Environment};
use innerloop_sandbox::{OutputWatcher, RoomFuture, RunLimits};
use innerloop_tests::{masks::starred, patience::in_time};
use serde_json::json;
use std::{
    fs,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What stands in each part of an outcome.
fn parts(outcome: &Outcome) -> Vec<&str> {
    let texts = outcome.parts.iter().map(|part| match part {
        Part::Text { text } => text.as_str(),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_both_outputs_come_apart_with_the_exit_code() {
    for machine in Machine::both() {
        let outcome = machine.shell("echo out; echo err >&2; echo more; exit 3").await;
        assert_eq!(parts(&outcome), ["out\nmore\n", "err\n"]);
        assert_eq!((outcome.exit, outcome.error), (Some(3), Some(ToolError::Exit)));
        assert!(outcome.streams && !outcome.timed_out, "{outcome:?}");
        for (command, code) in [
            ("true", 0),
            ("false", 1),
            ("no-such-program-here", 127),
            ("exit 255", 255),
            ("kill -TERM $$", 143),
            ("kill -KILL $$", 137),
            ("(", 2),
        ] {
            assert_eq!(machine.shell(command).await.exit, Some(code), "{command}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_the_shell_is_bash_where_there_is_one_and_complains_as_it_does_alone() {
    let machine = Machine::bare();
    let outcome = machine.shell("a=(1 2); echo ${#a[@]} $0 $#; ls -d .; nope").await;
    assert_eq!(parts(&outcome), ["2 bash 0\n.\n", "bash: line 1: nope: command not found\n"]);
    let outcome = machine.shell("true\ntrue\nnope").await;
    assert_eq!(parts(&outcome)[1], "bash: line 3: nope: command not found\n");
    // Nobody is asked anything.
    assert_eq!(machine.says("cat; read -r word; echo \"<$word>\"").await, "<>\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn d7_programs_of_the_machine_run_by_their_name_with_input() {
    for machine in Machine::both() {
        let run = json!({
            "action": "run_program", "program": "sort", "args": ["-r", "-"], "stdin": "a\nc\nb\n",
        });
        assert_eq!(said(&machine.act(run).await), "c\nb\na\n");
        // It need not read what it is given.
        let much = "x".repeat(1 << 20);
        let run = json!({"action": "run_program", "program": "true", "args": [], "stdin": much});
        assert_eq!(said(&machine.act(run).await), "");
    }
    let run = json!({"action": "run_program", "program": "no-such-program", "args": []});
    let outcome = Machine::bare().act(run).await;
    assert_eq!(outcome.error, Some(ToolError::NotFound), "{outcome:?}");
    assert!(outcome.joined_text().contains("no program `no-such-program` on this machine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn d3_commands_and_file_tools_see_the_same_files_by_whatever_path() {
    for machine in Machine::both() {
        let path = |path: &str| machine.path(path).to_str().unwrap().to_owned();
        let root = path("").trim_end_matches('/').to_owned();
        // The real path, the path from the workspace's root on, and one from the folder on.
        for (n, name) in
            [path("new/0.txt"), "/new/1.txt".into(), "new/2.txt".into()].into_iter().enumerate()
        {
            let write = json!({"action": "write", "path": name, "content": format!("text {n}\n")});
            assert_eq!(machine.act(write).await.error, None, "{name}");
            let text = machine.says(&format!("cat {root}/new/{n}.txt")).await;
            assert_eq!(text, format!("text {n}\n"), "{name}");
        }
        let _ = machine.says("mkdir -p sub/deep; echo found >sub/deep/it.txt").await;
        for (action, expected) in [
            (json!({"action": "read", "path": path("sub/deep/it.txt")}), "found"),
            (json!({"action": "read", "path": "sub/deep/it.txt"}), "found"),
            (json!({"action": "list", "path": path("sub"), "depth": 2}), "it.txt"),
            (json!({"action": "list", "path": root, "depth": 1}), "new/"),
            (json!({"action": "glob", "pattern": format!("{root}/sub/**/*.txt")}), "deep/it.txt"),
            (json!({"action": "glob", "pattern": "**/it.*", "path": path("sub")}), "it.txt"),
            (
                json!({"action": "grep", "pattern": "fo+und", "path": path("sub"),
                       "mode": "content", "ignore_case": false}),
                "found",
            ),
            (json!({"action": "read_many", "include": [path("sub/deep/it.txt")]}), "found"),
            (
                json!({"action": "edit", "path": path("sub/deep/it.txt"), "old": "found",
                       "new": "found again"}),
                "",
            ),
        ] {
            let outcome = machine.act(action.clone()).await;
            let text = outcome.joined_text();
            assert!(outcome.error.is_none() && text.contains(expected), "{action}: {outcome:?}");
        }
        let patch = format!(
            "*** Begin Patch\n*** Update File: {root}/sub/deep/it.txt\n-found again\n+patched\n\
             *** Add File: {root}/added.txt\n+added\n*** End Patch\n"
        );
        let outcome = machine.act(json!({"action": "patch", "patch": patch})).await;
        assert_eq!(outcome.error, None, "{outcome:?}");
        assert_eq!(machine.says("cat sub/deep/it.txt added.txt").await, "patched\nadded\n");
        // What is not in the workspace stays out of their reach.
        fs::write(machine.dir.path().join("beside"), "secret").unwrap();
        for outside in [format!("{root}/../beside"), "/etc/passwd".into()] {
            let outcome = machine.act(json!({"action": "read", "path": outside})).await;
            assert!(outcome.error.is_some(), "{outside}: {outcome:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_output_is_heard_as_it_comes_and_kept_by_its_head_and_tail() {
    for machine in Machine::both() {
        let (heard, on_delta) = listener();
        let action =
            shell("echo first; until [ -e heard ]; do sleep 0.02; done; echo second >&2", None);
        let request = ActionRequest { on_delta: Some(on_delta), ..request(action) };
        // The command goes on when its first line was heard.
        let watch = in_time("waiting for the first line", async {
            while !heard.lock().unwrap().contains("first\n") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            fs::write(machine.path("heard"), "").unwrap();
            heard.lock().unwrap().clone()
        });
        let (outcome, early) = tokio::join!(machine.local.carry_out(request), watch);
        assert_eq!((parts(&outcome), &*early), (vec!["first\n", "second\n"], "first\n"));
        assert_eq!(*heard.lock().unwrap(), "first\nsecond\n");

        let outcome = machine.shell("seq 1 1000000").await;
        let text = outcome.joined_text();
        assert!(outcome.capped_at_source && text.len() < KEPT + 100, "{}", text.len());
        assert!(text.starts_with("1\n2\n3\n") && text.ends_with("999999\n1000000\n"));
        assert!(text.contains("bytes of output dropped here"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_command_that_prints_too_much_is_ended() {
    let Machine { dir: _dir, local } = Machine::bare();
    let local = local.with_limits(RunLimits { output_bytes: 1 << 20, ..RunLimits::default() });
    for (stream, part) in [("yes", 0), ("yes >&2", 1)] {
        let outcome = local.carry_out(request(shell(stream, None))).await;
        assert_eq!(outcome.error, Some(ToolError::Limit), "{stream}");
        let parts = parts(&outcome);
        assert_eq!(parts[part].len(), 1 << 20, "{stream}");
        assert!(parts[2].contains("it was stopped because it printed too much"), "{parts:?}");
    }
}

/// Has room for so many pieces.
struct Reader {
    rooms: usize,
    told: AtomicUsize,
    bytes: AtomicUsize,
}

impl OutputWatcher for Reader {
    fn tell(&self, text: &str) {
        self.told.fetch_add(1, Ordering::AcqRel);
        self.bytes.fetch_add(text.len(), Ordering::AcqRel);
    }

    fn has_room(&self) -> bool {
        self.told.load(Ordering::Acquire) < self.rooms
    }

    fn room(&self) -> RoomFuture<'_> {
        if self.has_room() { Box::pin(std::future::ready(())) } else { Box::pin(pending()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_command_waits_for_whoever_reads_and_its_time_goes_on() {
    let machine = Machine::bare();
    let reader =
        Arc::new(Reader { rooms: 3, told: AtomicUsize::new(0), bytes: AtomicUsize::new(0) });
    let on_delta = Some(Arc::clone(&reader) as Arc<dyn OutputWatcher>);
    let timeout = Duration::from_millis(700);
    let command = "seq 1 100000000 & p=$!; sleep 0.3; echo $p >pid; wait";
    let action = shell(command, None);
    let outcome =
        machine.local.carry_out(ActionRequest { timeout, on_delta, ..request(action) }).await;
    assert!(outcome.timed_out && outcome.exit.is_none(), "{outcome:?}");
    // The pieces that had room, and what the pipes and the shell held.
    let bytes = reader.bytes.load(Ordering::Acquire);
    assert!((1..1 << 20).contains(&bytes), "{bytes}");
    assert_eq!(outcome.joined_text().len(), bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_keys_are_taken_out_of_what_commands_print() {
    let Machine { dir: _dir, local } = Machine::bare();
    let key = ApiKey::new("sk-ant-test-0123456789abcdef");
    let local = local.without_keys(&SecretKeys::new([&key].into_iter()));
    let (heard, on_delta) = listener();
    let command = "printf 'a=sk-ant-test-0123'; sleep 0.2; printf '456789abcdef;'; \
                   printf sk-ant-test-0123456789abcdef >&2";
    let request = ActionRequest { on_delta: Some(on_delta), ..request(shell(command, None)) };
    let outcome = local.carry_out(request).await;
    let shown: Vec<String> = parts(&outcome).into_iter().map(starred).collect();
    assert_eq!(shown, ["a=***;", "***"]);
    assert!(!heard.lock().unwrap().contains("sk-ant"), "{heard:?}");
}
