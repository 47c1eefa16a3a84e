//! Steering, follow-ups, interrupts, events.

use innerloop_core::{
    event::EventKind,
    id::AgentId,
    input::{Command, HttpInput},
    message::TurnKind,
    status::RunEnd,
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
    wires,
};
use serde_json::json;

#[test]
fn b1_a_steer_enters_after_the_current_tool_round() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    assert!(host.steer("only the tests").is_empty(), "a steer cuts nothing short");
    let _ = host.answer("a/");
    let messages = host.body()["messages"].clone();
    assert_eq!(messages[2]["content"][0]["type"], "tool_result");
    assert_eq!(messages[2]["content"][1]["text"], "only the tests");
}

#[test]
fn b1_a_steer_during_the_last_reply_gets_its_own_call() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let _ = host.steer("and the docs");
    host.reply(&Message::text("Done."));
    assert_eq!(host.requests.len(), 2);
    assert_eq!(host.body()["messages"][2]["content"][0]["text"], "and the docs");
}

#[test]
fn b2_a_follow_up_starts_when_the_model_is_done() {
    let mut host = TestHost::default();
    let _ = host.submit("one");
    let _ = host.command(Command::follow_up(text("two")));
    host.reply(&Message::text("1"));
    host.reply(&Message::text("2"));
    let names = host.names(1);
    assert_eq!(names.iter().filter(|name| *name == "user_input").count(), 2);
    assert_eq!(names.iter().filter(|name| *name == "processing_end").count(), 1);
}

#[test]
fn b2_a_follow_up_while_idle_starts_at_once() {
    let mut host = TestHost::default();
    let _ = host.command(Command::follow_up(text("one")));
    assert_eq!(host.requests.len(), 1);
}

#[test]
fn b3_a_steer_is_a_turn_of_its_own_and_the_models_reads_it_as_the_users() {
    let mut host = TestHost::default();
    let _ = host.steer("be brief");
    let _ = host.submit("go");
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    assert!(matches!(turns[1].kind, TurnKind::Steering(_)));
    assert_eq!(host.body()["messages"][0]["role"], "user");
    assert_eq!(host.body()["messages"][0]["content"][1]["text"], "be brief");
}

#[test]
fn b4_a_steer_while_idle_waits_for_the_next_submit() {
    let mut host = TestHost::default();
    assert!(host.steer("be brief").is_empty());
    let _ = host.submit("go");
    assert_eq!(host.names(1), ["user_input", "steering_injected"]);
}

#[test]
fn b5_an_injected_steer_is_an_event() {
    let mut host = TestHost::default();
    let _ = host.steer("be brief");
    let _ = host.submit("go");
    let said = host.find(|kind| match kind {
        EventKind::SteeringInjected { parts } => Some(parts.clone()),
        _ => None,
    });
    assert_eq!(said, [text("be brief")]);
}

#[test]
fn b6_the_effort_is_passed_on_and_left_out_where_there_is_none() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    assert_eq!(host.body().get("output_config"), None);
    let mut config = config();
    config.model.reasoning_effort = Some("high".into());
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    assert_eq!(host.body()["output_config"]["effort"], "high");
}

#[test]
fn b8_efforts_that_only_the_provider_knows_are_passed_on_as_they_are() {
    for effort in ["low", "medium", "high", "xhigh", "brand-new"] {
        let mut config = config();
        config.model.reasoning_effort = Some(effort.into());
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        assert_eq!(host.body()["output_config"]["effort"], effort);
    }
}

#[test]
fn b7_a_changed_effort_is_in_force_from_the_next_call() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let patch = serde_json::from_value(json!({"model": {"reasoning_effort": "low"}})).unwrap();
    let _ = host.command(Command::Configure { patch });
    assert_eq!(host.body().get("output_config"), None, "the call under way stays as it is");
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(host.body()["output_config"]["effort"], "low");
}

#[test]
fn b12_start_and_end_stand_around_all_events_once() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text("Hi."));
    let _ = host.command(Command::Close);
    let names = host.names(0);
    assert_eq!(
        (names.first().unwrap().as_str(), names.last().unwrap().as_str()),
        ("session_start", "session_end")
    );
    let brackets = names.iter().filter(|name| name.starts_with("session_")).count();
    assert_eq!(brackets, 2);
}

#[test]
fn b13_text_comes_as_a_start_deltas_and_the_whole() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text("This is a text that comes in pieces.").thinking("hm"));
    let deltas = host.find(|kind| match kind {
        EventKind::AssistantTextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    assert!(deltas.len() > 1);
    let ends = host.find(|kind| match kind {
        EventKind::AssistantTextEnd { text, reasoning, .. } => Some((text.as_str(), reasoning)),
        _ => None,
    });
    assert_eq!(ends, [(deltas.concat().as_str(), &"hm".to_owned())]);
    let starts = host.names(0).iter().filter(|name| *name == "assistant_text_start").count();
    assert_eq!(starts, 1);
}

#[test]
fn b14_events_are_numbered_without_gaps_and_flat_as_json() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::text("Hi."));
    let numbers: Vec<u64> = host.events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let json = serde_json::to_value(&host.events[1]).unwrap();
    let parts = json!([{"type": "text", "text": "go"}]);
    let (wall, session) = (EPOCH.0, &host.session.id().0);
    let expected = json!({
        "seq": 2, "at": 0, "wall": wall, "session": session, "agent": 0,
        "type": "user_input", "parts": parts,
    });
    assert_eq!(json, expected);
}

