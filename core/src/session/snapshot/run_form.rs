//! The forms of a run: its counts, the tries at repairing its replies, and how it ends.

use crate::machine::agent_state::{AgentRun, RepairState, RunCounts};
use alloc::{borrow::Cow, boxed::Box, string::String};
use innerloop_json::{FromJson, FromJsonCow, Map, ToJson};
use innerloop_types::{
    corrections::ReplyFault, input::TurnOptions, message::Usage, status::RunEnd,
};

/// The cost of runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub(super) struct SpentForm {
    pub(super) tool_calls: u32,
    pub(super) usage: Usage,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nano_usd: Option<u64>,
}

#[derive(Default, ToJson, FromJson)]
#[json(default)]
pub(super) struct RunForm<'a> {
    pub(super) inputs: u32,
    pub(super) replies: u32,
    #[json(skip_serializing_if = "SpentForm::is_nothing")]
    pub(super) spent: SpentForm,
    #[json(skip_serializing_if = "RepairsForm::are_none")]
    pub(super) repairs: RepairsForm,
    #[json(skip_serializing_if = "Map::is_empty")]
    pub(super) failed_edits: Map<u32>,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) epilogue: Option<RunEnd>,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Cow<'a, str>>,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Cow<'a, str>>,
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub(super) released: bool,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<Cow<'a, TurnOptions>>,
}

#[derive(Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub(super) struct RepairsForm {
    pub(super) pauses: u32,
    pub(super) cut: u32,
    pub(super) continued: u32,
    pub(super) empties: u32,
    pub(super) answers: u32,
    /// The corrections of replies, by fault.
    #[json(skip_serializing_if = "Map::is_empty")]
    pub(super) corrected: Map<u32>,
    #[json(skip_serializing_if = "is_zero")]
    pub(super) denials: u32,
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub(super) grown: bool,
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub(super) overflowed: bool,
}

impl SpentForm {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) const fn of(counts: &RunCounts) -> Self {
        let RunCounts { tool_calls, usage, cost_nano_usd, .. } = *counts;
        Self { tool_calls, usage, cost_nano_usd }
    }

    pub(super) const fn counts(self, inputs: u32, replies: u32) -> RunCounts {
        let Self { tool_calls, usage, cost_nano_usd } = self;
        RunCounts { inputs, replies, tool_calls, usage, cost_nano_usd }
    }
}

impl<'a> RunForm<'a> {
    pub(super) fn of(run: &'a AgentRun) -> Self {
        let text = |text: &'a Option<Box<str>>| text.as_deref().map(Cow::Borrowed);
        Self {
            inputs: run.counts.inputs,
            replies: run.counts.replies,
            spent: SpentForm::of(&run.counts),
            repairs: RepairsForm::of(run.repairs),
            failed_edits: run.failed_edits.as_deref().cloned().unwrap_or_default(),
            epilogue: run.epilogue,
            answer: text(&run.answer),
            result: text(&run.result),
            released: run.released,
            options: run.options.as_deref().map(Cow::Borrowed),
        }
    }

    /// Returns the run, without what follows from the history.
    pub(super) fn run(self) -> AgentRun {
        let text = |text: Option<Cow<'a, str>>| text.map(|text| text.into_owned().into());
        AgentRun {
            counts: self.spent.counts(self.inputs, self.replies),
            rounds: 0,
            repairs: self.repairs.repairs(),
            failed_edits: (!self.failed_edits.is_empty()).then(|| Box::new(self.failed_edits)),
            epilogue: self.epilogue,
            watch: None,
            answer: text(self.answer),
            result: text(self.result),
            released: self.released,
            options: self.options.map(|options| Box::new(FromJsonCow::read_value(options))),
        }
    }
}

impl RepairsForm {
    fn are_none(&self) -> bool {
        *self == Self::default()
    }

    fn of(repairs: RepairState) -> Self {
        let RepairState { pauses, cut, continued, empties, answers, denials, .. } = repairs;
        let RepairState { grown, overflowed, corrected, .. } = repairs;
        let mut counts = Map::new();
        for (fault, count) in ReplyFault::ALL.into_iter().zip(corrected) {
            if count > 0 {
                counts.insert(String::from(fault.name()), count.into());
            }
        }
        let corrected = counts;
        Self { pauses, cut, continued, empties, answers, corrected, denials, grown, overflowed }
    }

    fn repairs(self) -> RepairState {
        let Self { pauses, cut, continued, empties, answers, denials, .. } = self;
        let (grown, overflowed) = (self.grown, self.overflowed);
        let mut corrected = RepairState::default().corrected;
        for (count, fault) in corrected.iter_mut().zip(ReplyFault::ALL) {
            let known = self.corrected.get(fault.name()).copied().unwrap_or_default();
            *count = u8::try_from(known).unwrap_or(u8::MAX);
        }
        RepairState {
            pauses,
            cut,
            continued,
            empties,
            answers,
            corrected,
            denials,
            grown,
            overflowed,
        }
    }
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}
