//! The scripted sessions: each shows one side of the loop, over any protocol.

use crate::{
    anthropic::Message,
    test_host::{TestHost, config},
    wires,
};
use innerloop_core::{
    compaction::{CompactionTier, WindowFullness},
    config::{AskAbout, ProfileKind, SessionConfig, WireKind},
    id::AgentId,
    input::{Answer, Command, HttpInput, Input, ToolInput},
    json::Json,
    log,
    message::FoldKind,
    tool::ToolSpec,
};
use serde_json::json;

/// Bytes of a piece of a response, so few that pieces end inside of characters.
const PIECE: usize = 5;

/// A session that is played to its end over a protocol.
type Scene = fn(WireKind) -> TestHost;

/// The scenes by name.
pub(super) const SCENES: [(&str, Scene); 6] = [
    ("calls", calls),
    ("approvals", approvals),
    ("questions", questions),
    ("retries", retries),
    ("subagents", subagents),
    ("folds", folds),
];

/// Calls side by side and one after the other, steering, a second input, an interrupt.
fn calls(wire: WireKind) -> TestHost {
    let mut host = open(wire, |_| {});
    let _ = host.submit("Grüße: look at “é” and 😀, then store it.");
    let three = Message::call("c1", "lookup", &json!({"key": "é"}))
        .and_call("c2", "lookup", &json!({"key": "😀"}))
        .and_call("c3", "store", &json!({"key": "größer"}))
        .thinking("Überlegen… 考える");
    stream(&mut host, &three);
    // Some families make one call after the other.
    let id = *host.runs.keys().next_back().expect("a run is open");
    let delta = ToolInput::Delta("so far: ½".to_owned());
    let _ = host.input(Input::Tool { id, input: delta });
    let _ = host.steer("Quick, s’il te plaît");
    while !host.runs.is_empty() {
        host.now += 13;
        let _ = host.answer("it is there: ✓\u{0}\u{1b}[0m");
    }
    let _ = host.command(Command::follow_up(crate::test_host::text("And now?")));
    stream(&mut host, &Message::text("Stored “größer” — 完了. 😀"));
    host.reply_whole(&Message::text("Nothing more."));
    let _ = host.submit("Once more");
    host.head(200, wires::stream_type(wire));
    let _ = host.command(Command::Interrupt);
    host
}

