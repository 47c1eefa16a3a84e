//! What runs and sessions may spend, and what follows when it is spent; rounds that repeat
//! themselves; a hook that denies the end.

use innerloop_core::{
    Session,
    compaction::OnOverflow,
    config::{HookPoint, LimitAction, LoopStep, SessionConfig, SpendAmount},
    event::EventKind,
    id::{AgentId, SessionId},
    input::{Command, HookReply, Input, RejectionReason},
    output::DeadlineReason,
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::json;

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

fn reached(host: &TestHost) -> Vec<(&'static str, u64, u64)> {
    host.find(|kind| match kind {
        EventKind::BudgetLimit { which, used, limit } => Some((*which, *used, *limit)),
        _ => None,
    })
}

fn tokens(tokens: u64, action: LimitAction) -> SessionConfig {
    let mut config = config();
    config.limits.run.tokens = tokens;
    config.limits.action = action;
    config
}

/// Runs one round after the other, each of 110 tokens, until no call is made any more.
fn rounds(host: &mut TestHost, most: usize) {
    for n in 0..most {
        if host.calls.is_empty() {
            return;
        }
        let before = host.requests.len();
        host.reply(&Message::text("Looking.").and_call(
            &format!("c{before}-{n}"),
            "list_dir",
            &json!({"depth": n + 1}),
        ));
        if !host.runs.is_empty() {
            let _ = host.answer("a");
        }
    }
}

#[test]
fn l1_l7_a_run_that_has_spent_its_tokens_ends_with_what_there_is() {
    for (action, end) in [
        (LimitAction::Idle, RunEnd::Budget),
        (LimitAction::Partial, RunEnd::Budget),
        (LimitAction::Error, RunEnd::Failed),
    ] {
        let mut host = TestHost::open(tokens(220, action));
        let _ = host.submit("go");
        rounds(&mut host, 9);
        assert_eq!((ends(&host), host.requests.len()), (vec![end], 2), "{action:?}");
        assert_eq!(reached(&host), [("run.tokens", 220, 220)]);
        // The next run has its own.
        let _ = host.submit("again");
        rounds(&mut host, 9);
        assert_eq!((ends(&host), host.requests.len()), (vec![end; 2], 4), "{action:?}");
    }
}

#[test]
fn i9_a_budget_that_is_used_up_allows_one_summary_without_tools() {
    for is_too_long in [false, true] {
        let mut config = tokens(100, LimitAction::Summarize);
        config.compaction.on_overflow = OnOverflow::CompactRetryOnce;
        config.compaction.keep.tokens = 1;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        rounds(&mut host, 1);
        assert_eq!(host.body()["tool_choice"], json!({"type": "none"}));
        // It is not tried again, not even with a shorter conversation.
        if is_too_long {
            host.refuse(400, "invalid_request_error", "prompt is too long: 3 > 2", &[]);
        } else {
            host.broken();
        }
        assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Budget], 2));
        assert!(host.calls.is_empty() && host.session.deadline().is_none());
    }
}

#[test]
fn a_budget_that_is_used_up_goes_before_other_limits() {
    let limited: [fn(&mut SessionConfig); 3] = [
        |config| config.limits.max_turns = 3,
        |config| config.limits.max_tool_rounds_per_input = 2,
        |config| (config.loops.same_args, config.loops.ladder) = (2, vec![LoopStep::Summarize]),
    ];
    for (n, limit) in limited.iter().enumerate() {
        let mut config = tokens(220, LimitAction::Partial);
        limit(&mut config);
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        for id in ["a", "b"] {
            host.reply(&Message::call(id, "list_dir", &json!({})));
            let _ = host.answer("a");
        }
        assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Budget], 2), "{n}");
        assert_eq!(reached(&host), [("run.tokens", 220, 220)]);
    }
}

