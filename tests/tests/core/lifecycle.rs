//! Opening, submitting, limits, failures, ends.

use innerloop_core::{
    REPLAY_VERSION, Session,
    config::{ConfigError, ProfileKind, SessionConfig},
    event::{ErrorKind, EventKind},
    id::{AgentId, SessionId},
    input::{Command, HttpFailure, HttpFailureKind, HttpInput, Input, RejectionReason},
    output::DeadlineReason,
    preset::ConfigPreset,
    status::{AgentState, RunEnd},
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    snapshot,
    test_host::{TestHost, config, text},
};
use serde_json::json;

fn state(host: &TestHost) -> AgentState {
    host.session.status(AgentId::ROOT).unwrap().state
}

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

fn errors(host: &TestHost) -> Vec<ErrorKind> {
    host.find(|kind| match kind {
        EventKind::Error { kind, .. } => Some(*kind),
        _ => None,
    })
}

#[test]
fn a1_session_opens_with_the_hosts_id_and_refuses_a_configuration_that_cannot_work() {
    let host = TestHost::default();
    assert_eq!(host.session.config().id, SessionId("test".into()));
    assert_eq!(host.names(0), ["session_start"]);
    let broken = |change: fn(&mut innerloop_core::config::SessionConfig)| {
        let mut config = config();
        change(&mut config);
        Session::open(config, UnixMillis(0)).unwrap_err().field
    };
    assert_eq!(broken(|c| c.id.0.clear()), "id");
    assert_eq!(broken(|c| c.model.name = " ".into()), "model.name");
    assert_eq!(broken(|c| c.model.endpoint.0.clear()), "model.endpoint");
    assert_eq!(broken(|c| c.model.max_output_tokens = 0), "model.max_output_tokens");
    assert_eq!(broken(|c| c.timeouts.default_command_ms = 0), "timeouts.default_command_ms");
}

