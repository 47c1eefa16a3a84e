//! `innerloop` alone on a terminal: what a person sees there, and what becomes of their keys.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Run, Started, innerloop, run},
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
    terminal
        .shows(&format!("claude-sonnet-5-5 (anthropic) · preset modern · {}", folder.display()));
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
    // It may be meant as one.
    terminal.shows("that is no answer to the question; Enter again sends it to the agent");
    terminal.shows("> no, wait");
    terminal.press(ENTER);
    terminal.shows("(the agent reads it after its current calls)");
    terminal.press(&format!("/cost{ENTER}"));
    terminal.shows("2 turns · ");
    terminal.shows("[y]es, [n]o, [a]lways (every Write), [d]iff, [e]dit, [s]teer, [q]uit:\n>");
    terminal.press("d");
    terminal.shows("+new\n[y]es, [n]o");
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
    terminal.hides("[n]ot now");
    assert_eq!(scene.text("workspace/b.txt"), "new\n");
    let run = left(terminal).exits(0);
    assert!(!run.stdout.contains("apply these changes"), "{}", run.stdout);
}

#[test]
fn m5_no_answer_to_the_question_about_changes_goes_to_the_model() {
    let write = |n: usize| write(&format!("toolu_{n}"), "a.txt");
    let calls = [write(1), Message::text("one"), Message::text("two")];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("apply 1 changed file to ");
    terminal.shows("[y]es, [n]ot now, [d]iff, [a]lways (after each");
    terminal.press(&format!("nope{ENTER}"));
    terminal.shows("that is no answer to the question");
    terminal.press(&format!("\x15n{ENTER}"));
    terminal.shows("not applied yet; /apply does it");
    assert_eq!(scene.model.requests().len(), 2, "nothing was asked of the model");
    // A sentence is for the agent.
    terminal.press(&format!("now say something else{ENTER}"));
    terminal.shows("two");
    terminal.shows("apply 1 changed file to ");
    // No letter discards anything, here or at the end.
    terminal.press(CTRL_D);
    terminal.shows("[n]ot now (the session");
    terminal.press(&format!("no{ENTER}"));
    let run = terminal.finish().exits(0);
    assert!(run.stdout.contains("not applied yet: the session keeps"), "{}", run.stdout);
    assert_eq!(scene.model.requests().len(), 3);
    assert!(!scene.path("workspace/a.txt").exists());
    let resumed = ["resume", "last", "--apply"];
    let _run = self::run(&mut command(&scene, &resumed)).exits(0);
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
}

