//! Several models, as `innerloop` reaches them: each with the key and the address of its own
//! provider (`docs/decisions.md#routing`).

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::{Run, innerloop, run},
    scene::Scene,
    terminal::Terminal,
};
use serde_json::{Value, json};

const KEY: &str = "sk-or-0123456789abcdef";

/// A model of another provider, which speaks Chat Completions.
fn other(messages: &[Message]) -> Mock {
    let reply = |message| Reply::stream_in(WireKind::OpenaiChat, message);
    Mock::start(messages.iter().map(reply).collect())
}

/// Runs a scene whose model may be taken over from by the other one.
fn play(scene: &Scene, other: &Mock, args: &[&str]) -> Run {
    let mut command = scene.command("go");
    command.env("OPENROUTER_BASE_URL", format!("{}/v1", other.url()));
    command.env("OPENROUTER_API_KEY", KEY);
    run(command.args(args))
}

fn model(mock: &Mock, at: usize) -> String {
    let body: Value = serde_json::from_str(&mock.requests()[at].body).unwrap();
    body["model"].as_str().unwrap().to_owned()
}

#[test]
fn n18_another_provider_takes_over_with_its_own_key() {
    let look = Message::call("toolu_1", "Glob", &json!({"pattern": "*"}));
    let scene = Scene::new(vec![Reply::stream(&look), Reply::rate_limited("400")]).natively();
    let scene = scene.file("a.txt", "x\n");
    let mock = other(&[Message::text("There is a.txt.")]);
    let run = play(&scene, &mock, &["--fallback", "openrouter/maker/big-1"]).exits(0);
    assert_eq!(run.stdout, "There is a.txt.\n");
    assert!(run.stderr.contains("(openrouter/maker/big-1 takes over from anthropic/"), "{run:?}");
    assert_eq!(model(&mock, 0), "maker/big-1");
    let request = &mock.requests()[0];
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(request.header("x-api-key"), None, "the other provider's key goes nowhere else");
    // The session goes on there: the first provider is still left alone.
    let mock = other(&[Message::text("Yes.")]);
    let mut command = innerloop(["resume", "last", "again", "--apply"]);
    command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
    command.env("OPENROUTER_BASE_URL", format!("{}/v1", mock.url())).env("OPENROUTER_API_KEY", KEY);
    command.env("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef");
    let run = innerloop_tests::program::run(&mut command).exits(0);
    assert_eq!(run.stdout, "Yes.\n");
}

#[test]
fn n18_a_key_that_is_missing_is_named_before_anything_is_asked() {
    let scene = Scene::streaming(&[]);
    let run = run(scene.command("go").args(["--fallback", "openrouter/maker/big-1"]));
    let run = run.exits(3);
    assert!(run.stderr.contains("OPENROUTER_API_KEY is not set"), "{run:?}");
    let unknown = scene.run(&["--fallback", "openruter/maker/big-1"]).exits(2);
    assert!(unknown.stderr.contains("unknown provider \"openruter\""), "{unknown:?}");
    assert!(scene.model.requests().is_empty());
}

#[test]
fn j23_a_cheap_model_writes_the_summary() {
    let look = |n: usize| Message::call(&format!("toolu_{n}"), "Glob", &json!({"pattern": "*"}));
    let messages: Vec<Message> = (1..9).map(look).chain([Message::text("Done.")]).collect();
    let scene = Scene::streaming(&messages).natively();
    let mock = other(&[Message::text("The summary."), Message::text("The summary.")]);
    let compaction = json!({
        "compaction": {
            "auto": [{"from": {"percent": 90}, "to": {"percent": 60}, "step": "summary"}],
            "max_messages": 6,
            "keep": {"tokens": 100, "rounds": 1},
        }
    });
    std::fs::write(scene.path("config.json"), compaction.to_string()).unwrap();
    let config = scene.arg("config.json");
    let args = ["--cheap-model", "openrouter/maker/small-1", "--config", &config];
    let run = play(&scene, &mock, &args).exits(0);
    assert_eq!(run.stdout, "Done.\n");
    assert_eq!(model(&mock, 0), "maker/small-1", "{run:?}");
}

#[test]
fn n18_a_conversation_goes_on_with_a_model_of_another_provider() {
    let scene = Scene::streaming(&[Message::text("one")]);
    let mock = other(&["two", "three", "four"].map(Message::text));
    let command = |args: &[&str]| {
        let mut command = innerloop(args);
        command.env("XDG_STATE_HOME", scene.path("state")).env("NO_COLOR", "1");
        command.env("ANTHROPIC_BASE_URL", scene.model.url()).current_dir(scene.workspace());
        command.env("OPENROUTER_BASE_URL", format!("{}/v1", mock.url()));
        command.env("OPENROUTER_API_KEY", KEY);
        command
    };
    let terminal = Terminal::start(&command(&[]), (100, 50));
    terminal.press("first\r");
    terminal.shows("one");
    terminal.press("/model groq/none\r");
    terminal.shows("GROQ_API_KEY is not set");
    terminal.press("/model openrouter/maker/big-1\r");
    terminal.shows("from the next call on: maker/big-1 (openrouter)");
    terminal.press("second\r");
    terminal.shows("two");
    let request = &mock.requests()[0];
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert!(request.body.contains("first") && request.header("x-api-key").is_none());
    terminal.press("/new\r");
    terminal.shows("maker/big-1 (openrouter) ·");
    terminal.press("third\r");
    terminal.shows("three");
    terminal.press("\x04");
    let _run = terminal.finish().exits(0);
    let run = run(&mut command(&["resume", "last", "fourth", "--apply"])).exits(0);
    assert_eq!(run.stdout, "four\n");
    assert_eq!(scene.model.requests().len(), 1);
}

#[test]
fn n18_the_doctor_tries_each_model_that_takes_over() {
    let scene = Scene::streaming(&[]);
    let list = r#"{"object": "list", "data": [{"id": "maker/big-1"}]}"#;
    let mock = Mock::start(vec![Reply::new(200, "application/json", list)]);
    let mut command = innerloop(["doctor", "--base-url", &scene.model.url()]);
    command.args(["--fallback", "openrouter/maker/big-1", "--fallback", "groq/quick-1"]);
    command.env("OPENROUTER_BASE_URL", mock.url()).env("OPENROUTER_API_KEY", KEY);
    let run = run(&mut command).exits(1);
    let lines: Vec<&str> = run.stdout.lines().filter(|it| it.contains("fallback: ")).collect();
    assert!(
        matches!(lines[..], [reached, without_a_key]
        if reached.starts_with("ok    fallback: openrouter: ")
        && reached.contains("takes the key, and maker/big-1 is among its ")
        && without_a_key.starts_with("FAIL  fallback: groq: GROQ_API_KEY is not set")),
        "{run:#?}"
    );
    assert!(!run.stdout.contains(KEY), "{run:#?}");
}
