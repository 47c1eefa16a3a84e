//! What holds over every protocol: the same message says the same, earlier turns keep their
//! bytes, effort and the choice of tools reach the request, failures are told apart. That a
//! history made over one protocol goes on over another is shown in `moves`.

mod moves;

use innerloop_core::{
    Decoder, ReplyPiece,
    action::{Outcome, ToolError},
    config::{AskAbout, LoopStep, SessionConfig, ToolChoice, WireKind},
    event::{ErrorKind, EventKind},
    id::AgentId,
    input::{Answer, Command, Input},
    json::Json,
    message::{FinishReason, Part, Reply, Usage},
    status::AgentState,
    tool::ToolSpec,
};
use innerloop_driver::decode::{CallArguments, DecodedCall, DecodedResponse};
use innerloop_tests::{
    anthropic::Message,
    feeding,
    test_host::{TestHost, config},
    wires::{self, read, rules},
};
use serde_json::{Value, json};

/// A configuration whose model speaks `wire`.
fn speaking(wire: WireKind) -> SessionConfig {
    let mut config = config();
    wires::speak(&mut config.model, wire);
    let tool = |name: &str, read_only| ToolSpec {
        read_only,
        ..ToolSpec::new(
            name,
            "Does what the host wants.",
            Json::parse(r#"{"type":"object"}"#).unwrap(),
        )
    };
    config.tools = vec![tool("look", true), tool("deploy", false)];
    config
}

/// A picture of one point.
fn picture() -> Part {
    Part::Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() }
}

/// A session in which much happens, over `wire`: pictures from the user and from a tool, parallel
/// calls, errors, refused and unknown calls, thinking, a steer, a cut text.
fn eventful(wire: WireKind) -> TestHost {
    let mut config = speaking(wire);
    config.approval.ask = AskAbout::Changes;
    let mut host = TestHost::open(config);
    let parts = vec![Part::text("What is in the picture?"), picture()];
    let _ = host.command(Command::submit(parts));
    let (look, odd) = (json!({"at": "é\n\"x\""}), "call:3/x y");
    // Anthropic and OpenAI themselves give ids that they take.
    let is_free = matches!(wire, WireKind::Gemini | WireKind::Ollama | WireKind::OpenaiChat);
    let three = Message::text("I look.")
        .thinking("I weigh it.")
        .and_call("call_a", "look", &look)
        .and_call("call_b", "look", &json!({}))
        .and_call(if is_free { odd } else { "call_c" }, "deploy", &json!({"to": [1, 2.5, null]}));
    host.reply(&three);
    let _ = host.steer("Be quick.");
    let _ = host.answer("a plain result");
    let picture = Outcome { parts: vec![Part::text("seen"), picture()], ..Outcome::text("") };
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, picture);
    let (id, _) = host.asks[0];
    let _ = host.input(Input::Answer { id, answer: Answer::deny("not now") });
    let more = Message::text("")
        .thinking("Other ways.")
        .and_call(&"d".repeat(if is_free { 100 } else { 60 }), "look", &json!({"n": 1}))
        .and_call("call_e", "no such tool", &json!({}));
    host.reply(&more);
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, Outcome::error(ToolError::NotFound, "there is none"));
    host.reply(&Message::text("It is a po").stop_reason("max_tokens"));
    host.reply(&Message::text("int.").thinking("Done."));
    let _ = host.submit("And now?");
    host.reply(&Message::call("call_a", "look", &json!({"again": true})));
    let _ = host.answer("the same");
    host.reply(&Message::text("Still a point."));
    let _ = host.submit("Thanks.");
    host
}

