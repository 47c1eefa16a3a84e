//! Responses that do not end, or that are made to cost more than they say: a limit ends them, and
//! what was said is kept (`docs/decisions.md#endless-responses`).

use innerloop_core::{
    Session,
    config::{SessionConfig, TextCalls, WireKind},
    event::{ErrorKind, EventKind},
    id::AgentId,
    input::{HttpInput, Input},
    status::{AgentState, RunEnd},
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
    wires::{self, WIRES},
};
use serde_json::json;

/// A session over a protocol with other limits of a response.
fn session(wire: WireKind, change: impl Fn(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    config.model.wire = wire;
    change(&mut config);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host
}

/// What a stream begins with that says a text in very many pieces, and never ends.
fn begin(wire: WireKind) -> String {
    let events = wires::events(wire, &Message::text(&"All work and no play. ".repeat(2_000)));
    let end = events.iter().rposition(|event| event.contains("play")).unwrap();
    events[..end].concat()
}

fn errors(host: &TestHost) -> Vec<(ErrorKind, String)> {
    host.find(|kind| match kind {
        EventKind::Error { kind, message } => Some((*kind, message.clone())),
        _ => None,
    })
}

fn texts(host: &TestHost) -> Vec<String> {
    host.find(|kind| match kind {
        EventKind::AssistantTextEnd { text, .. } => Some(text.clone()),
        _ => None,
    })
}

/// Feeds a response that does not end, until the session has heard enough.
fn feed(host: &mut TestHost, status: u16, body: &[u8]) {
    host.head(status, wires::stream_type(host.wire()));
    let id = host.call();
    for chunk in body.chunks(1_000) {
        if host.cancelled.contains(&id) {
            return;
        }
        let _ = host.http(HttpInput::Chunk(chunk.to_vec().into()));
    }
    panic!("the exchange was not cancelled");
}

/// The run has failed at that limit, nothing is tried again, and the session goes on.
fn check_ended(host: &mut TestHost, limit: &str) {
    let [(kind, message)] = &errors(host)[..] else { panic!("{:?}", errors(host)) };
    assert_eq!(*kind, ErrorKind::Protocol);
    assert!(message.contains(&format!("response.{limit}")), "{message}");
    assert!(host.find(|kind| matches!(kind, EventKind::Retry { .. }).then_some(())).is_empty());
    let ends = host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    assert_eq!(ends, [RunEnd::Failed]);
    assert!(host.runs.is_empty());
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::Idle);
    let _ = host.submit("and now?");
    host.reply(&Message::text("Done."));
    assert_eq!(texts(host).last().unwrap(), "Done.");
}

#[test]
fn x10_a_stream_without_end_ends_at_its_limit_and_what_was_said_is_kept() {
    for wire in WIRES {
        let body = begin(wire);
        let most = body.len() as u64 / 2;
        for limit in ["max_bytes", "max_kept_bytes"] {
            let mut host = session(wire, |config| match limit {
                "max_bytes" => config.response.max_bytes = most,
                _ => config.response.max_kept_bytes = 20_000,
            });
            feed(&mut host, 200, body.as_bytes());
            let said = texts(&host).pop().unwrap();
            let shown: String = host
                .find(|kind| match kind {
                    EventKind::AssistantTextDelta { text } => Some(text.as_str()),
                    _ => None,
                })
                .concat();
            assert!(said.len() > 10_000 && said == shown, "{wire:?}: {} bytes", said.len());
            check_ended(&mut host, limit);
            assert!(host.body().to_string().contains("All work and no play. All work"), "{wire:?}");
        }
    }
}

#[test]
fn x10_an_event_without_end_is_not_held() {
    for wire in WIRES {
        let mut host = session(wire, |config| config.response.max_kept_bytes = 50_000);
        let line = format!("data: {{\"a\":\"{}", "x".repeat(80_000));
        feed(&mut host, 200, line.as_bytes());
        assert!(texts(&host).is_empty());
        check_ended(&mut host, "max_kept_bytes");
    }
}

#[test]
fn x10_a_reply_has_only_so_many_items_and_calls() {
    for wire in WIRES {
        let mut message = Message::call("c0", "list_dir", &json!({}));
        for n in 1..20 {
            message = message.and_call(&format!("c{n}"), "list_dir", &json!({}));
        }
        for limit in ["max_items", "max_calls"] {
            let mut host = session(wire, |config| match limit {
                "max_items" => config.response.max_items = 10,
                _ => config.response.max_calls = 10,
            });
            host.reply(&message);
            check_ended(&mut host, limit);
        }
        let mut host = session(wire, |config| config.response.max_calls = 20);
        host.reply(&message);
        assert_eq!(host.runs.len(), 20);
    }
}

#[test]
fn x10_calls_in_text_count_too() {
    let mut host = session(WireKind::OpenaiChat, |config| {
        config.model.text_calls = TextCalls::Always;
        config.response.max_calls = 2;
    });
    let call = r#"<tool_call>{"name": "list_dir", "arguments": {}}</tool_call>"#;
    host.reply(&Message::text(&call.repeat(3)));
    check_ended(&mut host, "max_calls");
}

#[test]
fn x10_of_an_errors_body_only_the_beginning_is_read() {
    let mut host = session(WireKind::OpenaiChat, |_| {});
    let body = format!("{{\"error\":{{\"message\":\"{}", "Busy. ".repeat(200_000));
    feed(&mut host, 503, body.as_bytes());
    let retries = host.find(|kind| match kind {
        EventKind::Retry { message, .. } => Some(message.len()),
        _ => None,
    });
    assert!(matches!(retries[..], [length] if length < 5_000), "{retries:?}");
}

#[test]
fn what_is_kept_of_an_endless_reply_leaves_room_in_the_window() {
    let mut host = session(WireKind::Anthropic, |config| {
        config.model.context_window = 5_000;
        config.model.max_output_tokens = 1_000;
        config.response.max_kept_bytes = 20_000;
    });
    feed(&mut host, 200, begin(WireKind::Anthropic).as_bytes());
    assert_eq!(texts(&host).pop().unwrap().len(), 5_000);
}

#[test]
fn a_limit_of_zero_is_refused() {
    for name in ["max_bytes", "max_kept_bytes", "max_items", "max_calls"] {
        let patch = serde_json::from_value(json!({"response": {name: 0}})).unwrap();
        let config = config().merged(&patch).unwrap();
        let error = Session::open(config, UnixMillis(0)).unwrap_err();
        assert_eq!(error.field, "response", "{name}");
    }
}

#[test]
fn an_answer_behind_the_limit_is_nothing_new() {
    let mut host = session(WireKind::Anthropic, |config| config.response.max_bytes = 5_000);
    let id = host.call();
    feed(&mut host, 200, begin(WireKind::Anthropic).as_bytes());
    let late = [HttpInput::Chunk(vec![b'x'].into()), HttpInput::End];
    for input in late {
        let outputs = host.input(Input::Http { id, input });
        assert!(outputs.events().next().is_none());
    }
}