#[test]
fn l16_the_cost_is_limited_where_all_prices_are_known() {
    let mut config = config();
    config.limits.run.cost_nano_usd = 1;
    let refused = Session::open(config.clone(), EPOCH).unwrap_err();
    assert_eq!(refused.field, "limits.run.cost_nano_usd");
    config.model.price = Some(innerloop_core::config::Price { input: 1_000, ..Default::default() });
    config.compaction.summary.model = Some("other".into());
    let refused = Session::open(config.clone(), EPOCH).unwrap_err();
    assert!(refused.message.contains("other"), "{refused}");
    let price = innerloop_core::config::Price { input: 3_000, ..Default::default() };
    config.prices.insert("other".into(), price);
    assert!(Session::open(config.clone(), EPOCH).is_ok(), "its price is known");
    config.prices.clear();
    config.compaction.summary.model = None;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c", "spawn_agent", &json!({"task": "look", "model": "other"})));
    assert_eq!(reached(&host), [("run.cost_nano_usd", 100, 1)]);
    let turns = format!("{:?}", host.session.history(AgentId::ROOT).unwrap().turns().last());
    assert!(turns.contains("leave model out"), "{turns}");
    // What costs nothing, as models of one's own, never comes to a limit.
    let mut free = self::config();
    free.limits.run.cost_nano_usd = 1;
    free.model.price = Some(innerloop_core::config::Price::default());
    let mut host = TestHost::open(free);
    let _ = host.submit("go");
    rounds(&mut host, 3);
    assert_eq!((reached(&host), host.requests.len()), (vec![], 4));
}

#[test]
fn l16_what_another_model_costs_is_counted_at_its_own_price() {
    let mut config = config();
    config.limits.run.cost_nano_usd = 350;
    let price = |input| innerloop_core::config::Price { input, ..Default::default() };
    config.model.price = Some(price(1_000));
    config.prices.insert("other".into(), price(3_000));
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c", "spawn_agent", &json!({"task": "look", "model": "other"})));
    // Each reply reads 100 tokens: one of the other model costs as much as three of the own.
    let child = *host.calls.iter().find(|id| host.owners[*id] != AgentId::ROOT).unwrap();
    host.calls.retain(|id| *id != child);
    let parent = std::mem::replace(&mut host.calls, vec![child]);
    host.reply(&Message::text("looked"));
    host.calls.extend(parent);
    assert_eq!(reached(&host), []);
    host.reply(&Message::call("d", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(reached(&host), [("run.cost_nano_usd", 500, 350)]);
}

#[test]
fn the_time_of_a_run_is_a_deadline() {
    let mut config = config();
    config.limits.run.ms = 1_000;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let deadline = host.session.deadline().unwrap();
    assert_eq!(deadline.reason, DeadlineReason::Budget);
    let _ = host.wait();
    assert_eq!(ends(&host), [RunEnd::Budget]);
    assert_eq!(reached(&host)[0].0, "run.ms");
    let turns = format!("{:?}", host.session.history(AgentId::ROOT).unwrap().turns().last());
    assert!(turns.contains("the time of the run was up"), "{turns}");
}

#[test]
fn a_stream_that_is_cut_counts_by_estimate() {
    let mut config = tokens(1, LimitAction::Idle);
    config.retry.max_retries = 3;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    // Nothing is spent on a request that nobody has begun to answer.
    host.broken();
    assert_eq!(ends(&host), []);
    let _ = host.wait();
    host.head(200, "text/event-stream");
    host.broken();
    assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Budget], 2));
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().usage.tokens(), 0, "nobody told any");
}

#[test]
fn what_a_session_has_spent_survives_it_and_is_not_its_forks() {
    let mut config = config();
    config.limits.session = SpendAmount { tokens: 110, ..SpendAmount::default() };
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::text("Done."));
    assert_eq!(ends(&host), [RunEnd::Completed]);
    let (fork, _) = host.session.fork(SessionId("fork".into()), 9, EPOCH).unwrap();
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let mut restored = TestHost::around(restored, String::new());
    let compact = Input::command(Command::Compact { instructions: None });
    assert_eq!(restored.offer(compact).unwrap_err().reason, RejectionReason::Budget);
    let _ = restored.submit("more");
    assert_eq!(ends(&restored), [RunEnd::Budget]);
    assert_eq!(reached(&restored), [("session.tokens", 110, 110)]);
    let mut fork = TestHost::around(fork, String::new());
    let _ = fork.submit("more");
    assert_eq!(fork.requests.len(), 1);
}

