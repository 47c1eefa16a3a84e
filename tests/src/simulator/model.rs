//! The scripted model: what it answers is drawn at random, from good streams in any chunking to
//! errors, cuts and garbage.

use super::{
    rng::Rng,
    settings::{DEPLOY, LOOKUP},
};
use crate::{
    anthropic::{Block, Kind, Message, Tokens},
    test_host::EPOCH,
    wires,
};
use innerloop_core::{
    config::{ModelConfig, ProfileKind, VocabularyKind, WireKind},
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};
use serde_json::{Value, json};

/// A model that numbers its calls and its words to other agents.
#[derive(Clone, Debug)]
pub(super) struct Model {
    wire: WireKind,
    /// Under which names the model's family patches files, if it does.
    patches: Option<VocabularyKind>,
    habit: Habit,
    /// Chance for texts that are faults, so that a seed is the same run without them.
    faults: Option<Rng>,
    /// Chance for calls about tools and outputs that it was not shown, likewise.
    shown: Option<Rng>,
    /// The same for calls that start agents by name, or several.
    agents: Option<Rng>,
    calls: u64,
    /// The number of the newest word; the world draws from the same numbers.
    pub(super) words: u64,
    /// The call before.
    last: Option<(&'static str, Value)>,
    /// The agents that the agent that asks has started.
    started: Vec<u32>,
}

/// What a model is inclined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    Plain,
    /// It works through other agents.
    Delegates,
    /// It makes the same call again.
    Repeats,
}

/// A mark that stands in one message only, so that the message can be found again.
pub(super) fn word(number: u64) -> String {
    format!("#{number}#")
}

/// Text and thinking, without the sign that marks words.
pub(super) fn prose(rng: &mut Rng) -> String {
    let length = match rng.below(40) {
        0 if rng.chance(5) => 60_000,
        0 => 2_000,
        1..=3 => 0,
        _ => rng.below(60),
    };
    if rng.chance(3) {
        return " \n".to_owned();
    }
    let sounds = ["la ", "é", "\n", "\u{0}", "\"", "\\", "\u{1f600}", "data: ", "</s>", "ru "];
    let mut text = String::new();
    while (text.len() as u64) < length {
        text.push_str(rng.pick(&sounds));
    }
    text
}

/// A text that has a fault, now and then.
fn faulty(rng: &mut Rng) -> Option<String> {
    let faults = [
        "I'll read the file now.",
        "ok",
        "Would you like me to begin?",
        "I created a.txt and it works.",
        "Good. [Tool Result] 3 files",
        "[Tool Result] 3 files",
        "<<tool_output>>",
        "read_file(\"a\")",
        "Hi there! How can I help you?",
    ];
    match rng.below(4) {
        0 => Some(rng.pick(&faults).to_owned()),
        1 if rng.chance(30) => Some("I look at the next file of it. ".repeat(40)),
        _ => None,
    }
}

/// A call about tools or outputs that the model was not shown, now and then.
fn looks_for(rng: &mut Rng) -> Option<(&'static str, Value)> {
    match rng.below(12) {
        0 => Some(("tool_search", json!({"query": rng.pick(&["wants", "deploy", "zzz"])}))),
        1 | 2 => {
            let kinds = ["read", "write", "search", "run", "meta", "fly"];
            Some(("select_category", json!({"category": rng.pick(&kinds)})))
        }
        3 => Some(("list_results", json!({}))),
        4 => {
            let id = format!("result-{}", rng.between(1, 9));
            Some(("read_result", json!({"id": id, "offset": rng.below(90)})))
        }
        _ => None,
    }
}

impl Model {
    pub(super) fn new(
        model: &ModelConfig,
        [faults, shown, agents]: [Option<Rng>; 3],
        rng: &mut Rng,
    ) -> Self {
        let wire = model.wire;
        let patches = (model.profile == ProfileKind::Openai).then_some(model.vocabulary);
        let habits = [Habit::Plain, Habit::Delegates, Habit::Repeats];
        let habit = habits[rng.weighted(&[4, 4, 2])];
        let (calls, words, last, started) = (0, 0, None, Vec::new());
        Self { wire, patches, habit, faults, shown, agents, calls, words, last, started }
    }

