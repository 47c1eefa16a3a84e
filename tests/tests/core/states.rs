//! Where a session stands, what it keeps and what it tells: the changes of state, the kinds of
//! turn, and each kind of event at its time and in its order.

use innerloop_core::{
    action::Outcome,
    config::{HookPoint, ModelOrigin, SessionConfig, WireKind},
    event::EventKind,
    id::{AgentId, EndpointId},
    input::{Answer, Command, HookReply, HttpInput, Input, ToolInput},
    json::Json,
    message::{
        Block, FinishReason, Part, ReasoningBlock, Reply, ToolCall, ToolResult, Turn, TurnKind,
        Usage,
    },
    output::{Effect, Output, OutputBatch},
    status::AgentState::{self, AwaitingInput, Closed, Idle, Processing},
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, name, text},
    wires,
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};

/// The names of events and effects, in the order in which they came. A request is told right before
/// it goes out, which is no name of its own here.
fn names(outputs: &OutputBatch) -> Vec<String> {
    let name = |output: &Output| match output {
        Output::Event(event) => name(&event.kind),
        Output::Effect(Effect::Http { .. }) => "-> http".to_owned(),
        Output::Effect(Effect::RunTool { .. }) => "-> run".to_owned(),
        Output::Effect(Effect::Ask { .. }) => "-> ask".to_owned(),
        Output::Effect(Effect::RunHook { .. }) => "-> hook".to_owned(),
        Output::Effect(Effect::Cancel { .. }) => "-> cancel".to_owned(),
    };
    let names: Vec<String> = outputs.iter().map(name).collect();
    for (at, name) in names.iter().enumerate() {
        let goes_out = names.get(at + 1).is_some_and(|next| next == "-> http");
        assert_eq!(name == "request_start", goes_out, "{names:?}");
    }
    names.into_iter().filter(|name| name != "request_start").collect()
}

fn with(change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    config.ask_user = true;
    change(&mut config);
    TestHost::open(config)
}

fn list(id: &str) -> Message {
    Message::call(id, "list_dir", &json!({}))
}

fn question() -> Message {
    Message::call("q", "ask_user", &json!({"question": "Which one?"}))
}

/// What follows from a whole reply, one event of the stream at a time, but for the pieces of calls.
fn reply(host: &mut TestHost, message: &Message) -> Vec<String> {
    let mut seen = Vec::new();
    host.head(200, wires::stream_type(host.wire()));
    for event in wires::events(host.wire(), message) {
        seen.extend(names(&host.http(HttpInput::Chunk(event.into_bytes().into()))));
    }
    seen.extend(names(&host.http(HttpInput::End)));
    seen.retain(|name| name != "tool_call_delta");
    seen
}

/// What follows from a refusal of the model's endpoint.
fn refused(host: &mut TestHost, status: u16, kind: &str) -> Vec<String> {
    let before = host.events.len();
    host.refuse(status, kind, "no", &[]);
    host.events[before..].iter().map(|event| name(&event.kind)).collect()
}

fn answer(host: &mut TestHost, said: &str) -> Vec<String> {
    names(&host.answer(said))
}

fn submit(host: &mut TestHost, said: &str) -> Vec<String> {
    names(&host.submit(said))
}

fn state(host: &TestHost) -> AgentState {
    host.session.status(AgentId::ROOT).unwrap().state
}

/// A session in each of the places from which the specification has it go on.
fn idle() -> TestHost {
    with(|_| {})
}

fn called() -> TestHost {
    let mut host = idle();
    let _ = host.submit("go");
    host
}

fn running() -> TestHost {
    let mut host = called();
    host.reply(&list("c"));
    host
}

fn asked() -> TestHost {
    let mut host = called();
    host.reply(&question());
    host
}

fn limited() -> TestHost {
    let mut host = with(|config| config.limits.max_tool_rounds_per_input = 1);
    let _ = host.submit("go");
    host.reply(&list("c"));
    host
}

