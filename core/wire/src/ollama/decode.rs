//! The decoder of responses: the lines of a stream, or one whole line of the same shape, become a
//! reply.

use super::super::{
    failure::{ModelCallError, of_value},
    finish::{is_given, told},
    lenient::{Error, JsonDocument, ValueRef},
    piece::ReplyPiece,
    protocol::WireAccumulator,
    sink::PieceSink,
    stream_faults::DecodeFaults,
};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::mem;
use innerloop_json::quoted;
use innerloop_types::{
    input::ResponseHead,
    message::{Block, FinishReason, ReasoningBlock, Reply, ToolCall, Usage},
};

/// The reply while it arrives.
#[derive(Debug, Default)]
pub(crate) struct OllamaAccumulator {
    blocks: Vec<Block>,
    model: Option<String>,
    finish: FinishReason,
    /// The server's word for the reason, where that says more.
    reason: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// True if the terminal marker has come.
    done: bool,
    faults: DecodeFaults,
}

/// The fields of a line.
struct OllamaLine<'a> {
    model: ValueRef<'a>,
    message: ValueRef<'a>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    done: ValueRef<'a>,
    done_reason: ValueRef<'a>,
    error: ValueRef<'a>,
}

impl<'a> OllamaLine<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 7] =
            ["model", "message", "prompt_eval_count", "eval_count", "done", "done_reason", "error"];
        let [model, message, input, output, done, done_reason, error] = raw.fields(&NAMES);
        let (input_tokens, output_tokens) = (input.count(), output.count());
        Self { model, message, input_tokens, output_tokens, done, done_reason, error }
    }
}

impl WireAccumulator for OllamaAccumulator {
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        _: &ResponseHead,
        _: &mut PieceSink,
    ) {
        // The missing last line already says that the stream was cut.
        if !error.is_some_and(Error::is_eof) {
            self.faults.odd_data(text, error);
        }
    }

    fn on_event(&mut self, raw: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        let line = OllamaLine::of(raw);
        if self.faults.reported.is_none() {
            self.faults.reported = failure_of(&line, raw, head);
        }
        if self.faults.reported.is_some() {
            return;
        }
        if self.model.is_none() {
            self.model = line.model.text().map(Cow::into_owned);
        }
        self.on_message(line.message, out);
        self.input_tokens = line.input_tokens.or(self.input_tokens);
        self.output_tokens = line.output_tokens.or(self.output_tokens);
        if line.done.is_true() {
            self.done = true;
            let reason = line.done_reason.text().filter(|reason| is_given(reason));
            let reason = reason.unwrap_or_default();
            self.finish = match &*reason {
                // Older servers give no reason.
                "stop" | "" => FinishReason::Stop,
                "length" => FinishReason::Length,
                // `load` and `unload` answer a request without messages; others are not known.
                _ => FinishReason::Unknown,
            };
            self.reason = told(self.finish, &reason, None);
        }
    }

    fn cut(&mut self) {
        (self.done, self.finish) = (true, FinishReason::Length);
        self.faults = DecodeFaults::default();
    }

    fn is_whole(&self) -> bool {
        self.done || self.faults.reported.is_some()
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        if let Some(failure) = self.faults.failure(self.done) {
            return Err(failure);
        }
        let usage = (self.input_tokens.is_some() || self.output_tokens.is_some()).then(|| Usage {
            // The server leaves out counts of zero, as when the whole prompt was in its cache.
            input_total: self.input_tokens.unwrap_or_default(),
            output_total: self.output_tokens.unwrap_or_default(),
            ..Usage::default()
        });
        let has_calls = self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
        Ok(Reply {
            blocks: mem::take(&mut self.blocks),
            finish: match self.finish {
                // `done_reason` stays `stop` with calls. With `length` another call may have been
                // cut, so that none of them runs.
                FinishReason::Stop | FinishReason::Unknown if has_calls => FinishReason::ToolCalls,
                finish => finish,
            },
            reason: self.reason.take(),
            usage,
            model: self.model.take(),
            ..Reply::default()
        })
    }
}

impl OllamaAccumulator {
    fn on_message(&mut self, message: ValueRef<'_>, out: &mut PieceSink) {
        let [thinking, content, calls] = message.fields(&["thinking", "content", "tool_calls"]);
        if let Some(piece) = thinking.text().filter(|piece| !piece.is_empty()) {
            match self.blocks.last_mut() {
                Some(Block::Reasoning(reasoning)) => reasoning.text.push_str(&piece),
                _ => {
                    let text = piece.clone().into_owned();
                    self.begin(
                        Block::Reasoning(ReasoningBlock { text, ..ReasoningBlock::default() }),
                        out,
                    );
                }
            }
            out.push(ReplyPiece::Reasoning(piece.into_owned()));
        }
        if let Some(piece) = content.text().filter(|piece| !piece.is_empty()) {
            match self.blocks.last_mut() {
                Some(Block::Text(text)) => text.push_str(&piece),
                _ => self.begin(Block::Text(piece.clone().into_owned()), out),
            }
            out.push(ReplyPiece::Text(piece.into_owned()));
        }
        for call in calls.objects().filter_map(call_of) {
            if out.is_full() {
                return;
            }
            out.keep(call.arguments.len());
            out.call(self.blocks.len(), &call.id, &call.name, &call.arguments);
            self.begin(Block::ToolCall(call), out);
        }
    }

    /// Begins a block, if there is room.
    fn begin(&mut self, block: Block, out: &mut PieceSink) {
        if out.item() {
            self.blocks.push(block);
        }
    }
}

/// Returns the failure that a line reports, if it reports one. Some versions give it under another
/// name: `{"error parsing tool call": "…"}`.
fn failure_of(
    line: &OllamaLine<'_>,
    raw: ValueRef<'_>,
    head: &ResponseHead,
) -> Option<ModelCallError> {
    if !line.error.is_null() {
        let is_told = !matches!(line.error.json(), "\"\"" | "false");
        return is_told.then(|| of_value(head, raw));
    }
    if !line.message.or(line.done).is_null() {
        return None;
    }
    let name = raw.names().find(|name| name.contains("error"))?;
    let said = raw.field(&name).text().unwrap_or_default();
    let message = quoted(&format!("{name}: {said}"));
    Some(of_value(head, JsonDocument::of(&message).root()))
}

/// Reads a call: `{id?, function: {name, arguments}}`, also without the wrapper.
fn call_of(call: ValueRef<'_>) -> Option<ToolCall> {
    let [id, function] = call.fields(&["id", "function"]);
    let function = if function.is_object() { function } else { call };
    let [name, arguments] = function.fields(&["name", "arguments"]);
    let name = name.text();
    if name.is_none() && arguments.is_null() {
        return None;
    }
    let given = arguments.string().unwrap_or(Cow::Borrowed(arguments.json()));
    let is_blank = arguments.is_null() || given.trim().is_empty();
    Some(ToolCall {
        id: id.text().unwrap_or_default().into_owned(),
        name: name.unwrap_or_default().into_owned(),
        arguments: if is_blank { String::from("{}") } else { given.into_owned() },
        detail: None,
    })
}
