//! The fullness of the context window: the provider's own count of the last request if it gave one,
//! and an estimate of everything else, scaled by how that count compares with our estimates
//! (`docs/decisions.md#the-context-window`). Tokens are counted in thousandths, so that sums of
//! small texts lose nothing.

use innerloop_types::{
    config::TokenEstimator,
    message::{Block, MarkedText, Part, VisibleTurn},
};

/// A running count over the turns that the model sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenGauge {
    estimator: TokenEstimator,
    /// The estimate for all turns, in thousandths of a token.
    turns: u64,
    /// The provider's token count for its last reply and everything before it, including the head;
    /// 0 if it has not counted.
    counted: u64,
    /// The estimate for the turns that `counted` covers, in thousandths of a token.
    estimated: u64,
}

impl TokenGauge {
    /// Creates a gauge without any turns.
    #[must_use]
    pub const fn new(estimator: TokenEstimator) -> Self {
        Self { estimator, turns: 0, counted: 0, estimated: 0 }
    }

    /// Returns a gauge without any turns and with the same estimator.
    #[must_use]
    pub const fn emptied(self) -> Self {
        Self::new(self.estimator)
    }

    /// Adds a turn; a reply's count by the provider takes the place of the estimate.
    pub fn note(&mut self, said: &VisibleTurn<'_>) {
        self.estimate(said);
        if let VisibleTurn::Assistant(reply) = said
            && let Some(usage) = reply.usage
        {
            // The input of a reply is the whole conversation before it, so that each count replaces
            // the one before instead of adding to it.
            self.counted = usage.input_total.saturating_add(usage.output_total);
            self.estimated = self.turns;
        }
    }

    /// Adds a turn by its estimate alone.
    pub fn estimate(&mut self, said: &VisibleTurn<'_>) {
        // Used for turns before a fold or a rewind, too: what the provider counted for them was a
        // longer conversation than is seen now.
        self.turns = self.turns.saturating_add(self.cost(said));
    }

    /// Estimates a turn, in thousandths of a token.
    #[must_use]
    pub fn cost(&self, said: &VisibleTurn<'_>) -> u64 {
        turn_cost(self.estimator, said)
    }

    /// Returns the provider's count for its last reply and everything before it, if it has counted.
    #[must_use]
    pub fn counted(&self) -> Option<u64> {
        Some(self.counted).filter(|&counted| counted > 0)
    }

    /// Returns the approximate number of tokens of the turns and of a head of `head` thousandths of
    /// a token.
    #[must_use]
    pub fn tokens(&self, head: u64) -> u64 {
        match self.counted {
            0 => self.scaled(self.turns.saturating_add(head), head),
            counted => {
                let since = self.turns.saturating_sub(self.estimated);
                counted.saturating_add(self.scaled(since, head))
            }
        }
    }

    /// Returns an estimate in tokens, scaled by how the provider's count compares with our own for
    /// the same text.
    #[must_use]
    pub fn scaled(&self, thousandths: u64, head: u64) -> u64 {
        let estimated = self.estimated.saturating_add(head);
        let counted = self.counted.saturating_mul(1_000_000).checked_div(estimated);
        // Bounded, since the comparison may be of very little text: a first reply of a few words
        // must not make all later estimates tenfold.
        let ratio = counted.filter(|&ratio| ratio > 0).map_or(1_000, |r| r.clamp(500, 3_000));
        thousandths.saturating_mul(ratio) / 1_000_000
    }

    /// Returns the fullness of a window of `window` tokens in percent, if it is more than 80.
    #[must_use]
    pub fn warning(&self, window: u64, head: u64) -> Option<u64> {
        let percent = self.tokens(head).saturating_mul(100).checked_div(window)?;
        (percent > 80).then_some(percent)
    }
}

/// Estimates prose, in thousandths of a token.
#[must_use]
pub fn prose_cost(by: TokenEstimator, text: &str) -> u64 {
    text_cost(by, text, TextKind::Prose)
}

/// Estimates code and JSON, in thousandths of a token.
#[must_use]
pub fn code_cost(by: TokenEstimator, text: &str) -> u64 {
    text_cost(by, text, TextKind::Code)
}

/// The kind of a text, which decides how many characters a token has.
#[derive(Clone, Copy)]
enum TextKind {
    Code,
    Prose,
}

/// Estimates a turn, in thousandths of a token.
fn turn_cost(by: TokenEstimator, said: &VisibleTurn<'_>) -> u64 {
    let parts =
        |parts: &[Part], kind| -> u64 { parts.iter().map(|part| part_cost(by, part, kind)).sum() };
    let texts = match said {
        VisibleTurn::User(said) | VisibleTurn::Steering(said) => parts(said, TextKind::Prose),
        VisibleTurn::System(text) => text_cost(by, text, TextKind::Prose),
        VisibleTurn::ToolResults(results) => {
            results.iter().map(|result| parts(&result.parts, TextKind::Code)).sum()
        }
        VisibleTurn::Assistant(reply) => {
            reply.blocks.iter().map(|block| block_cost(by, block)).sum()
        }
    };
    let message = if by == TokenEstimator::Words { 4_000 } else { 0 };
    texts.saturating_add(message)
}

fn block_cost(by: TokenEstimator, block: &Block) -> u64 {
    match block {
        Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
            text_cost(by, text, TextKind::Prose)
        }
        Block::Reasoning(reasoning) => text_cost(by, &reasoning.text, TextKind::Prose),
        Block::ToolCall(call) => {
            text_cost(by, &call.name, TextKind::Code)
                + text_cost(by, &call.arguments, TextKind::Code)
        }
        Block::Opaque(json) => text_cost(by, json.text(), TextKind::Code),
    }
}

/// Estimates a part, in thousandths of a token.
fn part_cost(by: TokenEstimator, part: &Part, kind: TextKind) -> u64 {
    // A picture is charged by its pixels, not by its bytes. By the length of its base64 text, a
    // single one would seem to fill the window.
    const IMAGE: u64 = 1_600_000;
    part.as_text().map_or(IMAGE, |text| text_cost(by, text, kind))
}

fn text_cost(by: TokenEstimator, text: &str, kind: TextKind) -> u64 {
    let chars = || text.chars().count() as u64;
    match (by, kind) {
        (TokenEstimator::Chars, _) | (TokenEstimator::CodeAndProse, TextKind::Prose) => {
            chars() * 250
        }
        (TokenEstimator::CodeAndProse, TextKind::Code) => chars() * 330,
        (TokenEstimator::Words, _) => text.split_whitespace().count() as u64 * 1_300,
        (TokenEstimator::Bytes, _) => text.len() as u64 * 250,
    }
}
