//! How full the context window is: the provider's own count of the last request where it gave one,
//! and an estimate of what came since (`docs/decisions.md#the-context-window`).

use crate::types::{
    config::Estimator,
    message::{Block, MarkedText, Part, TurnKind},
};

/// A running count over the turns of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    estimator: Estimator,
    /// What the provider counted for all up to its last reply.
    counted: u64,
    /// Thousandths of a token since.
    since: u64,
}

impl Gauge {
    /// Nothing yet.
    #[must_use]
    pub const fn new(estimator: Estimator) -> Self {
        Self { estimator, counted: 0, since: 0 }
    }

    /// Takes a further turn into account.
    pub fn note(&mut self, turn: &TurnKind) {
        if let TurnKind::Assistant(reply) = turn
            && let Some(usage) = reply.usage
        {
            self.counted = usage.input_total.saturating_add(usage.output_total);
            self.since = 0;
            return;
        }
        self.since = self.since.saturating_add(turn_cost(self.estimator, turn));
    }

    /// Tokens of all turns, about.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.counted.saturating_add(self.since / 1_000)
    }

    /// How full a window of `window` tokens is in percent, if that is more than 80.
    #[must_use]
    pub fn warning(&self, window: u32) -> Option<u64> {
        let percent = self.tokens().saturating_mul(100).checked_div(u64::from(window))?;
        (percent > 80).then_some(percent)
    }
}

/// What a text is made of, which decides how many characters a token has.
#[derive(Clone, Copy)]
enum Kind {
    Code,
    Prose,
}

/// What a turn costs, in thousandths of a token.
fn turn_cost(by: Estimator, turn: &TurnKind) -> u64 {
    let parts =
        |parts: &[Part], kind| -> u64 { parts.iter().map(|part| part_cost(by, part, kind)).sum() };
    let texts = match turn {
        TurnKind::User(said) | TurnKind::Steering(said) => parts(said, Kind::Prose),
        TurnKind::System(text) => text_cost(by, text, Kind::Prose),
        TurnKind::ToolResults(results) => {
            results.iter().map(|result| parts(&result.parts, Kind::Code)).sum()
        }
        TurnKind::Assistant(reply) => reply.blocks.iter().map(|block| block_cost(by, block)).sum(),
    };
    let message = if by == Estimator::Words { 4_000 } else { 0 };
    texts.saturating_add(message)
}

fn block_cost(by: Estimator, block: &Block) -> u64 {
    match block {
        Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
            text_cost(by, text, Kind::Prose)
        }
        Block::Reasoning(reasoning) => text_cost(by, &reasoning.text, Kind::Prose),
        Block::ToolCall(call) => {
            text_cost(by, &call.name, Kind::Code) + text_cost(by, &call.arguments, Kind::Code)
        }
        Block::Opaque(json) => text_cost(by, json.text(), Kind::Code),
    }
}

/// A picture costs about as much as a long page, whatever its bytes.
fn part_cost(by: Estimator, part: &Part, kind: Kind) -> u64 {
    const IMAGE: u64 = 1_600_000;
    part.as_text().map_or(IMAGE, |text| text_cost(by, text, kind))
}

fn text_cost(by: Estimator, text: &str, kind: Kind) -> u64 {
    let chars = || text.chars().count() as u64;
    match (by, kind) {
        (Estimator::Chars, _) | (Estimator::CodeAndProse, Kind::Prose) => chars() * 250,
        (Estimator::CodeAndProse, Kind::Code) => chars() * 330,
        (Estimator::Words, _) => text.split_whitespace().count() as u64 * 1_300,
        (Estimator::Bytes, _) => text.len() as u64 * 250,
    }
}
