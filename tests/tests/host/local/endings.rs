//! How commands end that do not by themselves: by their time limit, by the word to stop, by being
//! dropped, and by the end of the program. None of their processes is left.

use super::{Machine, line, request, shell};
use innerloop_core::action::ToolError;
use innerloop_host::environment::{ActionRequest, Environment};
use innerloop_tests::{
    anthropic::Message,
    program::{Started, innerloop, wait_for},
    scene::Scene,
};
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Long enough for a command to begin and to say so, on the slowest machine.
const BEGINS: Duration = Duration::from_secs(2);

/// Two processes that hear no word to end and write to files as long as they live: one in the
/// background, and one that the shell waits for.
const BEATS: &str = "trap '' TERM INT HUP\n\
                     beat() { while :; do echo x >>$1; sleep 0.02; done; }\n\
                     echo begun\nbeat one & beat two";

/// Whether both beat.
fn both_beat(workspace: &Path) -> bool {
    ["one", "two"].iter().all(|name| size(workspace, name) > 4)
}

fn size(workspace: &Path, name: &str) -> u64 {
    fs::metadata(workspace.join(name)).map_or(0, |found| found.len())
}

/// Nothing writes to the files any more.
fn assert_still(workspace: &Path) {
    let sizes = || ["one", "two"].map(|name| size(workspace, name));
    let before = sizes();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(sizes(), before, "something is still there");
    assert!(before.iter().all(|size| *size > 0), "{before:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_a_tree_that_hears_no_word_is_gone_two_seconds_after_its_time() {
    for machine in Machine::both() {
        let begun = Instant::now();
        let outcome = machine.shell_for(BEGINS, BEATS).await;
        assert!(begun.elapsed() >= BEGINS + Duration::from_secs(2), "{:?}", begun.elapsed());
        assert_still(&machine.path(""));
        assert!(outcome.timed_out, "{outcome:?}");
        assert_eq!((outcome.error, outcome.exit), (Some(ToolError::Timeout), None));
        assert_eq!(outcome.joined_text(), "begun\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_who_hears_the_word_has_two_seconds_to_say_what_is_left() {
    let command = "trap 'echo saved; sleep 0.3; echo done >end; exit 0' TERM\n\
                   echo begun; sleep 30 & wait";
    for machine in Machine::both() {
        let outcome = machine.shell_for(BEGINS, command).await;
        assert!(outcome.timed_out, "{outcome:?}");
        assert_eq!(outcome.joined_text(), "begun\nsaved\n");
        assert_eq!(machine.text("end"), "done\n");

        let stop = Box::pin(tokio::time::sleep(BEGINS));
        let stopped = ActionRequest { stop, ..request(shell(command, None)) };
        let outcome = machine.local.carry_out(stopped).await;
        assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Interrupted), false));
        let text = outcome.joined_text();
        assert!(text.starts_with("begun\nsaved\n"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_who_is_stopped_hears_the_word_too() {
    let machine = Machine::bare();
    let command = "trap 'echo heard; exit' TERM; echo begun; kill -STOP $$; echo never";
    let outcome = machine.shell_for(BEGINS, command).await;
    assert!(outcome.timed_out && outcome.joined_text() == "begun\nheard\n", "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_what_a_command_leaves_behind_ends_with_it() {
    for machine in Machine::both() {
        let command = "beat() { while :; do echo x >>$1; sleep 0.02; done; }\n\
                       beat one >/dev/null 2>&1 & beat two &\nsleep 0.2; echo done";
        let outcome = machine.shell(command).await;
        assert_eq!((outcome.exit, &*outcome.joined_text()), (Some(0), "done\n"));
        assert_still(&machine.path(""));
    }
    // Whoever prints the end of what a command says has time for it.
    let late = Machine::bare().says("echo a | { sleep 0.1; cat; } & echo b").await;
    assert_eq!(late, "b\na\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_a_command_whose_run_is_dropped_ends_at_once() {
    for machine in Machine::both() {
        let workspace = machine.path("");
        let run = machine.local.carry_out(request(shell(BEATS, None)));
        let beat = async {
            while !both_beat(&workspace) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            outcome = run => panic!("it has ended: {outcome:?}"),
            () = beat => {}
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_still(&workspace);
    }
}

#[test]
fn d5_no_process_survives_the_program_however_it_ends() {
    let ways: &[&str] = match Machine::confined(false) {
        Some(_) => &["never", "always"],
        None => &["never"],
    };
    for bubblewrap in ways {
        for signal in ["KILL", "TERM", "INT", "HUP"] {
            let dir = tempfile::tempdir().unwrap();
            let mut command = innerloop(["tool", "shell", &line(BEATS).to_string()]);
            command.args(["--env", "local", "--bubblewrap", bubblewrap, "-C"]).arg(dir.path());
            // It is to find bubblewrap where this test has found it.
            command.env("PATH", std::env::var_os("PATH").unwrap());
            let started = Started::new(&mut command, b"");
            wait_for("both processes", || both_beat(dir.path()));
            started.signal(signal);
            let run = started.finish();
            if signal == "KILL" {
                // The system tells those who end them.
                thread::sleep(Duration::from_millis(500));
                assert_eq!(run.code, None, "{run:?}");
            } else {
                // What it has said so far is told.
                assert!(run.stdout.starts_with("begun\n"), "{signal}: {run:?}");
            }
            assert_still(dir.path());
        }
    }
}

#[test]
fn d5_a_session_that_is_interrupted_ends_its_commands_and_tells_what_they_said() {
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let call = Message::call("toolu_1", "shell", &line(BEATS));
        let scene = Scene::streaming(&[call, Message::text("done")]).in_place();
        let mut command = scene.command("go");
        let started =
            Started::new(command.args(["--env", "local", "--approve", "all", "--json"]), b"");
        wait_for("both processes", || both_beat(&scene.workspace()));
        started.signal(signal);
        let run = started.finish();
        assert_eq!(run.code, code, "{run:#?}");
        if code.is_none() {
            thread::sleep(Duration::from_millis(500));
        } else {
            let events = run.json_lines();
            let of = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
            assert_eq!(of("tool_call_output_delta")["text"], "begun\n");
            assert_eq!(of("tool_call_end")["outcome"]["error"], "interrupted");
        }
        assert_still(&scene.workspace());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_a_command_ends_by_the_limit_of_its_call() {
    let dir = tempfile::tempdir().unwrap();
    for (limit, ends) in [(300, true), (60_000, false)] {
        let arguments = serde_json::json!({"command": "sleep 1; echo done", "timeout_ms": limit});
        let mut command = innerloop(["tool", "shell", &arguments.to_string(), "--env", "local"]);
        let run = innerloop_tests::program::run(command.arg("-C").arg(dir.path()));
        if ends {
            let run = run.exits(1);
            let complaint = "innerloop: the tool failed: timeout, at its time limit";
            assert_eq!((run.complaint(), run.stdout.trim()), (complaint, ""));
        } else {
            assert_eq!(run.exits(0).stdout, "done\n");
        }
    }
}
