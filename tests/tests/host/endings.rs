//! The end of `innerloop run`: the diff takes no longer than it may, and signals are heard until
//! the last line is printed.

use innerloop_tests::{
    anthropic::Message,
    example::programs,
    program::{Started, innerloop, wait_for},
    scene::Scene,
    terminal::Terminal,
};
use serde_json::{Value, json};
use std::{fs, io::Read as _, path::Path, process::Command, thread, time::Duration};

const BUSY: &str = include_str!("guests/busy.wat");

/// Files whose lines a program puts into another order, so that a diff of them takes long.
const FILES: usize = 40;
const LINES: usize = 20_000;

const SHUFFLE: &str = "\
import * as std from 'qjs:std';
let seed = 1;
const random = (below) => {
  seed = (seed * 48271) % 2147483647;
  return seed % below;
};
for (let file = 0; file < 40; file++) {
  const name = `file-${String(file).padStart(2, '0')}`;
  const lines = std.loadFile(name).trimEnd().split('\\n');
  for (let at = lines.length - 1; at > 0; at--) {
    const other = random(at + 1);
    [lines[at], lines[other]] = [lines[other], lines[at]];
  }
  const out = std.open(name, 'w');
  out.puts(lines.join('\\n') + '\\n');
  out.close();
}
";

/// A scene whose model has the program shuffle the files, and then says that it is done.
fn shuffling() -> Scene {
    let call = json!({"program": "qjs", "args": ["-m", "shuffle.mjs"], "timeout_ms": 100_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let messages = [messages.clone(), messages].concat();
    let scene = Scene::streaming(&messages).file("shuffle.mjs", SHUFFLE);
    let text: String = (0..LINES).map(|line| format!("{line}\n")).collect();
    (0..FILES).fold(scene, |scene, file| scene.file(&format!("file-{file:02}"), &text))
}

fn with_programs(scene: &Scene) -> Command {
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs());
    command
}

#[test]
fn a_diff_that_takes_too_long_falls_back_to_a_line_for_each_file() {
    let scene = shuffling();
    let program = Started::new(&mut with_programs(&scene), b"");
    let run = program.finish().exits(0);
    let line = "Files a/file-39 and b/file-39 differ: 20000 lines before, 20000 now (there was no \
                time to compare them)\n";
    assert!(run.stderr.contains(line), "{} bytes", run.stderr.len());
    assert!(run.stderr.contains("40 files changed"), "{} bytes", run.stderr.len());
}

#[test]
fn ctrl_c_ends_the_final_diff_at_once() {
    let scene = shuffling();
    let program = Started::new(with_programs(&scene).arg("--json"), b"");
    wait_for("the end of the session", || program.said().contains("\"session_end\""));
    program.interrupt();
    let run = program.finish().exits(130);
    assert!(run.complaint().contains("while the changes were compared"), "{run:?}");
    let record: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&record["type"], &record["exit_code"]), (&json!("result"), &json!(130)));
    assert_eq!(record["files"].as_array().unwrap().len(), FILES);
    let diff = record["diff"].as_str().unwrap();
    let told = diff.lines().filter(|line| line.starts_with("Files a/file-")).count();
    assert!(told >= FILES / 2, "{told} files were not compared any more");
}

#[test]
fn a_signal_ends_a_program_whose_last_lines_nobody_reads() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let write = json!({"file_path": "note", "content": "text"});
        let write = Message::call("toolu_1", "write_file", &write);
        let scene = Scene::streaming(&[write, Message::text(&"long ".repeat(50_000))]);
        let state = scene.path("state");
        let mut command = scene.command("go");
        command.args(["--quiet", "--ephemeral"]).stdout(writer);
        let program = Started::new(&mut command, b"");
        drop(command);
        // The session is over by then; the rest of the final message fills the pipe.
        reader.read_exact(&mut [0]).unwrap();
        program.signal(signal);
        let _stuck = program.finish().exits(code);
        drop(reader);
        let mut kept = fs::read_dir(state.join("innerloop/kept")).unwrap();
        let kept = kept.next().unwrap().unwrap().path();
        assert_eq!(fs::read_to_string(kept.join("note")).unwrap(), "text");
    }
}

/// A guest that writes and syncs, or lists a folder of 10,000 files, when the signal comes.
#[test]
fn a_program_that_is_ended_within_an_operation_on_a_file_leaves_a_workspace_that_works() {
    let run = |deed: &str, path: &str| {
        let call = json!({"program": "busy", "args": [deed, path], "timeout_ms": 100_000});
        Message::call("toolu_1", "run_program", &call)
    };
    let write = json!({"file_path": "note", "content": "text"});
    let write = || Message::call("toolu_2", "write_file", &write);
    let deeds = [("w", "short", "TERM", 143), ("b", "long", "INT", 130), ("l", "many", "HUP", 129)];
    for (deed, path, signal, code) in deeds {
        let scene = Scene::streaming(&[run(deed, path), write(), Message::text("done")]).in_place();
        let folder = scene.path("programs");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("busy.wasm"), wat::parse_str(BUSY).unwrap()).unwrap();
        fs::create_dir(scene.path("workspace/many")).unwrap();
        (0..10_000).for_each(|n| {
            fs::write(scene.path("workspace/many").join(n.to_string()), "").unwrap();
        });
        let mut command = scene.command("go");
        let args = ["--json", "--programs", &scene.arg("programs")];
        let program = Started::new(command.args(args), b"");
        let place = scene.workspace().join(path);
        wait_for("the guest", || program.said().contains("tool_call_start") && place.exists());
        thread::sleep(Duration::from_millis(30));
        program.signal(signal);
        let lines = program.finish().exits(code).json_lines();
        let record = lines.last().unwrap();
        assert_eq!(record["status"], "interrupted", "{record}");
        let mut command = scene.command("go");
        let next = innerloop_tests::program::run(command.args(["--quiet"])).exits(0);
        assert_eq!((next.stdout.as_str(), scene.text("workspace/note")), ("done\n", "text".into()));
    }
}

