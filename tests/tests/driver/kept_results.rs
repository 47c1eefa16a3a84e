//! Outputs that the driver keeps, and what the model reads of them.

use crate::stage::{KEY, Stage, parts};
use innerloop_core::{
    action::Outcome,
    config::SessionConfig,
    event::EventKind,
    input::{Input, ToolInput},
    log,
    tool::ResultPolicy,
};
use innerloop_driver::{Driver, DriverOutput};
use innerloop_tests::{
    anthropic::Message,
    masks::starred,
    test_host::{EPOCH, config},
};
use serde_json::{Value, json};

fn keeping() -> Stage {
    let results = Some(ResultPolicy::default());
    Stage::open(SessionConfig { results, ..config() }, parts())
}

/// The model calls a tool, which says that.
fn look(stage: &mut Stage, output: &str) {
    stage.reply(&Message::call("", "read_file", &json!({"file_path": "a"})));
    let id = stage.run();
    stage.input(Input::Tool { id, input: ToolInput::Done(Outcome::text(output)) });
}

/// What the model reads of a call that the driver answers.
fn ask(stage: &mut Stage, tool: &str, arguments: &Value) -> String {
    let runs = |stage: &Stage| {
        let is_run = |output: &&DriverOutput| matches!(output, DriverOutput::Run { .. });
        stage.seen.iter().filter(is_run).count()
    };
    let before = runs(stage);
    stage.reply(&Message::call("", tool, arguments));
    assert_eq!(runs(stage), before, "no host is asked");
    let body: Value = serde_json::from_str(&stage.body()).unwrap();
    let content = &body["messages"].as_array().unwrap().last().unwrap()["content"][0]["content"];
    content.as_str().unwrap().to_owned()
}

#[test]
fn k27_the_driver_reads_on_in_what_was_cut_and_the_log_has_it() {
    let mut stage = keeping();
    stage.submit("go");
    assert_eq!(ask(&mut stage, "list_results", &json!({})), "None is kept.");
    look(&mut stage, &"äbcdefghij".repeat(6_000));
    let list = ask(&mut stage, "list_results", &json!({}));
    assert_eq!(list, "result-2: read_file, 60,000 characters");
    assert_eq!(ask(&mut stage, "list_results", &json!({"tool": "shell"})), "None is kept.");
    for (offset, limit, read) in [
        (0, 3, "[result-2: 0 to 3 of 60,000 characters]\näbc"),
        (59_998, 100, "[result-2: 59998 to 60000 of 60,000 characters]\nij"),
        (70_000, 1, "[result-2: 60000 to 60000 of 60,000 characters]\n"),
    ] {
        let arguments = json!({"id": "result-2", "offset": offset, "limit": limit});
        assert_eq!(ask(&mut stage, "read_result", &arguments), read);
    }
    let whole = ask(&mut stage, "read_result", &json!({"id": "result-2"}));
    assert!(whole.starts_with("[result-2: 0 to 10000 of") && whole.ends_with('j'));
    let most = ask(&mut stage, "read_result", &json!({"id": "result-2", "limit": 99_999}));
    assert!(most.starts_with("[result-2: 0 to 45000 of") && !most.contains("truncated"));
    // A host is told of it, without the text that it has had already.
    let told = stage.events().find_map(|kind| match kind {
        EventKind::ResultKept { id, chars, text, .. } => Some((id.clone(), *chars, text.clone())),
        _ => None,
    });
    assert_eq!(told, Some(("result-2".into(), 60_000, String::new())));
    let replayed = log::replay(&stage.log).unwrap();
    assert_eq!(replayed.session.snapshot(), stage.driver.session().snapshot());
}

#[test]
fn k27_what_is_gone_after_a_restore_is_said_to_be() {
    let mut stage = keeping();
    stage.submit("go");
    look(&mut stage, &"x".repeat(60_000));
    stage.reply(&Message::text("Done."));
    let driver = Driver::restore(&stage.driver.snapshot(), EPOCH, parts()).unwrap();
    let mut stage = Stage::around(driver);
    stage.submit("more");
    let read = ask(&mut stage, "read_result", &json!({"id": "result-1"}));
    assert!(read.contains("result-1 is not kept") && read.contains("Run the tool again"), "{read}");
}

#[test]
fn k27_the_oldest_go_beyond_the_bound() {
    let mut stage = keeping();
    stage.submit("go");
    let half = "x".repeat(33 << 20);
    look(&mut stage, &half);
    look(&mut stage, &half);
    let list = ask(&mut stage, "list_results", &json!({}));
    assert_eq!(list, "result-2: read_file, 34,603,008 characters");
}

#[test]
fn k27_a_key_is_masked_in_what_is_kept() {
    let mut stage = keeping();
    stage.submit("go");
    let later = "sk-ant-later-0123456789";
    look(&mut stage, &format!("{}{KEY} and {later}", "x".repeat(60_000)));
    stage.driver.rekey(innerloop_driver::ApiKey::new(later));
    let arguments = json!({"id": "result-1", "offset": 59_990});
    let read = ask(&mut stage, "read_result", &arguments);
    assert!(
        starred(&read).contains("xxx***") && !read.contains(KEY) && !read.contains(later),
        "{read}"
    );
}
