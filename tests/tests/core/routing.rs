//! Several models in one session: one that fails is left alone, and the next one takes over with a
//! request of its own (`docs/decisions.md#routing`).

use innerloop_core::{
    Session,
    compaction::RetentionPolicy,
    config::{ModelConfig, Price, SessionConfig, WireKind},
    event::EventKind,
    id::{AgentId, EndpointId},
    input::{Command, HttpInput, Input},
    output::DeadlineReason,
    routing::{RoutedModel, RoutingPolicy},
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
    wires,
};
use serde_json::json;

/// The model of that name at the endpoint of the same name.
fn model(name: &str) -> ModelConfig {
    ModelConfig { endpoint: EndpointId(name.into()), name: name.into(), ..config().model }
}

fn further(name: &str) -> RoutedModel {
    RoutedModel { model: model(name), ..RoutedModel::default() }
}

fn with(models: Vec<RoutedModel>) -> SessionConfig {
    let routing = RoutingPolicy { models, ..RoutingPolicy::default() };
    SessionConfig { routing, ..config() }
}

/// A configuration with two models that take over.
fn three() -> SessionConfig {
    with(vec![further("second"), further("third")])
}

fn asked(host: &TestHost) -> Vec<&str> {
    host.requests.iter().map(|request| &*request.endpoint.0).collect()
}

/// The changes of the model: from which to which, and why.
fn changes(host: &TestHost) -> Vec<(String, String, String)> {
    host.find(|kind| match kind {
        EventKind::Rerouted { failed, to, message } => {
            Some((failed.model.clone(), to.model.clone(), message.clone()))
        }
        _ => None,
    })
}

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

fn overloaded(host: &mut TestHost) {
    host.refuse(529, "overloaded_error", "Overloaded", &[]);
}

fn limited(host: &mut TestHost, after: &str) {
    host.refuse(429, "rate_limit_error", "Too many requests", &[("retry-after", after)]);
}

#[test]
fn k4_a_model_that_asks_for_a_long_wait_is_left_alone_and_the_next_takes_over_at_once() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    limited(&mut host, "400");
    assert_eq!(asked(&host), ["mock", "second"], "without a wait");
    assert_eq!(host.body()["model"], "second", "the request is made anew");
    let told = changes(&host);
    assert_eq!((&*told[0].0, &*told[0].1), ("mock-1", "second"));
    assert!(told[0].2.contains("Too many requests"), "{told:?}");
    overloaded(&mut host);
    host.reply(&Message::text("done"));
    assert_eq!(asked(&host), ["mock", "second", "third"]);
    assert_eq!(ends(&host), [RunEnd::Completed]);
    // The second is free after five minutes, the first, which asked for more, after 400 seconds.
    host.now = 300_000;
    let _ = host.submit("more");
    host.reply(&Message::text("yes"));
    host.now = 399_999;
    let _ = host.submit("and more");
    host.reply(&Message::text("yes"));
    host.now = 400_000;
    let _ = host.submit("and more still");
    assert_eq!(asked(&host)[3..], ["second", "second", "mock"]);
}

#[test]
fn k4_with_all_models_failing_the_first_that_may_be_asked_again_is_waited_for() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    limited(&mut host, "90");
    limited(&mut host, "30");
    host.broken();
    // The break is over first: it is tried again as if it were alone.
    let deadline = host.session.deadline().unwrap();
    assert_eq!(deadline.reason, DeadlineReason::Retry);
    assert!(deadline.at.0 <= 4_000, "{deadline:?}");
    let _ = host.wait();
    assert_eq!(asked(&host), ["mock", "second", "third", "third"]);
    host.reply(&Message::text("done"));
    assert_eq!(ends(&host), [RunEnd::Completed]);
}