fn close(host: &mut TestHost) -> Vec<String> {
    names(&host.command(Command::Close))
}

/// One change of state: from where, by what, what follows, and where to.
struct Change {
    from: AgentState,
    at: fn() -> TestHost,
    by: fn(&mut TestHost) -> Vec<String>,
    follows: &'static [&'static str],
    to: AgentState,
}

/// The specification's eight changes of state, in its order.
const CHANGES: [(&str, Change); 10] = [
    ("on submit", {
        let by = |host: &mut TestHost| submit(host, "go");
        Change { from: Idle, at: idle, by, follows: &["user_input", "-> http"], to: Processing }
    }),
    ("the tool loop continues: a call", {
        let by = |host: &mut TestHost| reply(host, &list("c"));
        let follows = &["assistant_text_end", "tool_call_start", "-> run"];
        Change { from: Processing, at: called, by, follows, to: Processing }
    }),
    ("the tool loop continues: its result", {
        let by = |host: &mut TestHost| answer(host, "a");
        let follows = &["tool_call_end", "-> http"];
        Change { from: Processing, at: running, by, follows, to: Processing }
    }),
    // By a tool: a question mark at the end of a text is no sign (`docs/decisions.md#states`).
    ("the model asks the user a question", {
        let by = |host: &mut TestHost| reply(host, &question());
        let follows = &["assistant_text_end", "tool_call_start", "-> ask"];
        Change { from: Processing, at: called, by, follows, to: AwaitingInput }
    }),
    ("natural completion", {
        let by = |host: &mut TestHost| reply(host, &Message::text("Done."));
        let follows = &[
            "assistant_text_start",
            "assistant_text_delta",
            "assistant_text_end",
            "processing_end",
        ];
        Change { from: Processing, at: called, by, follows, to: Idle }
    }),
    ("turn limit", {
        let by = |host: &mut TestHost| answer(host, "a");
        let follows = &["tool_call_end", "turn_limit", "processing_end"];
        Change { from: Processing, at: limited, by, follows, to: Idle }
    }),
    ("unrecoverable error", {
        let by = |host: &mut TestHost| refused(host, 401, "authentication_error");
        let follows = &["error", "processing_end", "session_end"];
        Change { from: Processing, at: called, by, follows, to: Closed }
    }),
    (
        "explicit close",
        Change { from: Idle, at: idle, by: close, follows: &["session_end"], to: Closed },
    ),
    ("abort", {
        let follows = &["-> cancel", "processing_end"];
        Change { from: Processing, at: called, by: close, follows, to: Closed }
    }),
    ("the user answers", {
        let by = |host: &mut TestHost| {
            let id = host.asks[0].0;
            names(&host.input(Input::Answer { id, answer: Answer::Text("The first.".into()) }))
        };
        let follows = &["tool_call_end", "-> http"];
        Change { from: AwaitingInput, at: asked, by, follows, to: Processing }
    }),
];

#[test]
fn a11_j4_each_change_of_state_comes_of_what_the_specification_says() {
    for (why, Change { from, at, by, follows, to }) in CHANGES {
        let mut host = at();
        assert_eq!(state(&host), from, "before {why}");
        assert_eq!(by(&mut host), follows, "{why}");
        assert_eq!(state(&host), to, "{why}");
    }
}

#[test]
fn a11_an_abort_closes_from_any_state_once_all_is_cleaned_up() {
    let mut hooked = with(|config| config.hooks.points = vec![HookPoint::BeforeModel]);
    let _ = hooked.submit("go");
    let mut retried = called();
    retried.broken();
    for (mut host, open) in
        [(idle(), 0), (called(), 1), (running(), 1), (asked(), 1), (hooked, 1), (retried, 0)]
    {
        let _ = host.command(Command::Close);
        assert_eq!(host.cancelled.len(), open);
        assert_eq!(state(&host), Closed);
        let ends = |host: &TestHost| host.names(0).last().unwrap() == "session_end";
        assert_eq!(ends(&host), open == 0, "what is cancelled has the last word");
        for id in host.cancelled.clone() {
            let _ = host.input(Input::Lost { id });
        }
        assert!(ends(&host));
        let states = host.find(|kind| match kind {
            EventKind::SessionEnd { state } => Some(*state),
            _ => None,
        });
        assert_eq!(states, [Closed]);
        let refused = host.offer(Input::command(Command::submit(text("more"))));
        assert!(refused.is_err());
    }
}