#[test]
fn a3_a_run_calls_the_model_and_tools_in_turn_until_the_model_is_done() {
    let mut host = TestHost::default();
    let _ = host.submit("fix it");
    host.reply(&Message::call("c1", "read_file", &json!({"file_path": "a.js"})));
    let _ = host.answer("1 | broken");
    host.reply(&Message::text("Fixed."));
    assert_eq!(
        host.names(1),
        [
            "user_input",
            "assistant_text_end",
            "tool_call_start",
            "tool_call_end",
            "assistant_text_start",
            "assistant_text_end",
            "processing_end",
        ]
    );
    let body = host.body();
    assert_eq!(body["messages"][0]["content"][0]["text"], "fix it");
    assert_eq!(body["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "c1");
    assert_eq!(body["messages"][2]["content"][0]["content"], "1 | broken");
    assert_eq!(state(&host), AgentState::Idle);
}

#[test]
fn a4_a_reply_without_calls_ends_the_run_whatever_its_stop_reason() {
    for (reason, end) in [
        ("end_turn", RunEnd::Completed),
        ("stop_sequence", RunEnd::Completed),
        ("max_tokens", RunEnd::Incomplete),
        ("tool_use", RunEnd::Completed),
        ("something_new", RunEnd::Completed),
    ] {
        let mut config = config();
        config.repair.continue_on_length = 0;
        let mut host = TestHost::open(config);
        let _ = host.submit("hello");
        host.reply(&Message::text("Hi.").stop_reason(reason));
        assert_eq!(ends(&host), [end], "{reason}");
    }
}

#[test]
fn a5_the_limit_of_tool_rounds_is_checked_before_each_request() {
    let mut config = config();
    config.limits.max_tool_rounds_per_input = 2;
    let mut host = TestHost::open(config);
    let _ = host.submit("go on for ever");
    for round in 0..2 {
        host.reply(&Message::call(&format!("c{round}"), "list_dir", &json!({})));
        let _ = host.answer("a/");
    }
    assert_eq!(host.requests.len(), 2);
    assert_eq!(ends(&host), [RunEnd::Limit]);
    let _ = host.submit("again");
    assert_eq!(host.requests.len(), 3, "the limit counts from each input anew");
}

#[test]
fn a6_the_limit_of_turns_counts_over_the_whole_session() {
    let mut config = config();
    config.limits.max_turns = 3;
    let mut host = TestHost::open(config);
    let _ = host.submit("one");
    host.reply(&Message::text("1"));
    let _ = host.submit("two");
    assert_eq!(ends(&host), [RunEnd::Completed, RunEnd::Limit]);
}

#[test]
fn a7_a_limit_is_an_event_that_names_it() {
    let mut config = config();
    config.limits.max_turns = 1;
    let mut host = TestHost::open(config);
    let _ = host.submit("one");
    let limits = host.find(|kind| match kind {
        EventKind::TurnLimit { limit, value } => Some((*limit, *value)),
        _ => None,
    });
    assert_eq!(limits, [("max_turns", 1)]);
}

#[test]
fn a8_close_cancels_what_runs_answers_its_calls_and_waits_for_the_last_word() {
    let mut host = TestHost::default();
    let _ = host.submit("run it");
    host.reply(&Message::call("c1", "write_file", &json!({"file_path": "a", "content": "b"})));
    let run = *host.runs.keys().next().unwrap();
    let _ = host.command(Command::Close);
    assert_eq!(host.cancelled, [run]);
    assert!(!host.names(0).contains(&"session_end".to_owned()), "the run still owes its answer");
    assert_eq!(host.session.deadline().unwrap().reason, DeadlineReason::Grace);
    let _ = host.answer("stopped");
    assert_eq!(host.names(0).last().unwrap(), "session_end");
    assert_eq!(state(&host), AgentState::Closed);
    let refused = host.offer(Input::command(Command::submit(text("more")))).unwrap_err();
    assert_eq!(refused.reason, RejectionReason::Closed);
}

#[test]
fn a8_a_session_closes_without_the_last_word_when_its_grace_is_over() {
    let mut host = TestHost::default();
    let _ = host.submit("run it");
    let _ = host.command(Command::Close);
    let _ = host.wait();
    assert_eq!(host.names(0).last().unwrap(), "session_end");
    assert_eq!(host.session.deadline(), None);
}

#[test]
fn a10_inputs_follow_one_another_in_one_history() {
    let mut host = TestHost::default();
    for word in ["one", "two", "three"] {
        let _ = host.submit(word);
        host.reply(&Message::text("ok"));
    }
    assert_eq!(host.body()["messages"].as_array().unwrap().len(), 5);
    assert_eq!(ends(&host).len(), 3);
}

#[test]
fn a11_j22_a_submit_while_a_run_is_under_way_is_refused_and_comes_back() {
    let mut host = TestHost::default();
    assert_eq!(state(&host), AgentState::Idle);
    let _ = host.submit("one");
    assert_eq!(state(&host), AgentState::Processing);
    let input = Input::command(Command::submit(text("two")));
    let before = host.session.snapshot();
    let rejected = host.offer(input.clone()).unwrap_err();
    assert_eq!((rejected.reason, rejected.input), (RejectionReason::Busy, input));
    assert_eq!(host.session.snapshot(), before, "a refused input changes nothing");
}

#[test]
fn a15_a_changed_configuration_is_in_force_from_the_next_request() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    let patch =
        serde_json::from_value(json!({"model": {"name": "mock-2", "reasoning_effort": "high"}}));
    let _ = host.command(Command::Configure { patch: patch.unwrap() });
    assert_eq!(host.names(2), ["prefix_rebased"]);
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(host.body()["model"], "mock-2");
    assert_eq!(host.body()["output_config"]["effort"], "high");
}

#[test]
fn every_preset_opens_once_it_is_told_its_model() {
    for preset in ConfigPreset::ALL {
        let mut config = preset.config();
        config.id = SessionId("s".into());
        config.model.endpoint = innerloop_core::id::EndpointId("mock".into());
        config.model.name = "mock-1".into();
        assert!(Session::open(config, UnixMillis(0)).is_ok(), "{preset:?}");
    }
    assert_eq!(ConfigPreset::Seed001.config(), SessionConfig::default());
    assert_ne!(ConfigPreset::Modern.config(), SessionConfig::default());
}

#[test]
fn a2_a_session_has_its_history_its_queues_and_its_agents() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let _ = host.command(Command::follow_up(text("later")));
    let _ = host.steer("soon");
    let agent = &snapshot::state(&host.session.snapshot())["agents"][0];
    assert_eq!(agent["steering"][0][0]["text"], "soon");
    assert_eq!(agent["follow_ups"][0]["parts"][0]["text"], "later");
    assert_eq!(agent["turns"].as_array().unwrap().len(), 1);
    let pending = host.session.pending(AgentId::ROOT).unwrap();
    assert_eq!(pending.steering, [text("soon")]);
    let [later] = &pending.follow_ups[..] else { panic!("{pending:?}") };
    assert_eq!((&later.parts, &later.options), (&text("later"), &None));
    assert_eq!(host.session.pending(AgentId(1)), None);
    let config = host.session.own_config();
    assert_eq!((&config, &config.id), (host.session.config(), host.session.id()));
}

