//! Calls in the text of a reply, beside the protocol's own: shown text is kept free of them while
//! it arrives, and the whole reply gets them as calls.

use super::{found::Parsed, stream::Scanner, take_apart};
use crate::{
    types::{
        message::{Block, Finish, Reasoning, Reply},
        model::{ModelConfig, TextCalls, TextFamily},
        tool::ToolSpec,
    },
    wire::piece::Piece,
};
use alloc::vec::Vec;

/// Looks for calls in a reply's text.
#[derive(Clone, Debug)]
pub(crate) struct InText {
    family: TextFamily,
    scanner: Scanner,
    tools: Vec<ToolSpec>,
}

impl InText {
    /// As the model's configuration has it: in the family's format, with the tools' schemas.
    pub(crate) fn new<'a>(
        model: &ModelConfig,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Option<Self> {
        let family = model.text_family;
        (model.text_calls != TextCalls::Never).then(|| Self {
            family,
            scanner: Scanner::new(family),
            tools: tools.cloned().collect(),
        })
    }

    /// Takes pieces of the reply and appends what can be shown of them.
    pub(crate) fn feed(&mut self, pieces: Vec<Piece>, out: &mut Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.scanner.feed(&text, out),
                Piece::Reasoning(_) | Piece::Call(_) => out.push(piece),
                Piece::Restart => {
                    self.scanner = Scanner::new(self.family);
                    out.push(piece);
                }
            }
        }
    }

    /// The whole reply, the calls of its text taken out of it unless it has some of the protocol's
    /// own.
    pub(crate) fn finish(&self, reply: Reply) -> Reply {
        if reply.tool_calls().next().is_some() {
            return reply;
        }
        let parsed = take_apart::parse(self.family, &reply.text(), &self.tools);
        taken_apart(reply, parsed)
    }
}

/// Whether a text of that model was cut in a call.
pub(crate) fn ends_in_call(model: &ModelConfig, text: &str) -> bool {
    let mut scanner = Scanner::new(model.text_family);
    scanner.feed(text, &mut Vec::new());
    model.text_calls != TextCalls::Never && scanner.is_in_call()
}

/// The reply with what its text holds in its place: thinking, text, and calls behind all.
fn taken_apart(reply: Reply, parsed: Parsed) -> Reply {
    if parsed.calls.is_empty() && parsed.reasoning.is_empty() {
        return reply;
    }
    let finish = match reply.finish {
        Finish::Stop | Finish::Unknown if !parsed.calls.is_empty() => Finish::ToolCalls,
        finish => finish,
    };
    let (mut text, mut reasoning) = (Some(parsed.text), Some(parsed.reasoning));
    let mut blocks = Vec::new();
    for block in reply.blocks {
        if !matches!(block, Block::Text(_) | Block::MarkedText(_)) {
            blocks.push(block);
            continue;
        }
        let thought = reasoning.take().filter(|thought| !thought.is_empty());
        blocks.extend(
            thought.map(|text| Block::Reasoning(Reasoning { text, ..Reasoning::default() })),
        );
        blocks.extend(text.take().filter(|text| !text.is_empty()).map(Block::Text));
    }
    blocks.extend(parsed.calls.into_iter().map(Block::ToolCall));
    Reply { blocks, finish, ..reply }
}
