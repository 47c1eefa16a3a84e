//! Long streamed responses of each protocol, in network chunks of 1 to 4 KB: through the decoder,
//! and through a whole session, whose events are looked at.

use crate::{
    bodies,
    limits::{least, timed},
    sessions::{self, Driven},
};
use innerloop_core::{
    Decoder, SessionBlueprint,
    bytes::BodyBytes,
    config::WireKind,
    corrections::{CorrectionPolicy, ReplyFault},
    message::Reply,
};
use innerloop_tests::feeding;
use serde::de::IgnoredAny;
use std::{hint::black_box, time::Duration};

const WIRES: [(&str, WireKind); 5] = [
    ("openai_responses", WireKind::OpenaiResponses),
    ("openai_chat", WireKind::OpenaiChat),
    ("anthropic", WireKind::Anthropic),
    ("gemini", WireKind::Gemini),
    ("ollama", WireKind::Ollama),
];
const DELTAS: usize = 50_000;
const RUNS: usize = 7;

/// All of them.
pub(super) fn run() {
    texts();
    arguments();
}

fn texts() {
    println!("{DELTAS} text deltas, µs each (goal ≤ 1)");
    let head = "decoder      session      echo watched (goal ≤ +0.40)  limits: copy  parse";
    println!("    {:<17} {head}", "");
    for (name, wire) in WIRES {
        let (body, text) = bodies::text(wire, DELTAS);
        let stream = Stream::new(wire, body);
        assert_eq!(stream.reply().text(), text, "{name}");
        let each = |time: Duration| time.as_secs_f64() * 1e6 / DELTAS as f64;
        let [decoder, session, copy, parse] = stream.times().map(each);
        let more = each(stream.session(&watched(wire))) - session;
        println!(
            "    {name:<17} {decoder:<5.2} {:<6} {session:<5.2} {:<6} {more:<+5.2} {:<30} \
             {copy:<5.2} {parse:.2}",
            mark(decoder, 1.0),
            mark(session, 1.0),
            mark(more, 0.4),
        );
    }
}

fn arguments() {
    println!("1 MB of a call's arguments in pieces of 16 bytes, ms (goal ≤ 80; ≤ 20 × 64 KB)");
    println!("    {:<17} decoder      session      × 64 KB      limits: copy  parse", "");
    for (name, wire) in WIRES {
        let [short, long] = [64 << 10, 1 << 20].map(|bytes| {
            let (body, arguments) = bodies::arguments(wire, bytes);
            let stream = Stream::new(wire, body);
            let reply = stream.reply();
            let call = reply.tool_calls().next().expect("a call");
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(&call.arguments), read(&arguments), "{name}");
            stream.times().map(|time| time.as_secs_f64() * 1e3)
        });
        let [decoder, session, copy, parse] = long;
        let growth = (decoder / short[0]).max(session / short[1]);
        println!(
            "    {name:<17} {decoder:<5.1} {:<6} {session:<5.1} {:<6} {growth:<5.1} {:<6} \
             \x20       {copy:<5.1} {parse:.1}",
            mark(decoder, 80.0),
            mark(session, 80.0),
            mark(growth, 20.0),
        );
    }
    println!("    Ollama sends arguments whole, in one line.");
}

fn mark(value: f64, goal: f64) -> &'static str {
    if value <= goal { "ok" } else { "over" }
}

/// For sessions over that protocol that end a reply which repeats itself.
fn watched(wire: WireKind) -> SessionBlueprint {
    let mut config = sessions::config_of(wire);
    config.corrections = CorrectionPolicy::of(&[(ReplyFault::Echo, 1)]);
    SessionBlueprint::new(config).expect("a configuration that works")
}

/// A response in network chunks.
struct Stream {
    wire: WireKind,
    body: Vec<u8>,
    chunks: Vec<BodyBytes>,
}

impl Stream {
    fn new(wire: WireKind, body: Vec<u8>) -> Self {
        let (mut rest, mut chunks) = (body.as_slice(), Vec::new());
        while !rest.is_empty() {
            let size = 1_024 + chunks.len() * 977 % 3_072;
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            chunks.push(BodyBytes(chunk.to_vec()));
            rest = after;
        }
        Self { wire, body, chunks }
    }

    fn reply(&self) -> Reply {
        let mut decoder = Decoder::new(self.wire, &feeding::head(200, ""));
        let mut pieces = Vec::new();
        for chunk in &self.chunks {
            decoder.feed(chunk, &mut pieces);
            black_box(&pieces);
            pieces.clear();
        }
        decoder.finish().expect("a whole reply")
    }

    /// Through the decoder; through a session; to find the lines and copy the bytes; to let
    /// `serde_json` skip over each event's data.
    fn times(&self) -> [Duration; 4] {
        let copy = || {
            let mut copied = Vec::with_capacity(self.body.len());
            let lines = memchr::memchr_iter(b'\n', &self.body).count();
            copied.extend_from_slice(&self.body);
            (lines, copied)
        };
        [
            least(RUNS, || timed(|| self.reply())),
            self.session(&sessions::blueprint_of(self.wire)),
            least(RUNS, || timed(copy)),
            least(RUNS, || timed(|| self.parse())),
        ]
    }

    /// Through a session of that blueprint.
    fn session(&self, blueprint: &SessionBlueprint) -> Duration {
        least(RUNS, || {
            let mut driven = Driven::submit(sessions::open(blueprint, 0));
            let chunks = self.chunks.clone();
            timed(|| driven.reply_in(chunks))
        })
    }

    fn parse(&self) {
        for line in self.body.split(|byte| *byte == b'\n') {
            let data = line.strip_prefix(b"data: ").unwrap_or(line);
            if data.first() == Some(&b'{') {
                black_box(serde_json::from_slice::<IgnoredAny>(data).is_ok());
            }
        }
    }
}