#[test]
fn a14_steering_is_drained_before_the_first_call_and_after_each_round() {
    let mut host = TestHost::default();
    let _ = host.steer("first");
    let _ = host.submit("go");
    assert!(host.body()["messages"].to_string().contains("first"));
    for word in ["second", "third"] {
        host.reply(&Message::call(word, "list_dir", &json!({})));
        let _ = host.steer(word);
        let _ = host.answer("a");
        assert!(host.body()["messages"].to_string().contains(word));
    }
}

#[test]
fn a16_each_round_is_one_request_of_its_own() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for round in 1..4 {
        assert_eq!((host.requests.len(), host.calls.len()), (round, 1));
        host.reply(&Message::call(&format!("c{round}"), "list_dir", &json!({})));
        assert_eq!(host.requests.len(), round, "no request before the results are there");
        let _ = host.answer("a");
    }
}

#[test]
fn a18_the_defaults_are_the_specifications() {
    let config = innerloop_core::config::SessionConfig::default();
    assert_eq!((config.limits.max_turns, config.limits.max_tool_rounds_per_input), (0, 0));
    assert_eq!(config.timeouts.default_command_ms, 10_000);
    assert_eq!(config.timeouts.max_command_ms, 600_000);
    assert_eq!(config.model.reasoning_effort, None);
    assert!(config.tool_output_limits.is_empty() && config.tool_line_limits.is_empty());
    assert_eq!((config.loops.detect, config.loops.window), (true, 10));
    assert_eq!(config.subagents.max_depth, 1);
}

#[test]
fn m7_the_defaults_follow_from_the_specifications_reasons() {
    let mut config = config();
    config.model.profile = ProfileKind::Openai;
    config.model.context_window = 20_000;
    config.facts = super::profiles::place();
    let mut host = TestHost::open(config);
    let _ = host.submit("first of all");
    // complete(), not generate(): each request is one call of the model, and the loop is ours.
    for round in 1..4 {
        assert_eq!((host.requests.len(), host.calls.len()), (round, 1));
        let run = Message::call(&format!("c{round}"), "shell", &json!({"command": "make"}));
        host.reply(&run.costing(9_900, 100));
        assert_eq!(host.requests.len(), round, "no request before the results are there");
        // Ten seconds for a command that asks for no time.
        assert_eq!(host.runs.values().next().unwrap().timeout_ms, 10_000);
        // Where it runs is the host's business: it gets the call, and any outcome will do.
        let _ = host.answer(&format!("begin{}end", "x".repeat(30_000)));
    }
    // Head and tail of an output, both.
    let messages = host.body()["messages"].clone();
    let read = messages[2]["content"][0]["content"].as_str().unwrap();
    assert!(read.starts_with("beginx") && read.ends_with("xend"), "{read}");
    assert!(read.contains("8 characters were removed from the middle"));
    // No compaction of its own, however full the window is: a warning, and all is still there.
    host.reply(&Message::text("Done.").costing(99_000, 100));
    let _ = host.submit("and now?");
    let messages = host.body()["messages"].to_string();
    assert!(messages.contains("first of all") && messages.matches("beginx").count() == 3);
    assert!(host.names(0).contains(&"warning".to_owned()));
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 9);
}

#[test]
fn a19_processing_ends_after_the_follow_ups_and_the_session_is_idle() {
    let mut host = TestHost::default();
    let _ = host.submit("one");
    let _ = host.command(Command::follow_up(text("two")));
    host.reply(&Message::text("1"));
    assert_eq!((ends(&host).len(), state(&host)), (0, AgentState::Processing));
    host.reply(&Message::text("2"));
    assert_eq!((ends(&host).len(), state(&host)), (1, AgentState::Idle));
}

