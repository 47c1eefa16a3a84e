//! What keeps a run on its way: loop detection, the context gauge, repairs of replies
//! (FEATURES A9, E8; CONFLICTS X1, X2, R11).

use innerloop_core::{
    event::EventKind,
    id::AgentId,
    message::TurnKind,
    rules::repeat::{Watch, signature},
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    desk::{Desk, config},
};
use serde_json::json;

fn cycle(watch: &mut Watch, pattern: &[u64], calls: usize) -> Vec<usize> {
    let found = |n: usize| watch.note(pattern[n % pattern.len()], 10).map(|_| n + 1);
    (0..calls).filter_map(found).collect()
}

#[test]
fn a9_cycles_of_one_two_and_three_calls_are_found_in_a_window_of_ten() {
    assert_eq!(cycle(&mut Watch::default(), &[1], 10), [10]);
    assert_eq!(cycle(&mut Watch::default(), &[1, 2], 10), [10]);
    assert_eq!(cycle(&mut Watch::default(), &[1, 2, 3], 10), [10], "three whole cycles");
    assert_eq!(cycle(&mut Watch::default(), &[1, 2, 3, 4], 100), [0; 0]);
}

#[test]
fn a9_a_warning_is_given_again_only_after_another_window_or_a_break() {
    let mut watch = Watch::default();
    assert_eq!(cycle(&mut watch, &[1], 35), [10, 20, 30]);
    assert_eq!(watch.note(2, 10), None);
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
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    for n in 0..10 {
        desk.reply(&Message::call(&format!("c{n}"), "list_dir", &json!({})));
        let _ = desk.answer("a");
    }
    let told = desk.find(|kind| match kind {
        EventKind::LoopDetection { message, period } => Some((message.clone(), *period)),
        _ => None,
    });
    let [(message, 1)] = told.as_slice() else { panic!("{told:?}") };
    assert!(message.starts_with("Loop detected: the last 10 tool calls"), "{message}");
    let turns = desk.session.history(AgentId::ROOT).unwrap().turns();
    assert!(matches!(turns.last().unwrap().kind, TurnKind::Steering(_)));
    assert_eq!(desk.requests.len(), 11);
}

#[test]
fn a9_loop_detection_can_be_switched_off() {
    let mut config = config();
    config.loops.detect = false;
    let mut desk = Desk::open(config);
    let _ = desk.submit("go");
    for n in 0..12 {
        desk.reply(&Message::call(&format!("c{n}"), "list_dir", &json!({})));
        let _ = desk.answer("a");
    }
    assert!(!desk.names(0).contains(&"loop_detection".to_owned()));
}

#[test]
fn e8_a_full_context_window_is_warned_of_once() {
    let mut config = config();
    config.model.context_window = 20_000;
    let mut desk = Desk::open(config);
    let _ = desk.submit(&"x".repeat(66_000));
    let warnings = |desk: &Desk| {
        desk.find(|kind| match kind {
            EventKind::Warning { message } => Some(message.clone()),
            _ => None,
        })
    };
    assert_eq!(warnings(&desk), ["Context usage at ~82% of context window"]);
    desk.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = desk.answer("a");
    assert_eq!(warnings(&desk).len(), 1);
}

#[test]
fn e9_nothing_is_compacted_on_its_own() {
    let mut config = config();
    config.model.context_window = 20_000;
    let mut desk = Desk::open(config);
    for _ in 0..3 {
        let _ = desk.submit(&"x".repeat(66_000));
        desk.reply(&Message::text("ok"));
    }
    assert_eq!(desk.session.history(AgentId::ROOT).unwrap().turns().len(), 6);
    assert!(desk.requests.last().unwrap().body.len() > 3 * 66_000);
}

#[test]
fn a_text_that_was_cut_by_length_is_continued_once() {
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    desk.reply(&Message::text("half").stop_reason("max_tokens"));
    let messages = desk.body()["messages"].clone();
    assert_eq!(messages[2]["content"][0]["text"], "Continue from where you left off.");
    desk.reply(&Message::text("half again").stop_reason("max_tokens"));
    assert_eq!(desk.requests.len(), 2);
    assert!(desk.names(0).contains(&"warning".to_owned()));
}

#[test]
fn an_empty_reply_is_asked_for_once_more() {
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    desk.reply(&Message::text(""));
    assert_eq!(desk.requests.len(), 2);
    assert_eq!(desk.requests[0].body, desk.requests[1].body, "an empty reply is not sent back");
    desk.reply(&Message::text(" "));
    let ends = desk.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    assert_eq!(ends, [RunEnd::Completed]);
}

#[test]
fn a_provider_that_pauses_gets_its_reply_back_and_not_for_ever() {
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    for _ in 0..40 {
        if desk.calls.is_empty() {
            break;
        }
        desk.reply(&Message::text("…").stop_reason("pause_turn"));
    }
    assert_eq!(desk.requests.len(), 17);
    assert!(desk.names(0).contains(&"error".to_owned()));
}
