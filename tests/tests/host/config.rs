//! Every field of the configuration, from a file, from options, from a preset.

use innerloop_core::{
    Session,
    config::{AskAbout, LimitAction, SessionConfig, VocabularyKind},
    log,
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    program::{run, run_with},
    scene::Scene,
};
use serde_json::{Value, json};
use std::fs;

/// The configuration that a run with these options has, by its log.
fn config(file: &str, args: &[&str]) -> SessionConfig {
    let scene = Scene::streaming(&[Message::text("done")]);
    fs::write(scene.path("config.json"), file).unwrap();
    let files = ["--config", &scene.arg("config.json"), "--log", &scene.arg("session.log")];
    let _run = run(scene.command("go").args(files).args(args)).exits(0);
    log::replay(&scene.text("session.log")).unwrap().session.config().clone()
}

#[test]
fn a_file_changes_what_it_names() {
    let file = json!({
        "retry": {"max_retries": 9},
        "limits": {"action": "summarize"},
        "model": {"vocabulary": "native", "options": {"user": "me"}},
        "instructions": "Be brief.",
    });
    let found = config(&file.to_string(), &[]);
    assert_eq!(found.retry.max_retries, 9);
    assert_eq!(found.limits.action, LimitAction::Summarize);
    assert_eq!(found.limits.max_tool_rounds_per_input, 200, "the program's own");
    assert_eq!(found.model.options.get("user").unwrap().text(), "\"me\"");
    assert_eq!(found.instructions.as_deref(), Some("Be brief."));
    assert!(found.guard.read_before_write, "the preset's");
}

#[test]
fn e11_a_file_says_what_the_program_cannot_know_of_the_place() {
    let file = json!({
        "facts": {"knowledge_cutoff": "2026-01", "git": {"branch": "topic", "modified": 2}},
    });
    let facts = config(&file.to_string(), &[]).facts;
    assert_eq!(facts.knowledge_cutoff, "2026-01");
    let git = facts.git.unwrap();
    assert_eq!((git.branch.as_str(), git.modified, git.untracked), ("topic", Some(2), None));
    assert_eq!((facts.working_directory.as_str(), facts.date.len()), ("/", 10), "collected");
}

#[test]
fn c14_c16_betas_and_the_providers_own_options_are_switches() {
    let options = r#"{"safetySettings": [{"threshold": "BLOCK_NONE"}], "user": "me"}"#;
    let found = config("{}", &["--betas", "one,two", "--provider-options", options]).model;
    assert_eq!(found.betas, ["one", "two"]);
    assert_eq!(found.options.get("user").unwrap().text(), "\"me\"");
    assert!(found.options.get("safetySettings").unwrap().text().contains("BLOCK_NONE"));
    let scene = Scene::streaming(&[Message::text("done")]);
    let odd = run(scene.command("go").args(["--provider-options", "[]"])).exits(2);
    assert!(odd.stderr.contains("--provider-options takes a JSON object"), "{}", odd.stderr);
}

#[test]
fn options_come_before_the_file_and_the_file_before_the_preset() {
    let file = json!({
        "limits": {"max_turns": 5, "max_tool_rounds_per_input": 6},
        "approval": {"ask": "everything"},
    });
    let args = ["--max-turns", "7", "--approve", "edits", "--preset", "ironclaw"];
    let found = config(&file.to_string(), &args);
    assert_eq!((found.limits.max_turns, found.limits.max_tool_rounds_per_input), (7, 6));
    assert_eq!(found.limits.action, LimitAction::Partial, "the preset's");
    assert_eq!(found.approval.ask, AskAbout::Programs);
    assert_eq!(found.model.vocabulary, VocabularyKind::Seed, "the option's");
    let found = config("{}", &["--preset", "ironclaw"]);
    assert_eq!(found.limits.max_tool_rounds_per_input, 50, "the preset's");
    assert_eq!(found.approval.ask, AskAbout::Changes);
}

