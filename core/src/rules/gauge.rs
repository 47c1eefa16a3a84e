//! How full the context window is: the provider's own count of the last request where it gave one,
//! and an estimate of all else, by the measure of that count
//! (`docs/decisions.md#the-context-window`).

use innerloop_types::{
    config::TokenEstimator,
    message::{Block, MarkedText, Part, VisibleTurn},
};

/// A running count over the turns that the model sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenGauge {
    estimator: TokenEstimator,
    /// Thousandths of a token of all turns, estimated.
    turns: u64,
    /// The provider's token count for its last reply and all before, the head included; 0 where it
    /// has not counted.
    counted: u64,
    /// Thousandths of a token of the same turns, estimated.
    estimated: u64,
}

impl TokenGauge {
    /// Nothing yet.
    #[must_use]
    pub const fn new(estimator: TokenEstimator) -> Self {
        Self { estimator, turns: 0, counted: 0, estimated: 0 }
    }

    /// Nothing again.
    #[must_use]
    pub const fn emptied(self) -> Self {
        Self::new(self.estimator)
    }

    /// Takes a further turn into account.
    pub fn note(&mut self, said: &VisibleTurn<'_>) {
        self.estimate(said);
        if let VisibleTurn::Assistant(reply) = said
            && let Some(usage) = reply.usage
        {
            self.counted = usage.input_total.saturating_add(usage.output_total);
            self.estimated = self.turns;
        }
    }

    /// Takes a further turn into account, whatever the provider counted for it.
    pub fn estimate(&mut self, said: &VisibleTurn<'_>) {
        self.turns = self.turns.saturating_add(self.cost(said));
    }

    /// Thousandths of a token of a turn, estimated.
    #[must_use]
    pub fn cost(&self, said: &VisibleTurn<'_>) -> u64 {
        turn_cost(self.estimator, said)
    }

    /// Returns what the provider counted for its last reply and all before, where it has.
    #[must_use]
    pub fn counted(&self) -> Option<u64> {
        Some(self.counted).filter(|&counted| counted > 0)
    }

    /// Tokens of the turns and of a head of `head` thousandths of a token, about.
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

    /// Tokens of so many thousandths, by what the provider counted where we estimated: between half
    /// and three times the estimate.
    #[must_use]
    pub fn scaled(&self, thousandths: u64, head: u64) -> u64 {
        let estimated = self.estimated.saturating_add(head);
        let counted = self.counted.saturating_mul(1_000_000).checked_div(estimated);
        let ratio = counted.filter(|&ratio| ratio > 0).map_or(1_000, |r| r.clamp(500, 3_000));
        thousandths.saturating_mul(ratio) / 1_000_000
    }

    /// Returns how full a window of `window` tokens is in percent, if that is more than 80.
    #[must_use]
    pub fn warning(&self, window: u64, head: u64) -> Option<u64> {
        let percent = self.tokens(head).saturating_mul(100).checked_div(window)?;
        (percent > 80).then_some(percent)
    }
}

/// Thousandths of a token of what is said.
#[must_use]
pub fn prose_cost(by: TokenEstimator, text: &str) -> u64 {
    text_cost(by, text, TextKind::Prose)
}

/// Thousandths of a token of JSON and the like.
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

/// Returns what a turn costs, in thousandths of a token.
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

/// A picture costs about as much as a long page, whatever its bytes.
fn part_cost(by: TokenEstimator, part: &Part, kind: TextKind) -> u64 {
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
