//! `innerloop run` against a mock model: the main job, faults on the way, limits, the forms of
//! output, and Ctrl-C.

use innerloop_core::{log, output::Output};
use innerloop_tests::{
    anthropic::Message,
    example::{JAVASCRIPT, programs},
    mock::Reply,
    program::{Started, on_terminal, run, run_with, wait_for},
    scene::Scene,
};
use serde_json::{Value, json};
use std::time::Duration;

fn write(id: &str, text: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": "note.txt", "content": text}))
}

#[test]
fn the_agent_mends_the_example_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    JAVASCRIPT.copy_project(&project);
    let before = JAVASCRIPT.own_test(&project).exits(1);
    assert!(before.stdout.contains("not ok 5 - ten pieces have 5 %"), "{before:?}");
    let run = JAVASCRIPT.record(&project, &folder.path().join("traffic.jsonl")).exits(0);
    assert!(run.stdout.starts_with("The tests pass: 11 of 11."), "{run:?}");
    let lines = [
        "• edit src/discount.js",
        "-  const tier = TIERS.find(({ from }) => quantity > from);\n",
        "+  const tier = TIERS.find(({ from }) => quantity >= from);\n",
        "7 turns · 8 tool calls · 17,152 tokens in, 749 out · $0.0418 · 1 file changed · ",
    ];
    for line in lines {
        assert!(run.stderr.contains(line), "{line} is missing: {run:#?}");
    }
    let after = JAVASCRIPT.own_test(&project).exits(0);
    assert!(after.stdout.contains("11 of 11 passed"), "{after:?}");
}

#[test]
fn a_rate_limit_is_waited_for_and_a_cut_stream_is_asked_again() {
    let done = Message::text("all done");
    let scene = Scene::new(vec![
        Reply::rate_limited("0"),
        Reply::error(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
        Reply::stream(&write("toolu_1", "never")).cut_after(600),
        Reply::garbage("what?"),
        Reply::stream(&write("toolu_2", "once")),
        Reply::stream(&done),
    ]);
    let run = scene.run(&[]).exits(0);
    assert_eq!(run.stdout, "all done\n");
    assert_eq!(scene.text("workspace/note.txt"), "once");
    for attempt in 2..=5 {
        assert!(run.stderr.contains(&format!("try {attempt} in ")), "{run:#?}");
    }
    assert_eq!(scene.model.requests().len(), 6);
}

#[test]
fn thinking_and_text_stand_on_lines_of_their_own() {
    let scene = Scene::streaming(&[Message::text("42").thinking("Six times seven.")]);
    let run = scene.run(&[]).exits(0);
    assert!(run.stderr.starts_with("Six times seven.\n42\n"), "{run:#?}");
}

#[test]
fn retries_come_to_an_end() {
    let overloaded = || Reply::error(529, "overloaded_error", "Overloaded");
    let scene = Scene::new((0..9).map(|_| overloaded().header("retry-after", "0")).collect());
    let run = scene.run(&[]).exits(1);
    assert!(run.complaint().contains("Overloaded; wait a while"), "{run:#?}");
    assert_eq!(scene.model.requests().len(), 5);
}

#[test]
fn a_limit_ends_the_run_with_its_own_exit_code() {
    let calls = [write("toolu_1", "one"), write("toolu_2", "two"), write("toolu_3", "three")];
    let scene = Scene::streaming(&calls);
    let run = scene.run(&["--max-tool-rounds", "2"]).exits(4);
    assert!(run.complaint().contains("--max-tool-rounds 2"), "{run:#?}");
    assert_eq!(scene.text("workspace/note.txt"), "two");
    let scene = Scene::streaming(&calls);
    let run = scene.run(&["--max-turns", "2"]).exits(4);
    assert!(run.complaint().contains("--max-turns 2"), "{run:#?}");
}

#[test]
fn the_prompt_comes_from_standard_input() {
    let scene = Scene::streaming(&[Message::text("hello")]);
    let run = run_with(scene.command("-").arg("--quiet"), "Schreib «grün»\n".as_bytes()).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("hello\n", ""));
    assert!(scene.model.requests()[0].body.contains("Schreib «grün»"));
}