#[test]
fn the_same_message_says_the_same_over_every_wire_whole_and_streamed() {
    let (first, second) = (json!({"path": "é\"\\\n", "n": [1, 2]}), json!({}));
    let message = Message::text("Let me look at that, and do so twice.")
        .thinking("It may be there, or 世界.")
        .and_call("call_1", "look", &first)
        .and_call("call_2", "look", &second);
    for wire in WireKind::ALL {
        println!("{wire:?}");
        let stream = wires::events(wire, &message).concat();
        let streamed = feeding::decoded(wire, 200, wires::stream_type(wire), &stream);
        let whole = feeding::decoded(wire, 200, "application/json", wires::body(wire, &message));
        assert_eq!(streamed, whole);
        let call = |id: &str, arguments: &Value| DecodedCall {
            id: id.into(),
            name: "look".into(),
            arguments: CallArguments::Value(Json::parse(arguments.to_string()).unwrap()),
        };
        let expected = DecodedResponse {
            text: "Let me look at that, and do so twice.".into(),
            reasoning: "It may be there, or 世界.".into(),
            refusal: String::new(),
            tool_calls: vec![call("call_1", &first), call("call_2", &second)],
            finish: FinishReason::ToolCalls,
            usage: Some(Usage { input_total: 100, output_total: 10, ..Usage::default() }),
            error: None,
        };
        assert_eq!(streamed, expected);
        // Chat Completions tells usage behind the end: a stream without it is whole.
        if wire != WireKind::OpenaiChat {
            let errors = feeding::truncations(wire, 200, wires::stream_type(wire), &stream);
            // Long streams are cut at some positions only.
            assert!(errors > stream.len().min(4_096) / 3, "{errors}");
        }
        for (reason, finish) in
            [("max_tokens", FinishReason::Length), ("end_turn", FinishReason::Stop)]
        {
            let message = Message::text("cut").stop_reason(reason);
            let stream = wires::events(wire, &message).concat();
            let decoded = feeding::decoded(wire, 200, wires::stream_type(wire), &stream);
            assert_eq!((decoded.text.as_str(), decoded.finish), ("cut", finish));
        }
    }
}

/// The reply that a stream adds up to, fed one byte at a time, and what was shown meanwhile.
fn accumulated(wire: WireKind, message: &Message) -> (Reply, String, String) {
    let head = feeding::head(200, wires::stream_type(wire));
    let mut decoder = Decoder::new(wire, &head);
    let (mut pieces, mut text, mut thinking) = (Vec::new(), String::new(), String::new());
    for byte in wires::events(wire, message).concat().as_bytes().chunks(1) {
        decoder.feed(byte, &mut pieces);
    }
    for piece in pieces {
        match piece {
            ReplyPiece::Text(more) => text.push_str(&more),
            ReplyPiece::Reasoning(more) => thinking.push_str(&more),
            ReplyPiece::Call(_) => {}
            ReplyPiece::Restart => panic!("nothing begins anew here"),
        }
    }
    (decoder.finish().unwrap(), text, thinking)
}

#[test]
fn k8_a_streams_events_add_up_to_the_reply_with_its_stop_reason_and_its_model() {
    let look = json!({"path": "é\"\\\n", "n": [1, 2]});
    let said = || Message::text("I look twice.").thinking("It may be there.").costing(120, 30);
    let calls = said().and_call("call_1", "look", &look).and_call("call_2", "look", &json!({}));
    for wire in WireKind::ALL {
        let (reply, text, thinking) = accumulated(wire, &calls);
        assert_eq!((&*text, &*thinking), ("I look twice.", "It may be there."), "{wire:?}");
        assert_eq!((reply.text(), reply.reasoning()), (text, thinking), "{wire:?}");
        let made: Vec<_> = reply.tool_calls().map(|call| (&*call.id, &*call.arguments)).collect();
        assert_eq!(made, [("call_1", &*look.to_string()), ("call_2", "{}")], "{wire:?}");
        let usage = Usage { input_total: 120, output_total: 30, ..Usage::default() };
        assert_eq!(reply.usage, Some(usage), "{wire:?}");
        assert_eq!(reply.model.as_deref(), Some("mock"), "{wire:?}");
        assert_eq!(reply.finish, FinishReason::ToolCalls, "{wire:?}");
        for (reason, finish) in
            [("end_turn", FinishReason::Stop), ("max_tokens", FinishReason::Length)]
        {
            let (reply, ..) = accumulated(wire, &said().stop_reason(reason));
            assert_eq!(reply.finish, finish, "{wire:?} {reason}");
        }
    }
}

