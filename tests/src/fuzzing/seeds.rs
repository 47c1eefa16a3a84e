//! The inputs to begin with: the fixtures of the wires and of calls in text, and the patches of
//! the table of cases.

use crate::{anthropic::Message, tool_cases};
use innerloop_core::{action::Action, json::Json, text_calls::Family, tool::ToolSpec};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The protocols' folders of fixtures.
const FOLDERS: [&str; 4] = ["openai_responses", "openai_chat", "gemini", "ollama"];

/// Anthropic's stranger events: thinking, tools of the provider's own, citations, an
/// error; data of several lines.
const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":5}}}

data: {"type":"ping"}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm 😀"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s=="}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,
data: "content_block":{"type":"redacted_thinking","data":"x"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,
data: "content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}

data: {"type":"content_block_delta","index":2,
data: "delta":{"type":"input_json_delta","partial_json":"{\"query\": \"\ud83d"}}

data: {"type":"content_block_stop","index":2}

data: {"type":"content_block_start","index":3,"content_block":{"type":"text","text":"a"}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"a":1}}}

data: {"type":"content_block_stop","index":3}

data: {"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;

/// The data of all streams of all protocols, without their frames.
pub(super) fn sse() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let bodies = FOLDERS.into_iter().zip(0..).flat_map(|(folder, wire)| {
        // Anthropic's is the third protocol.
        let wire = if wire == 2 { 3 } else { wire };
        bodies(folder).into_iter().map(move |body| (wire, body))
    });
    let own = anthropic_bodies().into_iter().map(|body| (2, body));
    for (wire, body) in bodies.chain(own) {
        let data: Vec<&[u8]> = body
            .split(|byte| *byte == b'\n')
            .filter_map(|line| line.strip_prefix(b"data:"))
            .map(|line| line.strip_prefix(b" ").unwrap_or(line))
            .collect();
        if !data.is_empty() {
            seeds.push(input(wire, &data.join(&b'\n')));
        }
    }
    seeds
}

pub(super) fn openai_responses() -> Vec<Vec<u8>> {
    inputs(&bodies("openai_responses"))
}

pub(super) fn openai_chat() -> Vec<Vec<u8>> {
    inputs(&bodies("openai_chat"))
}

pub(super) fn anthropic() -> Vec<Vec<u8>> {
    inputs(&anthropic_bodies())
}

pub(super) fn gemini() -> Vec<Vec<u8>> {
    inputs(&bodies("gemini"))
}

pub(super) fn ollama() -> Vec<Vec<u8>> {
    inputs(&bodies("ollama"))
}

/// The texts of all families.
pub(super) fn text_calls() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for ((family, _), setting) in Family::ALL.into_iter().zip(0..) {
        let path = fixtures().join("text_calls").join(format!("{family}.jsonl"));
        for line in fs::read_to_string(path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            seeds.push(input(setting, case["body"].as_str().unwrap().as_bytes()));
        }
    }
    seeds
}

/// The patches of the table of cases.
pub(super) fn patch() -> Vec<Vec<u8>> {
    let patches: Vec<_> = tool_cases::cases()
        .into_iter()
        .filter_map(|case| match case.action {
            Action::Patch { patch, .. } => Some(patch.into_bytes()),
            _ => None,
        })
        .collect();
    inputs(&patches)
}

/// A tool for the names and arguments that many of the texts have.
pub(super) fn tools() -> [ToolSpec; 1] {
    let parameters = json!({"type": "object", "properties": {
        "litres": {"type": "integer"}, "n": {"type": "number"}, "hot": {"type": "boolean"},
        "notes": {"type": "array", "items": {"type": "string"}}, "pot": {"type": "object"},
        "name": {"type": "string"},
    }});
    [ToolSpec::new("boil", "", Json::parse(parameters.to_string()).unwrap())]
}

fn anthropic_bodies() -> Vec<Vec<u8>> {
    let arguments = json!({"file_path": "src/cart.js", "lines": [1, 2.5, null, "é \n"]});
    let messages = [
        Message::text("The tests pass — now."),
        Message::call("toolu_01", "read_file", &arguments),
    ];
    let mut bodies = vec![ANTHROPIC.as_bytes().to_vec()];
    for message in messages {
        bodies.push(message.events().concat().into_bytes());
        bodies.push(message.body().into_bytes());
    }
    bodies
}

/// The bodies in a folder of fixtures.
fn bodies(folder: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(fixtures().join("wire").join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.file_name().is_some_and(|name| name != "expected.jsonl"));
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn inputs(bodies: &[Vec<u8>]) -> Vec<Vec<u8>> {
    bodies.iter().map(|body| input(0, body)).collect()
}

fn input(setting: u8, rest: &[u8]) -> Vec<u8> {
    [&[setting, 0, 0], rest].concat()
}
