//! How fast things flow: an endpoint and a program wait for whoever reads, and what a program
//! prints piece by piece costs little more than its bytes.

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    example::programs,
    mock::Reply,
    program::{KEY, Started, run, wait_for},
    scene::Scene,
    wires,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{PipeReader, Read},
    process::Command,
    thread,
    time::Duration,
};

const DRIP: &str = include_str!("guests/drip.wat");

/// A scene whose model runs a program, and then says that it is done.
fn running(program: &str, args: &[&str]) -> Scene {
    let call = json!({"program": program, "args": args, "timeout_ms": 100_000});
    let call = Message::call("toolu_1", "run_program", &call);
    Scene::streaming(&[call, Message::text("all done")])
}

/// The text of the live output.
fn live(lines: &[Value]) -> Vec<&str> {
    let deltas = lines.iter().filter(|event| event["type"] == "tool_call_output_delta");
    deltas.map(|event| event["text"].as_str().unwrap()).collect()
}

/// Has the program write to a pipe that is not read yet.
fn unread(command: &mut Command) -> PipeReader {
    let (reader, writer) = std::io::pipe().unwrap();
    command.arg("--json").stdout(writer);
    reader
}

#[test]
fn a_program_that_prints_byte_by_byte_costs_little_more_than_its_bytes() {
    let scene = running("drip", &[]);
    let folder = scene.path("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("drip.wasm"), wat::parse_str(DRIP).unwrap()).unwrap();
    let (folder, log) = (scene.arg("programs"), scene.arg("session.log"));
    let run = scene.run(&["--json", "--programs", &folder, "--log", &log]).exits(0);
    let lines = run.json_lines();
    let deltas = live(&lines);
    let printed: String = ('a'..='z').cycle().take(300_000).collect();
    assert_eq!(deltas.concat(), printed, "nothing is lost, up to the last byte");
    assert!(deltas.len() < 1_000, "{}", deltas.len());
    // Once as live output, once as the outcome; and what the session is besides.
    let log = scene.text("session.log").len();
    assert!(log < 300_000 * 5 / 2, "{log}");
}

#[test]
fn of_what_a_program_prints_a_log_keeps_the_beginning_and_the_end() {
    let script = "import * as std from 'qjs:std';\n\
                  for (let line = 0; line < 20000; line++) std.out.puts('x'.repeat(999) + '\\n');\n\
                  std.out.puts('last');\n";
    let scene = running("qjs", &["-m", "much.mjs"]).file("much.mjs", script);
    let log = scene.arg("session.log");
    let mut command = scene.command("go");
    command.arg("--json").arg("--programs").arg(programs()).args(["--log", &log]);
    let lines = run(&mut command).exits(0).json_lines();
    let shown = live(&lines).concat();
    assert!(shown.ends_with("xxx\nlast") && shown.len() < 1 << 20, "{}", shown.len());
    assert!(shown.contains("the rest of the output is shown when it ends"));
    // 20 MB were printed. 2 MiB are kept of the outcome, and some of what was shown.
    let log = scene.text("session.log").len();
    assert!(log < 3 << 20, "{log}");
}

/// The start of a key is held back until it is clear what it is.
#[test]
fn what_was_held_back_is_shown_however_a_program_ends() {
    let held = "sk-an";
    assert!(KEY.starts_with(held));
    let script = |end: &str| {
        let print = format!("std.out.puts('before {held}');\nstd.out.flush();");
        format!("import * as std from 'qjs:std';\n{print}\n{end}\n")
    };
    for (end, error) in [("", ""), ("std.exit(3);", "exit"), ("for (;;);", "timeout")] {
        let call = json!({"program": "qjs", "args": ["-m", "t.mjs"], "timeout_ms": 2_000});
        let messages = [Message::call("toolu_1", "run_program", &call), Message::text("done")];
        let scene = Scene::streaming(&messages).file("t.mjs", &script(end));
        let mut command = scene.command("go");
        let run = run(command.arg("--json").arg("--programs").arg(programs())).exits(0);
        let lines = run.json_lines();
        assert_eq!(live(&lines).concat(), format!("before {held}"), "{end}");
        let ended = lines.iter().find(|event| event["type"] == "tool_call_end").unwrap();
        assert_eq!(ended["outcome"]["error"].as_str().unwrap_or_default(), error, "{ended}");
    }
    let script = script("std.open('begun', 'w').close();\nfor (;;);");
    let scene = running("qjs", &["-m", "t.mjs"]).in_place().file("t.mjs", &script);
    let mut command = scene.command("go");
    let program = Started::new(command.arg("--json").arg("--programs").arg(programs()), b"");
    wait_for("the program", || scene.workspace().join("begun").exists());
    program.interrupt();
    let lines = program.finish().exits(130).json_lines();
    // What may become a key is not told of one that is interrupted: more of it might have come.
    assert_eq!(live(&lines).concat(), "before ", "an interrupted one");
}

#[test]
fn a_program_waits_while_nobody_reads() {
    let scene = running("qjs", &["-m", "much.mjs"]).in_place();
    let script = "import * as std from 'qjs:std';\n\
                  for (let line = 0; line < 35000; line++) std.out.puts(`the line ${line}\\n`);\n\
                  std.out.flush();\n\
                  std.open('printed', 'w').close();\n";
    let scene = scene.file("much.mjs", script);
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs());
    let mut reader = unread(&mut command);
    let program = Started::new(&mut command, b"");
    drop(command);
    wait_for("the request", || scene.model.requests().len() == 1);
    thread::sleep(Duration::from_secs(4));
    let is_done = scene.workspace().join("printed").exists();
    assert!(!is_done, "it has printed all, and nobody has read it");
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    let _run = program.finish().exits(0);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let printed: String = (0..35_000).map(|line| format!("the line {line}\n")).collect();
    assert_eq!(live(&lines).concat(), printed);
    assert!(scene.workspace().join("printed").exists());
}