#[test]
fn options_say_which_tools_there_are_and_what_the_prompt_begins_with() {
    let offered = |args: &[&str]| {
        let scene = Scene::streaming(&[Message::text("done")]);
        fs::write(scene.path("prompt.md"), "You are a poet.\n").unwrap();
        let prompt = ["--base-prompt", &scene.arg("prompt.md")];
        let _run = run(scene.command("go").args(prompt).args(args)).exits(0);
        let body: Value = serde_json::from_str(&scene.model.requests()[0].body).unwrap();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), body["system"][0]["text"].as_str().unwrap().to_owned())
    };
    let (tools, system) = offered(&["--tools", "none"]);
    assert_eq!(tools, [""; 0]);
    assert!(system.starts_with("You are a poet.\n\n<environment>\nToday's date: "), "{system}");
    assert!(!system.contains("Working directory"), "{system}");
    let scene = Scene::streaming(&[Message::text("done")]);
    let _run = run(scene.command("go").args(["--tools", "none"])).exits(0);
    let body = &scene.model.requests()[0].body;
    assert!(body.contains("You are Innerloop") && !body.contains("tool"), "{body}");
    assert_eq!(offered(&["--tools", "grep, read_file"]).0, ["read_file", "grep"]);
    assert_eq!(offered(&["--tools", "read-only"]).0, ["read_file", "list_dir", "glob", "grep"]);
    let (tools, _) = offered(&["--without-tools", "spawn_agent,write_file"]);
    assert!(tools.contains(&"edit_file".to_owned()), "{tools:?}");
    assert!(!tools.contains(&"write_file".to_owned()), "{tools:?}");

    let scene = Scene::streaming(&[]);
    let complaint = |args: &[&str], code| run(scene.command("go").args(args)).exits(code).stderr;
    for option in ["--tools", "--without-tools"] {
        let unknown = complaint(&[option, "rm"], 2);
        let words = format!("{option}: there is no tool \"rm\"; there are read_file, ");
        assert!(unknown.contains(&words), "{unknown}");
    }
    assert!(complaint(&["--base-prompt", "gone.md"], 3).contains("cannot use gone.md"));
    let _both = complaint(&["--tools", "all", "--without-tools", "grep"], 2);
}

#[test]
fn the_file_may_be_standard_input() {
    let scene = Scene::streaming(&[Message::text("done")]);
    let log = scene.arg("session.log");
    let mut command = scene.command("go");
    let command = command.args(["--config", "-", "--log", &log]);
    let _run = run_with(command, b"{\"ask_user\": true}").exits(0);
    assert!(log::replay(&scene.text("session.log")).unwrap().session.config().ask_user);
}

#[test]
fn a_field_that_is_wrong_is_named() {
    let scene = Scene::streaming(&[Message::text("done")]);
    for (file, words) in [
        (r#"{"retry": {"max_retries": "x"}}"#, "config.retry.max_retries: "),
        (r#"{"limits": {"max_turn": 1}}"#, "config.limits.max_turn: "),
        (r#"{"model": {"name": ""}}"#, "config.model"),
        ("[]", "it is no JSON object"),
    ] {
        fs::write(scene.path("config.json"), file).unwrap();
        let run = scene.run(&["--config", &scene.arg("config.json")]).exits(3);
        assert!(run.complaint().contains(words), "{run:?}");
    }
    let run = scene.run(&["--config", &scene.arg("absent.json")]).exits(3);
    assert!(run.complaint().contains("absent.json"), "{run:?}");
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn a_log_goes_on_from_its_snapshot() {
    let scene = Scene::streaming(&[Message::text("done")]);
    let _run = scene.run(&["--log", &scene.arg("session.log")]).exits(0);
    let text = scene.text("session.log");
    let snapshots: Vec<&str> =
        text.lines().filter(|line| line.starts_with("{\"snapshot\":")).collect();
    assert_eq!(snapshots.len(), 1, "where the session became idle");
    let short = format!("{}\n{}\n", text.lines().next().unwrap(), snapshots[0]);
    let session: Session = log::resume(&short, UnixMillis(0)).unwrap().session;
    assert!(session.owed().is_empty());
}