/// Files enough that applying them takes longer than the last words of a program.
const MANY: &str = "\
import * as std from 'qjs:std';
for (let file = 0; file < 6000; file++) {
  const out = std.open(`new-${file}`, 'w');
  out.puts(`${file}`);
  out.close();
}
";

#[test]
fn a_signal_while_changes_are_applied_takes_them_back() {
    let call = json!({"program": "qjs", "args": ["-m", "many.mjs"], "timeout_ms": 100_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let scene = Scene::streaming(&messages).file("many.mjs", MANY);
    let program = Started::new(with_programs(&scene).arg("--quiet"), b"");
    let own = scene.path("workspace/.innerloop");
    wait_for("the first change", || own.exists());
    program.interrupt();
    let run = program.finish().exits(130);
    let told = "nothing was applied, since it was stopped; what had been done is undone; ";
    assert!(run.complaint().contains(told), "{run:?}");
    let entries = fs::read_dir(scene.workspace()).unwrap().count();
    assert_eq!((entries, own.exists()), (1, false), "nothing of them is left");
}

#[test]
fn a_signal_while_a_kept_session_is_applied_takes_its_changes_back() {
    let call = json!({"program": "qjs", "args": ["-m", "many.mjs"], "timeout_ms": 100_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let scene = Scene::streaming(&messages).undecided().file("many.mjs", MANY);
    let _run = innerloop_tests::program::run(with_programs(&scene).arg("--diff")).exits(0);
    let apply = || {
        let mut command = innerloop(["sessions", "apply", "last"]);
        command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
        Started::new(&mut command, b"")
    };
    let program = apply();
    let own = scene.path("workspace/.innerloop");
    wait_for("the first change", || own.exists());
    program.interrupt();
    let run = program.finish().exits(130);
    let told = "nothing was applied, since it was stopped; what had been done is undone";
    assert!(run.stderr.contains(told), "{run:?}");
    let entries = || fs::read_dir(scene.workspace()).unwrap().count();
    assert_eq!((entries(), own.exists()), (1, false), "nothing of them is left");
    let _applied = apply().finish().exits(0);
    assert_eq!(entries(), 6001);
}

/// In a conversation Ctrl-C is a key and no signal, while the screen stands still.
#[test]
fn a_key_while_a_conversation_applies_changes_takes_them_back() {
    let call = json!({"program": "qjs", "args": ["-m", "many.mjs"], "timeout_ms": 100_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let scene =
        Scene::streaming(&messages).undecided().file("many.mjs", &MANY.replace("6000", "1500"));
    let _run = innerloop_tests::program::run(with_programs(&scene).arg("--diff")).exits(0);
    let mut command = innerloop(["resume"]);
    command.env("XDG_STATE_HOME", scene.path("state")).env("NO_COLOR", "1");
    command.env("ANTHROPIC_BASE_URL", scene.model.url()).current_dir(scene.workspace());
    let terminal = Terminal::start(&command, (100, 50));
    terminal.shows("/help tells");
    let own = scene.path("workspace/.innerloop");
    let entries = || fs::read_dir(scene.workspace()).unwrap().count();
    terminal.press("/apply\r");
    wait_for("the first change", || own.exists());
    terminal.press("\x03");
    terminal.shows("nothing was applied, since it was stopped; what had been done is undone");
    assert_eq!((entries(), own.exists()), (1, false), "nothing of them is left");
    terminal.shows("the changes are as they were before: /apply applies them");
    terminal.press("/apply\r");
    terminal.shows("applied: 1500 changed files");
    assert_eq!(entries(), 1501);
    terminal.press("\x04");
    let run = terminal.finish().exits(0);
    assert!(!run.stdout.contains("Ctrl-C again"), "the key had its effect: {}", run.stdout);
}

/// The work of an agent outlives whoever wants its program to end at once.
#[test]
fn what_was_done_when_the_program_is_stopped_at_once_is_kept() {
    let scene = shuffling();
    let state = scene.path("state");
    let line = |path: &Path| fs::read_to_string(path).unwrap().lines().next().unwrap().to_owned();
    let file = scene.workspace().join("file-00");
    let stopped = |options: &[&str]| {
        let mut command = with_programs(&scene);
        let program = Started::new(command.arg("--json").args(options), b"");
        wait_for("the end of the session", || program.said().contains("\"session_end\""));
        program.interrupt();
        let run = program.finish().exits(130);
        assert_eq!(line(&file), "0");
        run
    };
    let run = stopped(&["--ephemeral"]);
    let words = "; nothing was applied; what the agent has made is kept in ";
    let (_, kept) = run.complaint().split_once(words).expect(&run.stderr);
    assert!(kept.starts_with(state.to_str().unwrap()), "{kept}");
    assert_eq!(fs::read_dir(kept).unwrap().count(), FILES);
    assert_ne!(line(&Path::new(kept).join("file-00")), "0");

    let run = stopped(&[]);
    let words = "; nothing was applied; the session keeps the changes: innerloop resume ";
    assert!(run.complaint().contains(words), "{run:?}");
    let mut resume = innerloop(["resume", "last", "--apply", "--quiet"]);
    resume.env("XDG_STATE_HOME", &state).current_dir(scene.workspace());
    let _applied = innerloop_tests::program::run(&mut resume).exits(0);
    assert_ne!(line(&file), "0");
}
