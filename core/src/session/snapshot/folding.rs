//! The forms of folds in a snapshot: the state that is kept beside the history, and a plan that is
//! pending.

use crate::{
    machine::{
        agent_state::FoldState,
        fold_plan::{FoldPlan, TouchedFiles},
    },
    rules::transcript::TranscriptLimit,
};
use alloc::borrow::Cow;
use innerloop_json::{FromJson, FromJsonCow, ToJson};
use innerloop_types::{compaction::FoldReason, message::HistoryFold};

/// The state of an agent's folds that is kept beside its history.
#[derive(Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub(super) struct FoldingForm {
    window: u64,
    failures: u32,
}

impl FoldingForm {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) const fn of(folding: FoldState) -> Self {
        let FoldState { window, failures } = folding;
        Self { window, failures }
    }

    pub(super) const fn folding(self) -> FoldState {
        let Self { window, failures } = self;
        FoldState { window, failures }
    }
}

/// A plan to fold turns. It is stored whole: the configuration that it was made under may have
/// changed since.
#[derive(ToJson, FromJson)]
pub(super) struct PlanForm<'a> {
    why: FoldReason,
    fold: Cow<'a, HistoryFold>,
    #[json(default, skip_serializing_if = "str::is_empty")]
    instructions: Cow<'a, str>,
    #[json(default, skip_serializing_if = "str::is_empty")]
    overflow: Cow<'a, str>,
    files: Cow<'a, TouchedFiles>,
    chars: usize,
    result_chars: usize,
    words: usize,
}

impl<'a> PlanForm<'a> {
    pub(super) fn of(plan: &'a FoldPlan) -> Self {
        let TranscriptLimit { chars, result_chars } = plan.room;
        Self {
            why: plan.why,
            fold: Cow::Borrowed(&plan.fold),
            instructions: Cow::Borrowed(&plan.instructions),
            overflow: Cow::Borrowed(&plan.overflow),
            files: Cow::Borrowed(&plan.files),
            chars,
            result_chars,
            words: plan.words,
        }
    }

    pub(super) fn plan(self) -> FoldPlan {
        FoldPlan {
            why: self.why,
            fold: FromJsonCow::read_value(self.fold),
            instructions: self.instructions.into_owned(),
            overflow: self.overflow.into_owned(),
            files: FromJsonCow::read_value(self.files),
            room: TranscriptLimit { chars: self.chars, result_chars: self.result_chars },
            words: self.words,
        }
    }
}