#[test]
fn earlier_turns_keep_their_bytes_from_request_to_request_over_every_wire() {
    for wire in WireKind::ALL {
        println!("{wire:?}");
        let host = eventful(wire);
        let bodies: Vec<&str> = host
            .requests
            .iter()
            .map(|request| core::str::from_utf8(&request.body).unwrap())
            .collect();
        assert_eq!(bodies.len(), 7);
        for body in &bodies {
            rules::check(wire, &serde_json::from_str(body).unwrap(), false).unwrap();
        }
        for pair in bodies.windows(2) {
            rules::extends(wire, pair[0], pair[1]).unwrap();
            assert!(pair[1].len() > pair[0].len());
        }
        let said = read::said(wire, &host.body());
        let calls = said.iter().filter(|one| matches!(one, read::Said::Call(_))).count();
        assert_eq!(calls, 6);
        let pictures = said.iter().map(|one| match one {
            read::Said::User(_, images) => *images,
            read::Said::Result(answer) => answer.images,
            _ => 0,
        });
        assert_eq!(pictures.sum::<usize>(), 2, "one of the user and one of a tool");
    }
}

#[test]
fn a_request_without_its_prefix_or_with_a_dangling_call_is_seen() {
    for wire in WireKind::ALL {
        let host = eventful(wire);
        let text = |at: usize| String::from_utf8(host.requests[at].body.to_vec()).unwrap();
        let (before, after) = (text(1), text(2));
        let changed = after.replacen("I look.", "I looked.", 1);
        assert!(changed != after && rules::extends(wire, &before, &changed).is_err(), "{wire:?}");
        let mut body: Value = serde_json::from_str(&after).unwrap();
        let turns = body[read::turns(wire)].as_array_mut().unwrap();
        let is_answer = |turn: &Value| {
            let text = turn.to_string();
            ["tool_call_id", "tool_use_id", "function_call_output", "functionResponse"]
                .iter()
                .any(|mark| text.contains(mark))
        };
        let at = turns.iter().position(is_answer).unwrap();
        let _ = turns.remove(at);
        assert!(rules::check(wire, &body, false).is_err(), "{wire:?}");
    }
}

#[test]
fn b6_b7_b8_effort_set_changed_and_removed_reaches_the_request_over_every_wire() {
    for wire in WireKind::ALL {
        let mut config = speaking(wire);
        config.model.reasoning_effort = Some("low".into());
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        assert_eq!(read::effort(wire, &host.body()), "low", "{wire:?}");
        // A level that only one provider knows goes to the others' nearest, or as it is.
        let highest = match wire {
            WireKind::OpenaiResponses | WireKind::OpenaiChat => "xhigh",
            WireKind::Gemini => "high",
            _ => "max",
        };
        let steps = [(json!("medium"), json!("medium")), (json!("xhigh"), json!(highest))];
        for (effort, sent) in steps.into_iter().chain([(Value::Null, Value::Null)]) {
            let patch = json!({"model": {"reasoning_effort": effort}}).to_string();
            let patch = serde_json::from_str(&patch).unwrap();
            let _ = host.command(Command::Configure { patch });
            host.reply(&Message::call("c", "look", &json!({})));
            let _ = host.answer("a");
            assert_eq!(read::effort(wire, &host.body()), sent, "{wire:?}");
        }
    }
}

#[test]
fn a_choice_of_tools_reaches_the_request_over_every_wire() {
    let choices = |wire| match wire {
        WireKind::OpenaiResponses => {
            [json!("none"), json!("required"), json!({"type": "function", "name": "look"})]
        }
        WireKind::OpenaiChat => [
            json!("none"),
            json!("required"),
            json!({"type": "function", "function": {"name": "look"}}),
        ],
        WireKind::Anthropic => [
            json!({"type": "none"}),
            json!({"type": "any"}),
            json!({"type": "tool", "name": "look"}),
        ],
        WireKind::Gemini => [
            json!({"mode": "NONE"}),
            json!({"mode": "ANY"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["look"]}),
        ],
        // Ollama has no such field.
        _ => [Value::Null, Value::Null, Value::Null],
    };
    for wire in WireKind::ALL {
        let given = [ToolChoice::None, ToolChoice::Required, ToolChoice::Tool("look".into())];
        for (choice, sent) in given.into_iter().zip(choices(wire)) {
            let mut config = speaking(wire);
            config.model.tool_choice = choice.clone();
            let mut host = TestHost::open(config);
            let _ = host.submit("go");
            assert_eq!(read::tool_choice(wire, &host.body()), sent, "{wire:?}");
            let shown = read::tools(wire, &host.body());
            match (wire, choice) {
                // What must not be called is not shown.
                (WireKind::Ollama, ToolChoice::None) => assert!(shown.is_empty()),
                (WireKind::Ollama, ToolChoice::Tool(name)) => assert_eq!(shown, [name]),
                _ => assert!(shown.len() > 2 && shown.contains(&"look".to_owned())),
            }
        }
    }
}