    /// All news of one exchange, the terminal one last. The one who asks has started those agents.
    pub(super) fn answer(&mut self, started: &[u32], rng: &mut Rng) -> Vec<HttpInput> {
        self.started = started.to_vec();
        match rng.weighted(&[70, 6, 7, 4, 9, 2, 4, 2]) {
            0 => {
                let bytes = self.stream(rng);
                response(200, wires::stream_type(self.wire), &bytes, rng)
            }
            1 => {
                let body = match (self.wire, self.whole(rng)) {
                    (WireKind::Anthropic, whole) => whole.to_string(),
                    (wire, whole) => wires::body(wire, &self.message(&whole, 1)),
                };
                response(200, "application/json", body.as_bytes(), rng)
            }
            2 => cut(self.stream(rng), wires::stream_type(self.wire), rng),
            3 => {
                let mut bytes = self.stream(rng);
                bytes.truncate(rng.index(bytes.len()));
                let kind = rng.pick(&["overloaded_error", "api_error", "timeout_error"]);
                bytes.extend(b"\n\n");
                bytes.extend(wires::error_event(self.wire, kind, "oh").into_bytes());
                response(200, wires::stream_type(self.wire), &bytes, rng)
            }
            4 => refused(self.wire, &[429, 529, 500, 503, 408], rng),
            5 => refused(self.wire, &[400, 401, 403, 404, 413], rng),
            6 => vec![broken(rng)],
            _ => {
                let garbage: Vec<u8> = (0..rng.below(80)).map(|_| byte(rng)).collect();
                response(200, rng.pick(&["text/html", "text/event-stream", ""]), &garbage, rng)
            }
        }
    }

    /// A message of the model as a stream's bytes.
    fn stream(&mut self, rng: &mut Rng) -> Vec<u8> {
        let whole = self.whole(rng);
        let text = match self.wire {
            WireKind::Anthropic => streamed_whole(&whole, rng),
            wire => {
                let size = [1, 5, 40, 20_000][rng.weighted(&[1, 2, 4, 4])];
                wires::events(wire, &self.message(&whole, size)).concat()
            }
        };
        let text = if rng.chance(10) { text.replace('\n', "\r\n") } else { text };
        text.into_bytes()
    }

    /// A message of the model whole. A call's arguments stand as text under `raw` besides, since
    /// a stream may carry what is no JSON.
    fn whole(&mut self, rng: &mut Rng) -> Value {
        let mut content = Vec::new();
        if rng.chance(20) {
            let mut block = json!({"type": "thinking", "thinking": prose(rng)});
            if rng.chance(80) {
                block["signature"] = "c2ln".into();
            }
            content.push(block);
        }
        if rng.chance(70) {
            let text = prose(rng);
            let faulty = self.faults.as_mut().and_then(faulty);
            content.push(json!({"type": "text", "text": faulty.unwrap_or(text)}));
        }
        if rng.chance(3) {
            content.push(json!({"type": "note", "x": 1}));
        }
        let calls = [0, 1, 2, 3, 4, 150][rng.weighted(&[160, 120, 60, 40, 20, 1])];
        for _ in 0..calls {
            content.push(self.call(rng));
        }
        let natural = if calls > 0 { "tool_use" } else { "end_turn" };
        let others = [
            "max_tokens",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
            "stop_sequence",
            "end_turn",
            "tool_use",
            "odd",
        ];
        let reason = if rng.chance(85) { natural } else { rng.pick(&others) };
        json!({
            "id": "m", "type": "message", "role": "assistant", "model": "mock",
            "content": content, "stop_reason": reason,
            "usage": {"input_tokens": rng.below(300), "output_tokens": rng.below(50)},
        })
    }

    /// The same message for the other providers, in pieces of so many characters.
    fn message(&self, whole: &Value, delta_chars: usize) -> Message {
        let content = whole["content"].as_array().into_iter().flatten().map(|block| {
            let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str() {
                Some("text") => Block { text: text("text"), ..Block::new(Kind::Text) },
                Some("thinking") => {
                    let signed = block["signature"].is_string();
                    Block { text: text("thinking"), signed, ..Block::new(Kind::Thinking) }
                }
                Some("tool_use") => {
                    let (id, name, input) = (text("id"), text("name"), text("raw"));
                    self.patched(Block { id, name, input, ..Block::new(Kind::ToolUse) })
                }
                _ => Block::new(Kind::Note),
            }
        });
        let count = |name: &str| whole["usage"][name].as_u64().unwrap_or_default();
        let usage =
            Tokens { input_tokens: count("input_tokens"), output_tokens: count("output_tokens") };
        let stop_reason = whole["stop_reason"].as_str().unwrap_or_default().to_owned();
        Message { content: content.collect(), stop_reason, usage, delta_chars }
    }

    /// An edit, as a patch in families that have no other.
    fn patched(&self, mut block: Block) -> Block {
        let Some(vocabulary) = self.patches.filter(|_| block.name == "edit_file") else {
            return block;
        };
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch";
        block.name = "apply_patch".to_owned();
        if vocabulary == VocabularyKind::Native {
            block.kind = Kind::Freeform;
            block.text = patch.to_owned();
            block.input = json!({"input": patch}).to_string();
        } else {
            block.input = json!({"patch": patch}).to_string();
        }
        block
    }

