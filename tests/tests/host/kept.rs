//! What a session keeps of its agent's changes, and how it goes on with them: after its program was
//! killed or told to end, in a fork, with another model, from a log's file, and where there is no
//! room.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell as programs,
    mock::Reply,
    program::{Run, Started, innerloop, on_terminal, run, run_with, wait_for},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{fs, io::Write as _, path::PathBuf, process::Command, thread, time::Duration};

fn write(id: &str, path: &str, text: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": path, "content": text}))
}

fn shell(id: &str, line: &str) -> Message {
    Message::call(id, "shell", &json!({"command": line}))
}

fn slow() -> Reply {
    Reply::stream(&Message::text("late")).paced(Duration::from_secs(60))
}

/// An agent that writes a file.
fn scene(more: &[Message]) -> Scene {
    let first = [write("toolu_1", "note.txt", "new\n"), Message::text("done")];
    Scene::streaming(&[first.as_slice(), more].concat()).undecided()
}

/// That command of the program, over the scene's sessions.
fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("XDG_STATE_HOME", scene.path("state")).env("NO_COLOR", "1");
    command.current_dir(scene.workspace());
    command
}

fn ran(scene: &Scene, args: &[&str]) -> Run {
    run(&mut command(scene, args))
}

/// The sessions that are kept, the newest first.
fn kept(scene: &Scene) -> Vec<Value> {
    ran(scene, &["sessions", "list", "--json"]).exits(0).json_lines()
}

fn note(scene: &Scene) -> PathBuf {
    scene.path("workspace/note.txt")
}

