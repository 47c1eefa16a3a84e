//! What becomes of a run's changes: shown, asked about, applied, or made in place.

use innerloop_tests::{
    anthropic::Message,
    example::programs,
    mock::Reply,
    program::{Run, Started, innerloop, on_terminal, run, run_with, wait_for},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

const QUESTION: &str = "apply these changes to ";

fn write(path: &str, text: &str) -> Message {
    Message::call("toolu_1", "write_file", &json!({"file_path": path, "content": text}))
}

/// An agent that writes a file.
fn scene() -> Scene {
    Scene::streaming(&[write("note.txt", "new\n"), Message::text("done")])
}

/// Runs the program on a terminal at which somebody types these lines.
fn typed(scene: &Scene, args: &[&str], lines: &str) -> Run {
    let mut command = scene.command("go");
    run_with(&mut on_terminal(command.args(args).env("NO_COLOR", "1")), lines.as_bytes())
}

/// The same of a session that is not kept, with that place for its changes.
fn keeping(scene: &Scene, state: &Path, lines: &str) -> Run {
    let mut command = scene.command("go");
    command.arg("--ephemeral").env("NO_COLOR", "1").env("XDG_STATE_HOME", state);
    run_with(&mut on_terminal(&command), lines.as_bytes())
}

/// What the agent has written, where the last words say that it is kept: a terminal's own lines
/// are wrapped between words.
fn kept(run: &Run, state: &Path) -> String {
    let said: Vec<&str> =
        run.stdout.split_whitespace().chain(run.stderr.split_whitespace()).collect();
    let said = said.join(" ");
    let (_, kept) = said.rsplit_once("what the agent has made is kept in ").expect(&said);
    assert!(kept.starts_with(state.to_str().unwrap()), "{kept}");
    let place = kept.split(' ').next().unwrap();
    fs::read_to_string(Path::new(place).join("note.txt")).unwrap()
}

fn note(scene: &Scene) -> PathBuf {
    scene.path("workspace/note.txt")
}

#[test]
fn on_a_terminal_the_changes_are_shown_and_asked_about() {
    let scene = self::scene().undecided();
    let run = typed(&scene, &[], "what?\nyes\n").exits(0);
    assert_eq!(run.stdout.matches(QUESTION).count(), 2, "{}", run.stdout);
    let (shown, asked) = (run.stdout.find("+new").unwrap(), run.stdout.find(QUESTION).unwrap());
    assert!(shown < asked, "{}", run.stdout);
    assert!(run.stdout.contains("applied: 1 file"), "{}", run.stdout);
    assert!(!run.stdout.contains("[a]lways"), "no call is asked about: {}", run.stdout);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert!(!scene.path("workspace/.innerloop").exists(), "nothing else is left there");

    let scene = self::scene().undecided();
    let state = scene.path("state");
    let run = keeping(&scene, &state, "drop\n").exits(0);
    assert!(run.stdout.contains("not applied: the folder is as it was"), "{}", run.stdout);
    assert!(!note(&scene).exists() && !state.join("innerloop/kept").exists());

    // A no means not now: nothing but the word discards what the agent has made.
    for answer in ["n\n", "no\n", "later\n", "d\nq\n"] {
        let scene = self::scene().undecided();
        let state = scene.path("state");
        let run = keeping(&scene, &state, answer).exits(0);
        assert_eq!(kept(&run, &state), "new\n", "{answer}");
        assert!(!note(&scene).exists());
    }

    // Where nothing has changed there is nothing to ask.
    let scene = Scene::streaming(&[Message::text("done")]).undecided();
    let run = typed(&scene, &[], "").exits(0);
    assert!(!run.stdout.contains(QUESTION), "{}", run.stdout);

    // Whoever wants to be asked about each call is.
    let scene = self::scene().undecided();
    let run = typed(&scene, &["--approve", "none"], "y\ny\n").exits(0);
    assert_eq!(run.stdout.matches("[a]lways").count(), 1, "{}", run.stdout);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

#[test]
fn a_diff_leaves_the_folder_as_it_is() {
    let scene = self::scene().undecided();
    let run = scene.run(&["--diff"]).exits(0);
    assert!(run.stderr.contains("+++ b/note.txt\n@@ -0,0 +1 @@\n+new\n"), "{}", run.stderr);
    assert!(run.stderr.contains("not applied: --diff only shows"), "{}", run.stderr);
    assert_eq!(run.stdout, "done\n");
    assert!(!note(&scene).exists());

    let scene = self::scene().undecided();
    let run = scene.run(&["--diff", "--quiet"]).exits(0);
    assert_eq!(run.stdout, "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+new\n");
    assert_eq!(run.stderr, "done\n", "what the model said is not lost");

    let scene = Scene::streaming(&[Message::text("It is fine.")]).undecided();
    let mut command = scene.command("Review this");
    let run = run_with(command.args(["--diff", "-q"]), b"+a line").exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("It is fine.\n", ""));
}

#[test]
fn a_record_says_whether_the_changes_are_in_the_folder() {
    for (option, applied) in [("--apply", true), ("--in-place", true), ("--diff", false)] {
        let long = "l".repeat(300_000);
        let scene = Scene::streaming(&[
            write(".vscode/tasks.json", "{}\n"),
            write("long.txt", &long),
            Message::text("done"),
        ]);
        let scene = scene.undecided();
        let record = scene.run(&["--json", option]).exits(0).json_lines().pop().unwrap();
        assert_eq!(record["applied"], applied, "{option}");
        assert_eq!(scene.path("workspace/long.txt").exists(), applied, "{option}");
        let files = record["files"].as_array().unwrap();
        let [tasks, long] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!(tasks["path"], ".vscode/tasks.json");
        assert_eq!(tasks["notice"], "Editors may run it when they open it or the folder");
        assert_eq!((&long["kind"], &long["before"]), (&json!("created"), &Value::Null));
        assert_eq!(long["after"]["bytes"], 300_000);
        assert_eq!(long["after"]["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(long["notice"], "no text, or too long to be shown");
        assert_eq!(record["files_truncated"], false);
    }
}

#[test]
fn what_deserves_a_look_is_named_before_the_question() {
    let messages = [write(".envrc", "export X=1\n"), Message::text("done")];
    let run = typed(&Scene::streaming(&messages).undecided(), &[], "n\n").exits(0);
    let named = run.stdout.find("Look closely at:\r\n  .envrc: direnv or mise runs it");
    assert!(named.unwrap() < run.stdout.find(QUESTION).unwrap(), "{}", run.stdout);
}

#[test]
fn a_file_that_somebody_else_has_changed_is_named_and_nothing_is_applied() {
    let slow = Reply::stream(&Message::text("done")).paced(Duration::from_millis(300));
    let scene = Scene::new(vec![Reply::stream(&write("note.txt", "new\n")), slow]);
    let state = scene.path("state");
    let program = Started::new(scene.command("go").env("XDG_STATE_HOME", &state), b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    fs::write(note(&scene), "somebody else\n").unwrap();
    let run = program.finish().exits(1);
    let words = "nothing was applied, since something else has changed note.txt meanwhile";
    assert!(run.complaint().contains(words), "{run:#?}");
    assert!(run.stderr.contains("+new"), "what the agent has written is shown: {run:#?}");
    assert_eq!(scene.text("workspace/note.txt"), "somebody else\n");
    let (_, how) = run.complaint().split_once("; the session keeps the changes: ").unwrap();
    // Once that is out of the way they can be applied.
    fs::remove_file(note(&scene)).unwrap();
    let id = how.strip_prefix("innerloop resume ").unwrap().split(' ').next().unwrap();
    let mut resume = innerloop(["resume", id, "--apply"]);
    let run = self::run(resume.env("XDG_STATE_HOME", &state)).exits(0);
    assert!(run.stderr.ends_with("applied: 1 file\n"), "{run:#?}");
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert_eq!(scene.model.requests().len(), 2, "the agent has no part in it");
}

#[test]
fn a_file_of_a_session_that_is_not_kept_goes_elsewhere() {
    let slow = Reply::stream(&Message::text("done")).paced(Duration::from_millis(300));
    let scene = Scene::new(vec![Reply::stream(&write("note.txt", "new\n")), slow]);
    let state = scene.path("state");
    let program = Started::new(scene.command("go").arg("--ephemeral"), b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    fs::write(note(&scene), "somebody else\n").unwrap();
    let run = program.finish().exits(1);
    let (_, kept) = run.complaint().split_once("what the agent has made is kept in ").unwrap();
    assert!(kept.starts_with(state.to_str().unwrap()), "{kept}");
    assert_eq!(fs::read_to_string(Path::new(kept).join("note.txt")).unwrap(), "new\n");
}

#[test]
fn what_nobody_has_decided_about_is_kept() {
    // The terminal is closed.
    let scene = self::scene().undecided();
    let state = scene.path("state");
    let run = keeping(&scene, &state, "").exits(1);
    assert!(run.stdout.contains("nobody said whether to apply the changes"), "{run:?}");
    assert_eq!(kept(&run, &state), "new\n");
    assert!(!note(&scene).exists());

    // Ctrl-C at the question.
    let scene = self::scene().undecided();
    let state = scene.path("state");
    let mut command = scene.command("go");
    command.arg("--ephemeral").env("NO_COLOR", "1");
    let (reader, mut writer) = std::io::pipe().unwrap();
    let program = Started::reading(&mut on_terminal(&command), reader);
    wait_for("the question", || program.said().contains(QUESTION));
    writer.write_all(b"\x03").unwrap();
    let run = program.finish().exits(130);
    assert_eq!(kept(&run, &state), "new\n");

    // Where it can't be kept, it is said why.
    let scene = self::scene().undecided();
    let state = scene.path("state");
    fs::write(&state, "no folder").unwrap();
    let run = keeping(&scene, &state, "").exits(1);
    let words = "what the agent has made can't be kept either: Not a directory";
    let said: Vec<&str> = run.stdout.split_whitespace().collect();
    assert!(said.join(" ").contains(words), "{}", run.stdout);
}

#[test]
fn an_interrupted_run_is_applied_where_that_was_said() {
    for (option, applied) in [("--apply", true), ("--diff", false)] {
        let slow = Reply::stream(&Message::text("done")).paced(Duration::from_secs(60));
        let scene = Scene::new(vec![Reply::stream(&write("note.txt", "new\n")), slow]).undecided();
        let program = Started::new(scene.command("go").arg(option), b"");
        wait_for("the second request", || scene.model.requests().len() == 2);
        program.interrupt();
        let run = program.finish().exits(130);
        assert_eq!(note(&scene).exists(), applied, "{option}");
        assert_eq!(run.complaint().ends_with("; what was done so far is applied"), applied);
    }
    // So is one that failed.
    let failed = Reply::error(400, "invalid_request_error", "no");
    let scene = Scene::new(vec![Reply::stream(&write("note.txt", "new\n")), failed]);
    let _run = scene.run(&[]).exits(1);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

#[test]
fn a_guest_can_not_change_the_log_of_its_own_session() {
    for mode in ["--apply", "--in-place"] {
        let script = "import * as std from 'qjs:std';\n\
                      import * as os from 'qjs:os';\n\
                      const file = std.open('session.log', 'w');\n\
                      console.log('written', file !== null, os.remove('session.log'));\n";
        let forge = json!({"program": "qjs", "args": ["-m", "forge.mjs"]});
        let messages = [Message::call("toolu_1", "run_program", &forge), Message::text("done")];
        let scene = Scene::streaming(&messages).undecided().file("forge.mjs", script);
        let log = scene.arg("workspace/session.log");
        let programs = programs();
        let args = [mode, "--log", &log, "--programs", programs.to_str().unwrap()];
        let _run = scene.run(&args).exits(0);
        let told = scene.model.requests().last().unwrap().body.clone();
        assert!(told.contains("written false -"), "{told}");
        let text = scene.text("workspace/session.log");
        assert!(text.lines().count() > 5 && !text.starts_with("forged"), "{text}");
    }
}

/// What an overlay keeps stands in the cache folder, and goes with it; also if its program could
/// not see to that itself.
#[test]
fn nothing_is_left_of_an_overlay() {
    let slow = || Reply::stream(&Message::text("done")).paced(Duration::from_secs(60));
    let script = vec![Reply::stream(&write("note.txt", "new\n")), slow()];
    let scene = Scene::new(script);
    let cache = scene.path("cache");
    let stores = || match fs::read_dir(cache.join("overlays")) {
        Ok(entries) => entries.count(),
        Err(_) => 0,
    };
    let mut command = scene.command("go");
    let command = command.arg("--ephemeral").env("INNERLOOP_CACHE_DIR", &cache);
    let program = Started::new(command, b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    assert_eq!(stores(), 1);
    program.signal("KILL");
    let killed = program.finish();
    assert_eq!((killed.code, stores()), (None, 1));
    assert!(!note(&scene).exists());

    let scene = self::scene();
    let mut command = scene.command("go");
    let command = command.arg("--ephemeral").env("INNERLOOP_CACHE_DIR", &cache);
    let _run = run(command).exits(0);
    assert_eq!(stores(), 0);
}
