//! `innerloop` alone on a terminal: what a person sees there, and what becomes of their keys.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Run, innerloop, run},
    scene::Scene,
    terminal::Terminal,
};
use serde_json::json;
use std::{fs, process::Command, thread::sleep, time::Duration};

const ENTER: &str = "\r";
const ESC: &str = "\x1b";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// Longer than a key has to be alone to be an answer, and a question to be seen.
const A_WHILE: Duration = Duration::from_millis(900);

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

const WIDE: (u16, u16) = (100, 50);

fn write(id: &str, path: &str) -> Message {
    Message::call(id, "Write", &json!({"file_path": path, "content": "new\n"}))
}

/// That command of the program, over the scene's sessions.
fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("XDG_STATE_HOME", scene.path("state")).env("NO_COLOR", "1");
    command.env("ANTHROPIC_BASE_URL", scene.model.url()).current_dir(scene.workspace());
    command
}

/// A conversation that has begun.
fn talk(scene: &Scene, args: &[&str], size: (u16, u16)) -> Terminal {
    let terminal = Terminal::start(&command(scene, args), size);
    terminal.shows("/help tells");
    terminal
}

/// Leaves, and gives all that was written.
fn left(terminal: Terminal) -> Run {
    terminal.press(CTRL_D);
    terminal.finish()
}

/// Texts of the user's in the last request, joined.
fn said(scene: &Scene) -> String {
    scene.model.requests().last().unwrap().body.clone()
}

/// Waits until the model has been asked so often.
fn asked(scene: &Scene, times: usize) {
    innerloop_tests::program::wait_for("a request", || scene.model.requests().len() >= times);
}