#[test]
fn m5_the_word_drop_answers_the_question_about_changes() {
    let scene = Scene::streaming(&[write("toolu_1", "a.txt"), Message::text("one")]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("apply 1 changed file to ");
    terminal.press(&format!("drop{ENTER}"));
    terminal.shows("given up: 1 changed file");
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
    terminal.shows("Look closely at:\n  .envrc: direnv or mise runs it");
    terminal.shows("apply 1 changed file to ");
    terminal.press(&format!("/diff{ENTER}"));
    terminal.shows("+new\nLook closely at:\n  .envrc");
    terminal.press(&format!("go on{ENTER}{ENTER}"));
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
    terminal.shows("/quit            leave (Ctrl-D);");
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
    // What is not known is taken only if it is said twice.
    terminal.press(&format!("/model claude-nobody{ENTER}"));
    terminal.shows("anthropic knows no model claude-nobody; there are claude-");
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
    let line = "echo The quick brown fox jumps over the lazy dog > a.txt; rm -r b; cat a.txt c";
    let call = Message::call("t1", "Bash", &json!({"command": line}));
    let scene = Scene::streaming(&[call, Message::text("done")]);
    let terminal = talk(&scene, &["--in-place"], (40, 30));
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("? shell echo The quick brown fox jumps\n  over the lazy dog > a.txt; rm -r b;");
    terminal.shows("[y]es, [n]o, [a]lways (this command\n  line), [d]etails, [e]dit, [s]teer,");
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
    terminal.shows(" · preset modern · ");
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
    terminal.shows("undone: \u{201c}write\u{201d}");
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
    terminal.shows("undone: \u{201c}write\u{201d}, \u{201c}again\u{201d}");
    terminal.press(&format!("/clear{ENTER}"));
    terminal.shows("nothing was said");
    terminal.press(&format!("other{ENTER}"));
    terminal.shows("> other\nDone.");
    assert!(!said(&scene).contains("toolu_2"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
}

#[test]
fn n20_a_conversation_goes_back_to_before_an_input_with_its_files() {
    let done = Message::text("Done.");
    let edit = json!({"file_path": "a.txt", "old_string": "new", "new_string": "newer"});
    let edit = Message::call("toolu_2", "Edit", &edit);
    let replies = [write("toolu_1", "a.txt"), done.clone(), edit, done.clone()];
    let more = [write("toolu_3", "b.txt"), done.clone(), done];
    let scene = Scene::streaming(&[&replies[..], &more].concat()).file("mine.txt", "mine\n");
    let terminal = talk(&scene, &["--apply"], WIDE);
    terminal.press(&format!("/rewind{ENTER}"));
    terminal.shows("nothing was said yet that could be taken back");
    for (said, file, text) in [
        ("make it", "a.txt", "new\n"),
        ("change it", "a.txt", "newer\n"),
        ("another", "b.txt", "new\n"),
    ] {
        terminal.press(&format!("{said}{ENTER}"));
        // Applied, and thus over.
        let file = scene.workspace().join(file);
        let is_there = || fs::read_to_string(&file).is_ok_and(|there| there == text);
        innerloop_tests::program::wait_for(said, is_there);
    }
    terminal.press(&format!("/rewi\t{ENTER}"));
    terminal.shows("1  another\n2  change it\n3  make it\n");
    terminal.press(&format!("/rewind 2{ENTER}"));
    terminal.shows("undone: \u{201c}change it\u{201d}, \u{201c}another\u{201d}");
    terminal.shows("taken back: a.txt");
    terminal.shows("taken back: b.txt");
    terminal.shows("applied: 2 changed files");
    assert_eq!(scene.text("workspace/a.txt"), "new\n", "{}", terminal.screen());
    assert!(!scene.workspace().join("b.txt").exists());
    terminal.press(&format!("go on{ENTER}"));
    terminal.shows("> go on\nDone.");
    assert!(said(&scene).contains("make it") && !said(&scene).contains("change it"));
    let _run = left(terminal).exits(0);

    // What was changed before the program was started again is not known any more, which is said.
    let terminal = talk(&scene, &["resume"], WIDE);
    terminal.press(&format!("/rewind 2{ENTER}"));
    terminal
        .shows("what steps of before this conversation was resumed have changed in files stays");
    assert_eq!(scene.text("workspace/a.txt"), "new\n");
    terminal.press(&format!("/rewind{ENTER}"));
    terminal.shows("nothing was said yet that could be taken back");
    let _run = left(terminal).exits(0);
}

#[test]
fn a12_the_model_may_ask_the_person_of_a_conversation_unless_they_say_no() {
    let ask = json!({"question": "Red or blue?"});
    let ask = Message::call("toolu_1", "ask_user", &ask);
    let scene = Scene::streaming(&[ask, Message::text("Blue it is."), Message::text("Yes.")]);
    let terminal = talk(&scene, &["--vocabulary", "seed"], WIDE);
    terminal.press(&format!("paint it{ENTER}"));
    terminal.shows("? Red or blue?");
    sleep(A_WHILE);
    terminal.press(&format!("blue{ENTER}"));
    terminal.shows("Blue it is.");
    let _run = left(terminal).exits(0);
    let terminal = talk(&scene, &["--no-questions"], WIDE);
    terminal.press(&format!("paint it{ENTER}"));
    terminal.shows("Yes.");
    assert!(!said(&scene).contains("\"ask_user\""), "{}", said(&scene));
    let _run = left(terminal).exits(0);
    // A run by itself has nobody to ask.
    let scene = Scene::streaming(&[Message::text("done")]);
    let _run = scene.run(&[]).exits(0);
    assert!(!said(&scene).contains("\"ask_user\""), "{}", said(&scene));
}

#[test]
fn what_a_resumed_conversation_goes_on_with_is_said_before_it_costs() {
    let late = Reply::stream(&Message::text("late")).paced(LONG);
    let scene = Scene::new(vec![late, Reply::stream(&Message::text("here I am"))]);
    let program = Started::new(&mut scene.command("go"), b"");
    asked(&scene, 1);
    program.signal("KILL");
    let _killed = program.finish();
    let terminal = Terminal::start(&command(&scene, &["resume"]), WIDE);
    terminal.shows("which goes on now: the model is asked again");
    terminal.shows("here I am");
    let run = left(terminal).exits(0);
    stand_in_order(&run.stdout, &["the model is asked again", "here I am"]);
    assert_eq!(scene.model.requests().len(), 2);
}

/// Whether each of these stands behind the one before.
fn stand_in_order(screen: &str, words: &[&str]) {
    let mut rest = screen;
    for word in words {
        let Some((_, behind)) = rest.split_once(word) else { panic!("{word}:\n{screen}") };
        rest = behind;
    }
}

#[test]
fn m5_questions_about_the_calls_of_a_reply_come_in_their_order() {
    let line = |n: usize| json!({"command": format!("touch {n}; echo made {n}")});
    let mut calls = Message::call("toolu_1", "Bash", &line(1));
    for n in 2..=4 {
        calls = calls.and_call(&format!("toolu_{n}"), "Bash", &line(n));
    }
    let scene = Scene::streaming(&[calls, Message::text("done")]);
    let terminal = talk(&scene, &["--in-place"], WIDE);
    terminal.press(&format!("make them{ENTER}"));
    for n in 1..=4 {
        terminal.shows(&format!("? shell touch {n}; echo made {n}\n"));
        terminal.press(&format!("yes{ENTER}"));
    }
    terminal.shows("done");
    let mut want = Vec::new();
    for n in 1..=4 {
        want.push(format!("? shell touch {n}"));
        want.push(format!("• shell touch {n}"));
        want.push(format!("made {n}\n"));
    }
    let want: Vec<&str> = want.iter().map(String::as_str).collect();
    stand_in_order(&terminal.screen(), &want);
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_an_edit_is_asked_about_with_its_diff_and_only_if_it_can_work() {
    let edit = |id: &str, old: &str| {
        let edit = json!({"file_path": "a.txt", "old_string": old, "new_string": "new"});
        Message::call(id, "Edit", &edit)
    };
    let read = Message::call("toolu_1", "Read", &json!({"file_path": "a.txt"}));
    let script = [edit("toolu_0", "old"), read, edit("toolu_2", "absent"), edit("toolu_3", "old")];
    let script = [&script[..], &[Message::text("done")]].concat();
    let scene = Scene::streaming(&script).file("a.txt", "one\nold\n");
    let terminal = talk(&scene, &["--in-place"], WIDE);
    terminal.press(&format!("edit{ENTER}"));
    terminal
        .shows("? edit a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-old\n+new\n[y]es");
    assert_eq!(scene.model.requests().len(), 4, "nobody is asked about those before");
    let told = |at: usize| scene.model.requests()[at].body.clone();
    assert!(told(1).contains("Read a.txt before you edit it."), "{}", told(1));
    assert!(told(3).contains("nobody was asked, since it would fail"), "{}", told(3));
    terminal.press(&format!("yes{ENTER}"));
    terminal.shows("done");
    assert_eq!(scene.text("workspace/a.txt"), "one\nnew\n");
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_always_is_taken_back_by_a_word() {
    let calls = [
        write("toolu_1", "a.txt"),
        write("toolu_2", "b.txt"),
        Message::text("two"),
        write("toolu_3", "c.txt"),
        Message::text("three"),
    ];
    let scene = Scene::streaming(&calls);
    let terminal = talk(&scene, &["--in-place"], WIDE);
    terminal.press(&format!("write{ENTER}"));
    terminal.shows("? write a.txt");
    terminal.press(&format!("always{ENTER}"));
    terminal.shows("two");
    assert_eq!(scene.text("workspace/b.txt"), "new\n");
    terminal.press(&format!("/approve none{ENTER}more{ENTER}"));
    terminal.shows("? write c.txt");
    terminal.press(&format!("no{ENTER}"));
    terminal.shows("three");
    assert!(!scene.path("workspace/c.txt").exists());
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_what_is_attached_is_said_and_pictures_come_from_anywhere() {
    let scene = Scene::streaming(&["one", "two"].map(Message::text)).file("a.txt", "text");
    fs::write(scene.path("out.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    fs::write(scene.path("out.txt"), "from elsewhere").unwrap();
    let terminal = talk(&scene, &[], (160, 50));
    let (picture, text) = (scene.arg("out.png"), scene.arg("out.txt"));
    terminal.press(&format!("see @a.txt @none.txt @{picture} @{text}{ENTER}"));
    terminal.shows("attached: a.txt (4 bytes)");
    terminal.shows("(8 bytes)");
    terminal.shows("@none.txt is not attached: there is no such file in the folder");
    terminal.shows("/attach FILE sends it");
    asked(&scene, 1);
    let body = said(&scene);
    assert!(body.contains("image/png") && !body.contains("from elsewhere"), "{body}");
    terminal.press(&format!("/attach {text}{ENTER}"));
    terminal.shows("goes with what you say next: ");
    terminal.press(&format!("and now{ENTER}"));
    terminal.shows("two");
    assert!(said(&scene).contains("from elsewhere"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
}

#[test]
fn m5_words_for_a_shell_and_efforts_that_are_none_stay_here() {
    let scene = Scene::streaming(&[]);
    let terminal = talk(&scene, &[], WIDE);
    terminal.press(&format!("!ls{ENTER}"));
    terminal.shows("no line for a shell is run here");
    terminal.press(&format!("/effort hihg{ENTER}"));
    terminal.shows("anthropic knows no effort hihg; there are high, ");
    terminal.press("/effort hi\t");
    terminal.shows("> /effort high");
    terminal.press(ENTER);
    terminal.shows("from the next call on: effort high");
    terminal.press("/model claude-son\t");
    terminal.shows("> /model claude-sonnet-");
    terminal.press("\x15");
    terminal.press(&format!("exit{ENTER}"));
    let _run = terminal.finish().exits(0);
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn m5_a_prompt_in_place_of_a_command_begins_the_conversation() {
    let scene = Scene::streaming(&["one", "two"].map(Message::text));
    let terminal = Terminal::start(&command(&scene, &["what is this?", "--effort", "low"]), WIDE);
    terminal.shows("> what is this?\none");
    assert!(said(&scene).contains("what is this?"), "{}", said(&scene));
    let _run = left(terminal).exits(0);
    // Where nobody sits, it is a run.
    let _run = run(&mut command(&scene, &["--diff", "and here?"])).exits(0);
    assert!(said(&scene).contains("and here?"), "{}", said(&scene));
}

#[test]
fn m5_a_key_that_is_kept_meanwhile_counts_from_the_next_words_on() {
    let script = vec![
        Reply::error(401, "authentication_error", "invalid x-api-key"),
        Reply::stream(&Message::text("welcome")),
    ];
    let scene = Scene::new(script);
    let keyless = |args: &[&str]| {
        let mut command = command(&scene, args);
        command.env_remove("ANTHROPIC_API_KEY");
        command
    };
    let login = |key: &str| {
        let mut login = keyless(&["login", "anthropic"]);
        let _run = innerloop_tests::program::run_with(&mut login, key.as_bytes()).exits(0);
    };
    login("sk-ant-first-0123456789");
    let terminal = Terminal::start(&keyless(&[]), (160, 50));
    terminal.shows("/help tells");
    terminal.press(&format!("hello{ENTER}"));
    terminal.shows("`innerloop login anthropic` keeps another one");
    login("sk-ant-second-0123456789");
    terminal.press(&format!("again{ENTER}"));
    terminal.shows("welcome");
    let requests = scene.model.requests();
    assert_eq!(requests[0].header("x-api-key"), Some("sk-ant-first-0123456789"));
    assert_eq!(requests[1].header("x-api-key"), Some("sk-ant-second-0123456789"));
    let _run = left(terminal).exits(0);
}
