//! People and hooks in the pipeline: approval, questions, hooks, the final answer.

use innerloop_core::{
    Session,
    action::Outcome,
    config::{
        AnswerConfig, ApprovalPolicy, ApprovalRule, AskAbout, HookPoint, ProgramFacts,
        SessionConfig,
    },
    event::{ErrorKind, EventKind},
    id::{AgentId, EffectId},
    input::{Answer, Command, HookReply, Input},
    json::Json,
    output::{Ask, Effect, Output},
    preset::ConfigPreset,
    status::{AgentState, RunEnd},
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::json;

fn asking(ask: AskAbout) -> SessionConfig {
    let mut config = config();
    config.approval = ApprovalPolicy { ask, allow: vec![ApprovalRule::tool("glob")] };
    config
}

fn hooked(points: &[HookPoint]) -> TestHost {
    let mut config = config();
    config.hooks.points = points.to_vec();
    TestHost::open(config)
}

fn write(id: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": id, "content": "x"}))
}

fn answer(host: &mut TestHost, id: EffectId, answer: Answer) {
    let _ = host.input(Input::Answer { id, answer });
}

fn reply(host: &mut TestHost, reply: HookReply) {
    let id = host.hooks[0].0;
    let _ = host.input(Input::Hook { id, reply });
}

fn json_of(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// The results in the newest request.
fn said(host: &TestHost) -> Vec<(String, bool)> {
    let messages = host.body()["messages"].clone();
    let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let results = blocks.as_array().unwrap().iter().filter(|b| b["type"] == "tool_result");
    results.map(|b| (b["content"].as_str().unwrap().to_owned(), b["is_error"] == true)).collect()
}

fn end(host: &TestHost) -> Option<RunEnd> {
    let ends = host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    ends.last().copied()
}

#[test]
fn m5_only_what_the_policy_names_is_asked_about() {
    let mut host = TestHost::open(asking(AskAbout::Changes));
    let _ = host.submit("go");
    let calls = write("w").and_call("r", "read_file", &json!({"file_path": "r"})).and_call(
        "g",
        "glob",
        &json!({"pattern": "*"}),
    );
    host.reply(&calls);
    assert_eq!(host.asks.len(), 1);
    let Ask::Approval { call_id, name, arguments, .. } = &host.asks[0].1 else { panic!() };
    assert_eq!((call_id.as_str(), name.as_str()), ("w", "write_file"));
    assert_eq!(arguments.text(), r#"{"content":"x","file_path":"w"}"#);
    let running: Vec<_> = host.runs.values().map(|run| run.call_id.as_str()).collect();
    assert_eq!(running, ["r", "g"], "the others do not wait for a person");

    let mut host = TestHost::open(asking(AskAbout::Everything));
    let _ = host.submit("go");
    host.reply(&write("w").and_call("r", "list_dir", &json!({})));
    assert_eq!((host.asks.len(), host.runs.len()), (2, 0), "many may be pending");
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::AwaitingInput);
}

#[test]
fn m5_a_question_says_which_calls_before_it_are_not_over() {
    let mut host = TestHost::open(asking(AskAbout::Changes));
    let _ = host.submit("go");
    let look = json!({"file_path": "r"});
    let second = json!({"file_path": "b", "content": "x"});
    let calls = write("a").and_call("r", "read_file", &look);
    host.reply(&calls.and_call("b", "write_file", &second));
    let after = |ask: &Ask| match ask {
        Ask::Approval { call_id, after, .. } => (call_id.clone(), after.join(" ")),
        ask => panic!("{ask:?}"),
    };
    let asked: Vec<_> = host.asks.iter().map(|(_, ask)| after(ask)).collect();
    assert_eq!(asked, [("a".into(), String::new()), ("b".into(), "a r".into())]);
    // Asked again after a restart, it waits for what is still open then.
    let first = host.asks[0].0;
    answer(&mut host, first, Answer::deny("no"));
    let owed = host.session.owed().0.into_iter().find_map(|output| match output {
        Output::Effect(Effect::Ask { ask, .. }) => Some(after(&ask)),
        _ => None,
    });
    assert_eq!(owed, Some(("b".into(), "r".into())));
}

#[test]
fn m5_nobody_is_asked_about_what_the_guard_refuses() {
    let mut config = asking(AskAbout::Changes);
    config.guard.read_before_write = true;
    let edit = |path: &str| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let read = Message::call("r", "read_file", &json!({"file_path": "a"}));
    let calls = read.and_call("e", "edit_file", &edit("a")).and_call("f", "edit_file", &edit("b"));
    host.reply(&calls);
    // The first of them may be known by then; of the second it is certain that it is not.
    assert_eq!(host.asks.len(), 1);
    let _ = host.answer("1 | x");
    let first = host.asks[0].0;
    answer(&mut host, first, Answer::deny("no"));
    let results = said(&host);
    assert!(results[2].0.contains("Read b before you edit it."), "{results:?}");
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
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let none = json!({});
    let calls = write("w")
        .and_call("p", "run_program", &json!({"program": "qjs"}))
        .and_call("l", "look", &none)
        .and_call("a", "act", &none)
        .and_call("e", "edit_file", &none);
    host.reply(&calls);
    let asked = host.asks.iter().map(|(_, ask)| match ask {
        Ask::Approval { call_id, .. } => call_id.as_str(),
        ask => panic!("{ask:?}"),
    });
    assert_eq!(asked.collect::<Vec<_>>(), ["p", "a", "e"]);
}

#[test]
fn m5_k22_allowed_calls_run_denied_ones_are_error_results_and_the_others_go_on() {
    let mut host = TestHost::open(asking(AskAbout::Everything));
    let _ = host.submit("go");
    host.reply(&write("a").and_call("b", "list_dir", &json!({})));
    let [first, second] = [host.asks[0].0, host.asks[1].0];
    answer(&mut host, second, Answer::Allow);
    let _ = host.answer("listed");
    answer(&mut host, first, Answer::deny("not there"));
    assert_eq!(
        said(&host),
        [("The call was denied: not there".into(), true), ("listed".into(), false)]
    );
}

#[test]
fn m5_j9_allow_always_holds_for_later_calls_of_the_tool() {
    let mut host = TestHost::open(asking(AskAbout::Changes));
    let _ = host.submit("go");
    host.reply(&write("a"));
    let id = host.asks[0].0;
    answer(&mut host, id, Answer::AllowAlways);
    let _ = host.answer("ok");
    host.reply(&write("b"));
    assert_eq!((host.asks.len(), host.runs.len()), (0, 1));
}

#[test]
fn m5_a_rule_allows_later_calls_that_it_names_and_no_others() {
    let mut host = TestHost::open(asking(AskAbout::Changes));
    let _ = host.submit("go");
    let write = |id: &str, path: &str| {
        Message::call(id, "write_file", &json!({"file_path": path, "content": ""}))
    };
    host.reply(&write("a", "src/a.js"));
    let id = host.asks[0].0;
    let starting = [("file_path".to_owned(), "src/".to_owned())].into();
    let rule = ApprovalRule { tool: "write_file".into(), starting };
    answer(&mut host, id, Answer::AllowRule(rule));
    let _ = host.answer("ok");
    host.reply(&write("b", "src/b.js"));
    assert_eq!(host.asks.len(), 0, "what the rule names is not asked about");
    let _ = host.answer("ok");
    host.reply(&write("c", "package.json"));
    assert_eq!(host.asks.len(), 1, "what it does not name is");
}

#[test]
fn m5_edited_arguments_are_checked_again() {
    for (edited, runs) in [(r#"{"file_path":"b","content":"y"}"#, 1), (r#"{"file_path":1}"#, 0)] {
        let mut host = TestHost::open(asking(AskAbout::Changes));
        let _ = host.submit("go");
        host.reply(&write("a"));
        let id = host.asks[0].0;
        answer(&mut host, id, Answer::AllowEdited(json_of(edited)));
        assert_eq!(host.runs.len(), runs, "{edited}");
        if runs == 0 {
            assert!(said(&host)[0].0.starts_with("Invalid arguments for tool: write_file"));
        }
    }
}

#[test]
fn m5_the_model_is_told_what_ran_in_place_of_its_call() {
    let edited = r#"{"file_path":"b","content":"y"}"#;
    let told = "[The user or a hook changed the arguments before the call ran. What ran: \
                content = \"y\", file_path = \"b\"]";
    let mut host = TestHost::open(asking(AskAbout::Changes));
    let _ = host.submit("go");
    host.reply(&write("a"));
    let id = host.asks[0].0;
    answer(&mut host, id, Answer::AllowEdited(json_of(edited)));
    // A restart in between changes nothing.
    host.session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let _ = host.answer("Wrote b.");
    let body = host.body();
    let content = &body["messages"][2]["content"][0]["content"];
    assert_eq!(content, &json!(format!("{told}\nWrote b.")), "{body}");
    assert_eq!(
        body["messages"][1]["content"][0]["input"]["file_path"], "a",
        "history is as it was"
    );

    // A hook that only writes them otherwise has changed nothing.
    for (replaced, is_told) in [(edited, true), (r#"{ "content": "x", "file_path": "a" }"#, false)]
    {
        let mut config = asking(AskAbout::Nothing);
        config.hooks.points = vec![HookPoint::BeforeTool];
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::call("c", "write_file", &json!({"file_path": "a", "content": "x"})));
        let id = host.hooks[0].0;
        let _ = host.input(Input::Hook { id, reply: HookReply::Replace(json_of(replaced)) });
        let _ = host.answer("Wrote.");
        assert_eq!(host.body().to_string().contains("What ran:"), is_told, "{replaced}");
    }
}

#[test]
fn m5_abort_stops_the_run_and_cancels_the_other_questions() {
    let mut host = TestHost::open(asking(AskAbout::Everything));
    let _ = host.submit("go");
    host.reply(&write("a").and_call("b", "list_dir", &json!({})));
    let [first, second] = [host.asks[0].0, host.asks[1].0];
    answer(&mut host, first, Answer::Abort);
    assert_eq!(
        (end(&host), host.cancelled.as_slice()),
        (Some(RunEnd::Interrupted), [second].as_slice())
    );
    let _ = host.submit("again");
    assert_eq!(said(&host).len(), 2, "every call has its result");
}

#[test]
fn a12_the_model_asks_the_user_and_goes_on_with_the_answer() {
    let mut config = config();
    config.ask_user = true;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("q", "ask_user", &json!({"question": "Which one?"})));
    let (id, ask) = host.asks[0].clone();
    assert_eq!(ask, Ask::Question { text: "Which one?".into() });
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::AwaitingInput);
    answer(&mut host, id, Answer::Text("The first.".into()));
    assert_eq!(said(&host), [("The first.".into(), false)]);
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::Processing);
}

#[test]
fn hook_submit_may_pass_replace_or_deny() {
    for (answer, sent) in [
        (HookReply::Allow, Some("go")),
        (HookReply::Replace(json_of("\"go slowly\"")), Some("go slowly")),
        (HookReply::Failed { message: "crash".into() }, Some("go")),
        (HookReply::Deny { reason: "no".into() }, None),
    ] {
        let mut host = hooked(&[HookPoint::Submit]);
        let _ = host.submit("go");
        assert_eq!(host.hooks[0].1.payload.text(), "\"go\"");
        assert!(host.requests.is_empty(), "the model waits for the hook");
        reply(&mut host, answer);
        match sent {
            Some(text) => assert_eq!(host.body()["messages"][0]["content"][0]["text"], text),
            None => assert_eq!((end(&host), host.requests.len()), (Some(RunEnd::Denied), 0)),
        }
    }
}

#[test]
fn k22_hook_before_a_tool_may_pass_replace_or_deny() {
    for (answer, runs) in [
        (HookReply::Allow, 1),
        (HookReply::Replace(json_of(r#"{"file_path":"b","content":"y"}"#)), 1),
        (HookReply::Replace(json_of(r#"{"x":1}"#)), 0),
        (HookReply::Deny { reason: "no".into() }, 0),
    ] {
        let mut host = hooked(&[HookPoint::BeforeTool]);
        let _ = host.submit("go");
        host.reply(&write("a"));
        let payload: serde_json::Value =
            serde_json::from_str(host.hooks[0].1.payload.text()).unwrap();
        assert_eq!((&payload["name"], &payload["call_id"]), (&json!("write_file"), &json!("a")));
        reply(&mut host, answer.clone());
        assert_eq!(host.runs.len(), runs, "{answer:?}");
        if let (HookReply::Replace(_), 1) = (&answer, runs) {
            let Job::Builtin(action) = &host.runs.first_key_value().unwrap().1.job else {
                panic!()
            };
            assert!(format!("{action:?}").contains("\"b\""), "{action:?}");
        }
    }
}

#[test]
fn hook_after_a_tool_sees_the_raw_output_and_may_replace_it() {
    let mut host = hooked(&[HookPoint::AfterTool]);
    let _ = host.submit("go");
    host.reply(&write("a"));
    let raw = "y".repeat(2_000);
    let _ = host.answer(&raw);
    assert!(host.hooks[0].1.payload.text().contains(&raw), "untruncated");
    reply(&mut host, HookReply::Replace(json_of("\"short\"")));
    assert_eq!(said(&host), [("short".into(), false)]);
    let whole = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text().len()),
        _ => None,
    });
    assert_eq!(whole, [2_000], "the event has what the tool said");
}

#[test]
fn hook_before_a_model_call_may_add_a_word_or_deny() {
    let mut host = hooked(&[HookPoint::BeforeModel]);
    let _ = host.submit("go");
    reply(&mut host, HookReply::Replace(json_of("\"be careful\"")));
    assert!(host.body()["messages"].to_string().contains("be careful"));
    let mut host = hooked(&[HookPoint::BeforeModel]);
    let _ = host.submit("go");
    reply(&mut host, HookReply::Deny { reason: "budget".into() });
    assert_eq!((end(&host), host.requests.len()), (Some(RunEnd::Denied), 0));
}

#[test]
fn k23_a_denial_after_a_tool_withholds_the_result_or_keeps_it() {
    let denial = "The call was denied: not for you";
    for (kept, read) in [(false, (denial, true)), (true, ("the output", false))] {
        let mut config = config();
        config.hooks.points = vec![HookPoint::AfterTool];
        if kept {
            config.hooks.after_tool = ConfigPreset::Gnoma.config().hooks.after_tool;
        }
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::call("c", "list_dir", &json!({})));
        let _ = host.answer("the output");
        reply(&mut host, HookReply::Deny { reason: "not for you".into() });
        assert_eq!(said(&host), [(read.0.to_owned(), read.1)]);
        // Whoever watches reads the reason where the model does not.
        let warnings = host.find(|kind| match kind {
            EventKind::Warning { message } => Some(message.contains("not for you")),
            _ => None,
        });
        assert_eq!(warnings, if kept { vec![true] } else { vec![] });
    }
}

/// A round has ended, and the hook behind it is asked.
fn after_a_round(fail_closed: bool) -> TestHost {
    let mut config = config();
    config.hooks.points = vec![HookPoint::AfterIteration];
    config.hooks.fail_closed = fail_closed;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::text("First a.").and_call("a", "list_dir", &json!({})));
    let _ = host.answer("nothing there");
    host
}

#[test]
fn j7_hook_after_a_round_may_pass_add_a_word_or_end_the_run() {
    let broke = || HookReply::Failed { message: "crash".into() };
    for (fail_closed, answer, word, ends) in [
        (false, HookReply::Allow, None, false),
        (false, HookReply::Replace(json_of("\"look elsewhere\"")), Some("look elsewhere"), false),
        (false, broke(), None, false),
        (true, broke(), None, true),
        (false, HookReply::Deny { reason: "enough".into() }, None, true),
    ] {
        let mut host = after_a_round(fail_closed);
        let (_, hook) = &host.hooks[0];
        assert_eq!((hook.point, hook.payload.text()), (HookPoint::AfterIteration, "\"First a.\""));
        assert_eq!(host.requests.len(), 1, "the next call waits for the hook");
        reply(&mut host, answer.clone());
        assert_eq!(end(&host), ends.then_some(RunEnd::Denied), "{answer:?}");
        assert_eq!(host.requests.len(), 2 - usize::from(ends), "{answer:?}");
        if ends {
            continue;
        }
        let sent = host.body()["messages"].to_string();
        assert_eq!(word.is_some_and(|word| sent.contains(word)), word.is_some());
        assert!(
            sent.find("nothing there") < word.and_then(|word| sent.find(word)).or(Some(sent.len()))
        );
        // A reply without calls is no round.
        host.reply(&Message::text("Done."));
        assert_eq!((host.hooks.len(), end(&host)), (0, Some(RunEnd::Completed)));
    }
}

#[test]
fn j7_hook_after_a_round_is_asked_again_after_a_restore_and_behind_a_question() {
    let host = after_a_round(false);
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let owed: Vec<Output> = restored.owed().into_iter().collect();
    let [Output::Effect(Effect::RunHook { id, hook, .. })] = &owed[..] else { panic!("{owed:?}") };
    assert_eq!((*id, hook), (host.hooks[0].0, &host.hooks[0].1));
    let mut other = TestHost::around(restored, String::new());
    let _ = other.input(Input::Hook { id: *id, reply: HookReply::Allow });
    assert_eq!(other.requests.len(), 1);

    let mut config = config();
    config.hooks.points = vec![HookPoint::AfterIteration];
    config.loops.window = 2;
    config.loops.ladder = vec![innerloop_core::config::LoopStep::AskUser];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    for round in 0..2 {
        host.reply(&Message::call(&format!("c{round}"), "list_dir", &json!({})));
        let _ = host.answer("nothing there");
        if round == 0 {
            reply(&mut host, HookReply::Allow);
        }
    }
    assert_eq!((host.hooks.len(), host.asks.len()), (0, 1), "first the person is asked");
    let id = host.asks[0].0;
    answer(&mut host, id, Answer::Allow);
    reply(&mut host, HookReply::Deny { reason: "enough".into() });
    assert_eq!(end(&host), Some(RunEnd::Denied));
}

#[test]
fn a_limit_that_is_lowered_while_a_hook_looks_at_a_call_holds_for_it() {
    let mut host = hooked(&[HookPoint::BeforeModel]);
    let _ = host.submit("go");
    let patch = serde_json::from_value(json!({"limits": {"max_turns": 1}})).unwrap();
    let _ = host.command(Command::Configure { patch });
    reply(&mut host, HookReply::Allow);
    assert_eq!((end(&host), host.requests.len()), (Some(RunEnd::Limit), 0));
}

#[test]
fn hook_before_the_stop_may_send_the_model_back_to_work() {
    let mut host = hooked(&[HookPoint::BeforeStop]);
    let _ = host.submit("go");
    host.reply(&Message::text("Done."));
    reply(&mut host, HookReply::Deny { reason: "run the tests first".into() });
    assert!(host.body()["messages"].to_string().contains("run the tests first"));
    host.reply(&Message::text("Now done."));
    reply(&mut host, HookReply::Allow);
    assert_eq!(end(&host), Some(RunEnd::Completed));
}

#[test]
fn a_hook_that_breaks_denies_only_where_it_must_fail_closed() {
    let mut config = config();
    config.hooks.points = vec![HookPoint::BeforeTool];
    config.hooks.fail_closed = true;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&write("a"));
    reply(&mut host, HookReply::Failed { message: "crash".into() });
    assert_eq!(said(&host), [("The call was denied: a hook failed: crash".into(), true)]);
    assert!(host.names(0).contains(&"warning".to_owned()));
}

fn answer_config() -> innerloop_core::config::SessionConfig {
    let mut config = config();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    config.answer = Some(AnswerConfig { schema: json_of(schema), retries: 1 });
    config
}

fn answering() -> TestHost {
    TestHost::open(answer_config())
}

#[test]
fn a_follow_up_has_its_own_result_behind_a_final_answer() {
    let mut host = answering();
    let _ = host.submit("count");
    let parts = innerloop_tests::test_host::text("count again");
    let _ = host.command(innerloop_core::input::Command::follow_up(parts));
    host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    host.reply(&Message::call("g", "final_answer", &json!({"n": 2})));
    let texts = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, [r#"{"n":2}"#]);
    let mut host = answering();
    let _ = host.submit("count");
    let parts = innerloop_tests::test_host::text("say hello");
    let _ = host.command(innerloop_core::input::Command::follow_up(parts));
    host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    host.reply(&Message::text("Hello."));
    host.reply(&Message::text("Hello again."));
    let texts = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, ["Hello again."], "the answer to the first input is not the second's");
}

#[test]
fn hook_before_the_stop_sees_the_final_answer_too() {
    let mut config = answer_config();
    config.hooks.points = vec![HookPoint::BeforeStop];
    let mut host = TestHost::open(config);
    let _ = host.submit("count");
    host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    assert_eq!(host.hooks[0].1.payload.text(), r#""{\"n\":1}""#);
    reply(&mut host, HookReply::Deny { reason: "count again".into() });
    assert!(host.body()["messages"].to_string().contains("count again"));
    assert!(!host.names(0).contains(&"final_answer".to_owned()));
    host.reply(&Message::call("g", "final_answer", &json!({"n": 2})));
    reply(&mut host, HookReply::Allow);
    assert_eq!(end(&host), Some(RunEnd::Completed));
    let value = host.find(|kind| match kind {
        EventKind::FinalAnswer { value } => Some(value.text().to_owned()),
        _ => None,
    });
    assert_eq!(value, [r#"{"n":2}"#]);
}

#[test]
fn the_final_answer_fits_its_schema_ends_the_run_and_dangles_nothing() {
    let mut host = answering();
    let _ = host.submit("count");
    host.reply(&Message::call("a", "final_answer", &json!({"n": "many"})));
    assert!(said(&host)[0].1, "an answer that does not fit is an error result");
    host.reply(&Message::call("b", "final_answer", &json!({"n": 3})));
    let answers = host.find(|kind| match kind {
        EventKind::FinalAnswer { value } => Some(value.text().to_owned()),
        _ => None,
    });
    assert_eq!(answers, [r#"{"n":3}"#]);
    assert_eq!((end(&host), host.requests.len()), (Some(RunEnd::Completed), 2));
    let _ = host.submit("again");
    assert!(host.body()["messages"].to_string().contains("Accepted."));
}

#[test]
fn text_instead_of_the_final_answer_is_sent_back_and_then_fails() {
    let mut host = answering();
    let _ = host.submit("count");
    host.reply(&Message::text("three"));
    assert!(host.body()["messages"].to_string().contains("final_answer"));
    host.reply(&Message::text("three!"));
    let errors = host.find(|kind| match kind {
        EventKind::Error { kind, .. } => Some(*kind),
        _ => None,
    });
    assert_eq!((errors, end(&host)), (vec![ErrorKind::Answer], Some(RunEnd::Failed)));
}

#[test]
fn what_people_and_hooks_owe_survives_a_restore() {
    let mut config = asking(AskAbout::Everything);
    config.ask_user = true;
    config.hooks.points = vec![HookPoint::AfterTool];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let calls = write("a").and_call("q", "ask_user", &json!({"question": "Which?"})).and_call(
        "b",
        "list_dir",
        &json!({}),
    );
    host.reply(&calls);
    let id = host.asks[1].0;
    answer(&mut host, id, Answer::Allow);
    let _ = host.answer("listed");
    let restored = innerloop_core::Session::restore(
        &host.session.snapshot(),
        innerloop_tests::test_host::EPOCH,
    );
    let owed: Vec<Effect> = restored.unwrap().owed().effects().cloned().collect();
    assert_eq!(owed.len(), 3, "{owed:?}");
    let mut open: Vec<EffectId> = host.asks.iter().map(|(id, _)| *id).collect();
    open.extend(host.hooks.iter().map(|(id, _)| *id));
    open.sort();
    assert_eq!(owed.iter().map(Effect::id).collect::<Vec<_>>(), open);
    let hook = owed.iter().find(|effect| matches!(effect, Effect::RunHook { .. })).unwrap();
    let Effect::RunHook { hook, .. } = hook else { panic!() };
    assert_eq!(hook, &host.hooks[0].1);
    let _ = Outcome::default();
}
