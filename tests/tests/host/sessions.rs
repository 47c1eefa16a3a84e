//! Sessions that are kept: listed, shown, exported, deleted, forked; and resumed, also after the
//! program was killed in the middle of a run.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell as programs,
    mock::Reply,
    program::{Run, Started, innerloop, run, wait_for},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{fs, process::Command};

/// That command of the program, over the scene's sessions.
fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
    command
}

fn ran(scene: &Scene, args: &[&str]) -> Run {
    run(&mut command(scene, args))
}

/// The sessions that are kept, the newest first.
fn kept(scene: &Scene) -> Vec<Value> {
    ran(scene, &["sessions", "list", "--json"]).exits(0).json_lines()
}

/// The last message of the newest request.
fn last_message(scene: &Scene) -> Value {
    let requests = scene.model.requests();
    let body: Value = serde_json::from_str(&requests.last().unwrap().body).unwrap();
    body["messages"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn a_session_is_kept_unless_the_user_says_otherwise() {
    let scene = Scene::streaming(&[Message::text("one"), Message::text("two")]);
    let _run = scene.run(&["--ephemeral"]).exits(0);
    assert!(!scene.path("state").exists());
    let _run = run(&mut scene.command("Write a haiku")).exits(0);
    let sessions = kept(&scene);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["title"], "Write a haiku");
    assert_eq!(sessions[0]["provider"], "anthropic");
    let list = ran(&scene, &["sessions", "list"]).exits(0).stdout;
    let id = sessions[0]["id"].as_str().unwrap();
    assert!(list.starts_with(id.split_at(8).0) && list.contains("Write a haiku"), "{list}");

    let text = ran(&scene, &["sessions", "show", "last"]).exits(0).stdout;
    assert_eq!(text, "> Write a haiku\n\ntwo\n");
    let markdown =
        ran(&scene, &["sessions", "show", id.split_at(4).0, "--as", "markdown"]).exits(0).stdout;
    assert!(markdown.contains("## User\n\nWrite a haiku\n\n## Assistant\n\ntwo\n"), "{markdown}");
    let read = ran(&scene, &["sessions", "show", id, "--as", "json"]).exits(0).stdout;
    let read: Value = serde_json::from_str(&read).unwrap();
    assert_eq!(read["turns"][0]["kind"]["user"][0]["text"], "Write a haiku");

    let log = scene.path("log.jsonl");
    let export = |code| ran(&scene, &["sessions", "export", id, "../log.jsonl"]).exits(code);
    let _exported = export(0);
    assert!(export(2).complaint().contains("exists already"), "nothing is overwritten");
    let shown = ran(&scene, &["sessions", "show", log.to_str().unwrap()]).exits(0).stdout;
    assert_eq!(shown, text);
    fs::write(scene.path("no.log"), "{}\n").unwrap();
    let none = ran(&scene, &["sessions", "show", "../no.log"]).exits(3);
    assert!(none.complaint().contains("is no session's log"), "{none:?}");

    let none = ran(&scene, &["sessions", "delete", "zz"]).exits(2);
    assert!(none.complaint().contains("no session \"zz\" is kept"), "{none:?}");
    let _kept = ran(&scene, &["sessions", "delete", "--older-than", "1"]).exits(0);
    assert_eq!(kept(&scene).len(), 1);
    let (digits, _) = id.split_at(8);
    let deleted = ran(&scene, &["sessions", "delete", id, digits, id]).exits(0);
    assert_eq!(deleted.stderr, "deleted: 1 session\n");
    assert_eq!(kept(&scene).len(), 0);
}

#[test]
fn a_session_that_cannot_be_kept_is_no_reason_not_to_work() {
    let scene = Scene::streaming(&[Message::text("done")]).file("file", "");
    let mut command = scene.command("go");
    command.env("XDG_STATE_HOME", scene.workspace().join("file"));
    let run = run(&mut command).exits(0);
    let folder = scene.workspace().join("file/innerloop/sessions");
    let words = format!("this session is not kept: cannot make {}", folder.display());
    assert!(run.stderr.contains(&words), "{}", run.stderr);
    assert!(run.stderr.contains("Not a directory"), "{}", run.stderr);
    assert_eq!(run.stdout, "done\n");
}

#[test]
fn a_session_goes_on_with_all_that_was_said() {
    let model = [Message::text("blue"), Message::text("green"), Message::text("red")];
    let scene = Scene::streaming(&model);
    let _run = run(&mut scene.command("Which colour?")).exits(0);
    let resumed = ran(&scene, &["resume", "last", "And now?"]).exits(0);
    assert_eq!(resumed.stdout, "green\n");
    let requests = scene.model.requests();
    let body: Value = serde_json::from_str(&requests[1].body).unwrap();
    let said: Vec<&str> = ["/0/content/0/text", "/1/content/0/text", "/2/content/0/text"]
        .map(|at| body["messages"].pointer(at).unwrap().as_str().unwrap())
        .to_vec();
    assert_eq!(said, ["Which colour?", "blue", "And now?"]);
    assert_eq!(kept(&scene).len(), 1, "it is the same session");
    // Once more, from what the second program has left.
    let id = kept(&scene)[0]["id"].as_str().unwrap().to_owned();
    let third = ran(&scene, &["resume", id.split_at(6).0, "Again", "--max-turns", "50"]).exits(0);
    assert_eq!(third.stdout, "red\n");
    let none = ran(&scene, &["resume"]).exits(2);
    assert!(none.complaint().contains("waits for you: say what to do next"), "{none:?}");
}

#[test]
fn a_fork_has_heard_as_much_as_is_wanted() {
    let scene = Scene::streaming(&[Message::text("blue"), Message::text("green")]);
    let _run = run(&mut scene.command("Which colour?")).exits(0);
    let forked = ran(&scene, &["sessions", "fork", "last", "--turns", "1"]).exits(0).stdout;
    let more = ran(&scene, &["sessions", "fork", "last", "--turns", "9"]).exits(2);
    assert!(more.complaint().contains("the session has 1 turns"), "{more:?}");
    assert_eq!(kept(&scene).len(), 2);
    let _resumed = ran(&scene, &["resume", forked.trim(), "Tell me"]).exits(0);
    let body: Value = serde_json::from_str(&scene.model.requests()[1].body).unwrap();
    let text = body["messages"].to_string();
    assert!(text.contains("Which colour?") && text.contains("Tell me"), "{text}");
    assert!(!text.contains("blue"), "{text}");
}

#[test]
fn c11_a_session_that_was_killed_in_the_middle_of_a_run_goes_on() {
    let wait = json!({"command": "echo begun > mark; while true; do :; done"});
    let scene =
        Scene::streaming(&[Message::call("toolu_1", "shell", &wait), Message::text("it was lost")]);
    let scene = scene.in_place();
    let mut started = scene.command("go");
    let program = Started::new(started.arg("--programs").arg(programs()), b"");
    wait_for("the call", || scene.workspace().join("mark").exists());
    let taken = ran(&scene, &["resume"]).exits(2);
    assert!(taken.complaint().contains("another innerloop works with the session"), "{taken:?}");
    program.signal("KILL");
    assert_eq!(program.finish().code, None, "it was killed");

    let resumed = ran(&scene, &["resume"]).exits(0);
    assert_eq!(resumed.stdout, "it was lost\n");
    assert!(resumed.stderr.contains("stopped in the middle of a run"), "{}", resumed.stderr);
    let result = last_message(&scene);
    assert_eq!(result["content"][0]["tool_use_id"], "toolu_1", "{result}");
    assert_eq!(result["content"][0]["is_error"], true, "{result}");
}

#[test]
fn what_has_failed_for_good_is_tried_again() {
    let refused = Reply::error(401, "authentication_error", "invalid x-api-key");
    let scene = Scene::new(vec![refused, Reply::stream(&Message::text("welcome"))]);
    let run = run(&mut scene.command("go")).exits(3);
    assert!(run.stderr.contains("innerloop resume "), "{}", run.stderr);
    let resumed = ran(&scene, &["resume"]).exits(0);
    assert_eq!(resumed.stdout, "welcome\n");
}

#[test]
fn an_interrupted_session_goes_on_with_what_is_said_next() {
    let never = Reply::stream(&Message::text("never")).without_end();
    let scene = Scene::new(vec![never, Reply::stream(&Message::text("here I am"))]);
    let program = Started::new(&mut scene.command("go"), b"");
    wait_for("the request", || !scene.model.requests().is_empty());
    program.interrupt();
    assert_eq!(program.finish().code, Some(130));
    let resumed = ran(&scene, &["resume", "last", "go on"]).exits(0);
    assert_eq!(resumed.stdout, "here I am\n");
    assert!(last_message(&scene).to_string().contains("go on"));
}