/// The messages of that request.
fn messages(scene: &Scene, request: usize) -> Vec<Value> {
    let body: Value = serde_json::from_str(&scene.model.requests()[request].body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

/// The state folder's only session.
fn folder(scene: &Scene) -> PathBuf {
    let mut entries = fs::read_dir(scene.path("state/innerloop/sessions")).unwrap();
    entries.next().unwrap().unwrap().path()
}

#[test]
fn a_program_that_is_killed_takes_nothing_of_the_overlay_with_it() {
    let scene = Scene::streaming(&[
        write("toolu_1", "note.txt", "new\n"),
        shell("toolu_2", "while true; do :; done"),
        shell("toolu_3", "cat note.txt; echo more > more.txt"),
        Message::text("it was lost"),
    ]);
    let mut started = scene.command("go");
    let program = Started::new(started.arg("--json").arg("--programs").arg(programs()), b"");
    wait_for("the call", || program.said().contains(r#""call_id":"toolu_2""#));
    program.signal("KILL");
    assert_eq!(program.finish().code, None, "it was killed");
    assert!(!note(&scene).exists());
    assert_eq!(kept(&scene)[0]["unapplied"], true);

    let resumed = ran(&scene, &["resume"]).exits(0);
    assert_eq!(resumed.stdout, "it was lost\n");
    // The call that had begun before is told in words.
    assert!(resumed.stderr.contains("while true; do :; done"), "{}", resumed.stderr);
    let lost = messages(&scene, 2).pop().unwrap()["content"][0].clone();
    assert_eq!((&lost["tool_use_id"], &lost["is_error"]), (&json!("toolu_2"), &json!(true)));
    let read = messages(&scene, 3).pop().unwrap().to_string();
    assert!(read.contains("toolu_3") && read.contains("new"), "{read}");
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert_eq!(scene.text("workspace/more.txt"), "more\n");
    assert_eq!(kept(&scene)[0]["unapplied"], false);
}

#[test]
fn what_a_call_has_changed_is_saved_before_its_result_is_told() {
    let scene = Scene::new(vec![
        Reply::stream(&write("toolu_1", "note.txt", "new\n")),
        Reply::stream(&shell("toolu_2", "echo more >> note.txt; echo x > tmp.txt")),
        slow(),
    ]);
    let mut started = scene.command("go");
    let program = Started::new(started.arg("--programs").arg(programs()), b"");
    wait_for("the third request", || scene.model.requests().len() == 3);
    program.signal("KILL");
    assert_eq!(program.finish().code, None, "it was killed");
    let applied = ran(&scene, &["sessions", "apply", "last"]).exits(0);
    assert!(applied.stderr.contains("+more"), "{}", applied.stderr);
    assert!(applied.stderr.contains("applied to "), "{}", applied.stderr);
    assert_eq!(scene.text("workspace/note.txt"), "new\nmore\n");
    assert_eq!(scene.text("workspace/tmp.txt"), "x\n");
    let again = ran(&scene, &["sessions", "apply", "last"]).exits(2);
    assert!(again.stderr.contains("holds no changes"), "{}", again.stderr);
}

#[test]
fn what_may_be_half_done_is_not_applied_without_a_yes() {
    let scene = scene(&[Message::text("I look"), Message::text("still")]);
    let _run = run(scene.command("go").arg("--diff")).exits(0);
    let view = folder(&scene).join("overlay/view.json");
    // As it is saved while a call goes on that changes files.
    let text = fs::read_to_string(&view).unwrap();
    fs::write(&view, text.replacen("\"last\":", "\"partial\":true,\"last\":", 1)).unwrap();
    let resumed = ran(&scene, &["resume", "last", "go on", "--apply"]).exits(1);
    assert!(resumed.stderr.contains("they may be changed by half"), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("nothing was applied without a yes"), "{}", resumed.stderr);
    let said = ran(&scene, &["sessions", "show", "last"]).exits(0).stdout;
    assert!(said.contains(">> The program was stopped while a call changed files"), "{said}");
    let refused = ran(&scene, &["resume", "last", "--apply"]);
    assert!(refused.stderr.contains("nothing was applied without a yes"), "{}", refused.stderr);
    let refused = ran(&scene, &["sessions", "apply", "last"]).exits(2);
    assert!(refused.stderr.contains("--yes applies it"), "{}", refused.stderr);
    assert!(!note(&scene).exists());
    let _applied = ran(&scene, &["sessions", "apply", "last", "--yes"]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

#[test]
fn changes_are_kept_in_a_folder_of_ones_own_and_applied_over_those_of_others() {
    let scene = scene(&[]);
    let _run = run(scene.command("go").arg("--diff")).exits(0);
    let to = scene.path("copies");
    let kept = ran(&scene, &["sessions", "keep", "last", to.to_str().unwrap()]).exits(0);
    assert_eq!(kept.stdout.trim(), to.to_str().unwrap());
    assert_eq!(fs::read_to_string(to.join("note.txt")).unwrap(), "new\n");
    let again = ran(&scene, &["sessions", "keep", "last", to.to_str().unwrap()]).exits(3);
    assert!(again.stderr.contains("can't keep the changes in "), "{}", again.stderr);
    fs::write(note(&scene), "somebody else's").unwrap();
    let refused = ran(&scene, &["sessions", "apply", "last"]).exits(1);
    assert!(refused.stderr.contains("--over applies them all the same"), "{}", refused.stderr);
    assert_eq!(scene.text("workspace/note.txt"), "somebody else's");
    let _applied = ran(&scene, &["sessions", "apply", "last", "--over"]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

/// The log of a session of two runs, and whatever becomes of it.
#[test]
fn a_damaged_log_loses_no_more_than_what_stands_behind_the_damage() {
    let more = [Message::text("second"), Message::text("goes on")];
    let scene = scene(&more);
    let _run = run(scene.command("go").arg("--diff")).exits(0);
    let _run = ran(&scene, &["resume", "last", "again", "--diff"]).exits(0);
    let log = folder(&scene).join("log.jsonl");
    let sound = fs::read(&log).unwrap();
    let ends: Vec<usize> =
        (0..sound.len()).filter(|at| sound[*at] == b'\n').map(|at| at + 1).collect();
    let cut = |at: usize, with: &[u8]| [&sound[..at], with, &sound[at..]].concat();
    let damaged = [
        cut(ends[ends.len() - 2] + 5, b"\xff\xfe"),
        cut(ends[ends.len() - 2], b"{\"at\":1,\n"),
        cut(ends[1] + 3, b"\0\0\0"),
        [&sound[..ends[ends.len() - 2]], &[0; 4096], b"\n"].concat(),
        cut(4, b"\xff"),
        sound[..sound.len() - 3].to_vec(),
    ];
    for bytes in damaged {
        fs::write(&log, &bytes).unwrap();
        let shown = ran(&scene, &["sessions", "show", "last"]).exits(0);
        assert!(shown.stdout.contains("done"), "{shown:?}");
    }
    fs::write(&log, cut(ends[ends.len() - 2] + 5, b"\xff")).unwrap();
    let resumed = ran(&scene, &["resume", "last", "go on", "--diff"]).exits(0);
    assert!(resumed.stderr.contains("is damaged: line "), "{}", resumed.stderr);
    let copy = folder(&scene).join("log.damaged.jsonl");
    assert!(resumed.stderr.contains(copy.to_str().unwrap()), "{}", resumed.stderr);
    assert_eq!(fs::read(copy).unwrap(), cut(ends[ends.len() - 2] + 5, b"\xff"));

    for nothing in [&b""[..], b"\0\0\0\n", b"{}\n"] {
        fs::write(&log, nothing).unwrap();
        let lost = ran(&scene, &["resume", "last", "go on"]).exits(3);
        assert!(lost.stderr.contains("innerloop sessions apply "), "{}", lost.stderr);
    }
    fs::remove_file(&log).unwrap();
    assert_eq!(kept(&scene)[0]["unapplied"], true);
    let gone = ran(&scene, &["resume", "last", "go on"]).exits(3);
    assert!(gone.stderr.contains("innerloop sessions apply "), "{}", gone.stderr);
    let _applied = ran(&scene, &["sessions", "apply", "last"]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

/// Makes many files.
const MANY: &str = "\
import * as std from 'qjs:std';
for (let file = 0; file < 1500; file++) {
  const out = std.open(`new-${file}`, 'w');
  out.puts(`${file}`);
  out.close();
}
";

#[test]
fn a_program_that_is_killed_while_it_applies_is_told_of() {
    let call = json!({"program": "qjs", "args": ["-m", "many.mjs"], "timeout_ms": 100_000});
    let messages = [Message::call("toolu_1", "run_program", &call), Message::text("all done")];
    let scene = Scene::streaming(&messages).file("many.mjs", MANY);
    let mut command = scene.command("go");
    let program = Started::new(command.arg("--quiet").arg("--programs").arg(programs()), b"");
    let files = || fs::read_dir(scene.workspace()).unwrap().count();
    let begun = || {
        fs::read_dir(scene.workspace())
            .unwrap()
            .flatten()
            .any(|it| it.file_name().to_string_lossy().starts_with("new-"))
    };
    wait_for("the first change", begun);
    program.signal("KILL");
    let killed = program.finish();
    // It may have been quicker.
    let was_done = killed.code.is_some() || files() > 1500;
    let resumed = ran(&scene, &["resume", "last", "--apply", "--quiet"]);
    if !was_done {
        let told = "the program was ended while it applied changes: the folder is again as it was";
        assert!(resumed.stderr.contains(told), "{}", resumed.stderr);
    }
    assert!(!scene.path("workspace/.innerloop").exists(), "nothing of ours is left");
    assert_eq!(files(), 1501);
}

#[test]
fn a_request_that_was_owed_is_sent_again() {
    let scene = Scene::new(vec![
        Reply::stream(&write("toolu_1", "note.txt", "new\n")),
        slow(),
        Reply::stream(&Message::text("here I am")),
    ]);
    let program = Started::new(&mut scene.command("go"), b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    program.signal("KILL");
    assert_eq!(program.finish().code, None, "it was killed");
    assert_eq!(ran(&scene, &["resume"]).exits(0).stdout, "here I am\n");
    let requests = scene.model.requests();
    assert_eq!(requests[1].body, requests[2].body);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

#[test]
fn an_interrupted_session_goes_on_with_its_changes() {
    let scene = Scene::new(vec![
        Reply::stream(&write("toolu_1", "note.txt", "new\n")),
        slow(),
        Reply::stream(&write("toolu_2", "more.txt", "more\n")),
        Reply::stream(&Message::text("done")),
    ]);
    let scene = scene.undecided();
    let program = Started::new(scene.command("go").arg("--diff"), b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    program.interrupt();
    let run = program.finish().exits(130);
    assert!(run.stderr.contains("the session keeps the changes"), "{}", run.stderr);
    let _run = ran(&scene, &["resume", "last", "go on", "--apply"]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert_eq!(scene.text("workspace/more.txt"), "more\n");
}

#[test]
fn changes_that_a_session_holds_are_applied_without_the_agent() {
    let scene = scene(&[]);
    let run = scene.run(&["--diff"]).exits(0);
    assert!(run.stderr.contains(" --apply applies them"), "{}", run.stderr);
    let none = ran(&scene, &["resume"]).exits(2);
    assert!(none.complaint().contains("with --apply that the changes it holds"), "{none:?}");
    let shown = ran(&scene, &["resume", "--diff", "--quiet"]).exits(0);
    assert!(shown.stdout.ends_with("+new\n") && !note(&scene).exists(), "{shown:?}");
    let applied = ran(&scene, &["resume", "--apply", "--json"]).exits(0);
    let record = applied.json_lines().pop().unwrap();
    assert_eq!((&record["status"], &record["applied"]), (&json!("done"), &json!(true)));
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert_eq!(scene.model.requests().len(), 2);
    let none = ran(&scene, &["resume", "--apply"]).exits(2);
    assert!(none.complaint().contains("say what to do next"), "{none:?}");
}

#[test]
fn a_fork_takes_the_changes_along() {
    let scene = scene(&[write("toolu_2", "more.txt", "more\n"), Message::text("done")]);
    let _run = scene.run(&["--diff"]).exits(0);
    let forked = ran(&scene, &["sessions", "fork", "last"]).exits(0);
    let (own, forked) = (kept(&scene)[1]["id"].clone(), forked.stdout.trim().to_owned());
    assert!(kept(&scene).iter().all(|it| it["unapplied"] == true), "{:?}", kept(&scene));
    let applied = ran(&scene, &["resume", own.as_str().unwrap(), "--apply"]).exits(0);
    assert!(applied.stderr.contains("applied: 1 file"), "{applied:?}");
    // What both have made is the same.
    let _run = ran(&scene, &["resume", &forked, "more", "--apply"]).exits(0);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    assert_eq!(scene.text("workspace/more.txt"), "more\n");
    let said = messages(&scene, 2);
    assert!(!said.iter().any(|it| it.to_string().contains("have not been taken over")), "{said:?}");
}

#[test]
fn a_fork_of_a_session_at_work_says_that_its_changes_are_missing() {
    let replies = vec![
        Reply::stream(&write("toolu_1", "note.txt", "new\n")),
        slow(),
        Reply::stream(&Message::text("I see")),
    ];
    let scene = Scene::new(replies);
    let program = Started::new(&mut scene.command("go"), b"");
    wait_for("the second request", || scene.model.requests().len() == 2);
    wait_for("the changes", || folder(&scene).join("overlay/view.json").exists());
    let forked = ran(&scene, &["sessions", "fork", "last"]).exits(0);
    let words = "the fork begins without the session's changes: another innerloop works with";
    assert!(forked.stderr.contains(words), "{forked:?}");
    // One that is worked with is passed over.
    let own = kept(&scene).into_iter().find(|it| it["unapplied"] == true).unwrap()["id"].clone();
    let own = own.as_str().unwrap();
    let deleted = ran(&scene, &["sessions", "delete", own, "--force"]).exits(2);
    assert!(deleted.stderr.contains("deleted: 0 sessions"), "{deleted:?}");
    assert!(deleted.complaint().contains("another innerloop works with the session"));
    let all = ran(&scene, &["sessions", "delete", "--older-than", "0", "--force"]).exits(0);
    assert!(all.stderr.contains("another innerloop works with the session"), "{all:?}");
    assert!(all.stderr.contains("deleted: 1 session"), "{all:?}");
    let forked = ran(&scene, &["sessions", "fork", "last"]).exits(0).stdout;
    program.signal("KILL");
    let _killed = program.finish();
    let _run = ran(&scene, &["resume", forked.trim(), "go on"]).exits(0);
    let told = messages(&scene, 2);
    assert!(told.iter().any(|it| it.to_string().contains("have not been taken over")), "{told:?}");
}

#[test]
fn a_session_with_changes_is_not_deleted_without_force() {
    let scene = scene(&[]);
    let _run = scene.run(&["--diff"]).exits(0);
    let id = kept(&scene)[0]["id"].as_str().unwrap().to_owned();
    let refused = ran(&scene, &["sessions", "delete", &id]).exits(2);
    assert!(refused.complaint().contains("holds changes that are not applied"), "{refused:?}");
    let passed = ran(&scene, &["sessions", "delete", "--older-than", "0"]).exits(0);
    assert!(passed.stderr.contains("holds changes that are not applied"), "{passed:?}");
    assert_eq!(kept(&scene).len(), 1);
    let _gone = ran(&scene, &["sessions", "delete", &id, "--force"]).exits(0);
    assert_eq!(kept(&scene).len(), 0);
    assert_eq!(fs::read_dir(scene.path("state/innerloop/sessions")).unwrap().count(), 0);
}

/// On a terminal, with the program's own process id in a file.
fn attended(scene: &Scene, args: &[&str]) -> Command {
    let inner = scene.command("go");
    let mut outer = Command::new("sh");
    let write_id = format!("echo $$ > {}; exec \"$@\"", scene.arg("pid"));
    outer.args(["-c", &write_id, "sh"]).arg(inner.get_program()).args(inner.get_args()).args(args);
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer.env("NO_COLOR", "1");
    on_terminal(&outer)
}

#[test]
fn who_is_told_to_end_asks_nothing() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let replies = vec![Reply::stream(&write("toolu_1", "note.txt", "new\n")), slow()];
        let scene = Scene::new(replies).undecided();
        let (reader, writer) = std::io::pipe().unwrap();
        let program = Started::reading(&mut attended(&scene, &[]), reader);
        wait_for("the second request", || scene.model.requests().len() == 2);
        let kill = format!("kill -{signal} {}", scene.text("pid").trim());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let run = program.finish().exits(code);
        drop(writer);
        assert!(!run.stdout.contains("apply these changes"), "{}", run.stdout);
        let words = "interrupted; nothing was applied; the session keeps the changes: innerloop";
        assert!(run.unwrapped().contains(words), "{}", run.stdout);
        let _run = ran(&scene, &["resume", "last", "--apply", "--max-turns", "9"]).exits(0);
        assert_eq!(scene.text("workspace/note.txt"), "new\n");
    }
}

#[test]
fn what_nobody_answers_stays_with_the_session() {
    // The terminal is closed, or the answer is later, or no: none of these drops anything.
    for lines in ["", "l\n", "n\n"] {
        let scene = scene(&[]);
        let mut command = scene.command("go");
        command.env("NO_COLOR", "1");
        let run = run_with(&mut on_terminal(&command), lines.as_bytes()).exits(0);
        assert!(run.stdout.contains("not applied yet: the session keeps"), "{}", run.stdout);
        assert!(!note(&scene).exists() && kept(&scene)[0]["unapplied"] == true);
    }
    let scene = scene(&[Message::text("I see")]);
    let mut command = scene.command("go");
    command.env("NO_COLOR", "1");
    let run = run_with(&mut on_terminal(&command), b"what?\ndrop\n").exits(0);
    assert!(run.stdout.contains("not applied: the folder is as it was"), "{}", run.stdout);
    assert_eq!(kept(&scene)[0]["unapplied"], false);
    let _run = ran(&scene, &["resume", "last", "well?", "--diff"]).exits(0);
    let told = messages(&scene, 2);
    assert!(told.iter().any(|it| it.to_string().contains("have not been taken over")), "{told:?}");
}

#[test]
fn what_was_to_be_dropped_when_the_program_ended_is() {
    let scene = scene(&[Message::text("I see")]);
    let _run = scene.run(&["--diff"]).exits(0);
    let about = folder(&scene).join("about.json");
    let text = fs::read_to_string(&about).unwrap();
    fs::write(&about, text.replace("\"dropped\":false", "\"dropped\":true")).unwrap();
    let _run = ran(&scene, &["resume", "last", "well?", "--apply"]).exits(0);
    assert!(!note(&scene).exists());
    let told = messages(&scene, 2);
    assert!(told.iter().any(|it| it.to_string().contains("have not been taken over")), "{told:?}");
}

#[test]
fn a_yes_that_fails_leaves_the_changes_with_the_session() {
    let scene = scene(&[]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut command = scene.command("go");
    command.env("NO_COLOR", "1");
    let program = Started::reading(&mut on_terminal(&command), reader);
    wait_for("the question", || program.said().contains("apply these changes to "));
    fs::write(note(&scene), "somebody else\n").unwrap();
    writer.write_all(b"y\n").unwrap();
    let run = program.finish().exits(1);
    let words = "something else has changed note.txt meanwhile; the session keeps the changes: ";
    assert!(run.unwrapped().contains(words), "{}", run.stdout);
    assert_eq!(scene.text("workspace/note.txt"), "somebody else\n");
    assert_eq!(kept(&scene)[0]["unapplied"], true);
}

#[test]
fn a_model_that_there_is_not_is_changed_for_another() {
    let refused = || Reply::error(404, "not_found_error", "model: claude-nonesuch");
    for prompt in [None, Some("try again")] {
        let scene = Scene::new(vec![refused(), Reply::stream(&Message::text("welcome"))]);
        let mut command = scene.command("say hello");
        let _run = run(command.args(["--model", "claude-nonesuch"])).exits(1);
        let mut args = vec!["resume", "last"];
        args.extend(prompt);
        args.extend(["--model", "claude-haiku-4-5", "--effort", "low"]);
        assert_eq!(ran(&scene, &args).exits(0).stdout, "welcome\n");
        let requests = scene.model.requests();
        assert_eq!(requests.len(), 2, "nothing more is asked of the old one");
        let body: Value = serde_json::from_str(&requests[1].body).unwrap();
        assert_eq!(body["model"], "claude-haiku-4-5");
        let text = body["messages"].to_string();
        assert!(text.contains("say hello") && text.contains(prompt.unwrap_or("Go on.")), "{text}");
        assert_eq!(kept(&scene)[0]["model"], "claude-haiku-4-5");
    }
}

#[test]
fn what_resume_allows_counts() {
    let call = |id| write(id, "note.txt", "new\n");
    let told = |run: &Run| run.stderr.contains("needed a yes that nobody was there to give");
    for (option, value) in [("--approve", "all"), ("--allow", "write_file")] {
        let scene = Scene::streaming(&[
            call("toolu_1"),
            Message::text("no"),
            call("toolu_2"),
            Message::text("done"),
        ]);
        let run = scene.run(&["--approve", "none"]).exits(5);
        assert!(told(&run), "{run:?}");
        let _run = ran(&scene, &["resume", "last", "again", option, value]).exits(0);
        assert_eq!(scene.text("workspace/note.txt"), "new\n");
    }
    let scene = Scene::streaming(&[Message::text("hm"), call("toolu_1"), Message::text("no")]);
    let _run = scene.run(&[]).exits(0);
    let _run = ran(&scene, &["resume", "last", "again", "--read-only"]).exits(0);
    assert!(!note(&scene).exists());
    let body: Value = serde_json::from_str(&scene.model.requests()[1].body).unwrap();
    let names: Vec<_> = body["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert!(!names.is_empty() && !names.contains(&&json!("write_file")), "{names:?}");
}

#[test]
fn values_of_variables_are_not_kept() {
    let print = |id| shell(id, "echo \"[$TOKEN_OF_MINE]\"");
    let scene = Scene::streaming(&[
        print("toolu_1"),
        Message::text("done"),
        print("toolu_2"),
        Message::text("done"),
        print("toolu_3"),
        Message::text("done"),
    ]);
    let scene = scene.in_place();
    let local = ["--env", "local", "--bubblewrap", "never", "--approve", "all"];
    let mut command = scene.command("go");
    command.env("PATH", "/usr/bin:/bin").args(local);
    let _run = run(command.args(["--set-env", "TOKEN_OF_MINE=abc-123"])).exits(0);
    let output = |request| messages(&scene, request).pop().unwrap().to_string();
    assert!(output(1).contains("[abc-123]"), "{}", output(1));
    let about = fs::read_to_string(folder(&scene).join("about.json")).unwrap();
    assert!(about.contains("TOKEN_OF_MINE") && !about.contains("abc-123"), "{about}");
    let resume = |more: &[&str]| {
        let mut command = self::command(&scene, &["resume", "last", "again"]);
        command.args(more).env("PATH", "/usr/bin:/bin");
        command
    };
    let none = run(&mut resume(&[])).exits(2);
    assert!(none.complaint().contains("give it again with --set-env TOKEN_OF_MINE="), "{none:?}");
    let _run = run(&mut resume(&["--set-env", "TOKEN_OF_MINE=second"])).exits(0);
    assert!(output(3).contains("[second]"), "{}", output(3));
    let third = run(resume(&[]).env("TOKEN_OF_MINE", "third")).exits(0);
    assert!(third.stderr.contains("TOKEN_OF_MINE has the value of the environment"), "{third:?}");
    assert!(output(5).contains("[third]"), "{}", output(5));
}

#[test]
fn the_file_of_a_log_becomes_a_session() {
    let scene = Scene::streaming(&[
        Message::text("blue"),
        Message::text("green"),
        Message::text("red"),
        Message::text("white"),
    ]);
    let _run = run(&mut scene.command("Which colour?")).exits(0);
    let _log = ran(&scene, &["sessions", "export", "last", "../log.jsonl"]).exits(0);
    let file = scene.arg("log.jsonl");
    let base = scene.provider().1;
    let resume = |more: &[&str]| {
        let args = ["resume", &file, "And now?", "--apply", "--base-url", &base];
        ran(&scene, &[args.as_slice(), more].concat())
    };
    let there = resume(&[]).exits(2);
    assert!(there.complaint().contains("is kept already: innerloop resume "), "{there:?}");
    let forked = ran(&scene, &["sessions", "fork", &file]).exits(0).stdout;
    let args = ["resume", forked.trim(), "And then?", "--apply", "--base-url", &base];
    assert_eq!(ran(&scene, &args).exits(0).stdout, "green\n");
    // On another machine.
    fs::remove_dir_all(scene.path("state")).unwrap();
    assert_eq!(resume(&[]).exits(0).stdout, "red\n");
    let text = messages(&scene, 2).iter().map(Value::to_string).collect::<String>();
    assert!(text.contains("Which colour?") && text.contains("blue"), "{text}");
    assert_eq!(kept(&scene)[0]["title"], "Which colour?");
    // A session whose about.json is gone comes back by its log.
    fs::write(folder(&scene).join("about.json"), "").unwrap();
    let list = ran(&scene, &["sessions", "list"]).exits(0);
    assert!(list.stderr.contains("is damaged: its about.json cannot be read"), "{list:?}");
    let damaged = ran(&scene, &["resume", "last", "x"]).exits(2);
    assert!(damaged.complaint().contains("no session of "), "{damaged:?}");
    let log = folder(&scene).join("log.jsonl");
    let args = ["resume", log.to_str().unwrap(), "Go", "--apply", "--base-url", &base];
    assert_eq!(ran(&scene, &args).exits(0).stdout, "white\n");
    assert_eq!(kept(&scene).len(), 1);
}

#[test]
fn a_session_goes_on_without_the_functions_of_another_program() {
    let scene = Scene::streaming(&[
        Message::text("blue"),
        Message::call("toolu_1", "lookup", &json!({"word": "x"})),
        Message::text("red"),
    ]);
    let _run = run(&mut scene.command("Which colour?")).exits(0);
    let _log = ran(&scene, &["sessions", "export", "last", "../log.jsonl"]).exits(0);
    let lines = scene.text("log.jsonl");
    // A snapshot is held to its digest; without any the log is told from its start.
    let lines = lines.lines().filter(|line| !line.contains("\"snapshot\":")).map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        make_one_of_a_page(&mut line);
        format!("{line}\n")
    });
    fs::write(scene.path("page.jsonl"), lines.collect::<String>()).unwrap();
    fs::remove_dir_all(scene.path("state")).unwrap();
    let (file, base) = (scene.arg("page.jsonl"), scene.provider().1);
    let args = ["resume", &file, "And now?", "--apply", "--base-url", &base];
    let asked = ran(&scene, &args).exits(2);
    assert!(asked.complaint().contains("were in memory") && asked.complaint().contains("-C DIR"));
    let resumed = ran(&scene, &[args.as_slice(), &["-C", "."]].concat()).exits(0);
    assert_eq!(resumed.stdout, "red\n");
    assert!(resumed.stderr.contains("tool lookup is not available here"), "{resumed:?}");
    let result = messages(&scene, 2).pop().unwrap().to_string();
    assert!(result.contains("The tool lookup is not available here."), "{result}");
}

/// Makes a log's line one of a session in a page, with a function.
fn make_one_of_a_page(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(make_one_of_a_page),
        Value::Object(fields) => {
            if let Some(facts) = fields.get_mut("facts") {
                facts["platform"] = "wasm".into();
                let parameters =
                    json!({"type": "object", "properties": {"word": {"type": "string"}}});
                let tool =
                    json!({"name": "lookup", "description": "Looks up.", "parameters": parameters});
                fields.insert("tools".to_owned(), json!([tool]));
            }
            fields.values_mut().for_each(make_one_of_a_page);
        }
        _ => {}
    }
}

#[test]
fn on_a_terminal_resume_opens_the_conversation_behind_the_last_words() {
    let scene = scene(&[Message::text("nothing else")]);
    let _run = scene.run(&["--apply"]).exits(0);
    let (reader, mut writer) = std::io::pipe().unwrap();
    let workspace = scene.arg("workspace");
    let program =
        Started::reading(&mut on_terminal(&command(&scene, &["resume", "-C", &workspace])), reader);
    wait_for("the conversation", || program.said().contains("Ctrl-D leaves"));
    let said = program.said();
    let shown = said.split("Ctrl-D leaves").next().unwrap();
    for words in ["> go", "note.txt", "done"] {
        assert!(shown.contains(words), "{shown}");
    }
    writer.write_all(b"what else?\r").unwrap();
    wait_for("the answer", || program.said().contains("nothing else"));
    thread::sleep(Duration::from_millis(200));
    writer.write_all(b"\x04").unwrap();
    let _run = program.finish().exits(0);
    assert!(messages(&scene, 2).last().unwrap().to_string().contains("what else?"));
}

/// No file may grow beyond some blocks of 512 bytes.
fn limited(command: &Command, blocks: u32) -> Command {
    let mut limited = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    limited.args(["-c", &script, "sh"]).arg(command.get_program()).args(command.get_args());
    limited.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdin(std::process::Stdio::null());
    limited.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    limited
}

#[test]
fn a_full_disk_ends_no_run() {
    let long = "l".repeat(20_000);
    // The sandbox needs larger files itself.
    let messages = [Message::text(&long)];
    let scene = Scene::streaming(&messages).undecided();
    let mut command = scene.command("go");
    let run = run(&mut limited(command.arg("--apply"), 32)).exits(0);
    assert_eq!(run.stdout.trim_end(), long);
    let words = "\nfrom here on this session is not kept, but goes on: cannot write ";
    assert_eq!(run.stderr.matches(words).count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("log.jsonl: File too large"), "{}", run.stderr);

    // A log that was asked for is another matter.
    let scene = Scene::streaming(&messages).undecided();
    let log = scene.arg("log");
    let mut command = scene.command("go");
    let command = command.args(["--apply", "--ephemeral", "--log", &log]);
    let run = innerloop_tests::program::run(&mut limited(command, 32)).exits(1);
    assert!(run.stderr.contains("innerloop: cannot write the log "), "{run:?}");
}

#[test]
fn nobody_whose_state_folder_is_closed_is_kept_from_working() {
    let scene = scene(&[write("toolu_1", "note.txt", "new\n"), Message::text("done")]);
    // Nobody can make a folder there.
    let mut command = scene.command("go");
    command.env("XDG_STATE_HOME", "/proc/nowhere").arg("--apply");
    let done = run(&mut command).exits(0);
    let words = "this session is not kept: cannot make /proc/nowhere/innerloop/sessions";
    assert!(done.stderr.contains(words), "{}", done.stderr);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
    // Nor where there is no home folder.
    let scene = self::scene(&[]);
    let mut command = scene.command("go");
    command.env_remove("XDG_STATE_HOME").env("HOME", "/proc/nowhere").arg("--apply");
    let done = run(&mut command).exits(0);
    assert!(done.stderr.contains("cannot make /proc/nowhere/.local/"), "{}", done.stderr);
    assert_eq!(scene.text("workspace/note.txt"), "new\n");
}

/// In the folder itself, where nothing else stands between a kill and the user's file.
#[test]
fn a_program_that_is_killed_while_a_tool_writes_leaves_the_file_whole() {
    let (old, new) = ("old\n".repeat(1 << 16), "new\n".repeat(1 << 16));
    let mut hits = 0;
    for _ in 0..10 {
        let messages = [write("toolu_1", "big.txt", &new), Message::text("done")];
        let scene = Scene::streaming(&messages).undecided().file("big.txt", &old);
        let mut command = scene.command("go");
        let program = Started::new(command.arg("--in-place"), b"");
        let is_draft = |entry: fs::DirEntry| entry.file_name() != *"big.txt";
        let drafts = || fs::read_dir(scene.workspace()).unwrap().flatten().any(is_draft);
        wait_for("the draft, or the end", || drafts() || scene.model.requests().len() == 2);
        program.signal("KILL");
        hits += usize::from(program.finish().code.is_none() && drafts());
        let found = scene.text("workspace/big.txt");
        assert!(found == old || found == new, "{} bytes are neither", found.len());
    }
    println!("{hits} of 10 were killed beside a draft");
}
