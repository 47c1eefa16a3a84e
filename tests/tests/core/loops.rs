//! What keeps a run on its way: loop detection, the context gauge, repairs of replies.

use innerloop_core::{
    Session,
    config::{ExecMode, LimitAction, LoopPolicy, LoopStep, SessionConfig, TokenEstimator},
    corrections::{CorrectionPolicy, ReplyFault},
    event::EventKind,
    gauge::TokenGauge,
    id::AgentId,
    input::{Answer, Input},
    message::{Part, ToolResult, TurnKind, VisibleTurn},
    preset::ConfigPreset,
    repeat::{self, RepeatDetector},
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::{Value, json};
use std::borrow::Cow;

fn cycle(watch: &mut RepeatDetector, pattern: &[u64], calls: usize) -> Vec<usize> {
    let policy = LoopPolicy::default();
    let mut note = |n: u64| watch.note(&[("f", &n.to_string(), "")], &policy).is_some();
    (0..calls).filter(|n| note(pattern[n % pattern.len()])).map(|n| n + 1).collect()
}

fn signature(name: &str, arguments: &str) -> u64 {
    repeat::signature(name, arguments, "", false)
}

#[test]
fn a9_cycles_of_one_two_and_three_calls_are_found_in_a_window_of_ten() {
    assert_eq!(cycle(&mut RepeatDetector::default(), &[1], 10), [10]);
    assert_eq!(cycle(&mut RepeatDetector::default(), &[1, 2], 10), [10]);
    assert_eq!(cycle(&mut RepeatDetector::default(), &[1, 2, 3], 10), [10], "three whole cycles");
    assert_eq!(cycle(&mut RepeatDetector::default(), &[1, 2, 3, 4], 100), [0; 0]);
}

#[test]
fn a9_a_warning_is_given_again_only_after_another_window_or_a_break() {
    let mut watch = RepeatDetector::default();
    assert_eq!(cycle(&mut watch, &[1], 35), [10, 20, 30]);
    assert_eq!(cycle(&mut watch, &[2], 1), [0; 0]);
    assert_eq!(cycle(&mut watch, &[1], 10), [9], "three whole cycles of three calls");
}

#[test]
fn a9_the_order_of_keys_and_white_space_do_not_hide_a_repetition() {
    let same = signature("f", r#"{"a": 1, "b": " x "}"#);
    assert_eq!(same, signature("f", r#"{"b":"x","a":1.0}"#));
    for other in [r#"{"a":2,"b":"x"}"#, r#"{"a":1}"#, r#"{"a":1,"b":["x"]}"#, "{"] {
        assert_ne!(same, signature("f", other), "{other}");
    }
    assert_ne!(same, signature("g", r#"{"a":1,"b":"x"}"#));
}

#[test]
fn a9_the_model_is_told_of_a_loop_and_the_run_goes_on() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for n in 0..10 {
        host.reply(&Message::call(&format!("c{n}"), "list_dir", &json!({})));
        let _ = host.answer("a");
    }
    let told = host.find(|kind| match kind {
        EventKind::LoopDetection { message, period } => Some((message.clone(), *period)),
        _ => None,
    });
    let [(message, 1)] = told.as_slice() else { panic!("{told:?}") };
    assert!(message.starts_with("Loop detected: the last 10 tool calls"), "{message}");
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    assert!(matches!(turns.last().unwrap().kind, TurnKind::Steering(_)));
    assert_eq!(host.requests.len(), 11);
}

#[test]
fn a9_loop_detection_can_be_switched_off() {
    let mut config = config();
    config.loops.detect = false;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    for n in 0..12 {
        host.reply(&Message::call(&format!("c{n}"), "list_dir", &json!({})));
        let _ = host.answer("a");
    }
    assert!(!host.names(0).contains(&"loop_detection".to_owned()));
}

/// Calls the same tool with the same arguments, `times` times.
fn repeat_calls(host: &mut TestHost, times: usize) {
    let before = host.requests.len();
    for n in 0..times {
        if host.calls.is_empty() {
            return;
        }
        let id = format!("c{before}-{n}");
        host.reply(&Message::call(&id, "list_dir", &json!({})));
        if !host.runs.is_empty() {
            let _ = host.answer("a");
        }
    }
}

#[test]
fn a9_who_waits_for_something_that_changes_is_in_no_loop() {
    let mut config = config();
    config.loops = ConfigPreset::Modern.config().loops;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let ask = |host: &mut TestHost, n: usize, said: &str| {
        host.reply(&Message::call(&format!("c{n}"), "list_dir", &json!({})));
        let _ = host.answer(said);
    };
    for n in 0..35 {
        ask(&mut host, n, &format!("{n} of 35"));
    }
    let found = |host: &TestHost| host.names(0).iter().filter(|it| *it == "loop_detection").count();
    assert_eq!(found(&host), 0);
    // Once nothing changes any more, the limits stand.
    for n in 35..65 {
        if ends(&host).is_empty() {
            ask(&mut host, n, "35 of 35");
        }
    }
    assert_eq!((found(&host), ends(&host)), (3, vec![RunEnd::Loop]));
    // A restart knows the results as well.
    let mut config = SessionConfig { loops: LoopPolicy::default(), ..self::config() };
    config.loops.window = 4;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    for n in 0..3 {
        ask(&mut host, n, &n.to_string());
    }
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    host.session = restored;
    ask(&mut host, 3, "3");
    assert_eq!(found(&host), 0);
}

fn ends(host: &TestHost) -> Vec<RunEnd> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    })
}

fn looping(same_args: u32, ladder: &[LoopStep]) -> SessionConfig {
    let mut config = config();
    config.loops.same_args = same_args;
    config.loops.ladder = ladder.to_vec();
    config
}

#[test]
fn r1_the_ladder_goes_from_a_warning_to_a_summary_without_tools() {
    let mut host = TestHost::open(looping(3, &[LoopStep::Warn, LoopStep::Summarize]));
    let _ = host.submit("go");
    repeat_calls(&mut host, 3);
    assert!(host.body()["messages"].to_string().contains("the last 3 tool calls"));
    assert_eq!(host.body()["tool_choice"], json!(null));
    repeat_calls(&mut host, 3);
    let body = host.body();
    assert!(body["messages"].to_string().contains("Sum up"), "{body}");
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    let owed = host.session.owed();
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.owed(), owed);
    host.reply(&Message::text("All is listed."));
    assert_eq!(ends(&host), [RunEnd::Loop]);
}

/// A session with the limits of the preset for local models.
fn local() -> TestHost {
    let preset = ConfigPreset::Ollama.config();
    let mut host =
        TestHost::open(SessionConfig { limits: preset.limits, loops: preset.loops, ..config() });
    let _ = host.submit("go");
    host
}

/// Has the model call this tool and answers it; says whether it may call more.
fn call(host: &mut TestHost, name: &str, arguments: &Value) -> bool {
    let id = format!("c{}", host.requests.len());
    host.reply(&Message::call(&id, name, arguments));
    let _ = host.answer("a");
    host.body()["tool_choice"] != json!({"type": "none"})
}

#[test]
fn i2_after_25_rounds_the_model_sums_up_without_tools() {
    let mut host = local();
    let tools = [("list_dir", "path"), ("read_file", "file_path"), ("glob", "pattern")];
    let goes_on = |n: usize| {
        let (name, field) = tools[n % tools.len()];
        call(&mut host, name, &json!({field: format!("a{n}")}))
    };
    let calls: Vec<bool> = (1..=25).map(goes_on).collect();
    assert_eq!(calls, [vec![true; 24], vec![false]].concat());
    host.reply(&Message::text("So far so good."));
    assert_eq!(ends(&host), [RunEnd::Limit]);
}

#[test]
fn i3_three_equal_calls_in_a_row_lead_to_a_summary() {
    let mut host = local();
    let list = json!({"path": "a", "depth": 1});
    let calls: Vec<bool> = (1..=3).map(|_| call(&mut host, "list_dir", &list)).collect();
    assert_eq!(calls, [true, true, false]);
    host.reply(&Message::text("It is listed."));
    assert_eq!(ends(&host), [RunEnd::Loop]);
}

#[test]
fn i4_five_calls_of_one_tool_in_a_row_lead_to_a_summary_for_local_models_alone() {
    let mut host = local();
    let calls: Vec<bool> =
        (1..=5).map(|depth| call(&mut host, "list_dir", &json!({"depth": depth}))).collect();
    assert_eq!(calls, [true, true, true, true, false]);
    for preset in ConfigPreset::ALL {
        let is_local = preset == ConfigPreset::Ollama;
        assert_eq!(preset.config().loops.same_name > 0, is_local, "{preset:?}");
    }
}

#[test]
fn r1_a_model_that_calls_tools_in_its_summary_is_refused_and_the_run_ends() {
    let mut host = TestHost::open(looping(2, &[LoopStep::Summarize]));
    let _ = host.submit("go");
    repeat_calls(&mut host, 2);
    host.reply(&Message::call("x", "list_dir", &json!({})));
    assert!(host.runs.is_empty());
    assert_eq!(ends(&host), [RunEnd::Loop]);
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    assert!(matches!(turns.last().unwrap().kind, TurnKind::ToolResults(_)), "nothing dangles");
}

#[test]
fn r1_the_run_may_stop_or_the_user_may_be_asked() {
    let mut host = TestHost::open(looping(2, &[LoopStep::AskUser, LoopStep::Stop]));
    let _ = host.submit("go");
    repeat_calls(&mut host, 2);
    let status = host.session.status(AgentId::ROOT).unwrap();
    assert_eq!(status.state, AgentState::AwaitingInput);
    let id = host.asks[0].0;
    let _ = host.input(Input::Answer { id, answer: Answer::Text("only twice more".into()) });
    assert!(host.body()["messages"].to_string().contains("only twice more"));
    repeat_calls(&mut host, 2);
    assert_eq!(ends(&host), [RunEnd::Loop]);
}

#[test]
fn r1_calls_of_some_tools_or_that_succeed_may_not_count() {
    let mut ignoring = looping(2, &[LoopStep::Stop]);
    ignoring.loops.ignore_tools = vec!["list_dir".into()];
    let mut failing = looping(2, &[LoopStep::Stop]);
    failing.loops.only_if_failed = true;
    for config in [ignoring, failing] {
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        repeat_calls(&mut host, 12);
        assert_eq!(ends(&host), []);
    }
    let mut by_name = looping(0, &[LoopStep::Stop]);
    by_name.loops.same_name = 3;
    let mut host = TestHost::open(by_name);
    let _ = host.submit("go");
    for depth in 1..=3 {
        host.reply(&Message::call(&format!("c{depth}"), "list_dir", &json!({"depth": depth})));
        let _ = host.answer("a");
    }
    assert_eq!(ends(&host), [RunEnd::Loop]);
}

#[test]
fn r2_times_and_ids_may_count_as_the_same() {
    let masked = |text: &str| repeat::signature("f", &json!({"at": text}).to_string(), text, true);
    let same = masked("at 2026-11-22T01:02:03Z for 123e4567-e89b-12d3-a456-426614174000");
    assert_eq!(same, masked("at 2027-01-02T03:04:05Z for 00000000-e89b-12d3-a456-426614174fff"));
    assert_ne!(same, masked("on 2026-11-22T01:02:03Z for 123e4567-e89b-12d3-a456-426614174000"));
    assert_ne!(masked("src/main.rs"), masked("src/lib.rs"));
    assert_ne!(masked("line 12"), masked("line 13"), "short numbers say something");
}

#[test]
fn r3_what_follows_at_a_limit_is_a_setting() {
    let limited = |action| {
        let mut config = config();
        config.limits.max_tool_rounds_per_input = 1;
        config.limits.action = action;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::text("Looking.").and_call("c", "list_dir", &json!({})));
        let _ = host.answer("a");
        host
    };
    let text = |host: &TestHost| {
        host.find(|kind| match kind {
            EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
            _ => None,
        })
    };
    let idle = limited(LimitAction::Idle);
    assert_eq!((ends(&idle), idle.requests.len()), (vec![RunEnd::Limit], 1));
    let partial = limited(LimitAction::Partial);
    assert_eq!((ends(&partial), text(&partial)), (vec![RunEnd::Limit], vec!["Looking.".into()]));
    let error = limited(LimitAction::Error);
    assert_eq!(ends(&error), [RunEnd::Failed]);
    assert!(error.names(0).contains(&"error".to_owned()));
    let mut summary = limited(LimitAction::Summarize);
    assert!(summary.body()["messages"].to_string().contains("Sum up"));
    assert_eq!(summary.body()["tool_choice"], json!({"type": "none"}));
    summary.reply(&Message::text("One file."));
    assert_eq!((ends(&summary), text(&summary)), (vec![RunEnd::Limit], vec!["One file.".into()]));
}

