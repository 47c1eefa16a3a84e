//! A response's bytes to a reply: the lines of a stream, or one whole line of the same shape.

use super::super::{
    failure::{Failure, FailureKind, of_body, of_value},
    lenient::{Fields, text},
    piece::Piece,
};
use crate::{
    base::json::without_lone_surrogates,
    types::{
        config::WireKind,
        input::ResponseHead,
        message::{Block, Finish, Reasoning, Reply, ToolCall, Usage},
    },
};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use serde_json::{Value, value::RawValue};

/// What a response without success says. Ollama's cloud also names where to sign in.
pub(in super::super) fn refusal(head: &ResponseHead, body: &[u8]) -> Failure {
    let mut failure = of_body(head, body);
    let said = String::from_utf8_lossy(body);
    let url = Fields::parse(said.trim()).ok().and_then(|fields| fields.text("signin_url"));
    if let Some(url) = url.filter(|url| !url.is_empty()) {
        failure.message = format!("{}: sign in at {url}", failure.message);
    }
    failure
}

/// The reply while it arrives.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Draft {
    blocks: Vec<Block>,
    model: Option<String>,
    finish: Finish,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// The terminal marker has come.
    done: bool,
    failure: Option<Failure>,
    /// Data that could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

impl Draft {
    pub(in super::super) fn on_data(
        &mut self,
        data: &[u8],
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let text = String::from_utf8_lossy(data);
        match Fields::parse(&text) {
            Ok(line) => self.on_line(&line, &text, head, out),
            Err(error) if error.is_eof() => {}
            // What is no object (`[DONE]` and the like) loses nothing.
            Err(error) if text.trim_start().starts_with('{') => {
                self.unreadable.get_or_insert_with(|| format!("{error}"));
            }
            Err(_) => {}
        }
    }

    fn on_line(&mut self, line: &Fields<'_>, all: &str, head: &ResponseHead, out: &mut Vec<Piece>) {
        if let Some(failure) = failure_of(line, all, head) {
            self.failure.get_or_insert(failure);
            return;
        }
        if self.model.is_none() {
            self.model = line.text("model").map(Cow::into_owned);
        }
        if let Some(message) = line.object("message") {
            self.on_message(&message, out);
        }
        self.input_tokens = line.count("prompt_eval_count").or(self.input_tokens);
        self.output_tokens = line.count("eval_count").or(self.output_tokens);
        if line.is_true("done") {
            self.done = true;
            self.finish = match line.text("done_reason").as_deref() {
                // Older servers give no reason.
                Some("stop" | "") | None => Finish::Stop,
                Some("length") => Finish::Length,
                // `load` and `unload` answer a request without messages; others are not known.
                Some(_) => Finish::Unknown,
            };
        }
    }

    fn on_message(&mut self, message: &Fields<'_>, out: &mut Vec<Piece>) {
        if let Some(piece) = message.text("thinking").filter(|piece| !piece.is_empty()) {
            match self.blocks.last_mut() {
                Some(Block::Reasoning(reasoning)) => reasoning.text.push_str(&piece),
                _ => self.blocks.push(Block::Reasoning(Reasoning {
                    text: piece.clone().into_owned(),
                    ..Reasoning::default()
                })),
            }
            out.push(Piece::Reasoning(piece.into_owned()));
        }
        if let Some(piece) = message.text("content").filter(|piece| !piece.is_empty()) {
            match self.blocks.last_mut() {
                Some(Block::Text(text)) => text.push_str(&piece),
                _ => self.blocks.push(Block::Text(piece.clone().into_owned())),
            }
            out.push(Piece::Text(piece.into_owned()));
        }
        let calls = message.items("tool_calls").into_iter().filter_map(call_of);
        self.blocks.extend(calls.map(Block::ToolCall));
    }

    /// Whether the terminal marker has come: nothing that follows counts.
    pub(in super::super) const fn is_whole(&self) -> bool {
        self.done
    }

    pub(in super::super) fn finish(self) -> Result<Reply, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(error) = self.unreadable {
            let message = format!("the stream holds what is not JSON: {error}");
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        if !self.done {
            let message = "the stream ended before the reply was whole";
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        let usage = (self.input_tokens.is_some() || self.output_tokens.is_some()).then(|| Usage {
            // The server leaves a count of zero out, as when the whole prompt was in its cache.
            input_total: self.input_tokens.unwrap_or_default(),
            output_total: self.output_tokens.unwrap_or_default(),
            ..Usage::default()
        });
        let has_calls = self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
        let mut blocks = self.blocks;
        // A reply is kept as long as the session: what it does not need goes back.
        blocks.shrink_to_fit();
        Ok(Reply {
            blocks,
            finish: if has_calls { Finish::ToolCalls } else { self.finish },
            usage,
            wire: Some(WireKind::Ollama),
            model: self.model,
            ..Reply::default()
        })
    }
}

/// The failure that a line tells, if it tells one. Some versions give it as
/// `{"error parsing tool call": "…"}`.
fn failure_of(line: &Fields<'_>, all: &str, head: &ResponseHead) -> Option<Failure> {
    if let Some(error) = line.raw("error") {
        if matches!(error.get(), "\"\"" | "false") {
            return None;
        }
        let value = serde_json::from_str::<Value>(all)
            .or_else(|_| serde_json::from_str(&without_lone_surrogates(all)));
        return Some(of_value(head, &value.unwrap_or_default()));
    }
    if line.raw("message").is_some() || line.raw("done").is_some() {
        return None;
    }
    let name = line.names().find(|name| name.contains("error"))?;
    let message = format!("{name}: {}", line.text(name).unwrap_or(Cow::Borrowed("")));
    Some(of_value(head, &Value::String(message)))
}

/// A call: `{id?, function: {name, arguments}}`, also without the wrapper.
fn call_of(raw: &RawValue) -> Option<ToolCall> {
    let call = Fields::parse(raw.get()).ok()?;
    let function = call.object("function");
    let function = function.as_ref().unwrap_or(&call);
    let name = function.text("name");
    let arguments = function.raw("arguments").map(|raw| match raw.get().as_bytes().first() {
        Some(b'"') => text(raw).unwrap_or_default().into_owned(),
        _ => String::from(raw.get()),
    });
    if name.is_none() && arguments.is_none() {
        return None;
    }
    Some(ToolCall {
        id: call.text("id").unwrap_or_default().into_owned(),
        name: name.unwrap_or_default().into_owned(),
        arguments: arguments
            .filter(|arguments| !arguments.trim().is_empty())
            .unwrap_or_else(|| String::from("{}")),
        detail: None,
    })
}