#[test]
fn m5_a_conversation_goes_turn_by_turn_and_says_how_to_go_on() {
    let replies = ["**Hello**, you", "Seven.", "Bye."].map(Message::text);
    let scene = Scene::streaming(&replies);
    let terminal = talk(&scene, &[], WIDE);
    let folder = fs::canonicalize(scene.workspace()).unwrap();
    terminal.shows(&format!("claude-sonnet-5-5 (anthropic) · {}", folder.display()));
    terminal.press(&format!("say hello{ENTER}"));
    terminal.shows("> say hello\n**Hello**, you\n");
    terminal.press("count the\\\r");
    terminal.press(&format!("letters{ENTER}"));
    terminal.shows("> count the\n  letters\nSeven.");
    assert!(said(&scene).contains(r#""text":"count the\nletters""#), "{}", said(&scene));
    // What was said before comes back, and can be changed.
    terminal.press(&format!("\x1b[A\x1b[A\x1b[A and bye{ENTER}"));
    terminal.shows("> say hello and bye\nBye.");
    terminal.press(&format!("/cost{ENTER}"));
    terminal.shows("6 turns · 0 tool calls · 300 tokens in, 30 out");
    let run = left(terminal).exits(0);
    assert!(run.stdout.contains("innerloop resume "), "{}", run.stdout);
    assert_eq!(scene.model.requests().len(), 3);
    let list = run_sessions(&scene);
    assert!(list.contains("say hello"), "{list}");
}

fn run_sessions(scene: &Scene) -> String {
    run(&mut command(scene, &["sessions", "list"])).exits(0).stdout
}

#[test]
fn m5_a_conversation_without_a_word_leaves_no_session() {
    let scene = Scene::streaming(&[]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(CTRL_C);
    terminal.shows("Ctrl-C again, or Ctrl-D, leaves");
    terminal.press("x\x7f");
    terminal.press(CTRL_C);
    // What was typed in between takes the warning back.
    sleep(A_WHILE);
    assert_eq!(terminal.screen().matches("Ctrl-C again").count(), 2, "{}", terminal.screen());
    terminal.press(CTRL_C);
    let run = terminal.finish().exits(0);
    assert!(!run.stdout.contains("innerloop resume"), "{}", run.stdout);
    assert_eq!(run_sessions(&scene), "");
}

#[test]
fn m5_a_word_steers_while_the_agent_works_or_waits_until_it_is_done() {
    let slow = Reply::stream(&write("toolu_1", "a.txt")).paced(Duration::from_millis(150));
    let last = ["first", "second"].map(Message::text);
    let replies = [vec![slow], last.iter().map(Reply::stream).collect()].concat();
    let scene = Scene::new(replies);
    let terminal = talk(&scene, &["--apply"], WIDE);
    terminal.press(&format!("write{ENTER}"));
    asked(&scene, 1);
    terminal.press(&format!("also this{ENTER}and that &&{ENTER}"));
    terminal.shows("(the agent reads it after its current calls)");
    terminal.shows("(the agent reads it when it is done)");
    terminal.shows("second");
    terminal.shows("applied: 1 changed file");
    let bodies: Vec<String> = scene.model.requests().into_iter().map(|it| it.body).collect();
    assert!(!bodies[0].contains("also this"));
    assert!(bodies[1].contains("also this") && !bodies[1].contains(r#""text":"and that""#));
    assert!(bodies[2].contains(r#""text":"and that""#), "{}", bodies[2]);
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_esc_stops_what_goes_on_and_leaves_what_was_typed() {
    let hangs = Reply::stream(&Message::text("never")).paced(LONG);
    let scene = Scene::new(vec![hangs, Reply::stream(&Message::text("here I am"))]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("think{ENTER}"));
    asked(&scene, 1);
    terminal.press(&format!("steer it{ENTER}half a tex"));
    terminal.shows("> half a tex");
    terminal.press(ESC);
    terminal.shows("interrupted; what was done so far stays");
    terminal.shows("not read yet, and goes with what you say next: steer it");
    terminal.press(&format!("t{ENTER}"));
    terminal.shows("here I am");
    assert!(said(&scene).contains("half a text"), "{}", said(&scene));
    assert!(said(&scene).contains("steer it"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_a_key_answers_only_alone_and_only_what_was_seen() {
    let calls = [write("toolu_1", "a.txt"), write("toolu_2", "b.txt"), Message::text("done")];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &["--in-place"], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("? write a.txt (1 line)");
    // The first letter of a text is no answer, and the text none either.
    terminal.press("n");
    terminal.press("o, wait");
    sleep(A_WHILE);
    terminal.shows("> no, wait");
    assert!(!terminal.screen().contains("[q]uit: n"), "{}", terminal.screen());
    terminal.press(ENTER);
    terminal.shows("(the agent reads it after its current calls)");
    terminal.press(&format!("/cost{ENTER}"));
    terminal.shows("2 turns · ");
    terminal.shows("[y]es, [n]o, [a]lways (every Write), [d]iff, [e]dit, [s]teer, [q]uit:\n>");
    terminal.press("d");
    terminal.shows("+new");
    sleep(A_WHILE);
    terminal.press("y");
    terminal.shows("? write b.txt (1 line)");
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
    terminal.press(&format!("no{ENTER}"));
    terminal.shows("done");
    assert!(!scene.path("workspace/b.txt").exists());
    assert!(said(&scene).contains("the user said no"), "{}", said(&scene));
    let run = left(terminal).exits(0);
    assert!(run.stdout.contains("[q]uit: y"), "{}", run.stdout);
}

#[test]
fn m5_changes_are_applied_when_the_person_says_so_and_not_by_a_letter() {
    let calls = [
        write("toolu_1", "a.txt"),
        Message::text("one"),
        write("toolu_2", "b.txt"),
        Message::text("two"),
    ];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("apply 1 changed file to ");
    sleep(A_WHILE);
    terminal.press("y");
    sleep(A_WHILE);
    assert!(!scene.path("workspace/a.txt").exists(), "Enter says that it is meant");
    terminal.press(&format!("\x7f{ENTER}"));
    terminal.shows("not applied yet; /apply does it, /diff shows it");
    terminal.press(&format!("/diff{ENTER}"));
    terminal.shows("+++ b/a.txt");
    terminal.press(&format!("another{ENTER}"));
    terminal.shows("apply 2 changed files to ");
    terminal.press(&format!("/apply{ENTER}"));
    terminal.shows("applied: 2 changed files");
    terminal.hides("[l]ater");
    assert_eq!(scene.text("workspace/b.txt"), "new\n");
    let run = left(terminal).exits(0);
    assert!(!run.stdout.contains("apply these changes"), "{}", run.stdout);
}

#[test]
fn m5_changes_that_meet_others_are_applied_over_them_or_given_up() {
    let calls = [
        write("toolu_1", "a.txt"),
        Message::text("one"),
        write("toolu_2", "b.txt"),
        Message::text("two"),
        Message::text("three"),
    ];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("apply 1 changed file to ");
    fs::write(scene.path("workspace/a.txt"), "somebody else\n").unwrap();
    terminal.press(&format!("yes{ENTER}"));
    terminal.shows("something else has changed a.txt meanwhile");
    terminal.shows("/apply over does that, /drop gives up");
    terminal.press(&format!("/diff{ENTER}"));
    terminal.shows("-somebody else\n+new");
    terminal.press(&format!("/apply over{ENTER}"));
    terminal.shows("applied: 1 changed file");
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
    terminal.press(&format!("again{ENTER}"));
    terminal.shows("two");
    terminal.shows("apply 1 changed file to ");
    terminal.press(&format!("/drop{ENTER}"));
    terminal.shows("given up: 1 changed file");
    terminal.press(&format!("and now?{ENTER}"));
    terminal.shows("three");
    assert!(said(&scene).contains("The user has given up those changes"), "{}", said(&scene));
    let run = left(terminal).exits(0);
    assert!(!run.stdout.contains("apply these changes"), "{}", run.stdout);
    assert!(!scene.path("workspace/b.txt").exists());
}

#[test]
fn m5_what_deserves_a_look_is_named_before_the_question() {
    let calls = [write("toolu_1", ".envrc"), Message::text("one"), Message::text("two")];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("Look closely at:\n  .envrc: a shell may run it");
    terminal.shows("apply 1 changed file to ");
    terminal.press(&format!("/diff{ENTER}"));
    terminal.shows("+new\nLook closely at:\n  .envrc");
    terminal.press(&format!("go on{ENTER}"));
    terminal.shows("two");
    terminal.shows("apply 1 changed file to ");
    // It was said before.
    assert_eq!(terminal.screen().matches("Look closely").count(), 2, "{}", terminal.screen());
    terminal.press(&format!("/drop{ENTER}"));
    terminal.shows("given up: 1 changed file");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_a_terminal_that_is_closed_ends_the_conversation_and_keeps_its_changes() {
    let calls = [write("toolu_1", "a.txt"), Message::text("one"), Message::text("two")];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("apply 1 changed file to ");
    terminal.close();
    assert!(!scene.path("workspace/a.txt").exists());
    // Nobody holds the session, and nothing is lost.
    let resumed = ["resume", "last", "go on", "--apply"];
    let mut again = Vec::new();
    innerloop_tests::program::wait_for("the session", || {
        let run = run(&mut command(&scene, &resumed));
        again = vec![run.code == Some(0)];
        again[0]
    });
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
}

#[test]
fn m5_names_are_completed_and_wide_questions_are_wrapped() {
    let question = Message::call(
        "toolu_1",
        "ask_user",
        &json!({"question": "Which of the two colours shall the house have, red or blue?"}),
    );
    let scene = Scene::streaming(&[question, Message::text("The house is blue.")])
        .file("a file.txt", "text");
    fs::write(scene.path("config.json"), r#"{"ask_user": true}"#).unwrap();
    let args = ["--in-place", "--vocabulary", "seed", "--config", &scene.arg("config.json")];
    let terminal = talk(&scene, &args, (40, 30));
    terminal.press("/he\t");
    terminal.shows("> /help");
    terminal.press(ENTER);
    terminal.shows("/quit            leave (Ctrl-D)");
    terminal.press("see @a\t");
    terminal.shows("> see @\"a file.txt\"");
    terminal.press(ENTER);
    terminal.shows("? Which of the two colours");
    assert!(said(&scene).contains("a file.txt:\\n\\ntext"), "{}", said(&scene));
    terminal.shows("your answer:\n>");
    terminal.press(&format!("/blue, please{ENTER}"));
    terminal.shows("The house is blue.");
    assert!(said(&scene).contains("/blue, please"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_a_refused_key_or_model_is_told_and_the_conversation_goes_on() {
    let refused = [
        Reply::error(401, "authentication_error", "invalid x-api-key"),
        Reply::error(404, "not_found_error", "model: claude-nobody"),
        Reply::stream(&Message::text("here I am")),
    ];
    let scene = Scene::new(refused.to_vec());
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("hello{ENTER}"));
    terminal.shows("invalid x-api-key");
    terminal.press(&format!("/model claude-nobody{ENTER}hello?{ENTER}"));
    terminal.shows("model: claude-nobody");
    terminal.press(&format!("/model claude-sonnet-5-5{ENTER}hello!{ENTER}"));
    terminal.shows("here I am");
    let body = said(&scene);
    assert!(body.contains(r#""model":"claude-sonnet-5-5""#) && body.contains("hello?"), "{body}");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_another_session_follows_with_the_same_options_and_model() {
    let scene = Scene::streaming(&["one", "two"].map(Message::text));
    let terminal = talk(&scene, &["--diff"], WIDE);
    terminal.press(&format!("/model claude-haiku-4-5{ENTER}first{ENTER}"));
    terminal.shows("one");
    terminal.press(&format!("/new{ENTER}"));
    terminal.shows("goes on");
    terminal.shows("claude-haiku-4-5 (anthropic)");
    terminal.press(&format!("second{ENTER}"));
    terminal.shows("two");
    assert!(!said(&scene).contains(r#""text":"first""#), "{}", said(&scene));
    assert_eq!(terminal.screen().matches("changes are only shown").count(), 2);
    let _run = left(terminal).exits(0);
    assert_eq!(run_sessions(&scene).lines().count(), 2);
}

#[test]
fn m5_another_session_follows_while_the_agent_is_still_at_work() {
    let hangs = Reply::stream(&Message::text("never")).paced(LONG);
    let scene = Scene::new(vec![hangs, Reply::stream(&Message::text("here I am"))]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("first{ENTER}"));
    asked(&scene, 1);
    terminal.press(&format!("/new{ENTER}"));
    terminal.shows("goes on\nclaude-sonnet-5-5 (anthropic)");
    terminal.press(&format!("second{ENTER}"));
    terminal.shows("here I am");
    assert!(!said(&scene).contains(r#""text":"first""#), "{}", said(&scene));
    let _run = left(terminal).exits(0);
    assert_eq!(run_sessions(&scene).lines().count(), 2);
}

#[test]
fn m5_what_holds_is_told_by_a_command_alone() {
    let scene = Scene::streaming(&[]);
    let terminal = talk(&scene, &["--effort", "low"], WIDE);
    terminal.press(&format!("/effort{ENTER}/approve{ENTER}"));
    terminal.shows("effort: low");
    terminal.shows("no call needs a yes");
    terminal.press(&format!("/approve none{ENTER}"));
    terminal.shows("from the next call on: changes and programs need a yes");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_what_is_asked_is_wrapped_between_words() {
    let content = "The quick brown fox jumps over the lazy dog and runs away from it once more";
    let call = Message::call("t1", "Write", &json!({"file_path": "a.txt", "content": content}));
    let scene = Scene::streaming(&[call, Message::text("done")]);
    let terminal = talk(&scene, &["--in-place"], (40, 30));
    terminal.press(&format!("write{ENTER}"));
    terminal.shows(
        "  content: The quick brown fox jumps\n  over the lazy dog and runs away from\n  it",
    );
    terminal.shows("[y]es, [n]o, [a]lways (every Write),\n  [d]iff, [e]dit, [s]teer, [q]uit:\n>");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_what_is_typed_before_the_conversation_begins_is_said() {
    let scene = Scene::streaming(&[Message::text("hello")]);
    let terminal = Terminal::start(&command(&scene, &[]), WIDE);
    terminal.press("hi there\r");
    terminal.shows("> hi there\nhello");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_a_session_that_only_reads_says_so() {
    let scene = Scene::streaming(&[]);
    let terminal = talk(&scene, &["--read-only"], WIDE);
    terminal.shows(" · only reads · ");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_a_session_is_listed_with_the_model_that_it_ended_with() {
    let scene = Scene::streaming(&[Message::text("hello")]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("hi{ENTER}"));
    terminal.shows("hello");
    terminal.press(&format!("/model claude-haiku-4-5{ENTER}"));
    terminal.shows("from the next call on: claude-haiku-4-5");
    let _run = left(terminal).exits(0);
    let list = run(&mut command(&scene, &["sessions", "list", "--json"])).exits(0).stdout;
    assert!(list.contains(r#""model":"claude-haiku-4-5""#), "{list}");
}

#[test]
fn j3_steps_are_undone_in_a_conversation_and_in_a_resumed_one() {
    let done = Message::text("Done.");
    let b = json!({"file_path": "b.txt", "content": "new\n"});
    let first = write("toolu_1", "a.txt").and_call("toolu_2", "Write", &b);
    let scene = Scene::streaming(&[first, done.clone(), done.clone(), done]);
    let terminal = talk(&scene, &["--apply"], WIDE);
    terminal.press(&format!("/undo{ENTER}"));
    terminal.shows("there is nothing to undo");
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("applied: 2 changed files");
    fs::write(scene.workspace().join("b.txt"), "mine\n").unwrap();
    terminal.press(&format!("/undo{ENTER}"));
    terminal.shows("undone; 0 steps to undo, 1 to redo");
    terminal.shows("2 changed files of undone steps; /undo files takes them back");
    terminal.press(&format!("/undo files{ENTER}"));
    terminal.shows("taken back: a.txt");
    terminal.shows("b.txt stays as it is: it has been changed since");
    terminal.shows("applied: 1 changed file");
    assert!(!scene.workspace().join("a.txt").exists());
    assert_eq!(scene.text("workspace/b.txt"), "mine\n");
    terminal.press(&format!("/redo{ENTER}"));
    terminal.shows("redone; 1 step to undo, 0 to redo");
    terminal.press(&format!("again{ENTER}"));
    terminal.shows("> again\nDone.");
    assert!(said(&scene).contains("toolu_2"), "{}", said(&scene));
    let _run = left(terminal).exits(0);

    let terminal = talk(&scene, &["resume"], WIDE);
    terminal.press(&format!("/undo 2{ENTER}"));
    terminal.shows("undone; 0 steps to undo, 2 to redo");
    terminal.press(&format!("/clear{ENTER}"));
    terminal.shows("nothing was said");
    terminal.press(&format!("other{ENTER}"));
    terminal.shows("> other\nDone.");
    assert!(!said(&scene).contains("toolu_2"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
}