#[test]
fn i11_r5_the_estimate_of_tokens_is_a_setting() {
    let tokens = |estimator, text: &str| {
        let mut gauge = TokenGauge::new(estimator);
        gauge.note(&VisibleTurn::User(Cow::Owned(vec![Part::text(text)])));
        gauge.tokens(0)
    };
    let text = "twelve words ".repeat(50);
    assert_eq!(tokens(TokenEstimator::Chars, &text), 162);
    assert_eq!(tokens(TokenEstimator::Words, &text), 134, "100 words and a message");
    assert_eq!(tokens(TokenEstimator::Bytes, &"é".repeat(100)), 50);
    let mut gauge = TokenGauge::new(TokenEstimator::CodeAndProse);
    let parts = vec![Part::text("x".repeat(100))];
    let result = ToolResult { call_id: "c".into(), parts, is_error: false };
    gauge.note(&VisibleTurn::ToolResults(Cow::Owned(vec![result])));
    assert_eq!(gauge.tokens(0), 33);
}

#[test]
fn r9_a_tool_may_be_made_to_run_alone_or_beside_others() {
    let mut config = config();
    config.exec_modes.insert("list_dir".into(), ExecMode::Serial);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let two = Message::call("1", "list_dir", &json!({})).and_call("2", "list_dir", &json!({}));
    host.reply(&two);
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn e8_a_full_context_window_is_warned_of_once() {
    let mut config = config();
    config.model.context_window = 20_000;
    let mut host = TestHost::open(config);
    let _ = host.submit(&"x".repeat(58_000));
    let warnings = |host: &TestHost| {
        host.find(|kind| match kind {
            EventKind::Warning { message } => Some(message.clone()),
            _ => None,
        })
    };
    assert_eq!(warnings(&host), ["Context usage at ~83% of context window"]);
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(warnings(&host).len(), 1);
}

#[test]
fn e9_nothing_is_compacted_on_its_own() {
    let mut config = config();
    config.model.context_window = 20_000;
    let mut host = TestHost::open(config);
    for _ in 0..3 {
        let _ = host.submit(&"x".repeat(66_000));
        host.reply(&Message::text("ok"));
    }
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 6);
    assert!(host.requests.last().unwrap().body.len() > 3 * 66_000);
}

