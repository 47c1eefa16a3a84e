//! Settings for shortening the conversation that the model reads: when, how, and which part stays
//! (`docs/decisions.md#compaction`). The defaults do nothing automatically, as the specification
//! requires.

use crate::message::FoldKind;
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The rules for shortening the conversation: when, how, and which part stays. Unless the host
/// requests it, that happens only if a tier or `on_overflow` says so.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct CompactionPolicy {
    /// The tiers that apply before a model call; if several are reached, the one with the highest
    /// start applies.
    pub auto: Vec<CompactionTier>,
    /// The reaction when the conversation no longer fits the model.
    pub on_overflow: OnOverflow,
    /// True if the oldest turns are left out when the conversation does not fit and nothing else
    /// shortens it; otherwise the run ends.
    pub truncate_if_needed: bool,
    /// The part of the conversation that stays.
    pub keep: RetentionPolicy,
    /// The rules for a summary by the model.
    pub summary: SummaryPolicy,
    /// The number of turns above which the first tier applies, whatever their length; 0 for never.
    pub max_messages: u32,
    /// The number of failures in a row after which there are no automatic attempts, until a request
    /// of the host succeeds.
    pub max_failures: u32,
    /// The maximum number of tokens that count as the context window; 0 for all of it.
    // For estimators that are rough: one that counts words takes a line of minified JSON for one
    // token, and would let a conversation grow beyond any window.
    pub max_window: u32,
}

impl Default for CompactionPolicy {
    fn default() -> Self {
        Self {
            auto: Vec::new(),
            on_overflow: OnOverflow::Warn,
            truncate_if_needed: true,
            keep: RetentionPolicy::default(),
            summary: SummaryPolicy::default(),
            max_messages: 0,
            max_failures: 3,
            max_window: 0,
        }
    }
}

/// A step that shortens the conversation automatically, and the fullness from which it applies.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct CompactionTier {
    /// The fullness of the window from which the tier applies.
    pub from: WindowFullness,
    /// The fullness of the window to reach.
    // Each fold changes the prefix that the provider has cached. So it should lead far below
    // `from`: with 60 percent behind 90, the cache is lost once for a third of a window.
    pub to: WindowFullness,
    /// The step to take.
    pub step: FoldKind,
    /// The maximum number of the user's inputs that are kept with everything that followed them;
    /// all that fit if absent.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u32>,
}

/// The fullness of a context window, in percent, in tokens used or in tokens left. If several
/// values are given, the one that is reached last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct WindowFullness {
    /// The part that is used, in percent.
    #[json(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u32>,
    /// The number of tokens that are used.
    #[json(skip_serializing_if = "Option::is_none")]
    pub used: Option<u32>,
    /// The number of tokens that are left.
    #[json(skip_serializing_if = "Option::is_none")]
    pub left: Option<u32>,
}

impl WindowFullness {
    /// Creates a fullness in percent of the window.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        Self { percent: Some(percent), used: None, left: None }
    }

    /// Returns the number of tokens that are used at this fullness, in a window of `window` tokens.
    #[must_use]
    pub fn tokens(&self, window: u64) -> u64 {
        let percent = self.percent.map(|percent| window * u64::from(percent) / 100);
        let left = self.left.map(|left| window.saturating_sub(left.into()));
        // The highest value counts, so that one setting serves all windows: a number of tokens that
        // is left fits large ones, and the percentage keeps it from coming too early in small ones.
        // With no value given, only a full window is full.
        [percent, self.used.map(u64::from), left].into_iter().flatten().max().unwrap_or(window)
    }
}

/// The reaction when the conversation no longer fits the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum OnOverflow {
    /// The run ends, with a warning.
    #[default]
    Warn,
    /// The conversation is shortened to half of the window, and the model is called again, once for
    /// each input.
    CompactRetryOnce,
}

/// The part of a conversation that is kept when it is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RetentionPolicy {
    /// The maximum number of tokens of the newest turns that are kept if the host requests a
    /// shorter conversation.
    pub tokens: u32,
    /// The number of the newest replies that are always kept, each with its calls and their
    /// results.
    // Counted in replies, not in the user's inputs: of one input with 300 rounds, a rule that keeps
    // the last inputs would free nothing.
    pub rounds: u32,
    /// The maximum number of tokens of the user's inputs that follow a summary unchanged, newest
    /// first.
    pub words_of_user: u32,
    /// True if the user's first input stays.
    pub first_input: bool,
}

impl Default for RetentionPolicy {
    fn default() -> Self {
        Self { tokens: 20_000, rounds: 3, words_of_user: 20_000, first_input: false }
    }
}

/// The rules for a summary by a model.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SummaryPolicy {
    /// Another model of the same endpoint; the agent's own if absent.
    pub model: Option<String>,
    /// The maximum number of tokens of the summary.
    pub max_tokens: u32,
    /// The maximum number of characters that it reads of a tool's result.
    pub result_chars: u32,
    /// Additional instructions for the summary.
    pub instructions: Option<String>,
}

impl Default for SummaryPolicy {
    fn default() -> Self {
        Self { model: None, max_tokens: 4_096, result_chars: 2_000, instructions: None }
    }
}

/// The reason why turns are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum FoldReason {
    /// A tier is reached.
    Full,
    /// The conversation did not fit the model.
    Overflow,
    /// The host requested it.
    Asked,
}