    fn call(&mut self, rng: &mut Rng) -> Value {
        self.calls += 1;
        let id = match rng.below(8) {
            0 => rng
                .pick(&["", "a", "b", "acall_1", "acall_2", "call_0", "call_1", "call_2"])
                .to_owned(),
            _ => format!("toolu_{}", self.calls),
        };
        let wish = match (self.habit, self.last.take()) {
            // A word is said once only, so that it can be counted.
            (Habit::Repeats, Some(last)) if rng.chance(85) && last.0 != "send_input" => last,
            _ => self.wish(rng),
        };
        let wish = self.shown.as_mut().and_then(looks_for).unwrap_or(wish);
        let wish = self.wish_for_agents().unwrap_or(wish);
        let (name, input) = wish.clone();
        self.last = Some(wish);
        let raw = match rng.below(25) {
            0 => rng.pick(&["{", "null", "[1]", "{\"file_path\":3}", "\u{0}", "7", ""]).to_owned(),
            _ => input.to_string(),
        };
        json!({"type": "tool_use", "id": id, "name": name, "input": input, "raw": raw})
    }

    /// A tool and its arguments.
    fn wish(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        let path = rng.pick(&["a", "src/b.js", ""]);
        let among = if self.habit == Habit::Delegates && rng.chance(60) { 11..17 } else { 0..22 };
        match rng.between(among.start, among.end - 1) {
            0 | 1 => ("read_file", json!({"file_path": path})),
            2 => ("list_dir", json!({})),
            3 => ("grep", json!({"pattern": "x", "output_mode": rng.pick(&["count", "odd"])})),
            4 | 5 => ("write_file", json!({"file_path": path, "content": prose(rng)})),
            6 => ("edit_file", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
            7 => ("run_program", json!({"program": "qjs", "timeout_ms": rng.between(1, 9_999)})),
            8 => (LOOKUP, json!({"key": "k"})),
            9 | 10 => (DEPLOY, json!({"key": "k"})),
            11 | 12 => ("spawn_agent", self.spawn(rng)),
            13 => {
                self.words += 1;
                let message = if rng.chance(4) { " ".to_owned() } else { word(self.words) };
                ("send_input", json!({"agent_id": self.agent(rng), "message": message}))
            }
            14 | 15 if rng.chance(40) => ("wait", json!({"agent_id": self.agent(rng)})),
            14 | 15 => {
                let timeout_ms = rng.between(1, 50);
                ("wait", json!({"agent_id": self.agent(rng), "timeout_ms": timeout_ms}))
            }
            16 => ("close_agent", json!({"agent_id": self.agent(rng)})),
            17 => ("ask_user", json!({"question": "Which?"})),
            18 | 21 => ("final_answer", json!({"summary": prose(rng)})),
            19 => ("no_such_tool", json!({"x": 1})),
            _ => ("glob", json!({"pattern": "**", "stray": true})),
        }
    }

    /// Now and then a call that starts agents by name, or several, or waits for several.
    fn wish_for_agents(&mut self) -> Option<(&'static str, Value)> {
        let mut rng = self.agents.take()?;
        let wish = match rng.below(10) {
            0 | 1 => {
                let tasks: Vec<Value> =
                    (0..rng.between(0, 3)).map(|_| self.task(&mut rng)).collect();
                let mut batch = json!({"tasks": tasks});
                if rng.chance(30) {
                    batch["max_turns"] = rng.below(5).into();
                }
                Some(("spawn_agents", batch))
            }
            2 => Some(("spawn_agent", self.task(&mut rng))),
            3 => {
                let ids: Vec<String> =
                    (0..rng.between(1, 3)).map(|_| self.agent(&mut rng)).collect();
                let most = rng.between(1, 50);
                Some(("wait", json!({"agent_ids": ids, "timeout_ms": most})))
            }
            // What some names have and others do not.
            4 => Some((rng.pick(&[LOOKUP, DEPLOY]), json!({"key": "k"}))),
            _ => None,
        };
        self.agents = Some(rng);
        wish
    }

    /// A task for an agent that may have a name.
    fn task(&mut self, rng: &mut Rng) -> Value {
        self.words += 1;
        let mut task = json!({"task": word(self.words)});
        if rng.chance(60) {
            task["agent"] = rng.pick(&["reader", "starter", "thinker", "nobody"]).into();
        }
        if rng.chance(5) {
            task["working_dir"] = "../up".into();
        }
        task
    }

    /// The name of an agent that it has started, or of any.
    fn agent(&self, rng: &mut Rng) -> String {
        match self.started.get(rng.index(self.started.len())) {
            Some(number) if rng.chance(85) => format!("agent-{number}"),
            _ => format!("agent-{}", rng.between(0, 4)),
        }
    }

    fn spawn(&mut self, rng: &mut Rng) -> Value {
        self.words += 1;
        let task = if rng.chance(4) { " \n".to_owned() } else { word(self.words) };
        let mut call = json!({"task": task});
        if rng.chance(30) {
            // The kept seeds stand for what is drawn over Anthropic's protocol.
            let most = match rng.below(5) {
                4 if self.wire != WireKind::Anthropic => 40,
                most => most,
            };
            call["max_turns"] = most.into();
        }
        if rng.chance(20) {
            call["model"] = "mock-small".into();
        }
        call
    }
}

/// Anthropic's form of a stream, each block cut at random: the kept seeds stand for what is drawn
/// here.
fn streamed_whole(message: &Value, rng: &mut Rng) -> String {
    let mut text = String::new();
    let mut event = |value: Value| {
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        text.push_str(&format!("event: {kind}\ndata: {value}\n\n"));
    };
    let usage = &message["usage"];
    event(json!({"type": "message_start", "message": {"id": "m", "usage": usage}}));
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = streamed(block, rng);
        event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        event(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": message["stop_reason"]});
    event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}));
    event(json!({"type": "message_stop"}));
    text
}