#[test]
fn the_time_of_a_program_that_waits_for_a_reader_goes_on() {
    let call = json!({"program": "qjs", "args": ["-m", "much.mjs"], "timeout_ms": 1_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let script = "import * as std from 'qjs:std';\n\
                  for (;;) std.out.puts('a line of many\\n');\n";
    let scene = Scene::streaming(&messages).file("much.mjs", script);
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs());
    let mut reader = unread(&mut command);
    let program = Started::new(&mut command, b"");
    drop(command);
    wait_for("the request", || scene.model.requests().len() == 1);
    thread::sleep(Duration::from_secs(3));
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    let _run = program.finish().exits(0);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended = lines.iter().find(|event| event["type"] == "tool_call_end").unwrap();
    assert_eq!(ended["outcome"]["error"], "timeout");
    let printed = live(&lines).concat();
    // What waited for the reader, the pipe's part and the session's, and no more.
    assert!(printed.starts_with("a line of many\n"), "{printed:.40}");
    assert!(printed.len() < 1 << 20, "{} bytes", printed.len());
}

#[cfg(target_os = "linux")]
#[test]
fn an_endpoint_without_end_waits_while_nobody_reads() {
    let parts = wires::events(
        WireKind::Anthropic,
        &Message::text(&(0..500).map(|at| format!("All {at} ")).collect::<String>()),
    );
    let text = parts.iter().position(|event| event.contains("All")).unwrap();
    let begin = Reply::new(200, wires::stream_type(WireKind::Anthropic), parts[..text].concat());
    let scene = Scene::new(vec![begin.and_then(parts[text].repeat(100)).without_end()]);
    let mut command = scene.command("go");
    // The shell, which may be compiled beside the first request, takes memory for that.
    command.arg("--programs").arg(programs());
    let reader = unread(&mut command);
    let program = Started::new(&mut command, b"");
    drop(command);
    wait_for("the request", || scene.model.requests().len() == 1);
    thread::sleep(Duration::from_secs(1));
    let before = program.memory();
    thread::sleep(Duration::from_secs(3));
    let after = program.memory();
    assert!(after < before + (8 << 20), "{before} bytes have become {after}");
    program.interrupt();
    thread::sleep(Duration::from_millis(100));
    program.interrupt();
    let _stuck = program.finish().exits(130);
    drop(reader);
}
