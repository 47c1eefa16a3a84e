//! A history that was made over one protocol goes on over another, each of the five over each:
//! what only its provider understands stays behind, and what the others demand holds.

use super::{eventful, speaking};
use innerloop_core::{
    RequestHead, RequestPrefix, Session,
    config::{CallIds, ModelConfig, ReplayReasoning, SessionConfig, WireKind},
    id::AgentId,
    input::Command,
    message::{
        Block, CallDetail, FinishReason, MarkedText, ReasoningBlock, Reply, ToolCall, TurnKind,
    },
    output::Effect,
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
    let head = RequestHead::new(model, "Be brief.", config.tools.iter());
    let mut prefix = RequestPrefix::new(model);
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
    let thought = ReasoningBlock {
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
    let reply =
        Reply { blocks, finish: FinishReason::ToolCalls, wire: Some(wire), ..Reply::default() };
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

/// What a reply may hold that only the model which made it understands, by protocol, in a reply
/// with a call.
fn sealed_reply(wire: WireKind) -> String {
    if wire != WireKind::OpenaiChat {
        let call = Message::text("I look.").thinking("I weigh it.");
        let call = call.and_call("call_a", "look", &json!({}));
        return innerloop_tests::wires::events(wire, &call).concat();
    }
    // OpenRouter's details, and Gemini's signature on a call of its Chat endpoint.
    let details = json!([{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}]);
    let signed = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"index": 0, "id": "call_a", "type": "function",
        "function": {"name": "look", "arguments": "{}"}, "extra_content": signed});
    let delta = json!({"reasoning": "I weigh it.", "reasoning_details": details,
        "tool_calls": [call]});
    let choice = json!({"index": 0, "delta": delta, "finish_reason": "tool_calls"});
    format!("data: {}\n\ndata: [DONE]\n\n", json!({ "choices": [choice] }))
}

#[test]
fn what_one_model_has_sealed_goes_back_to_it_and_to_no_other_model_or_endpoint() {
    for wire in WireKind::ALL {
        let mut config = speaking(wire);
        config.model.compat.replay_reasoning = ReplayReasoning::ReasoningDetails;
        let own = config.model.name.clone();
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.stream(sealed_reply(wire).as_bytes(), usize::MAX);
        let _ = host.answer("a.js");
        let has_seals = wire != WireKind::Ollama;
        let holds = |host: &TestHost| host.body().to_string().contains("c2ln");
        assert_eq!(holds(&host), has_seals, "{wire:?}: {}", host.body());
        host.reply(&Message::text("Done."));
        let other = if wire == WireKind::Gemini { "gemini-3-pro" } else { "other-model" };
        for (model, is_own) in [
            (json!({"name": other}), false),
            (json!({"name": own}), true),
            (json!({"endpoint": "elsewhere"}), false),
            (json!({"endpoint": "mock"}), true),
        ] {
            let patch = json!({ "model": model }).to_string();
            let patch = serde_json::from_str(&patch).unwrap();
            let _ = host.command(Command::Configure { patch });
            let _ = host.submit("go on");
            let body = host.body();
            assert_eq!(holds(&host), has_seals && is_own, "{wire:?} {model}: {body}");
            rules::check(wire, &body, false).unwrap();
            let said = read::said(wire, &body);
            let calls = said.iter().filter(|one| matches!(one, Said::Call(_))).count();
            assert_eq!(calls, 1, "{wire:?} {model}: the call itself stays");
            // A snapshot knows it as well.
            let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
            let owed = restored.owed();
            let Some(Effect::Http { request, .. }) = owed.effects().next() else {
                panic!("a request is owed");
            };
            assert_eq!(request.body, host.requests.last().unwrap().body, "{wire:?} {model}");
            host.reply(&Message::text("On it."));
        }
    }
}

#[test]
fn gemini_takes_a_stand_in_for_the_signature_of_another_model() {
    const STAND_IN: &str = "skip_thought_signature_validator";
    let chat = |name: &str| {
        let mut config = speaking(WireKind::OpenaiChat);
        config.model.name = name.into();
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.stream(sealed_reply(WireKind::OpenaiChat).as_bytes(), usize::MAX);
        let _ = host.answer("a.js");
        host
    };
    for (to, stands_in) in [("gemini-3-pro", true), ("gpt-5.2", false)] {
        let mut host = chat("gemini-3-flash");
        host.reply(&Message::text("Done."));
        let patch = json!({"model": {"name": to}}).to_string();
        let _ = host.command(Command::Configure { patch: serde_json::from_str(&patch).unwrap() });
        let _ = host.submit("go on");
        let body = host.body().to_string();
        assert_eq!((body.contains(STAND_IN), body.contains("c2ln")), (stands_in, false), "{body}");
    }
}