fn turn(at: u64, kind: TurnKind) -> Turn {
    Turn { at: UnixMillis(EPOCH.0 + at), kind }
}

fn result(call_id: &str, said: &str) -> ToolResult {
    ToolResult { call_id: call_id.into(), parts: text(said), is_error: false }
}

#[test]
fn a13_the_five_kinds_of_turn_have_their_content_and_their_time() {
    let mut host = with(|config| config.hooks.points = vec![HookPoint::BeforeModel]);
    let hook = |host: &mut TestHost, now: u64, reply: HookReply| {
        host.now = now;
        let id = host.hooks[0].0;
        let _ = host.input(Input::Hook { id, reply });
    };
    host.now = 1_000;
    let _ = host.submit("hello");
    hook(&mut host, 2_000, HookReply::Replace(Json::parse(r#""be careful""#).unwrap()));
    host.now = 3_000;
    let said = Message::text("I look.").thinking("Where?").costing(120, 30);
    host.reply(&said.and_call("c1", "list_dir", &json!({})).and_call(
        "c2",
        "list_dir",
        &json!({"depth": 2}),
    ));
    host.now = 4_000;
    let last = *host.runs.keys().next_back().unwrap();
    let _ = host.done(last, Outcome::text("b/"));
    let _ = host.steer("be quick");
    host.now = 5_000;
    let _ = host.answer("a/");
    hook(&mut host, 6_000, HookReply::Allow);
    host.now = 7_000;
    host.reply(&Message::text("Done."));

    let call = |id: &str, arguments: &str| {
        let (id, arguments) = (id.into(), arguments.into());
        Block::ToolCall(ToolCall { id, name: "list_dir".into(), arguments, detail: None })
    };
    let reasoning =
        ReasoningBlock { text: "Where?".into(), signature: Some("c2ln".into()), item: None };
    let origin =
        Arc::new(ModelOrigin { endpoint: EndpointId("mock".into()), model: "mock-1".into() });
    let reply = |blocks, finish, (input_total, output_total)| {
        TurnKind::Assistant(Box::new(Reply {
            blocks,
            finish,
            refusal: None,
            reason: None,
            usage: Some(Usage { input_total, output_total, ..Usage::default() }),
            wire: Some(WireKind::Anthropic),
            origin: Some(origin.clone()),
            response_id: Some("msg_01".into()),
            model: Some("mock".into()),
        }))
    };
    let calls = vec![
        Block::Reasoning(reasoning),
        Block::Text("I look.".into()),
        call("c1", "{}"),
        call("c2", r#"{"depth":2}"#),
    ];
    let expected = [
        turn(1_000, TurnKind::User(text("hello"))),
        turn(2_000, TurnKind::System("be careful".into())),
        turn(3_000, reply(calls, FinishReason::ToolCalls, (120, 30))),
        turn(5_000, TurnKind::ToolResults(vec![result("c1", "a/"), result("c2", "b/")])),
        turn(5_000, TurnKind::Steering(text("be quick"))),
        turn(7_000, reply(vec![Block::Text("Done.".into())], FinishReason::Stop, (100, 10))),
    ];
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns(), expected);
}

#[test]
fn a13_a_reply_has_its_text_calls_thinking_usage_and_id_over_every_wire() {
    for wire in WireKind::ALL {
        let mut config = config();
        wires::speak(&mut config.model, wire);
        let mut host = TestHost::open(config);
        let _ = host.submit("hello");
        host.now = 900;
        let message = Message::text("I look.").thinking("Where?").costing(120, 30);
        host.reply(&message.and_call("call_1", "read_file", &json!({"file_path": "a"})));
        let turns = host.session.history(AgentId::ROOT).unwrap().turns();
        let Turn { at, kind: TurnKind::Assistant(reply) } = &turns[1] else { panic!("{turns:?}") };
        assert_eq!((at.0, reply.wire), (EPOCH.0 + 900, Some(wire)));
        assert_eq!((&*reply.text(), &*reply.reasoning()), ("I look.", "Where?"), "{wire:?}");
        let calls: Vec<_> =
            reply.tool_calls().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("read_file", r#"{"file_path":"a"}"#)], "{wire:?}");
        let usage = reply.usage.unwrap();
        assert_eq!((usage.input_total, usage.output_total), (120, 30), "{wire:?}");
        // Ollama gives its responses no id.
        assert_eq!(reply.response_id.is_some(), wire != WireKind::Ollama, "{wire:?}");
    }
}

#[test]
fn b9_l8_a_run_with_a_tool_tells_each_step_when_it_happens() {
    let mut config = config();
    config.loops.detect = false;
    let opened = innerloop_core::Session::open(config.clone(), EPOCH).unwrap().1;
    assert_eq!(names(&opened), ["session_start"]);
    let mut host = TestHost::open(config);
    assert_eq!(names(&host.steer("be brief")), [""; 0], "it has not entered the history");
    assert_eq!(submit(&mut host, "go"), ["user_input", "steering_injected", "-> http"]);

    // Text and calls are told as their bytes come; a call begins once the reply is whole.
    let message = Message::text("I look around here.").and_call("c1", "list_dir", &json!({}));
    host.head(200, wires::stream_type(host.wire()));
    let mut steps = Vec::new();
    for event in wires::events(host.wire(), &message) {
        let seen = names(&host.http(HttpInput::Chunk(event.into_bytes().into())));
        steps.extend(Some(seen.join(" ")).filter(|seen| !seen.is_empty()));
    }
    let told = ["assistant_text_start assistant_text_delta", "assistant_text_delta"];
    assert_eq!(steps, [told, ["tool_call_delta"; 2]].concat());
    let whole = ["assistant_text_end", "tool_call_start", "-> run"];
    assert_eq!(names(&host.http(HttpInput::End)), whole);

    let id = *host.runs.keys().next().unwrap();
    let delta = Input::Tool { id, input: ToolInput::Delta("a".into()) };
    assert_eq!(names(&host.input(delta)), ["tool_call_output_delta"]);
    assert_eq!(names(&host.steer("be quick")), [""; 0]);
    let after = ["tool_call_end", "steering_injected", "-> http"];
    assert_eq!(answer(&mut host, &"a".repeat(100_000)), after);

    // A follow-up is an input of the same run: its end comes behind both.
    let _ = host.command(Command::follow_up(text("and then?")));
    let said = ["assistant_text_start", "assistant_text_delta", "assistant_text_end"];
    let again = [&said[..], &["user_input", "-> http"]].concat();
    assert_eq!(reply(&mut host, &Message::text("Done.")), again);
    assert_eq!(state(&host), Processing);
    let end = [&said[..], &["processing_end"]].concat();
    assert_eq!(reply(&mut host, &Message::text("Nothing.")), end);
    assert_eq!(state(&host), Idle);
    assert_eq!(close(&mut host), ["session_end"]);
    check_contents(&host);
}

/// What the events of that run say, as far as the specification names it.
fn check_contents(host: &TestHost) {
    let told = host.find(|kind| match kind {
        EventKind::UserInput { parts } => Some(format!("user: {}", said(parts))),
        EventKind::SteeringInjected { parts } => Some(format!("steering: {}", said(parts))),
        EventKind::AssistantTextEnd { text, .. } => Some(format!("text: {text}")),
        EventKind::ToolCallStart { call_id, name, .. } => Some(format!("start: {name} {call_id}")),
        EventKind::ToolCallOutputDelta { call_id, text } => Some(format!("out: {call_id} {text}")),
        EventKind::ToolCallEnd { call_id, outcome, .. } => {
            Some(format!("end: {call_id} {}", outcome.joined_text().len()))
        }
        EventKind::SessionEnd { state } => Some(format!("closed: {state:?}")),
        _ => None,
    });
    let expected = [
        "user: go",
        "steering: be brief",
        "text: I look around here.",
        "start: list_dir c1",
        "out: c1 a",
        "end: c1 100000",
        "steering: be quick",
        "text: Done.",
        "user: and then?",
        "text: Nothing.",
        "closed: Closed",
    ];
    assert_eq!(told, expected);
}

fn said(parts: &[Part]) -> String {
    innerloop_core::message::joined_text(parts)
}

#[test]
fn b9_calls_that_never_run_begin_and_end_too() {
    let mut host = called();
    let calls = Message::call("c1", "teleport", &json!({})).and_call("c2", "read_file", &json!({}));
    let both = ["tool_call_start", "tool_call_end", "tool_call_start", "tool_call_end"];
    let expected = [&["assistant_text_end"][..], &both, &["-> http"]].concat();
    assert_eq!(reply(&mut host, &calls), expected);
}

#[test]
fn b9_calls_are_told_while_the_model_writes_them() {
    let long = "line\n".repeat(40);
    let arguments = [json!({"file_path": "a", "content": long}), json!({"file_path": "ü"})];
    let message = Message::text("I write.").and_call("c1", "write_file", &arguments[0]);
    let message = message.and_call("c2", "read_file", &arguments[1]);
    for wire in WireKind::ALL {
        let mut config = config();
        wires::speak(&mut config.model, wire);
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.head(200, wires::stream_type(wire));
        for event in wires::events(wire, &message) {
            for byte in event.bytes() {
                let _ = host.http(HttpInput::Chunk(vec![byte].into()));
            }
        }
        // By index: id, name, arguments, and of how many pieces they are.
        let mut calls: BTreeMap<usize, (String, String, String, usize)> = BTreeMap::new();
        for event in &host.events {
            let EventKind::ToolCallDelta { index, call_id, name, text } = &event.kind else {
                continue;
            };
            let begun = (call_id.clone(), name.clone(), String::new(), 0);
            let (known_id, known, arguments, pieces) = calls.entry(*index).or_insert(begun);
            assert_eq!((&*known_id, &*known), (call_id, name), "{wire:?}");
            arguments.push_str(text);
            *pieces += 1;
        }
        let _ = host.http(HttpInput::End);
        let whole = host.find(|kind| match kind {
            EventKind::ToolCallStart { call_id, name, arguments } => {
                Some((call_id.clone(), name.clone(), arguments.clone()))
            }
            _ => None,
        });
        assert!(!whole.is_empty() && calls.len() == 2, "{wire:?}: {calls:?}");
        for ((call_id, name, text, pieces), whole) in calls.into_values().zip(&whole) {
            // Gemini and Ollama send calls whole.
            let comes_whole = matches!(wire, WireKind::Gemini | WireKind::Ollama);
            assert!(comes_whole || pieces > 1, "{wire:?}: {text}");
            assert!(call_id.is_empty() || call_id == whole.0, "{wire:?}: {call_id}");
            assert_eq!((&name, &text), (&whole.1, &whole.2), "{wire:?}");
        }
    }
}

#[test]
fn b9_a_call_that_comes_whole_is_told_with_its_arguments_once() {
    let mut host = with(|config| wires::speak(&mut config.model, WireKind::OpenaiResponses));
    let _ = host.submit("go");
    let call = json!({
        "type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** A"
    });
    let response = json!({"status": "completed", "output": [call]});
    let events = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": call}),
        json!({"type": "response.completed", "response": response}),
    ];
    host.head(200, wires::stream_type(host.wire()));
    for event in events {
        let _ = host.http(HttpInput::Chunk(format!("data: {event}\n\n").into_bytes().into()));
    }
    let told = host.find(|kind| match kind {
        EventKind::ToolCallDelta { call_id, name, text, .. } => {
            Some((call_id.clone(), name.clone(), text.clone()))
        }
        _ => None,
    });
    assert_eq!(told, [("c".to_owned(), "apply_patch".to_owned(), "*** A".to_owned())]);
}

#[test]
fn b9_a_call_that_breaks_while_it_is_written_is_taken_back() {
    let mut host = called();
    let message = list("c1");
    host.head(200, wires::stream_type(host.wire()));
    let half = wires::events(host.wire(), &message)[..3].concat();
    let seen = names(&host.http(HttpInput::Chunk(half.into_bytes().into())));
    assert_eq!(seen, ["tool_call_delta"]);
    host.broken();
    assert_eq!(host.names(2), ["text_reset", "retry"]);
}

#[test]
fn b9_a_limit_is_told_instead_of_the_request_that_it_stops() {
    let mut host = limited();
    assert_eq!(answer(&mut host, "a"), ["tool_call_end", "turn_limit", "processing_end"]);
    let limit = |host: &TestHost| {
        host.find(|kind| match kind {
            EventKind::TurnLimit { limit, value } => Some((*limit, *value)),
            _ => None,
        })
    };
    assert_eq!(limit(&host), [("max_tool_rounds_per_input", 1)]);
    let mut host = with(|config| config.limits.max_turns = 2);
    let _ = host.submit("one");
    let _ = reply(&mut host, &Message::text("1"));
    assert_eq!(submit(&mut host, "two"), ["user_input", "turn_limit", "processing_end"]);
    assert_eq!(limit(&host), [("max_turns", 2)]);
}

#[test]
fn b9_a_loop_is_told_behind_its_tenth_call_and_before_the_next_request() {
    let mut host = called();
    for n in 1..10 {
        host.reply(&list(&format!("c{n}")));
        assert_eq!(answer(&mut host, "a"), ["tool_call_end", "-> http"], "after {n}");
    }
    host.reply(&list("c10"));
    let _ = host.steer("be quick");
    let expected = ["tool_call_end", "steering_injected", "loop_detection", "-> http"];
    assert_eq!(answer(&mut host, "a"), expected);
    let told = host.find(|kind| match kind {
        EventKind::LoopDetection { message, .. } => Some(message.clone()),
        _ => None,
    });
    let warning = "Loop detected: the last 10 tool calls follow a repeating pattern. Try a \
                   different approach.";
    assert_eq!(told, [warning]);
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    let last: Vec<_> = turns.iter().rev().take(2).map(|turn| &turn.kind).collect();
    let (first, second) = (text("be quick"), text(warning));
    assert_eq!(last, [&TurnKind::Steering(second), &TurnKind::Steering(first)]);
}

#[test]
fn b9_a_warning_and_an_error_are_told_when_they_arise() {
    let mut host = with(|config| config.model.context_window = 20_000);
    let _ = host.submit("go");
    let _ = reply(&mut host, &Message::text("Fine.").costing(15_000, 800));
    // A token is about four characters, and the provider counts three where we estimate one: these
    // bring the use from 79 to 81 per cent.
    let warned = ["user_input", "warning", "-> http"];
    assert_eq!(submit(&mut host, &"x".repeat(4 * 134)), warned);
    let message = host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(message, ["Context usage at ~81% of context window"]);

    // What may pass leaves the session idle; what never passes ends it.
    assert_eq!(refused(&mut host, 402, "billing_error"), ["error", "processing_end"]);
    assert_eq!(state(&host), Idle);
    let _ = host.submit("again");
    let expected = ["error", "processing_end", "session_end"];
    assert_eq!(refused(&mut host, 401, "authentication_error"), expected);
}