fn byte(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(256)).unwrap_or(0)
}

/// A block's start and what comes after it.
fn streamed(block: &Value, rng: &mut Rng) -> (Value, Vec<Value>) {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let mut start = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str() {
        Some("text") => {
            start["text"] = "".into();
            for piece in pieces(&text("text"), rng) {
                deltas.push(json!({"type": "text_delta", "text": piece}));
            }
        }
        Some("thinking") => {
            start["thinking"] = "".into();
            for piece in pieces(&text("thinking"), rng) {
                deltas.push(json!({"type": "thinking_delta", "thinking": piece}));
            }
        }
        _ => {
            start["input"] = json!({});
            start["raw"] = Value::Null;
            for piece in pieces(&text("raw"), rng) {
                deltas.push(json!({"type": "input_json_delta", "partial_json": piece}));
            }
        }
    }
    (start, deltas)
}

/// A text in up to four pieces.
fn pieces(text: &str, rng: &mut Rng) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let size = chars.len().div_ceil(rng.index(4) + 1).max(1);
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn head(status: u16, content_type: &str, rng: &mut Rng) -> ResponseHead {
    let mut headers = vec![("content-type".to_owned(), content_type.to_owned())];
    if status >= 400 && rng.chance(30) {
        let asked = rng.pick(&["0", "1", "30", "100000", "soon"]);
        headers.push(("retry-after".to_owned(), asked.to_owned()));
    }
    ResponseHead { status, headers, at: UnixMillis(EPOCH.0) }
}

/// A whole exchange, its body cut anywhere.
fn response(status: u16, content_type: &str, body: &[u8], rng: &mut Rng) -> Vec<HttpInput> {
    let mut news = vec![HttpInput::Head(head(status, content_type, rng))];
    let most = if rng.chance(8) { 12 } else { 3 };
    let mut rest = body;
    for _ in 0..rng.below(most) {
        let (piece, after) = rest.split_at(rng.index(rest.len() + 1));
        news.push(HttpInput::Chunk(piece.to_vec().into()));
        rest = after;
    }
    news.push(HttpInput::Chunk(rest.to_vec().into()));
    news.push(HttpInput::End);
    news
}

/// A stream that ends, or breaks, too early.
fn cut(mut bytes: Vec<u8>, content_type: &str, rng: &mut Rng) -> Vec<HttpInput> {
    bytes.truncate(rng.index(bytes.len()));
    let mut news = response(200, content_type, &bytes, rng);
    if rng.chance(50) {
        news.pop();
        news.push(broken(rng));
    }
    news
}

fn refused(wire: WireKind, statuses: &[u16], rng: &mut Rng) -> Vec<HttpInput> {
    let status = statuses[rng.index(statuses.len())];
    let kind = match status {
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400 => "invalid_request_error",
        401 => "authentication_error",
        _ => "api_error",
    };
    let message = rng.pick(&["no", "prompt is too long: 3 > 2"]);
    let error = wires::refusal(wire, status, kind, message);
    let body = match rng.below(4) {
        0 => String::from("<html>"),
        1 => String::new(),
        _ => error,
    };
    response(status, "application/json", body.as_bytes(), rng)
}

fn broken(rng: &mut Rng) -> HttpInput {
    let kind = match rng.below(20) {
        0 => HttpFailureKind::Refused,
        1..=5 => HttpFailureKind::Timeout,
        6..=8 => HttpFailureKind::Cancelled,
        _ => HttpFailureKind::Network,
    };
    HttpInput::Failed(HttpFailure { kind, message: "it broke".into() })
}