#[test]
fn k4_a_call_comes_to_an_end_however_many_models_fail() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    let most = host.session.config().retry.max_retries as usize + 1 + 2;
    while !host.calls.is_empty() {
        overloaded(&mut host);
        while host.calls.is_empty() && host.session.deadline().is_some() {
            let _ = host.wait();
        }
    }
    assert!(host.requests.len() <= most, "{}", host.requests.len());
    assert_eq!(ends(&host), [RunEnd::Failed]);
    let waits = host.find(|kind| match kind {
        EventKind::Retry { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    });
    assert!(!waits.is_empty() && waits.iter().all(|ms| *ms <= 8_000), "{waits:?}");
}

#[test]
fn k4_a_model_that_has_failed_is_no_free_one_however_short_it_is_left_alone() {
    let mut config = three();
    config.routing.backoff_ms = 0;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    overloaded(&mut host);
    overloaded(&mut host);
    overloaded(&mut host);
    assert_eq!(asked(&host), ["mock", "second", "third"]);
    let retries = host.find(|kind| matches!(kind, EventKind::Retry { .. }).then_some(()));
    assert_eq!(retries.len(), 1, "the fourth try waits");
    let _ = host.wait();
    host.reply(&Message::text("done"));
    assert_eq!(ends(&host), [RunEnd::Completed]);
}

#[test]
fn n18_what_another_model_would_refuse_as_well_does_not_change_it() {
    for (status, kind) in [(400, "invalid_request_error"), (413, "request_too_large")] {
        let mut host = TestHost::open(three());
        let _ = host.submit("go");
        host.refuse(status, kind, "prompt is too long", &[]);
        assert_eq!(asked(&host), ["mock"], "{kind}");
    }
}

#[test]
fn n18_a_key_that_is_refused_leaves_its_model_alone_for_the_session() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    host.refuse(401, "authentication_error", "invalid x-api-key", &[]);
    host.reply(&Message::text("done"));
    host.now = 1_000_000_000;
    let _ = host.submit("more");
    assert_eq!(asked(&host), ["mock", "second", "second"]);
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::Processing);
}

#[test]
fn n18_the_request_speaks_the_protocol_of_the_model_that_takes_over() {
    let mut config = with(vec![further("other")]);
    config.routing.models[0].model.wire = WireKind::OpenaiChat;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = host.answer("a.txt");
    overloaded(&mut host);
    let sent = host.body();
    assert_eq!(sent["messages"][0]["role"], "developer", "{sent}");
    assert_eq!(sent["messages"].as_array().unwrap().last().unwrap()["role"], "tool");
    let stream = wires::events(WireKind::OpenaiChat, &Message::text("done")).concat();
    host.head(200, wires::stream_type(WireKind::OpenaiChat));
    let _ = host.http(HttpInput::Chunk(stream.into_bytes().into()));
    let _ = host.http(HttpInput::End);
    assert_eq!(ends(&host), [RunEnd::Completed]);
    let said = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(said, ["done"]);
}

#[test]
fn n18_shown_text_is_withdrawn_before_the_next_model_writes() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    let stream = wires::events(host.wire(), &Message::text("half of it")).concat();
    host.head(200, wires::stream_type(host.wire()));
    let cut = stream.find("half of it").unwrap() + 60;
    let _ = host.http(HttpInput::Chunk(stream.as_bytes()[..cut].to_vec().into()));
    host.broken();
    assert_eq!(asked(&host), ["mock", "second"]);
    let kinds = host.find(|kind| match kind {
        EventKind::AssistantTextDelta { .. } => Some("delta"),
        EventKind::TextReset => Some("reset"),
        EventKind::Rerouted { .. } => Some("rerouted"),
        _ => None,
    });
    assert_eq!(kinds, ["delta", "reset", "rerouted"]);
}

