//! People and hooks in the pipeline: approval, questions, hooks, the final answer.

use innerloop_core::{
    action::Outcome,
    config::{
        AnswerConfig, ApprovalPolicy, ApprovalRule, AskAbout, HookPoint, ProgramFacts,
        SessionConfig,
    },
    event::{ErrorKind, EventKind},
    id::{AgentId, EffectId},
    input::{Answer, Command, HookReply, Input},
    json::Json,
    output::{Ask, Effect},
    status::{AgentState, RunEnd},
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    desk::{Desk, config},
};
use serde_json::json;

fn asking(ask: AskAbout) -> SessionConfig {
    let mut config = config();
    config.approval = ApprovalPolicy { ask, allow: vec![ApprovalRule::tool("glob")] };
    config
}

fn hooked(points: &[HookPoint]) -> Desk {
    let mut config = config();
    config.hooks.points = points.to_vec();
    Desk::open(config)
}

fn write(id: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": id, "content": "x"}))
}

fn answer(desk: &mut Desk, id: EffectId, answer: Answer) {
    let _ = desk.input(Input::Answer { id, answer });
}

fn reply(desk: &mut Desk, reply: HookReply) {
    let id = desk.hooks[0].0;
    let _ = desk.input(Input::Hook { id, reply });
}

fn json_of(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// The results in the newest request.
fn said(desk: &Desk) -> Vec<(String, bool)> {
    let messages = desk.body()["messages"].clone();
    let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let results = blocks.as_array().unwrap().iter().filter(|b| b["type"] == "tool_result");
    results.map(|b| (b["content"].as_str().unwrap().to_owned(), b["is_error"] == true)).collect()
}

fn end(desk: &Desk) -> Option<RunEnd> {
    let ends = desk.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    ends.last().copied()
}

#[test]
fn m5_only_what_the_policy_names_is_asked_about() {
    let mut desk = Desk::open(asking(AskAbout::Changes));
    let _ = desk.submit("go");
    let calls = write("w").and_call("r", "read_file", &json!({"file_path": "r"})).and_call(
        "g",
        "glob",
        &json!({"pattern": "*"}),
    );
    desk.reply(&calls);
    assert_eq!(desk.asks.len(), 1);
    let Ask::Approval { call_id, name, arguments } = &desk.asks[0].1 else { panic!() };
    assert_eq!((call_id.as_str(), name.as_str()), ("w", "write_file"));
    assert_eq!(arguments.text(), r#"{"content":"x","file_path":"w"}"#);
    let running: Vec<_> = desk.runs.values().map(|run| run.call_id.as_str()).collect();
    assert_eq!(running, ["r", "g"], "the others do not wait for a person");

    let mut desk = Desk::open(asking(AskAbout::Everything));
    let _ = desk.submit("go");
    desk.reply(&write("w").and_call("r", "list_dir", &json!({})));
    assert_eq!((desk.asks.len(), desk.runs.len()), (2, 0), "many may be pending");
    assert_eq!(desk.session.status(AgentId::ROOT).unwrap().state, AgentState::AwaitingInput);
}

#[test]
fn m5_edits_pass_where_only_programs_are_asked_about() {
    let mut config = asking(AskAbout::Programs);
    config.facts.programs =
        vec![ProgramFacts { name: "qjs".into(), description: "Runs JavaScript.".into() }];
    let own = |name: &str, read_only: bool| {
        let spec = json!({"name": name, "description": "Of the host.", "read_only": read_only,
            "parameters": {"type": "object"}});
        serde_json::from_str(&spec.to_string()).unwrap()
    };
    // A tool of the host may do anything, whatever built-in one has its name.
    config.tools = vec![own("look", true), own("act", false), own("edit_file", false)];
    let mut desk = Desk::open(config);
    let _ = desk.submit("go");
    let none = json!({});
    let calls = write("w")
        .and_call("p", "run_program", &json!({"program": "qjs"}))
        .and_call("l", "look", &none)
        .and_call("a", "act", &none)
        .and_call("e", "edit_file", &none);
    desk.reply(&calls);
    let asked = desk.asks.iter().map(|(_, ask)| match ask {
        Ask::Approval { call_id, .. } => call_id.as_str(),
        ask => panic!("{ask:?}"),
    });
    assert_eq!(asked.collect::<Vec<_>>(), ["p", "a", "e"]);
}

#[test]
fn m5_allowed_calls_run_denied_ones_are_error_results_and_the_others_go_on() {
    let mut desk = Desk::open(asking(AskAbout::Everything));
    let _ = desk.submit("go");
    desk.reply(&write("a").and_call("b", "list_dir", &json!({})));
    let [first, second] = [desk.asks[0].0, desk.asks[1].0];
    answer(&mut desk, second, Answer::Allow);
    let _ = desk.answer("listed");
    answer(&mut desk, first, Answer::Deny { reason: "not there".into() });
    assert_eq!(
        said(&desk),
        [("The call was denied: not there".into(), true), ("listed".into(), false)]
    );
}

#[test]
fn m5_allow_always_holds_for_later_calls_of_the_tool() {
    let mut desk = Desk::open(asking(AskAbout::Changes));
    let _ = desk.submit("go");
    desk.reply(&write("a"));
    let id = desk.asks[0].0;
    answer(&mut desk, id, Answer::AllowAlways);
    let _ = desk.answer("ok");
    desk.reply(&write("b"));
    assert_eq!((desk.asks.len(), desk.runs.len()), (0, 1));
}

#[test]
fn m5_a_rule_allows_later_calls_that_it_names_and_no_others() {
    let mut desk = Desk::open(asking(AskAbout::Changes));
    let _ = desk.submit("go");
    let write = |id: &str, path: &str| {
        Message::call(id, "write_file", &json!({"file_path": path, "content": ""}))
    };
    desk.reply(&write("a", "src/a.js"));
    let id = desk.asks[0].0;
    let starting = [("file_path".to_owned(), "src/".to_owned())].into();
    let rule = ApprovalRule { tool: "write_file".into(), starting };
    answer(&mut desk, id, Answer::AllowRule(rule));
    let _ = desk.answer("ok");
    desk.reply(&write("b", "src/b.js"));
    assert_eq!(desk.asks.len(), 0, "what the rule names is not asked about");
    let _ = desk.answer("ok");
    desk.reply(&write("c", "package.json"));
    assert_eq!(desk.asks.len(), 1, "what it does not name is");
}

#[test]
fn m5_edited_arguments_are_checked_again() {
    for (edited, runs) in [(r#"{"file_path":"b","content":"y"}"#, 1), (r#"{"file_path":1}"#, 0)] {
        let mut desk = Desk::open(asking(AskAbout::Changes));
        let _ = desk.submit("go");
        desk.reply(&write("a"));
        let id = desk.asks[0].0;
        answer(&mut desk, id, Answer::AllowEdited(json_of(edited)));
        assert_eq!(desk.runs.len(), runs, "{edited}");
        if runs == 0 {
            assert!(said(&desk)[0].0.starts_with("Invalid arguments for tool: write_file"));
        }
    }
}

#[test]
fn m5_abort_stops_the_run_and_cancels_the_other_questions() {
    let mut desk = Desk::open(asking(AskAbout::Everything));
    let _ = desk.submit("go");
    desk.reply(&write("a").and_call("b", "list_dir", &json!({})));
    let [first, second] = [desk.asks[0].0, desk.asks[1].0];
    answer(&mut desk, first, Answer::Abort);
    assert_eq!(
        (end(&desk), desk.cancelled.as_slice()),
        (Some(RunEnd::Interrupted), [second].as_slice())
    );
    let _ = desk.submit("again");
    assert_eq!(said(&desk).len(), 2, "every call has its result");
}

#[test]
fn a12_the_model_asks_the_user_and_goes_on_with_the_answer() {
    let mut config = config();
    config.ask_user = true;
    let mut desk = Desk::open(config);
    let _ = desk.submit("go");
    desk.reply(&Message::call("q", "ask_user", &json!({"question": "Which one?"})));
    let (id, ask) = desk.asks[0].clone();
    assert_eq!(ask, Ask::Question { text: "Which one?".into() });
    assert_eq!(desk.session.status(AgentId::ROOT).unwrap().state, AgentState::AwaitingInput);
    answer(&mut desk, id, Answer::Text("The first.".into()));
    assert_eq!(said(&desk), [("The first.".into(), false)]);
    assert_eq!(desk.session.status(AgentId::ROOT).unwrap().state, AgentState::Processing);
}

#[test]
fn hook_submit_may_pass_replace_or_deny() {
    for (answer, sent) in [
        (HookReply::Allow, Some("go")),
        (HookReply::Replace(json_of("\"go slowly\"")), Some("go slowly")),
        (HookReply::Failed { message: "crash".into() }, Some("go")),
        (HookReply::Deny { reason: "no".into() }, None),
    ] {
        let mut desk = hooked(&[HookPoint::Submit]);
        let _ = desk.submit("go");
        assert_eq!(desk.hooks[0].1.payload.text(), "\"go\"");
        assert!(desk.requests.is_empty(), "the model waits for the hook");
        reply(&mut desk, answer);
        match sent {
            Some(text) => assert_eq!(desk.body()["messages"][0]["content"][0]["text"], text),
            None => assert_eq!((end(&desk), desk.requests.len()), (Some(RunEnd::Denied), 0)),
        }
    }
}

#[test]
fn hook_before_a_tool_may_pass_replace_or_deny() {
    for (answer, runs) in [
        (HookReply::Allow, 1),
        (HookReply::Replace(json_of(r#"{"file_path":"b","content":"y"}"#)), 1),
        (HookReply::Replace(json_of(r#"{"x":1}"#)), 0),
        (HookReply::Deny { reason: "no".into() }, 0),
    ] {
        let mut desk = hooked(&[HookPoint::BeforeTool]);
        let _ = desk.submit("go");
        desk.reply(&write("a"));
        let payload: serde_json::Value =
            serde_json::from_str(desk.hooks[0].1.payload.text()).unwrap();
        assert_eq!((&payload["name"], &payload["call_id"]), (&json!("write_file"), &json!("a")));
        reply(&mut desk, answer.clone());
        assert_eq!(desk.runs.len(), runs, "{answer:?}");
        if let (HookReply::Replace(_), 1) = (&answer, runs) {
            let Job::Builtin(action) = &desk.runs.first_key_value().unwrap().1.job else {
                panic!()
            };
            assert!(format!("{action:?}").contains("\"b\""), "{action:?}");
        }
    }
}

#[test]
fn hook_after_a_tool_sees_the_raw_output_and_may_replace_it() {
    let mut desk = hooked(&[HookPoint::AfterTool]);
    let _ = desk.submit("go");
    desk.reply(&write("a"));
    let raw = "y".repeat(2_000);
    let _ = desk.answer(&raw);
    assert!(desk.hooks[0].1.payload.text().contains(&raw), "untruncated");
    reply(&mut desk, HookReply::Replace(json_of("\"short\"")));
    assert_eq!(said(&desk), [("short".into(), false)]);
    let whole = desk.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text().len()),
        _ => None,
    });
    assert_eq!(whole, [2_000], "the event has what the tool said");
}

#[test]
fn hook_before_a_model_call_may_add_a_word_or_deny() {
    let mut desk = hooked(&[HookPoint::BeforeModel]);
    let _ = desk.submit("go");
    reply(&mut desk, HookReply::Replace(json_of("\"be careful\"")));
    assert!(desk.body()["messages"].to_string().contains("be careful"));
    let mut desk = hooked(&[HookPoint::BeforeModel]);
    let _ = desk.submit("go");
    reply(&mut desk, HookReply::Deny { reason: "budget".into() });
    assert_eq!((end(&desk), desk.requests.len()), (Some(RunEnd::Denied), 0));
}

#[test]
fn a_limit_that_is_lowered_while_a_hook_looks_at_a_call_holds_for_it() {
    let mut desk = hooked(&[HookPoint::BeforeModel]);
    let _ = desk.submit("go");
    let patch = serde_json::from_value(json!({"limits": {"max_turns": 1}})).unwrap();
    let _ = desk.command(Command::Configure { patch });
    reply(&mut desk, HookReply::Allow);
    assert_eq!((end(&desk), desk.requests.len()), (Some(RunEnd::Limit), 0));
}

#[test]
fn hook_before_the_stop_may_send_the_model_back_to_work() {
    let mut desk = hooked(&[HookPoint::BeforeStop]);
    let _ = desk.submit("go");
    desk.reply(&Message::text("Done."));
    reply(&mut desk, HookReply::Deny { reason: "run the tests first".into() });
    assert!(desk.body()["messages"].to_string().contains("run the tests first"));
    desk.reply(&Message::text("Now done."));
    reply(&mut desk, HookReply::Allow);
    assert_eq!(end(&desk), Some(RunEnd::Completed));
}

#[test]
fn a_hook_that_breaks_denies_only_where_it_must_fail_closed() {
    let mut config = config();
    config.hooks.points = vec![HookPoint::BeforeTool];
    config.hooks.fail_closed = true;
    let mut desk = Desk::open(config);
    let _ = desk.submit("go");
    desk.reply(&write("a"));
    reply(&mut desk, HookReply::Failed { message: "crash".into() });
    assert_eq!(said(&desk), [("The call was denied: a hook failed: crash".into(), true)]);
    assert!(desk.names(0).contains(&"warning".to_owned()));
}

fn answer_config() -> innerloop_core::config::SessionConfig {
    let mut config = config();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    config.answer = Some(AnswerConfig { schema: json_of(schema), retries: 1 });
    config
}

fn answering() -> Desk {
    Desk::open(answer_config())
}

#[test]
fn a_follow_up_has_its_own_result_behind_a_final_answer() {
    let mut desk = answering();
    let _ = desk.submit("count");
    let parts = innerloop_tests::desk::text("count again");
    let _ = desk.command(innerloop_core::input::Command::FollowUp { parts });
    desk.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    desk.reply(&Message::call("g", "final_answer", &json!({"n": 2})));
    let texts = desk.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, [r#"{"n":2}"#]);
    let mut desk = answering();
    let _ = desk.submit("count");
    let parts = innerloop_tests::desk::text("say hello");
    let _ = desk.command(innerloop_core::input::Command::FollowUp { parts });
    desk.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    desk.reply(&Message::text("Hello."));
    desk.reply(&Message::text("Hello again."));
    let texts = desk.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, ["Hello again."], "the answer to the first input is not the second's");
}

#[test]
fn hook_before_the_stop_sees_the_final_answer_too() {
    let mut config = answer_config();
    config.hooks.points = vec![HookPoint::BeforeStop];
    let mut desk = Desk::open(config);
    let _ = desk.submit("count");
    desk.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    assert_eq!(desk.hooks[0].1.payload.text(), r#""{\"n\":1}""#);
    reply(&mut desk, HookReply::Deny { reason: "count again".into() });
    assert!(desk.body()["messages"].to_string().contains("count again"));
    assert!(!desk.names(0).contains(&"final_answer".to_owned()));
    desk.reply(&Message::call("g", "final_answer", &json!({"n": 2})));
    reply(&mut desk, HookReply::Allow);
    assert_eq!(end(&desk), Some(RunEnd::Completed));
    let value = desk.find(|kind| match kind {
        EventKind::FinalAnswer { value } => Some(value.text().to_owned()),
        _ => None,
    });
    assert_eq!(value, [r#"{"n":2}"#]);
}

#[test]
fn the_final_answer_fits_its_schema_ends_the_run_and_dangles_nothing() {
    let mut desk = answering();
    let _ = desk.submit("count");
    desk.reply(&Message::call("a", "final_answer", &json!({"n": "many"})));
    assert!(said(&desk)[0].1, "an answer that does not fit is an error result");
    desk.reply(&Message::call("b", "final_answer", &json!({"n": 3})));
    let answers = desk.find(|kind| match kind {
        EventKind::FinalAnswer { value } => Some(value.text().to_owned()),
        _ => None,
    });
    assert_eq!(answers, [r#"{"n":3}"#]);
    assert_eq!((end(&desk), desk.requests.len()), (Some(RunEnd::Completed), 2));
    let _ = desk.submit("again");
    assert!(desk.body()["messages"].to_string().contains("Accepted."));
}

#[test]
fn text_instead_of_the_final_answer_is_sent_back_and_then_fails() {
    let mut desk = answering();
    let _ = desk.submit("count");
    desk.reply(&Message::text("three"));
    assert!(desk.body()["messages"].to_string().contains("final_answer"));
    desk.reply(&Message::text("three!"));
    let errors = desk.find(|kind| match kind {
        EventKind::Error { kind, .. } => Some(*kind),
        _ => None,
    });
    assert_eq!((errors, end(&desk)), (vec![ErrorKind::Answer], Some(RunEnd::Failed)));
}

#[test]
fn what_people_and_hooks_owe_survives_a_restore() {
    let mut config = asking(AskAbout::Everything);
    config.ask_user = true;
    config.hooks.points = vec![HookPoint::AfterTool];
    let mut desk = Desk::open(config);
    let _ = desk.submit("go");
    let calls = write("a").and_call("q", "ask_user", &json!({"question": "Which?"})).and_call(
        "b",
        "list_dir",
        &json!({}),
    );
    desk.reply(&calls);
    let id = desk.asks[1].0;
    answer(&mut desk, id, Answer::Allow);
    let _ = desk.answer("listed");
    let restored =
        innerloop_core::Session::restore(&desk.session.snapshot(), innerloop_tests::desk::EPOCH);
    let owed: Vec<Effect> = restored.unwrap().owed().effects().cloned().collect();
    assert_eq!(owed.len(), 3, "{owed:?}");
    let mut open: Vec<EffectId> = desk.asks.iter().map(|(id, _)| *id).collect();
    open.extend(desk.hooks.iter().map(|(id, _)| *id));
    open.sort();
    assert_eq!(owed.iter().map(Effect::id).collect::<Vec<_>>(), open);
    let hook = owed.iter().find(|effect| matches!(effect, Effect::RunHook { .. })).unwrap();
    let Effect::RunHook { hook, .. } = hook else { panic!() };
    assert_eq!(hook, &desk.hooks[0].1);
    let _ = Outcome::default();
}