#[test]
fn json_ends_with_one_record_and_the_log_is_the_session() {
    let scene = Scene::streaming(&[write("toolu_1", "x\n"), Message::text("done")]);
    let run = scene.run(&["--json", "--log", &scene.arg("session.log")]).exits(0);
    assert_eq!(run.stderr, "");
    let lines = run.json_lines();
    let (result, events) = lines.split_last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["status"], "done");
    assert_eq!(result["exit_code"], 0);
    assert_eq!(result["text"], "done");
    assert_eq!(result["tool_calls"], 1);
    assert_eq!(result["files"], json!([{"path": "note.txt", "kind": "created"}]));
    assert_eq!(result["diff"], "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+x\n");
    assert!(events.iter().all(|event| event["type"] != "result"));
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], json!(index + 1));
    }

    let replayed = log::replay(&scene.text("session.log")).unwrap();
    let outputs = replayed.outputs.iter().flatten();
    let again = outputs.filter_map(|output| match output {
        Output::Event(event) => Some(serde_json::to_value(event).unwrap()),
        Output::Effect(_) => None,
    });
    assert_eq!(again.collect::<Vec<Value>>(), events);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_a_log_or_a_recording() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::streaming(&[Message::text("done")]);
    let _run = scene.run(&["--log", &scene.arg("a"), "--record", &scene.arg("b")]).exits(0);
    for name in ["a", "b"] {
        let mode = std::fs::metadata(scene.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// The last line on standard output, if it is the one terminal record.
fn terminal(run: &innerloop_tests::program::Run) -> Value {
    let lines = run.json_lines();
    let is_result = |line: &&Value| line["type"] == "result";
    assert_eq!(lines.iter().filter(is_result).count(), 1, "{run:#?}");
    lines.last().filter(is_result).unwrap().clone()
}

#[test]
fn ctrl_c_while_the_model_speaks_ends_with_130_and_a_record() {
    let slow = Reply::stream(&Message::text("never ending")).paced(Duration::from_secs(5));
    let scene = Scene::new(vec![slow]);
    let program = Started::new(scene.command("go").arg("--json"), b"");
    wait_for("the request", || scene.model.requests().len() == 1);
    program.interrupt();
    let run = program.finish().exits(130);
    let record = terminal(&run);
    assert_eq!((&record["status"], &record["exit_code"]), (&json!("interrupted"), &json!(130)));
    assert!(run.complaint().contains("interrupted"), "{run:#?}");
}

#[test]
fn a_request_to_end_is_as_ctrl_c_with_its_own_code() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let slow = Reply::stream(&Message::text("never ending")).paced(Duration::from_secs(5));
        let scene = Scene::new(vec![Reply::stream(&write("toolu_1", "kept")), slow]);
        let program = Started::new(scene.command("go").arg("--json"), b"");
        wait_for("the request", || scene.model.requests().len() == 2);
        program.signal(signal);
        let record = terminal(&program.finish().exits(code));
        assert_eq!(record["status"], "interrupted");
        assert_eq!(record["exit_code"], code);
        assert_eq!(record["files"], json!([{"path": "note.txt", "kind": "created"}]));
        assert!(record["diff"].as_str().unwrap().contains("+kept"), "{record}");
    }
}

