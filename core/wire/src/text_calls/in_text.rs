//! Calls in the text of a decoded reply. A `TextCallFinder` stands between a protocol's decoder and
//! whoever shows the reply: it shows the text without its calls while it arrives, and turns them
//! into calls of the finished reply. A reply with native calls keeps its text as it is.

use super::{stream::TextScanner, text_findings::ParsedText, think};
use crate::piece::ReplyPiece;
use alloc::vec::Vec;
use core::mem;
use innerloop_json::IntoList;
use innerloop_types::{
    message::{Block, FinishReason, ReasoningBlock, Reply},
    model::{ModelConfig, TextCalls, TextFamily, WireKind},
    tool::ToolSpec,
};

/// The search for calls in a reply's text.
#[derive(Debug)]
pub(crate) struct TextCallFinder {
    family: TextFamily,
    /// True if the text begins in thinking, as far as is known.
    in_thinking: bool,
    scanner: TextScanner,
    tools: Vec<ToolSpec>,
}

impl TextCallFinder {
    /// Creates the finder that the model's configuration asks for, or `None` if it reads no calls
    /// from text.
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
            tools: tools.cloned().into_list(),
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
                // An endpoint that sends thinking in a field of its own has removed it from the
                // text, so the text does not begin in it.
                ReplyPiece::Reasoning(_) if self.in_thinking && self.scanner.is_fresh() => {
                    self.in_thinking = false;
                    self.scanner = scanner(self.family, false);
                }
                // After a restart the reply comes anew from its beginning, so nothing that was
                // scanned holds.
                ReplyPiece::Restart => self.scanner = scanner(self.family, self.in_thinking),
                ReplyPiece::Reasoning(_) | ReplyPiece::Call(_) => {}
            }
            out.push(piece);
        }
    }

    /// Returns the whole reply with the calls of its text as calls, unless it has native ones. If
    /// there are more than `most_calls`, at least one too many is returned. Appends to `out` what
    /// has not been shown yet.
    pub(crate) fn finish(
        &mut self,
        reply: Reply,
        most_calls: usize,
        out: &mut Vec<ReplyPiece>,
    ) -> Reply {
        // With native calls, whatever looks like a call in the text only mentions one.
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

/// Returns whether the model's text begins in thinking, by its configuration or else its name.
fn begins_in_thinking(model: &ModelConfig) -> bool {
    let is_off = model.reasoning_effort.as_deref() == Some("none");
    // Servers of Chat Completions may pass the text on as the model wrote it; the other protocols,
    // Ollama's among them, have taken the thinking out.
    let is_raw = model.wire == WireKind::OpenaiChat && !is_off;
    model.begins_in_thinking.unwrap_or_else(|| is_raw && think::is_opened_for(&model.name))
}

/// Shows the reply anew, because what was shown of it is not the beginning of what it says.
fn show_again(reply: &Reply, out: &mut Vec<ReplyPiece>) {
    out.push(ReplyPiece::Restart);
    let shown = [ReplyPiece::Reasoning(reply.reasoning()), ReplyPiece::Text(reply.text())];
    out.extend(shown.into_iter().filter(|piece| !piece.text().is_empty()));
}

/// Returns whether the model's text ends within a call, so that a longer reply would complete it.
pub fn ends_in_call(model: &ModelConfig, text: &str) -> bool {
    let mut scanner = TextScanner::new(model.text_family);
    scanner.feed(text, &mut Vec::new());
    model.text_calls != TextCalls::Never && scanner.is_in_call()
}

/// Returns the reply with its text replaced by the thinking and the text found in it, and with the
/// calls at its end.
fn taken_apart(reply: Reply, parsed: ParsedText) -> Reply {
    // Only a reply that ends as if it were done gets another reason: one that a limit or a filter
    // cut keeps it, since the session must not run the calls of such a reply.
    let finish = match reply.finish {
        FinishReason::Stop | FinishReason::Unknown if !parsed.calls.is_empty() => {
            FinishReason::ToolCalls
        }
        FinishReason::Stop | FinishReason::Unknown if parsed.is_malformed => {
            FinishReason::MalformedToolCall
        }
        finish => finish,
    };
    // Nothing was found, so the blocks stay, with the marks that providers want back on their text.
    if parsed.calls.is_empty() && parsed.reasoning.is_empty() && parsed.text == reply.text() {
        return Reply { finish, ..reply };
    }
    let (mut text, mut reasoning) = (Some(parsed.text), Some(parsed.reasoning));
    let mut blocks = Vec::new();
    for block in reply.blocks {
        // All that was found takes the place of the first text block; the later ones are part of
        // it.
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