#[test]
fn r1_the_summary_at_the_end_is_asked_for_without_tools_over_every_wire() {
    for wire in WireKind::ALL {
        let mut config = speaking(wire);
        config.loops.same_args = 2;
        config.loops.ladder = vec![LoopStep::Summarize];
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        for id in ["c1", "c2"] {
            host.reply(&Message::call(id, "look", &json!({})));
            let _ = host.answer("a");
        }
        let choice = read::tool_choice(wire, &host.body());
        let shown = read::tools(wire, &host.body());
        match wire {
            WireKind::Anthropic => assert_eq!(choice, json!({"type": "none"})),
            WireKind::Gemini => assert_eq!(choice, json!({"mode": "NONE"})),
            WireKind::Ollama => assert!(choice.is_null() && shown.is_empty()),
            _ => assert_eq!(choice, "none"),
        }
        let body = |at: usize| core::str::from_utf8(&host.requests[at].body).unwrap();
        rules::extends(wire, body(1), body(2)).unwrap();
        rules::check(wire, &host.body(), false).unwrap();
    }
}

#[test]
fn g3_failures_are_told_apart_over_every_wire() {
    for wire in WireKind::ALL {
        println!("{wire:?}");
        let mut host = TestHost::open(speaking(wire));
        let _ = host.submit("go");
        for (status, kind) in [
            (429, "rate_limit_error"),
            (if wire == WireKind::Anthropic { 529 } else { 503 }, "overloaded_error"),
        ] {
            host.refuse(status, kind, "Wait a little.", &[("retry-after", "7")]);
            let retries = host.find(|kind| match kind {
                EventKind::Retry { delay_ms, message, .. } => Some((*delay_ms, message.clone())),
                _ => None,
            });
            let (delay_ms, message) = retries.last().expect("a retry");
            assert!(*delay_ms >= 7_000 && message.contains("Wait a little."), "{retries:?}");
            let _ = host.wait();
        }
        let (status, message) = overflow(wire);
        host.refuse(status, "invalid_request_error", message, &[]);
        assert_eq!(errors(&host), [ErrorKind::ContextOverflow]);
        let status = host.session.status(AgentId::ROOT).unwrap();
        assert_eq!(status.state, AgentState::Idle, "the session goes on");
        let _ = host.submit("again");
        host.refuse(401, "authentication_error", "no such key", &[]);
        assert_eq!(errors(&host), [ErrorKind::ContextOverflow, ErrorKind::Authentication]);
        assert_eq!(host.names(0).last().unwrap(), "session_end");
    }
}

/// What each provider says of a request that is too long.
const fn overflow(wire: WireKind) -> (u16, &'static str) {
    let message = match wire {
        WireKind::OpenaiResponses => {
            "Your input exceeds the context window of this model. Please adjust your input."
        }
        WireKind::OpenaiChat => {
            "This model's maximum context length is 8192 tokens. However, your messages resulted \
             in 9000 tokens."
        }
        WireKind::Gemini => {
            "The input token count (1200000) exceeds the maximum number of tokens allowed \
             (1048576)."
        }
        WireKind::Ollama => "the input length exceeds the context length",
        _ => "prompt is too long: 210000 tokens > 200000 maximum",
    };
    (400, message)
}

fn errors(host: &TestHost) -> Vec<ErrorKind> {
    host.find(|kind| match kind {
        EventKind::Error { kind, .. } => Some(*kind),
        _ => None,
    })
}

#[test]
fn an_error_inside_a_stream_takes_back_what_was_shown_over_every_wire() {
    for wire in WireKind::ALL {
        println!("{wire:?}");
        let mut host = TestHost::open(speaking(wire));
        let _ = host.submit("go");
        let events = wires::events(wire, &Message::text("a long text that is never ended"));
        let half = events[..events.len() / 2].concat();
        let error = wires::error_event(wire, "overloaded_error", "Overloaded");
        host.stream(format!("{half}{error}").as_bytes(), 9);
        let names = host.names(0);
        assert!(names.ends_with(&["text_reset".into(), "retry".into()]), "{names:?}");
        let _ = host.wait();
        host.reply_whole(&Message::text("whole"));
        assert_eq!(host.names(0).last().unwrap(), "processing_end");
    }
}
