//! A history that was made over one protocol goes on over another, each of the five over each:
//! what only its provider understands stays behind, and what the others demand holds.

use super::{eventful, speaking};
use innerloop_core::{
    Head, Prefix,
    config::{CallIds, ModelConfig, SessionConfig, WireKind},
    id::AgentId,
    message::{Block, CallDetail, Finish, MarkedText, Reasoning, Reply, ToolCall, TurnKind},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost},
    wires::{
        read::{self, Said},
        rules,
    },
};
use serde_json::{Value, json};

/// The turns of the eventful session over `wire`.
fn turns(wire: WireKind) -> Vec<TurnKind> {
    let host = eventful(wire);
    let history = host.session.history(AgentId::ROOT).unwrap();
    history.turns().iter().map(|turn| turn.kind.clone()).collect()
}

/// The request that a history makes for that model.
fn request(turns: &[TurnKind], config: &SessionConfig) -> Value {
    let model: &ModelConfig = &config.model;
    let head = Head::new(model, "Be brief.", config.tools.iter());
    let mut prefix = Prefix::new(model);
    turns.iter().filter_map(TurnKind::said).for_each(|said| prefix.push(said));
    let request = prefix.request(&head, model, "key");
    serde_json::from_slice(&request.body).unwrap()
}

fn seals(said: &[Said]) -> usize {
    let sealed = |one: &&Said| match one {
        Said::Thought(_, seal) => seal.is_some(),
        Said::Call(call) => call.seal.as_deref() == Some("c2ln"),
        _ => false,
    };
    said.iter().filter(sealed).count()
}

#[test]
fn a_history_of_each_wire_goes_on_over_each_other() {
    for from in WireKind::ALL {
        let turns = turns(from);
        for to in WireKind::ALL {
            println!("{from:?} -> {to:?}");
            let body = request(&turns, &speaking(to));
            rules::check(to, &body, false).unwrap();
            let said = read::said(to, &body);
            let count = |is: fn(&Said) -> bool| said.iter().filter(|one| is(one)).count();
            assert_eq!(count(|one| matches!(one, Said::Call(_))), 6);
            assert_eq!(count(|one| matches!(one, Said::Result(_))), 6);
            assert_eq!(count(|one| matches!(one, Said::Other(_))), 0);
            let text = body.to_string();
            for word in ["I look.", "not now", "Be quick.", "there is none", "Still a point."] {
                assert!(text.contains(word), "{word} in {text}");
            }
            // The provider's own marks come back to itself, and to no other.
            let has_seals =
                matches!(to, WireKind::OpenaiResponses | WireKind::Anthropic | WireKind::Gemini);
            assert_eq!(seals(&said) > 0, from == to && has_seals, "{text}");
            assert_eq!(text.contains("c2ln"), from == to && has_seals, "{text}");
        }
    }
}

/// A reply that holds all that only its provider understands.
fn sealed(wire: WireKind) -> TurnKind {
    let item = |text: &str| Some(innerloop_core::json::Json::parse(text).unwrap());
    let detail = CallDetail {
        signature: Some("SEAL".into()),
        item: item(r#"{"type":"shell_call","call_id":"call_1","action":{},"seal":"SEAL"}"#),
        freeform: false,
    };
    let call = ToolCall {
        id: "call_1".into(),
        name: "look".into(),
        arguments: "{}".into(),
        detail: Some(Box::new(detail)),
    };
    let thought = Reasoning {
        text: "I weigh it.".into(),
        signature: Some("SEAL".into()),
        item: item(r#"{"type":"reasoning","encrypted_content":"SEAL","summary":[]}"#),
    };
    let blocks = vec![
        Block::Reasoning(thought),
        Block::MarkedText(MarkedText { text: "I look.".into(), mark: "\"SEAL\"".into() }),
        Block::Opaque(item(r#"{"type":"opaque","x":"SEAL"}"#).unwrap()),
        Block::ToolCall(call),
    ];
    let reply = Reply { blocks, finish: Finish::ToolCalls, wire: Some(wire), ..Reply::default() };
    TurnKind::Assistant(Box::new(reply))
}

#[test]
fn what_only_one_provider_understands_reaches_no_other() {
    let user = TurnKind::User(innerloop_tests::test_host::text("go"));
    for from in WireKind::ALL {
        let result = innerloop_core::message::ToolResult {
            call_id: "call_1".into(),
            parts: innerloop_tests::test_host::text("seen"),
            is_error: false,
        };
        let turns = [user.clone(), sealed(from), TurnKind::ToolResults(vec![result])];
        for to in WireKind::ALL.into_iter().filter(|to| *to != from) {
            let body = request(&turns, &speaking(to));
            rules::check(to, &body, false).unwrap();
            let text = body.to_string();
            assert!(!text.contains("SEAL") && !text.contains("opaque"), "{from:?} {to:?} {text}");
            assert!(text.contains("I look.") && text.contains("seen"), "{from:?} {to:?} {text}");
            assert!(text.contains("I weigh it."), "{from:?} {to:?} {text}");
        }
    }
}

#[test]
fn ids_of_calls_get_the_nine_letters_and_digits_that_mistral_takes() {
    for from in WireKind::ALL {
        let mut config = speaking(WireKind::OpenaiChat);
        config.model.compat.call_ids = CallIds::Nine;
        let body = request(&turns(from), &config);
        rules::check(WireKind::OpenaiChat, &body, false).unwrap();
        let said = read::said(WireKind::OpenaiChat, &body);
        let ids = said.iter().filter_map(|one| match one {
            Said::Call(call) => Some(call.id.as_str()),
            _ => None,
        });
        let is_nine = |id: &str| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
        assert!(ids.into_iter().all(is_nine), "{from:?}: {said:?}");
    }
}

#[test]
fn a_session_goes_on_over_another_wire_after_its_snapshot_was_given_another_model() {
    for from in WireKind::ALL {
        for to in WireKind::ALL {
            let mut host = eventful(from);
            host.reply(&Message::text("You are welcome."));
            let snapshot = host.session.snapshot();
            let mut state = innerloop_tests::snapshot::state(&snapshot);
            state["config"] = serde_json::to_value(speaking(to)).unwrap();
            let snapshot = innerloop_tests::snapshot::with_state(&snapshot, &state.to_string());
            let session = innerloop_core::Session::restore(&snapshot, EPOCH).unwrap();
            let mut host = TestHost::around(session, String::new());
            let _ = host.submit("Once more");
            assert_eq!(host.wire(), to);
            host.reply(&Message::text("").thinking("Hm.").and_call("n", "look", &json!({})));
            let _ = host.answer("seen again");
            let bodies: Vec<&[u8]> = host.requests.iter().map(|r| r.body.as_ref()).collect();
            let [first, second] = bodies[..] else { panic!("{}", bodies.len()) };
            let text = |body| core::str::from_utf8(body).unwrap();
            rules::check(to, &host.body(), false).unwrap();
            rules::extends(to, text(first), text(second)).unwrap();
        }
    }
}