#[test]
fn n18_a_restored_session_and_a_replayed_log_route_alike() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    limited(&mut host, "400");
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.snapshot(), host.session.snapshot());
    assert_eq!(restored.config(), host.session.config(), "the configuration is as it was given");
    let owed = restored.owed();
    assert_eq!(format!("{owed:?}"), format!("{:?}", host.session.owed()));
    host.reply(&Message::text("done"));
    let mut again = TestHost::around(restored, String::new());
    again.take(owed);
    again.reply(&Message::text("done"));
    let _ = again.submit("more");
    assert_eq!(asked(&again).last(), Some(&"second"), "the first is still left alone");
}

#[test]
fn n18_another_configuration_of_the_models_begins_anew() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    limited(&mut host, "400");
    host.reply(&Message::text("done"));
    let patch =
        |json: &str| Command::Configure { patch: innerloop_core::json::from_str(json).unwrap() };
    let _ = host.command(patch(r#"{"instructions": "Be brief."}"#));
    let _ = host.submit("more");
    assert_eq!(asked(&host).last(), Some(&"second"));
    host.reply(&Message::text("done"));
    let _ = host.command(patch(r#"{"model": {"name": "mock-2"}}"#));
    let _ = host.submit("more");
    assert_eq!(asked(&host).last(), Some(&"mock"), "who names a model wants that one");
    assert_eq!(host.body()["model"], "mock-2");
}

#[test]
fn j23_the_cheap_model_writes_the_summary_and_another_one_if_it_fails() {
    let mut config = with(vec![RoutedModel { cheap: true, ..further("cheap") }]);
    config.compaction.keep =
        RetentionPolicy { tokens: 50, rounds: 1, ..RetentionPolicy::default() };
    let mut host = TestHost::open(config);
    let _ = host.submit(&"much text ".repeat(200));
    host.reply(&Message::text(&"a long answer ".repeat(100)));
    let _ = host.submit("more");
    host.reply(&Message::text("done"));
    let _ = host.command(Command::Compact { instructions: None });
    assert_eq!(asked(&host).last(), Some(&"cheap"));
    overloaded(&mut host);
    assert_eq!(asked(&host).last(), Some(&"mock"), "{:?}", asked(&host));
    host.reply(&Message::text("The summary."));
    let folded = host.find(|kind| match kind {
        EventKind::Compacted { text, .. } => text.clone(),
        _ => None,
    });
    assert!(folded[0].contains("The summary."), "{folded:?}");
    assert!(changes(&host).is_empty(), "nobody watches a summary");
}

#[test]
fn k3_k26_an_input_goes_to_the_model_for_its_kind_of_task() {
    let tasks = vec!["debug".to_owned(), "unit_test".to_owned()];
    let mut host = TestHost::open(with(vec![RoutedModel { tasks, ..further("fixer") }]));
    for (said, endpoint, task) in [
        ("Fix the crash in main.rs", "fixer", Some("debug")),
        ("Show me the latest prefix of the address", "mock", None),
        ("Write tests for the parser, tests with mocks", "fixer", Some("unit_test")),
        ("Explain what this does and why", "mock", Some("explain")),
    ] {
        let _ = host.submit(said);
        assert_eq!(asked(&host).last(), Some(&endpoint), "{said}");
        let kinds = host.find(|kind| match kind {
            EventKind::Routed { to, task } => Some((to.endpoint.0.clone(), *task)),
            _ => None,
        });
        assert_eq!(kinds.last(), Some(&(endpoint.to_owned(), task)), "{said}");
        host.reply(&Message::text("done"));
    }
}

#[test]
fn n18_a_conversation_that_does_not_fit_goes_to_a_larger_window_where_that_is_wished() {
    let mut config = three();
    config.routing.overflow_to_larger = true;
    config.routing.models[0].model.context_window = 100_000;
    config.routing.models[1].model.context_window = 1_000_000;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.refuse(400, "invalid_request_error", "prompt is too long: 250000 tokens", &[]);
    assert_eq!(asked(&host), ["mock", "third"], "the one between has a smaller window");
}

#[test]
fn n18_other_agents_change_the_model_as_well() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "spawn_agent", &json!({"task": "look"})));
    assert_eq!(asked(&host), ["mock", "mock", "mock"], "one of the agent that was started");
    let others = host.calls.clone();
    overloaded(&mut host);
    assert_eq!(asked(&host)[3..], ["second"]);
    // The other agent's request was under way: it fails as well, and changes nothing any more.
    let _ = host.input(Input::Lost { id: others[0] });
    assert_eq!(asked(&host)[3..], ["second", "second"]);
    assert_eq!(changes(&host).len(), 1);
}