#[test]
fn a17_an_error_that_no_retry_mends_closes_the_session() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    host.refuse(400, "invalid_request_error", "messages: bad", &[]);
    assert_eq!(errors(&host), [ErrorKind::InvalidRequest]);
    assert_eq!(host.names(2), ["error", "processing_end", "session_end"]);
}

#[test]
fn calls_that_are_cut_again_and_again_end_the_run() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    for n in 0..50 {
        if host.calls.is_empty() {
            break;
        }
        let call = Message::call(&format!("c{n}"), "list_dir", &json!({}));
        host.reply(&call.stop_reason("max_tokens"));
    }
    assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Failed], 9));
    let _ = host.submit("again");
    assert!(host.body()["messages"].to_string().contains("was cut by a limit"), "none dangles");
}

#[test]
fn g3_a_refused_key_is_reported_at_once_and_closes_the_session() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    host.refuse(401, "authentication_error", "invalid x-api-key", &[]);
    assert_eq!(errors(&host), [ErrorKind::Authentication]);
    assert_eq!((host.requests.len(), state(&host)), (1, AgentState::Closed));
}

#[test]
fn g3_a_session_may_outlive_a_refused_key() {
    let mut config = config();
    config.retry.refusal_closes = false;
    let mut host = TestHost::open(config);
    let _ = host.submit("hello");
    host.refuse(401, "authentication_error", "invalid x-api-key", &[]);
    assert_eq!(errors(&host), [ErrorKind::Authentication]);
    assert_eq!((ends(&host), state(&host)), (vec![RunEnd::Failed], AgentState::Idle));
    let _ = host.submit("again");
    host.refuse(404, "not_found_error", "model: nobody", &[]);
    assert_eq!(errors(&host).last(), Some(&ErrorKind::InvalidRequest));
    let _ = host.submit("and again");
    host.reply(&Message::text("hi"));
    assert_eq!(ends(&host).last(), Some(&RunEnd::Completed));
    assert_eq!(host.requests.len(), 3, "what is refused is not tried again");
}

#[test]
fn g3_a_request_that_the_host_refuses_is_not_tried_again() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    let failure = HttpFailure { kind: HttpFailureKind::Refused, message: "no such".into() };
    let _ = host.http(HttpInput::Failed(failure));
    assert_eq!(errors(&host), [ErrorKind::Host]);
    assert_eq!(host.requests.len(), 1);
}

#[test]
fn g4_an_overflowing_context_warns_and_the_session_goes_on() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    let message = "prompt is too long: 3333404 tokens > 200000 maximum";
    host.refuse(400, "invalid_request_error", message, &[]);
    assert_eq!(host.names(2), ["warning", "error", "processing_end"]);
    assert_eq!((errors(&host), state(&host)), (vec![ErrorKind::ContextOverflow], AgentState::Idle));
}

#[test]
fn g5_a_turn_limit_leaves_the_session_idle() {
    let mut config = config();
    config.limits.max_turns = 1;
    let mut host = TestHost::open(config);
    let _ = host.submit("one");
    assert_eq!(state(&host), AgentState::Idle);
}

#[test]
fn g6_the_shutdown_cancels_waits_closes_the_others_and_ends() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let both = Message::call("s", "spawn_agent", &json!({"task": "t"})).and_call(
        "w",
        "write_file",
        &json!({"file_path": "a", "content": ""}),
    );
    host.reply(&both);
    let open = host.calls.len() + host.runs.len();
    let _ = host.command(Command::Close);
    assert_eq!(host.cancelled.len(), open, "every open effect is cancelled");
    let grace = host.session.deadline().unwrap();
    assert_eq!((grace.reason, grace.at.0), (DeadlineReason::Grace, 5_000));
    let _ = host.answer("stopped");
    let _ = host.wait();
    let names = host.names(0);
    let tail: Vec<&str> = names.iter().rev().take(2).map(String::as_str).collect();
    assert_eq!(tail, ["session_end", "agent_ended"]);
    assert_eq!(state(&host), AgentState::Closed);
}

