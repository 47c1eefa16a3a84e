//! Every field of the configuration, from a file, from options, from a preset.

use innerloop_core::{
    Session,
    config::{AskAbout, LimitAction, SessionConfig, Vocabulary},
    log,
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    program::{run, run_with},
    scene::Scene,
};
use serde_json::json;
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
    assert_eq!(found.model.vocabulary, Vocabulary::Seed, "the option's");
    let found = config("{}", &["--preset", "ironclaw"]);
    assert_eq!(found.limits.max_tool_rounds_per_input, 50, "the preset's");
    assert_eq!(found.approval.ask, AskAbout::Changes);
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
        ("[]", "config: it is no JSON object"),
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