#[test]
fn ctrl_c_while_a_program_runs_ends_it_and_keeps_what_was_done() {
    let call = json!({"program": "qjs", "args": ["-m", "loop.mjs"], "timeout_ms": 100_000});
    let scene = Scene::streaming(&[
        write("toolu_1", "kept"),
        Message::call("toolu_2", "run_program", &call),
    ]);
    let scene = scene.file("loop.mjs", "console.log('begun');\nfor (;;);\n");
    let mut command = scene.command("go");
    let program = Started::new(command.arg("--json").arg("--programs").arg(programs()), b"");
    wait_for("the program's output", || program.said().contains("begun"));
    program.interrupt();
    let run = program.finish().exits(130);
    let record = terminal(&run);
    assert_eq!(record["files"], json!([{"path": "note.txt", "kind": "created"}]));
    assert_eq!(scene.text("workspace/note.txt"), "kept");
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_still_with_a_record() {
    let slow = Reply::stream(&Message::text("never ending")).paced(Duration::from_secs(5));
    let scene = Scene::new(vec![slow]);
    let program = Started::new(scene.command("go").arg("--json"), b"");
    wait_for("the request", || scene.model.requests().len() == 1);
    program.interrupt();
    program.interrupt();
    assert_eq!(terminal(&program.finish().exits(130))["status"], "interrupted");
}

#[test]
fn a_second_ctrl_c_ends_even_a_program_that_is_stuck() {
    // Nobody reads the pipe, so that the program hangs as soon as the pipe is full.
    let (reader, writer) = std::io::pipe().unwrap();
    let scene = Scene::streaming(&[Message::text(&"long ".repeat(50_000))]);
    let mut command = scene.command("go");
    command.arg("--json").stdout(writer);
    let program = Started::new(&mut command, b"");
    drop(command);
    wait_for("the request", || scene.model.requests().len() == 1);
    std::thread::sleep(Duration::from_millis(500));
    program.interrupt();
    std::thread::sleep(Duration::from_millis(100));
    program.interrupt();
    let _stuck = program.finish().exits(130);
    drop(reader);
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let scene = Scene::streaming(&[write("toolu_1", "kept"), Message::text("done")]);
    for json in [true, false] {
        let scene = if json { &scene } else { &Scene::streaming(&[Message::text("done")]) };
        let mut command = scene.command("go");
        if json {
            command.arg("--json");
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let run = run(&mut command);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    assert_eq!(scene.text("workspace/note.txt"), "kept");
}

#[test]
fn what_is_said_cannot_steer_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2Jtext";
    let call = Message::call("toolu_1", "read_file", &json!({"file_path": "evil.txt"}));
    let scene = Scene::streaming(&[call, Message::text(evil)]).file("evil.txt", evil);
    let run = scene.run(&[]).exits(0);
    for out in [&run.stdout, &run.stderr] {
        assert!(out.contains("owned") && !out.contains(['\u{1b}', '\u{7}']), "{out:?}");
    }
    let scene = Scene::streaming(&[write("toolu_1", "x\n"), Message::text("done")]);
    let run = scene.run(&["--color", "always"]).exits(0);
    assert!(run.stderr.contains("\u{1b}[32m+x\u{1b}[0m"), "{run:?}");
}

/// Marks of direction, tags and the like, with which text reads otherwise than it is.
const UNSEEN: [char; 8] =
    ['\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}', '\u{feff}', '\u{200b}', '\u{e0041}', '\u{9b}'];

#[test]
fn what_is_said_reads_as_what_it_is() {
    let evil: String = UNSEEN.iter().collect();
    let name = format!("gpj{evil}.sh");
    let text = format!("text{evil}\n");
    let call = json!({"file_path": name, "content": text});
    let read = json!({"file_path": "evil.txt"});
    let scene = Scene::new(vec![
        Reply::error(529, "overloaded_error", &text).header("retry-after", "0"),
        Reply::stream(&Message::call("toolu_1", "write_file", &call)),
        Reply::stream(&Message::call("toolu_2", "read_file", &read)),
        Reply::stream(&Message::text(&text).thinking(&text)),
    ]);
    let scene = scene.file("evil.txt", &text);
    let run = scene.run(&[]).exits(0);
    for out in [&run.stdout, &run.stderr] {
        assert!(!out.contains(UNSEEN), "{out:?}");
    }
    let escaped = "\\u202e\\u2066\\u200f\\u061c\\ufeff\\u200b\\udb40\\udc41\\u009b";
    for place in ["try 2 in ", "+++ b/gpj", "+text", "• write gpj", "  ", "text"] {
        let is_there = |line: &str| line.starts_with(place) && line.contains(escaped);
        assert!(run.stderr.lines().any(is_there), "{place}: {}", run.stderr);
    }
    assert_eq!(run.stdout, format!("text{escaped}\n"));

    // The lines of JSON are escaped as JSON is, on a terminal and in a pipe.
    for is_terminal in [true, false] {
        let scene = Scene::streaming(&[Message::text(&text)]);
        let mut command = scene.command("go");
        let _json = command.arg("--json");
        let mut command = if is_terminal { on_terminal(&command) } else { command };
        let run = run_with(&mut command, b"").exits(0);
        assert!(run.stdout.contains(escaped) && !run.stdout.contains(UNSEEN), "{}", run.stdout);
        let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap().trim()).unwrap();
        assert_eq!(last["text"], text);
    }
}

#[test]
fn pictures_files_and_texts_go_with_the_prompt() {
    let scene = Scene::streaming(&[Message::text("I see.")]);
    // What it is counts, not what it is called.
    std::fs::write(scene.path("photo.txt"), [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 8]].concat())
        .unwrap();
    std::fs::write(scene.path("paper.bin"), "%PDF-1.7 and so on").unwrap();
    std::fs::write(scene.path("notes.md"), "# Notes").unwrap();
    let url = "https://example.com/a.png".to_owned();
    let named = [scene.arg("photo.txt"), scene.arg("paper.bin"), url, scene.arg("notes.md")];
    let attached = named.iter().flat_map(|name| ["--attach", name]);
    let _run = run(scene.command("What is this?").args(attached)).exits(0);
    let body: Value = serde_json::from_str(&scene.model.requests()[0].body).unwrap();
    let content = body["messages"][0]["content"].as_array().unwrap();
    let kinds: Vec<_> = content.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "document", "image", "text"]);
    assert_eq!(content[1]["source"]["media_type"], "image/png");
    assert_eq!(
        (&content[2]["title"], &content[3]["source"]["type"]),
        (&json!("paper.bin"), &json!("url"))
    );
    assert_eq!(content[4]["text"], "notes.md:\n\n# Notes");
    std::fs::write(scene.path("odd"), [0xff, 0, 1]).unwrap();
    for (name, why) in [
        (scene.arg("odd"), "it is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF nor text"),
        (scene.arg("none"), "No such file"),
        (scene.arg("."), "it is no file"),
    ] {
        let refused = run(scene.command("Look").args(["--attach", &name])).exits(2);
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
}

#[test]
fn an_end_that_is_no_success_has_a_code_a_status_and_the_providers_words() {
    let stream = |text: &str, reason: &str| Reply::stream(&Message::text(text).stop_reason(reason));
    let cut = || vec![stream("One, ", "max_tokens"), stream("two", "max_tokens")];
    let refused = || vec![stream("I may not.", "refusal")];
    let empty = || vec![stream("", "end_turn"), stream("", "end_turn")];
    for (replies, code, status, text, words) in [
        (cut(), 6, "incomplete", "One, two", "output limit"),
        (refused(), 7, "refused", "I may not.", "the model refused"),
        (empty(), 1, "failed", "", "no text and no tool call"),
    ] {
        let run = Scene::new(replies).run(&["--json"]).exits(code);
        let record = terminal(&run);
        assert_eq!((&record["status"], &record["exit_code"]), (&json!(status), &json!(code)));
        assert_eq!(record["text"], text);
        assert!(record["message"].as_str().unwrap().contains(words), "{record}");
        assert!(run.complaint().contains(words), "{run:#?}");
    }
    // What there is of it is the final message.
    let run = Scene::new(cut()).run(&["-q"]).exits(6);
    assert_eq!(run.stdout, "One, two\n");
}
