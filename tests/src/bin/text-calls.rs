//! Reads models' texts for suites that judge parsers. One line of JSON in: `{family, body, tools,
//! in_thinking, is_cut}`. One line out: what the text says when it comes whole, and how it is
//! streamed in pieces of any size, each different outcome once, with one way that leads to it.

use innerloop_core::{
    Decoder, ReplyPiece,
    config::{ModelConfig, TextCalls, WireKind},
    input::ResponseHead,
    json::Json,
    message::Reply,
    tool::ToolSpec,
};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, BufRead, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case = Case::read(&serde_json::from_str(&line?)?)?;
        writeln!(out, "{}", case.answer()?)?;
    }
    Ok(out.flush()?)
}

struct Case {
    model: ModelConfig,
    body: String,
    tools: Vec<ToolSpec>,
    is_cut: bool,
}

impl Case {
    fn read(line: &Value) -> Result<Self, Box<dyn Error>> {
        let model = ModelConfig {
            wire: WireKind::OpenaiChat,
            text_calls: TextCalls::Fallback,
            text_family: line["family"].as_str().ok_or("no family")?.parse()?,
            begins_in_thinking: line["in_thinking"].as_bool(),
            ..ModelConfig::default()
        };
        let tools = line["tools"].as_array().ok_or("no tools")?;
        Ok(Self {
            model,
            body: line["body"].as_str().ok_or("no body")?.into(),
            tools: tools.iter().map(tool).collect::<Result<_, _>>()?,
            is_cut: line["is_cut"].as_bool().unwrap_or_default(),
        })
    }

    fn answer(&self) -> Result<Value, Box<dyn Error>> {
        let (whole, _) = self.read_in_pieces(&[&self.body])?;
        let whole = told(&whole.text(), &whole.reasoning(), &whole);
        let mut streams: Vec<(String, Value)> = Vec::new();
        for (way, pieces) in ways(&self.body) {
            let (reply, shown) = self.read_in_pieces(&pieces)?;
            let (text, reasoning) = joined(&shown);
            let outcome = told(&text, &reasoning, &reply);
            if streams.iter().all(|(_, other)| *other != outcome) {
                streams.push((way, outcome));
            }
        }
        Ok(json!({"whole": whole, "streams": streams}))
    }

    /// The reply whose text comes in these pieces, and what is shown of it.
    fn read_in_pieces(&self, pieces: &[&str]) -> Result<(Reply, Vec<ReplyPiece>), Box<dyn Error>> {
        let head = ResponseHead {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
            ..ResponseHead::default()
        };
        let mut decoder = Decoder::new(WireKind::OpenaiChat, &head)
            .with_text_calls(&self.model, self.tools.iter());
        let mut shown = Vec::new();
        for piece in pieces {
            let delta = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
            decoder.feed(format!("data: {delta}\n\n").as_bytes(), &mut shown);
        }
        let finish = if self.is_cut { "length" } else { "stop" };
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
        decoder.feed(format!("data: {last}\n\ndata: [DONE]\n\n").as_bytes(), &mut shown);
        let reply = decoder.finish_into(&mut shown).map_err(|failure| failure.message)?;
        Ok((reply, shown))
    }
}

/// A text in pieces of several lengths, and cut once at every place.
fn ways(body: &str) -> Vec<(String, Vec<&str>)> {
    let mut ways = Vec::new();
    for size in [usize::MAX, 1, 2, 3, 5, 8, 13, 21, 64] {
        let (mut pieces, mut rest) = (Vec::new(), body);
        while !rest.is_empty() {
            let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
            let (piece, behind) = rest.split_at(end);
            pieces.push(piece);
            rest = behind;
        }
        ways.push((format!("pieces of {size}"), pieces));
    }
    for (at, _) in body.char_indices().skip(1) {
        let (before, behind) = body.split_at(at);
        ways.push((format!("cut at {at}"), vec![before, behind]));
    }
    ways
}

/// What a reader has before the eyes at the end.
fn joined(shown: &[ReplyPiece]) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for piece in shown {
        match piece {
            ReplyPiece::Restart => (text, reasoning) = (String::new(), String::new()),
            ReplyPiece::Text(more) => text.push_str(more),
            ReplyPiece::Reasoning(more) => reasoning.push_str(more),
            ReplyPiece::Call(_) => {}
        }
    }
    (text, reasoning)
}

fn told(text: &str, reasoning: &str, reply: &Reply) -> Value {
    let calls: Vec<Value> = reply
        .tool_calls()
        .map(|call| json!({"name": call.name, "arguments": call.arguments}))
        .collect();
    json!({"text": text, "reasoning": reasoning, "calls": calls})
}

fn tool(value: &Value) -> Result<ToolSpec, Box<dyn Error>> {
    let function = value.get("function").unwrap_or(value);
    Ok(ToolSpec::new(
        function["name"].as_str().ok_or("a tool without a name")?,
        "",
        Json::parse(function["parameters"].to_string())?,
    ))
}