#[test]
fn n18_a_limit_of_the_cost_needs_the_prices_of_all_models() {
    let mut config = three();
    config.limits.session.cost_nano_usd = 1_000_000;
    config.model.price = Some(Price::default());
    let error = Session::open(config.clone(), EPOCH).unwrap_err();
    assert!(error.to_string().contains("second"), "{error}");
    for further in &mut config.routing.models {
        further.model.price = Some(Price::default());
    }
    assert!(Session::open(config, EPOCH).is_ok());
}

#[test]
fn n18_a_model_that_cannot_work_is_refused_with_its_place() {
    let mut config = three();
    config.routing.models[1].model.name = " ".into();
    let error = Session::open(config, EPOCH).unwrap_err();
    assert_eq!(error.field, "routing.models[1].model.name");
    let mut config = three();
    config.routing.models[0].tasks.push("cooking".into());
    let error = Session::open(config, EPOCH).unwrap_err();
    assert_eq!(error.field, "routing.models[0].tasks");
    assert!(error.to_string().contains("debug"), "{error}");
}

#[test]
fn n18_a_fork_begins_with_the_sessions_own_model() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    limited(&mut host, "400");
    host.reply(&Message::text("done"));
    let id = innerloop_core::id::SessionId("fork".into());
    let (fork, _) = host.session.fork(id, 9, EPOCH).unwrap();
    let mut fork = TestHost::around(fork, String::new());
    let _ = fork.input(Input::command(Command::submit(innerloop_tests::test_host::text("more"))));
    assert_eq!(asked(&fork), ["mock"]);
}

#[test]
fn k7_each_reply_tells_its_model_its_time_to_the_first_token_and_its_length() {
    let mut host = TestHost::open(three());
    let _ = host.submit("go");
    host.now += 70;
    overloaded(&mut host);
    host.now += 400;
    host.head(200, wires::stream_type(host.wire()));
    let stream = wires::events(host.wire(), &Message::text("Found it."));
    let text_at = stream.iter().position(|event| event.contains("Found")).unwrap();
    let (start, said) = stream.split_at(text_at);
    let chunk = |part: &[String]| HttpInput::Chunk(part.concat().into_bytes().into());
    let _ = host.http(chunk(start));
    host.now += 500;
    let _ = host.http(chunk(&said[..1]));
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.snapshot(), host.session.snapshot());
    host.now += 1_100;
    let _ = host.http(chunk(&said[1..]));
    // The server leaves the connection open for a while.
    host.now += 600;
    let _ = host.http(HttpInput::End);
    let models = host.find(|kind| match kind {
        EventKind::RequestStart { model, .. } => Some(model.as_str()),
        _ => None,
    });
    assert_eq!(models, ["mock-1", "second"]);
    let timings = host.find(|kind| match kind {
        EventKind::AssistantTextEnd { ttft_ms, ms, .. } => Some((*ttft_ms, *ms)),
        _ => None,
    });
    assert_eq!(timings, [(Some(900), Some(2_000))], "from the request to the second model on");
    let _ = host.submit("more");
    host.reply_whole(&Message::text("At once."));
    let whole = host.find(|kind| match kind {
        EventKind::AssistantTextEnd { ttft_ms, ms, .. } => Some((*ttft_ms, *ms)),
        _ => None,
    });
    assert_eq!(whole.last(), Some(&(None, Some(0))), "in one piece");
}