#[test]
fn a_text_that_was_cut_by_length_is_continued_once() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text("half").stop_reason("max_tokens"));
    let messages = host.body()["messages"].clone();
    assert_eq!(messages[2]["content"][0]["text"], "Continue from where you left off.");
    host.reply(&Message::text("half again").stop_reason("max_tokens"));
    assert_eq!((host.requests.len(), ends(&host)), (2, vec![RunEnd::Incomplete]));
    assert!(host.names(0).contains(&"error".to_owned()));
}

#[test]
fn l11_a_small_model_that_only_announces_is_corrected_twice() {
    let mut config = config();
    config.corrections = CorrectionPolicy::of(&[(ReplyFault::Promised, 2)]);
    let mut host = TestHost::open(config.clone());
    let _ = host.submit("go");
    host.reply(&Message::text("I will now list the folder."));
    assert!(host.body()["messages"].to_string().contains("Call it now."));
    host.reply(&Message::text("Next, I read the file."));
    host.reply(&Message::text("I'll write it then."));
    assert_eq!((ends(&host), host.requests.len()), (vec![RunEnd::Completed], 3));
    // What sounds like an answer is one, and so is everything where nobody asked for corrections.
    for (config, text) in [(config, "The task is completed."), (self::config(), "I will look.")] {
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::text(text));
        assert_eq!(ends(&host), [RunEnd::Completed], "{text}");
    }
}

#[test]
fn an_empty_reply_is_asked_for_once_more() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text(""));
    assert_eq!(host.requests.len(), 2);
    assert_eq!(host.requests[0].body, host.requests[1].body, "an empty reply is not sent back");
    host.reply(&Message::text(" "));
    assert_eq!(ends(&host), [RunEnd::Failed]);
}

#[test]
fn calls_of_a_reply_that_the_provider_stopped_never_run() {
    for reason in ["max_tokens", "model_context_window_exceeded"] {
        let mut host = TestHost::default();
        let _ = host.submit("go");
        host.reply(&Message::call("c", "list_dir", &json!({})).stop_reason(reason));
        assert!(host.runs.is_empty(), "{reason}");
        assert!(host.body()["messages"].to_string().contains("Not run"), "{reason}");
    }
}

#[test]
fn a_provider_that_pauses_gets_its_reply_back_and_not_for_ever() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for _ in 0..40 {
        if host.calls.is_empty() {
            break;
        }
        host.reply(&Message::text("…").stop_reason("pause_turn"));
    }
    assert_eq!(host.requests.len(), 17);
    assert!(host.names(0).contains(&"error".to_owned()));
}