#[test]
fn a_fork_goes_on_from_any_turn_under_an_id_of_its_own() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = host.answer("a");
    host.reply(&Message::text("Done."));
    for turns in 0..=4 {
        let id = SessionId(format!("fork-{turns}"));
        let (fork, outputs) = host.session.fork(id.clone(), turns, UnixMillis(5)).unwrap();
        assert_eq!((fork.id(), outputs.events().count()), (&id, 1));
        let mut other = TestHost::around(fork, String::new());
        let _ = other.submit("and now");
        let body = other.body();
        let uses = body["messages"].to_string().matches("\"tool_use\"").count();
        let results = body["messages"].to_string().matches("\"tool_result\"").count();
        assert_eq!(uses, results, "nothing dangles: {body}");
    }
    let own = host.session.fork(SessionId("test".into()), 1, UnixMillis(5)).unwrap_err();
    assert_eq!(own.field, "id");
}

#[test]
fn every_mistake_of_the_host_is_refused_and_changes_nothing() {
    use innerloop_core::{action::Outcome, id::EffectId, input::ToolInput};
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    let call = host.call();
    let never = EffectId(99);
    let done = ToolInput::Done(Outcome::text("x"));
    let parked = ToolInput::Parked { handle: "h".into(), outcome: Outcome::text("x") };
    let before = host.session.snapshot();
    let nobody = AgentId(7);
    for (input, reason) in [
        (Input::Tool { id: never, input: done.clone() }, RejectionReason::UnknownEffect(never)),
        (Input::Lost { id: EffectId(0) }, RejectionReason::UnknownEffect(EffectId(0))),
        (Input::Tool { id: call, input: done }, RejectionReason::WrongKind(call)),
        (Input::Tool { id: call, input: parked }, RejectionReason::WrongKind(call)),
        (Input::Http { id: call, input: HttpInput::End }, RejectionReason::OutOfOrder(call)),
        (
            Input::Command { agent: nobody, command: Command::Interrupt },
            RejectionReason::UnknownAgent(nobody),
        ),
        (Input::command(Command::Steer { parts: text(" \n") }), RejectionReason::Empty),
        (
            Input::command(Command::Configure {
                patch: serde_json::from_value(json!({"model": {"name": ""}})).unwrap(),
            }),
            ConfigError::new("model.name", "is empty: name the model to talk to").into(),
        ),
    ] {
        let rejected = host.offer(input.clone()).unwrap_err();
        assert!(!rejected.reason.to_string().is_empty());
        assert_eq!((rejected.reason, rejected.input), (reason, input));
        assert_eq!(host.session.snapshot(), before);
    }
    assert_eq!(REPLAY_VERSION, 13);
}

#[test]
fn whatever_a_model_sends_nothing_panics_and_the_user_is_heard() {
    let big = "x".repeat(3_000_000);
    let replies = [
        Message::text(&"endless ".repeat(50_000)),
        Message::call("c", "write_file", &json!({"file_path": "a", "content": big})),
        Message::call("\u{0}\u{fffd}", "\u{0}", &json!({"\u{0}": "\u{0}"})),
        Message::text("\u{0}"),
        Message::text(""),
    ];
    for reply in replies {
        let mut host = TestHost::default();
        let _ = host.submit("hear me");
        host.reply(&reply);
        while !host.runs.is_empty() {
            let _ = host.answer("\u{0}");
        }
        if !host.calls.is_empty() {
            host.reply(&Message::text("Done."));
        }
        assert_eq!(ends(&host), [RunEnd::Completed]);
        assert!(host.requests.iter().all(|r| String::from_utf8_lossy(&r.body).contains("hear me")));
    }
    let mut host = TestHost::default();
    let _ = host.submit("hear me");
    host.stream(b"data: {\"type\":\"\xff\xfe\"}\n\n\x00\xff", 3);
    assert_eq!(host.session.deadline().unwrap().reason, DeadlineReason::Retry);
}

#[test]
fn an_answer_to_a_settled_effect_is_ignored() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    let call = host.call();
    host.reply(&Message::text("Hi."));
    let before = host.session.snapshot();
    assert!(host.input(Input::Http { id: call, input: HttpInput::End }).is_empty());
    assert!(host.input(Input::Lost { id: call }).is_empty());
    assert_eq!(host.session.snapshot(), before);
}

#[test]
fn time_that_goes_back_counts_as_no_time() {
    let mut host = TestHost { now: 1_000, ..TestHost::default() };
    let _ = host.submit("hello");
    host.now = 10;
    host.reply(&Message::text("Hi."));
    assert!(host.events.iter().skip(1).all(|event| event.at.0 == 1_000));
}