#[test]
fn an_interrupt_answers_every_call_in_order_and_leaves_the_session_usable() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let two = Message::call("c1", "write_file", &json!({"file_path": "a", "content": "1"}))
        .and_call("c2", "write_file", &json!({"file_path": "b", "content": "2"}));
    host.reply(&two);
    let _ = host.command(Command::Interrupt);
    assert_eq!(host.cancelled.len(), 1, "the second write had not begun");
    let ended = host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    assert_eq!(ended, [RunEnd::Interrupted]);
    let _ = host.submit("go on");
    let messages = host.body()["messages"].clone();
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!(
        (&results[0]["tool_use_id"], &results[1]["tool_use_id"]),
        (&json!("c1"), &json!("c2"))
    );
    assert_eq!(results[0]["is_error"], true);
    assert_eq!(results.last().unwrap()["text"], "go on");
}

#[test]
fn a_write_waits_for_the_last_word_of_a_cancelled_one() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "write_file", &json!({"file_path": "a", "content": "1"})));
    let old = *host.runs.keys().next().unwrap();
    let _ = host.command(Command::Interrupt);
    let _ = host.submit("again");
    host.reply(&Message::call("c2", "write_file", &json!({"file_path": "a", "content": "2"})));
    assert_eq!(host.runs.len(), 1, "only the cancelled run is open");
    let _ = host.done(old, innerloop_core::action::Outcome::text("late"));
    let (_, run) = host.runs.first_key_value().unwrap();
    assert_eq!(run.call_id, "c2");
    assert!(host.names(0).iter().filter(|name| *name == "tool_call_end").count() == 1);
}

#[test]
fn what_was_said_before_an_interruption_is_in_the_history() {
    for (wire, ..) in wires::FAMILIES {
        let mut config = config();
        wires::speak(&mut config.model, wire);
        config.model.stream = true;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.head(200, wires::stream_type(wire));
        let half = Message::text("half a sentence that is never ended");
        let half = wires::events(wire, &half);
        let half = half[..half.len() / 2].concat();
        let _ = host.http(HttpInput::Chunk(half.into_bytes().into()));
        let shown = host.find(|kind| match kind {
            EventKind::AssistantTextDelta { text } => Some(text.as_str()),
            _ => None,
        });
        let shown = shown.concat();
        assert!(!shown.trim().is_empty() && shown.len() < 35, "{wire:?}");
        let _ = host.command(Command::Interrupt);
        let last: Vec<_> = host.names(0).into_iter().rev().take(3).collect();
        let expected = ["processing_end", "assistant_text_end", "assistant_text_start"];
        assert_eq!(last, expected, "{wire:?}");
        let turns = host.session.history(AgentId::ROOT).unwrap().turns();
        let [_, said, note] = turns else { panic!("{wire:?} {turns:?}") };
        let TurnKind::Assistant(reply) = &said.kind else { panic!("{said:?}") };
        assert_eq!(reply.text(), shown, "{wire:?}");
        assert!(matches!(note.kind, TurnKind::Steering(_)));
        let _ = host.submit("and?");
        assert!(host.body().to_string().contains(shown.trim_end()), "{wire:?}");
    }
}

#[test]
fn an_interruption_before_the_first_word_leaves_no_trace_but_a_note() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.head(200, "text/event-stream");
    let start = Message::text("never said").thinking("I think").events()[..3].concat();
    let _ = host.http(HttpInput::Chunk(start.into_bytes().into()));
    let _ = host.command(Command::Interrupt);
    assert_eq!(host.names(2), ["text_reset", "processing_end"]);
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    assert!(matches!(turns.last().unwrap().kind, TurnKind::Steering(_)));
    assert_eq!(turns.len(), 2);
}

#[test]
fn b14_an_event_says_when_it_was_whose_it_is_and_what_led_to_it() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let http = *host.calls.last().unwrap();
    host.now += 1_500;
    host.reply(&Message::text("Hi.").and_call("c1", "list_dir", &json!({})));
    let run = *host.runs.keys().next().unwrap();
    let _ = host.answer("a");
    let id = host.session.id().clone();
    for event in &host.events {
        assert_eq!(*event.session, id);
        assert_eq!(event.wall, UnixMillis(EPOCH.0 + event.at.0), "{event:?}");
    }
    let effect = |is: fn(&EventKind) -> bool| {
        let event = host.events.iter().find(|event| is(&event.kind)).unwrap();
        event.effect
    };
    assert_eq!(effect(|kind| matches!(kind, EventKind::UserInput { .. })), None);
    assert_eq!(effect(|kind| matches!(kind, EventKind::AssistantTextDelta { .. })), Some(http));
    assert_eq!(effect(|kind| matches!(kind, EventKind::ToolCallStart { .. })), Some(http));
    assert_eq!(effect(|kind| matches!(kind, EventKind::ToolCallEnd { .. })), Some(run));
    let EventKind::SessionStart { model, provider, profile, vocabulary, tools, limits, .. } =
        &host.events[0].kind
    else {
        panic!("{:?}", host.events[0])
    };
    let config = host.session.config();
    assert_eq!((model, provider), (&config.model.name, &config.model.endpoint.0));
    assert_eq!((*profile, *vocabulary), (config.model.profile, config.model.vocabulary));
    assert!(tools.iter().any(|name| name == "read_file"), "{tools:?}");
    assert_eq!(*limits, config.limits);
}