/// Calls that a person allows, changes, denies, and allows for good.
fn approvals(wire: WireKind) -> TestHost {
    let mut host = open(wire, |config| config.approval.ask = AskAbout::Changes);
    let edited = Json::parse(r#"{"key":"edited é"}"#).unwrap();
    let deny = Answer::deny("nicht schön");
    let answers = [Answer::Allow, Answer::AllowEdited(edited), deny, Answer::AllowAlways];
    let _ = host.submit("Store all of it.");
    for (number, answer) in (1..).zip(answers) {
        let id = format!("c{number}");
        let call = Message::call(&id, "store", &json!({"key": id}));
        host.reply(&call.and_call(&format!("l{number}"), "lookup", &json!({"key": "a"})));
        reply_to_ask(&mut host, answer);
        while !host.runs.is_empty() {
            let _ = host.answer("stored");
        }
    }
    host.reply(&Message::call("c9", "store", &json!({"key": "without a question"})));
    let _ = host.answer("stored");
    host.reply(&Message::text("All is stored."));
    host
}

/// Questions of the model, one beside a run, one that nobody answers.
fn questions(wire: WireKind) -> TestHost {
    let mut host = open(wire, |config| config.ask_user = true);
    let _ = host.submit("Ask me.");
    let look = Message::call("c1", "lookup", &json!({"key": "ä"}));
    let which = json!({"question": "Which one: ä or ö?"});
    stream(&mut host, &look.and_call("q1", "ask_user", &which));
    let _ = host.answer("ä is there");
    reply_to_ask(&mut host, Answer::Text("Ö, bitte 😀".into()));
    host.reply(&Message::call("q2", "ask_user", &json!({"question": "Sure?"})));
    let id = host.asks[0].0;
    let _ = host.input(Input::Lost { id });
    host.reply(&Message::text("I take ö."));
    host
}

/// Refusals that are tried again, a stream that breaks, bytes that are no text, a final refusal.
fn retries(wire: WireKind) -> TestHost {
    let mut host = open(wire, |config| config.retry.max_retries = 5);
    let _ = host.submit("Try.");
    host.refuse(529, "overloaded_error", "Overloaded: später", &[]);
    let _ = host.wait();
    host.refuse(429, "rate_limit_error", "Slow down", &[("retry-after", "3")]);
    let _ = host.wait();
    host.head(200, wires::stream_type(wire));
    let begun = wires::events(wire, &Message::text("Half of it, and then…")).concat();
    let half = &begun.as_bytes()[..begun.len() / 2];
    let _ = host.http(HttpInput::Chunk(half.to_vec().into()));
    host.broken();
    let _ = host.wait();
    host.head(502, "text/html");
    let _ = host.http(HttpInput::Chunk(vec![0xff, 0xfe, b'\n', 0x80, b'\n'].into()));
    let _ = host.http(HttpInput::End);
    let _ = host.wait();
    stream(&mut host, &Message::text("Here it is: ¾."));
    let _ = host.submit("Again.");
    host.refuse(401, "authentication_error", "who are you?", &[]);
    host
}

/// Two agents that an agent starts: one is closed, the other steered and waited for.
fn subagents(wire: WireKind) -> TestHost {
    // Small models start no agents.
    let mut host = open(wire, |config| config.model.profile = ProfileKind::Anthropic);
    let _ = host.submit("Share the work.");
    let [root, first] = [AgentId::ROOT, AgentId(1)];
    for (id, task) in [("s1", "Schreibe Tests"), ("s2", "look")] {
        reply_as(&mut host, root, &Message::call(id, "spawn_agent", &json!({"task": task})));
    }
    let close = json!({"agent_id": "agent-2"});
    reply_as(&mut host, root, &Message::call("x", "close_agent", &close));
    for id in host.cancelled.clone() {
        let _ = host.input(Input::Lost { id });
    }
    let send = json!({"agent_id": "agent-1", "message": "and é"});
    reply_as(&mut host, root, &Message::call("i", "send_input", &send));
    reply_as(&mut host, root, &Message::call("w", "wait", &json!({"agent_id": "agent-1"})));
    reply_as(&mut host, first, &Message::call("c", "lookup", &json!({"key": "é"})));
    let _ = host.answer("é is there");
    reply_as(&mut host, first, &Message::text("Tests sind geschrieben."));
    reply_as(&mut host, root, &Message::text("All is done."));
    host
}

/// A conversation that is made shorter by itself and by command, and a snapshot between its lines.
fn folds(wire: WireKind) -> TestHost {
    let mut host = open(wire, |config| {
        config.model.context_window = 8_000;
        config.model.max_output_tokens = 800;
        config.loops.detect = false;
        config.compaction.keep.tokens = 1_000;
        config.compaction.keep.rounds = 1;
        let (from, to) = (WindowFullness::percent(60), WindowFullness::percent(45));
        config.compaction.auto =
            vec![CompactionTier { from, to, step: FoldKind::Stub, inputs: None }];
    });
    for input in 0..2 {
        let _ = host.submit(&format!("Task {input}: größer."));
        for round in 0..8 {
            let read = host.requests.last().map_or(0, |request| request.body.len() as u64 / 4);
            let key = json!({"key": format!("{input}/{round}")});
            let call = Message::call(&format!("c{input}-{round}"), "lookup", &key);
            host.reply(&call.costing(read, 20));
            let _ = host.answer(&format!("{round} {}", "é is here. ".repeat(150)));
        }
        host.reply(&Message::text("That was all."));
        let snapshot = log::snapshot(&host.session);
        host.log.push_str(&snapshot);
    }
    let instructions = Some("the names of “files”".to_owned());
    let _ = host.command(Command::Compact { instructions });
    host.reply(&Message::text("Sixteen keys were looked up: é."));
    let _ = host.submit("What were they?");
    host.reply(&Message::text("Sixteen."));
    host
}

fn open(wire: WireKind, change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    wires::speak(&mut config.model, wire);
    config.tools = vec![tool("lookup", true), tool("store", false)];
    change(&mut config);
    TestHost::open(config)
}

fn tool(name: &str, read_only: bool) -> ToolSpec {
    let parameters =
        r#"{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}"#;
    ToolSpec {
        read_only,
        ..ToolSpec::new(name, "Keeps what is worth it.", Json::parse(parameters).unwrap())
    }
}

fn reply_to_ask(host: &mut TestHost, answer: Answer) {
    let id = host.asks[0].0;
    host.now += 1_000;
    let _ = host.input(Input::Answer { id, answer });
}

/// Answers the open call of that agent.
fn reply_as(host: &mut TestHost, agent: AgentId, message: &Message) {
    let at = host.calls.iter().position(|id| host.owners[id] == agent);
    let id = host.calls.remove(at.expect("an open call of the agent"));
    host.calls.push(id);
    host.reply(message);
}

/// Streams a message in small pieces, which come one after the other.
fn stream(host: &mut TestHost, message: &Message) {
    host.head(200, wires::stream_type(host.wire()));
    let stream = wires::events(host.wire(), message).concat();
    for piece in stream.as_bytes().chunks(PIECE) {
        host.now += 1;
        let _ = host.http(HttpInput::Chunk(piece.to_vec().into()));
    }
    let _ = host.http(HttpInput::End);
}
