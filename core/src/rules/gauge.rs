//! How full the context window is (Spec §5.5): the provider's own count of the last request where
//! it gave one, and a token for each four characters of what came since.

use crate::nouns::message::{Block, MarkedText, Part, TurnKind};

/// Characters that count as a token.
const CHARS_PER_TOKEN: u64 = 4;

/// A running count over the turns of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    /// What the provider counted for all up to its last reply.
    counted: u64,
    /// Characters since.
    chars: u64,
}

impl Gauge {
    /// Takes a further turn into account.
    pub fn note(&mut self, turn: &TurnKind) {
        if let TurnKind::Assistant(reply) = turn
            && let Some(usage) = reply.usage
        {
            let counted = usage.input_total.saturating_add(usage.output_total);
            *self = Self { counted, chars: 0 };
            return;
        }
        self.chars = self.chars.saturating_add(turn_chars(turn));
    }

    /// Tokens of all turns, about.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.counted.saturating_add(self.chars / CHARS_PER_TOKEN)
    }

    /// How full a window of `window` tokens is in percent, if that is more than 80.
    #[must_use]
    pub fn warning(&self, window: u32) -> Option<u64> {
        let percent = self.tokens().saturating_mul(100).checked_div(u64::from(window))?;
        (percent > 80).then_some(percent)
    }
}

fn turn_chars(turn: &TurnKind) -> u64 {
    match turn {
        TurnKind::User(parts) | TurnKind::Steering(parts) => parts_chars(parts),
        TurnKind::System(text) => chars(text),
        TurnKind::ToolResults(results) => {
            results.iter().map(|result| parts_chars(&result.parts)).sum()
        }
        TurnKind::Assistant(reply) => reply.blocks.iter().map(block_chars).sum(),
    }
}

fn block_chars(block: &Block) -> u64 {
    match block {
        Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => chars(text),
        Block::Reasoning(reasoning) => chars(&reasoning.text),
        Block::ToolCall(call) => chars(&call.name) + chars(&call.arguments),
        Block::Opaque(json) => chars(json.text()),
    }
}

/// A picture costs about as much as a long page, whatever its bytes.
fn parts_chars(parts: &[Part]) -> u64 {
    const IMAGE: u64 = 1_600 * CHARS_PER_TOKEN;
    parts.iter().map(|part| part.as_text().map_or(IMAGE, chars)).sum()
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}