#[test]
fn what_started_agents_spend_counts_for_the_run() {
    let mut host = TestHost::open(tokens(200, LimitAction::Summarize));
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "look"})));
    // The child's reply is the second, and the session's own agent asks behind it.
    host.reply(&Message::call("a", "list_dir", &json!({})));
    let agents: Vec<u32> = host
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::AssistantTextEnd { .. }))
        .map(|event| event.agent.0)
        .collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
    let _ = host.answer("a");
    assert!(!reached(&host).is_empty());
}

#[test]
fn l6_rounds_that_are_alike_count_whole() {
    let looping = |ladder: &[LoopStep], again_after| {
        let mut config = config();
        config.loops.same_args = 3;
        config.loops.again_after = again_after;
        config.loops.ladder = ladder.to_vec();
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host
    };
    let pair = |host: &mut TestHost, n: usize| {
        let (one, two) = (format!("a{n}"), format!("b{n}"));
        let list = Message::call(&one, "list_dir", &json!({}));
        host.reply(&list.and_call(&two, "list_dir", &json!({"depth": 2})));
        let _ = host.answer("a");
        let _ = host.answer("b");
    };
    // A pair is seen, and three equal calls of one reply are one round.
    let mut host = looping(&[LoopStep::Warn, LoopStep::Stop], 2);
    for n in 0..5 {
        assert_eq!(ends(&host), [], "round {n}");
        pair(&mut host, n);
    }
    assert_eq!(ends(&host), [RunEnd::Loop], "warned at three, stopped at five");
    let mut host = looping(&[LoopStep::Stop], 0);
    let three = Message::call("a", "list_dir", &json!({})).and_call("b", "list_dir", &json!({}));
    host.reply(&three.and_call("c", "list_dir", &json!({})));
    for _ in 0..3 {
        let _ = host.answer("a");
    }
    assert_eq!(ends(&host), []);
}

#[test]
fn l16_a_hook_that_denies_the_end_for_ever_leaves_a_run_unverified() {
    let mut config = config();
    config.hooks.points = vec![HookPoint::BeforeStop];
    config.hooks.max_denials = 2;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    for n in 0..3 {
        assert_eq!(ends(&host), [], "denial {n}");
        host.reply(&Message::text("Done."));
        let id = host.hooks.last().unwrap().0;
        let reply = HookReply::Deny { reason: "the tests fail".into() };
        let _ = host.input(Input::Hook { id, reply });
    }
    assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Unverified], 3));
}

#[test]
fn k2_the_end_of_a_run_tells_its_rounds() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    rounds(&mut host, 2);
    host.reply(&Message::text("Done."));
    let rounds = host.find(|kind| match kind {
        EventKind::ProcessingEnd { rounds, .. } => Some(*rounds),
        _ => None,
    });
    assert_eq!(rounds, [2]);
}

#[test]
fn l16_a_reply_costs_what_the_model_costs_that_was_asked() {
    let cost = |patch: Option<&str>| {
        let mut config = config();
        config.model.price =
            Some(innerloop_core::config::Price { input: 1_000, ..Default::default() });
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        if let Some(patch) = patch {
            let patch = innerloop_core::json::from_str(patch).unwrap();
            let _ = host.command(Command::Configure { patch });
        }
        host.reply(&Message::text("done"));
        let costs = host.find(|kind| match kind {
            EventKind::AssistantTextEnd { cost_nano_usd, .. } => Some(*cost_nano_usd),
            _ => None,
        });
        costs[0].unwrap()
    };
    let meanwhile = r#"{"model":{"name":"mock-2","price":{"input":9000}}}"#;
    assert!(cost(None) > 0);
    assert_eq!(cost(Some(meanwhile)), cost(None));
}
