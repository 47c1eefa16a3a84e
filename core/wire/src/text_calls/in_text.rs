//! Calls in the text of a reply, beside the protocol's own: shown text is kept free of them while
//! it arrives, and the whole reply gets them as calls.

use super::{stream::TextScanner, text_findings::ParsedText, think};
use crate::piece::ReplyPiece;
use alloc::vec::Vec;
use core::mem;
use innerloop_types::{
    message::{Block, FinishReason, ReasoningBlock, Reply},
    model::{ModelConfig, TextCalls, TextFamily, WireKind},
    tool::ToolSpec,
};

/// Looks for calls in a reply's text.
#[derive(Clone, Debug)]
pub(crate) struct TextCallFinder {
    family: TextFamily,
    /// True if the text begins in thinking, as far as is known.
    in_thinking: bool,
    scanner: TextScanner,
    tools: Vec<ToolSpec>,
}

impl TextCallFinder {
    /// As the model's configuration has it: in the family's format, with the tools' schemas.
    pub(crate) fn new<'a>(
        model: &ModelConfig,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Option<Self> {
        let family = model.text_family;
        let in_thinking = begins_in_thinking(model);
        (model.text_calls != TextCalls::Never).then(|| Self {
            family,
            in_thinking,
            scanner: scanner(family, in_thinking),
            tools: tools.cloned().collect(),
        })
    }

    /// Takes pieces of the reply and appends what can be shown of them.
    pub(crate) fn feed(&mut self, pieces: Vec<ReplyPiece>, out: &mut Vec<ReplyPiece>) {
        for piece in pieces {
            match &piece {
                ReplyPiece::Text(text) => {
                    self.scanner.feed(text, out);
                    continue;
                }
                // An endpoint that tells thinking apart has taken it out of the text.
                ReplyPiece::Reasoning(_) if self.in_thinking && self.scanner.is_fresh() => {
                    self.in_thinking = false;
                    self.scanner = scanner(self.family, false);
                }
                ReplyPiece::Restart => self.scanner = scanner(self.family, self.in_thinking),
                ReplyPiece::Reasoning(_) | ReplyPiece::Call(_) => {}
            }
            out.push(piece);
        }
    }

    /// The whole reply, the calls of its text taken out of it unless it has some of the protocol's
    /// own; one too many shows where there are more than `most_calls`. What has not been shown of
    /// it is appended to `out`.
    pub(crate) fn finish(
        &mut self,
        reply: Reply,
        most_calls: usize,
        out: &mut Vec<ReplyPiece>,
    ) -> Reply {
        if reply.tool_calls().next().is_some() {
            return reply;
        }
        let plain = scanner(self.family, false);
        let scanner = mem::replace(&mut self.scanner, plain);
        let told = scanner.told(&reply.text(), reply.finish, &self.tools, most_calls);
        let mut rest = Vec::new();
        let is_whole = scanner.finish_shown(&told, &mut rest);
        let reply = taken_apart(reply, told);
        if is_whole {
            out.append(&mut rest);
        } else {
            show_again(&reply, out);
        }
        reply
    }
}

fn scanner(family: TextFamily, in_thinking: bool) -> TextScanner {
    let scanner = TextScanner::new(family);
    if in_thinking { scanner.in_thinking() } else { scanner }
}

/// Returns whether the model's text begins in thinking. Ollama takes the thinking out itself.
fn begins_in_thinking(model: &ModelConfig) -> bool {
    let is_off = model.reasoning_effort.as_deref() == Some("none");
    let is_raw = model.wire == WireKind::OpenaiChat && !is_off;
    model.begins_in_thinking.unwrap_or_else(|| is_raw && think::is_opened_for(&model.name))
}

/// Shows the reply anew, since what was shown of it turned out to be something else.
fn show_again(reply: &Reply, out: &mut Vec<ReplyPiece>) {
    out.push(ReplyPiece::Restart);
    let shown = [ReplyPiece::Reasoning(reply.reasoning()), ReplyPiece::Text(reply.text())];
    out.extend(shown.into_iter().filter(|piece| !piece.text().is_empty()));
}

/// Returns whether a text of that model was cut in a call.
pub fn ends_in_call(model: &ModelConfig, text: &str) -> bool {
    let mut scanner = TextScanner::new(model.text_family);
    scanner.feed(text, &mut Vec::new());
    model.text_calls != TextCalls::Never && scanner.is_in_call()
}

/// The reply with what its text holds in its place: thinking, text, and calls behind all.
fn taken_apart(reply: Reply, parsed: ParsedText) -> Reply {
    let finish = match reply.finish {
        FinishReason::Stop | FinishReason::Unknown if !parsed.calls.is_empty() => {
            FinishReason::ToolCalls
        }
        FinishReason::Stop | FinishReason::Unknown if parsed.is_malformed => {
            FinishReason::MalformedToolCall
        }
        finish => finish,
    };
    if parsed.calls.is_empty() && parsed.reasoning.is_empty() && parsed.text == reply.text() {
        return Reply { finish, ..reply };
    }
    let (mut text, mut reasoning) = (Some(parsed.text), Some(parsed.reasoning));
    let mut blocks = Vec::new();
    for block in reply.blocks {
        if !matches!(block, Block::Text(_) | Block::MarkedText(_)) {
            blocks.push(block);
            continue;
        }
        let thought = reasoning.take().filter(|thought| !thought.is_empty());
        blocks
            .extend(thought.map(|text| {
                Block::Reasoning(ReasoningBlock { text, ..ReasoningBlock::default() })
            }));
        blocks.extend(text.take().filter(|text| !text.is_empty()).map(Block::Text));
    }
    blocks.extend(parsed.calls.into_iter().map(Block::ToolCall));
    Reply { blocks, finish, ..reply }
}
