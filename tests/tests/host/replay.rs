//! Recording model traffic and replaying it: without key and network, equal to what was, and
//! with a stop where the tools say something else.

use innerloop_tests::{
    anthropic::Message,
    example::{Example, JAVASCRIPT, PROMPT, PYTHON},
    mock::Reply,
    program::Run,
    scene::Scene,
};
use serde_json::json;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

fn project(example: &Example) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    example.copy_project(&project);
    (folder, project)
}

#[test]
fn the_examples_are_mended_from_their_recordings() {
    for example in [JAVASCRIPT, PYTHON] {
        let (_folder, project) = project(&example);
        let _red = example.own_test(&project).exits(1);
        let run = example.replay(&project, &example.recording(), PROMPT).exits(0);
        assert!(run.stdout.starts_with("The tests pass: 11 of 11."), "{run:?}");
        let _green = example.own_test(&project).exits(0);
    }
}

#[test]
fn the_recordings_are_what_the_scripts_give() {
    for example in [JAVASCRIPT, PYTHON] {
        let (folder, project) = project(&example);
        let fresh = folder.path().join("traffic.jsonl");
        let _run = example.record(&project, &fresh).exits(0);
        let kept = example.recording();
        let advice = "run `cargo run -p innerloop-tests --bin record-example`";
        let same = Example::exchanges(&fresh) == fs::read_to_string(&kept).unwrap();
        assert!(same, "{} is out of date: {advice}", kept.display());
    }
}

#[test]
fn a_sabotaged_tool_stops_the_replay_and_shows_both_texts() {
    let (_folder, project) = project(&JAVASCRIPT);
    let money = project.join("src/money.js");
    let text = fs::read_to_string(&money).unwrap();
    fs::write(&money, text.replace("percent + 50", "percent + 0")).unwrap();
    let run = JAVASCRIPT.replay(&project, &JAVASCRIPT.recording(), PROMPT).exits(3);
    assert!(run.complaint().contains("model call 3"), "{run:#?}");
    let told = run.stderr.split("innerloop: ").last().unwrap();
    let (recorded, now) = told.split_once("--- now:").unwrap();
    assert!(recorded.contains("--- recorded:"), "{told}");
    assert!(recorded.contains("\n  ok 3 - percentages are rounded half up\n"), "{told}");
    assert!(now.contains("\n  not ok 3 - percentages are rounded half up: expected 1, got 0\n"));
}

#[test]
fn a_recording_with_a_status_that_no_response_has_ends() {
    let (folder, project) = project(&JAVASCRIPT);
    let text = fs::read_to_string(JAVASCRIPT.recording()).unwrap();
    assert!(text.contains(r#""status":200"#));
    for status in [0, 7, 65_535] {
        let file = folder.path().join(format!("{status}.jsonl"));
        fs::write(&file, text.replacen(r#""status":200"#, &format!(r#""status":{status}"#), 1))
            .unwrap();
        let run = JAVASCRIPT.replay(&project, &file, PROMPT).exits(3);
        let why = "line 1 of the recording cannot be read: no response has its status";
        assert!(run.complaint().contains(why), "{run:#?}");
    }
    // What can be a response is one, whatever it may mean.
    for status in [100, 199, 204, 304, 600, 999] {
        let file = folder.path().join(format!("{status}.jsonl"));
        fs::write(&file, text.replace(r#""status":200"#, &format!(r#""status":{status}"#)))
            .unwrap();
        let run = JAVASCRIPT.replay(&project, &file, PROMPT);
        assert!(run.code.is_some_and(|code| code != 101), "{status}: {run:#?}");
    }
}

#[test]
fn another_prompt_stops_the_replay_at_the_first_call() {
    let (_folder, project) = project(&JAVASCRIPT);
    let run = JAVASCRIPT.replay(&project, &JAVASCRIPT.recording(), "Break the tests").exits(3);
    assert!(run.complaint().contains("model call 1"), "{run:#?}");
    for line in ["user: Make the tests pass", "user: Break the tests"] {
        assert!(run.stderr.contains(line), "{run:#?}");
    }
    let _untouched = JAVASCRIPT.own_test(&project).exits(1);
}

#[test]
fn a_recording_that_ends_too_early_is_told() {
    let (folder, project) = project(&JAVASCRIPT);
    let text = fs::read_to_string(JAVASCRIPT.recording()).unwrap();
    let first: String = text.split_inclusive('\n').take(2).collect();
    let short = folder.path().join("short.jsonl");
    fs::write(&short, first).unwrap();
    let run = JAVASCRIPT.replay(&project, &short, PROMPT).exits(3);
    assert!(run.complaint().contains("the recording ends before model call 3"), "{run:#?}");
}

#[test]
fn a_run_with_faults_replays_to_the_same_end() {
    let call = json!({"file_path": "note.txt", "content": "kept"});
    let call = Message::call("toolu_1", "write_file", &call).thinking("I write it down.");
    let scene = Scene::new(vec![
        Reply::rate_limited("0"),
        Reply::stream(&call).cut_after(500),
        Reply::stream(&call),
        Reply::new(200, "application/json", Message::text("a whole body").body()),
    ]);
    let file = scene.arg("traffic.jsonl");
    let first = scene.run(&["--json", "--record", &file]).exits(0);
    fs::remove_file(scene.path("workspace/note.txt")).unwrap();
    let second = scene.run(&["--json", "--replay", &file]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "kept");
    assert_eq!(scene.model.requests().len(), 4);
    let untimed = |run: &Run| {
        let lines = run.json_lines().into_iter().map(|mut line| {
            for of_this_session in ["at", "wall", "session", "duration_ms"] {
                line[of_this_session].take();
            }
            // Another session waits another while, and so do its replies.
            for of_time in ["delay_ms", "ttft_ms", "ms"] {
                line[of_time].take();
            }
            if let Some(outcome) = line["outcome"].as_object_mut() {
                outcome.remove("duration_ms");
            }
            // A broken connection is told in other words when it is recorded.
            (line["type"] != "assistant_text_delta").then_some(line)
        });
        lines.flatten().collect::<Vec<_>>()
    };
    assert_eq!(untimed(&first), untimed(&second));
}
