//! One round of tool calls: each goes its way (hook, approval, run, hook) and is answered, and the
//! results go back in call order. Calls that only read run side by side, those that write one after
//! the other, and all of them do for a model without parallel calls
//! (`docs/decisions.md#parallel-calls`).

mod inner;
mod steps;

use super::{
    ctx::StepContext,
    ledger::EffectKind,
    tool_call::{RoundCall, ToolCallState},
};
use alloc::vec::Vec;
use innerloop_types::{
    config::ExecMode,
    id::{AgentId, EffectId},
    message::TurnKind,
    output::Effect,
    time::SessionInstant,
};

/// A round under way.
#[derive(Debug)]
pub(crate) struct ToolRound {
    pub(crate) calls: Vec<RoundCall>,
}

impl ToolRound {
    /// Returns when the first wait is over.
    pub(crate) fn deadline(&self) -> Option<SessionInstant> {
        let until = |call: &RoundCall| match call.state {
            ToolCallState::Waiting { until, .. } => until,
            _ => None,
        };
        self.calls.iter().filter_map(until).min()
    }

    /// Ends the round before its time: what is open is cancelled and answered.
    pub(crate) fn interrupt(mut self, why: &str, ctx: &mut StepContext<'_>) {
        for call in &mut self.calls {
            call.interrupt(why, ctx);
        }
        self.append(ctx);
    }

    /// The results enter the history, in call order.
    fn append(self, ctx: &mut StepContext<'_>) {
        let mut results: Vec<_> = self.calls.into_iter().filter_map(RoundCall::result).collect();
        results.shrink_to_fit();
        ctx.append(TurnKind::ToolResults(results));
    }

    /// The effects that the host owes an answer for, made again.
    pub(crate) fn owed(&self, agent: AgentId, folder: &str) -> impl Iterator<Item = Effect> {
        let owed = move |(at, call): (usize, &RoundCall)| {
            call.owed(agent, folder, self.calls.get(..at).unwrap_or_default())
        };
        self.calls.iter().enumerate().filter_map(owed)
    }

    /// The same effects, by their kinds.
    pub(crate) fn open_effects(&self) -> impl Iterator<Item = (EffectId, EffectKind)> {
        self.calls.iter().filter_map(RoundCall::open_effect)
    }

    /// Returns whether only people are waited for.
    pub(crate) fn awaits_people(&self) -> bool {
        let asks = |call: &RoundCall| {
            matches!(call.state, ToolCallState::Asking { .. } | ToolCallState::Question { .. })
        };
        let rests = |call: &RoundCall| {
            matches!(call.state, ToolCallState::Done(_) | ToolCallState::Queued(_))
        };
        self.calls.iter().any(asks) && self.calls.iter().all(|call| asks(call) || rests(call))
    }

    /// Returns whether the host runs a call of that mode.
    fn runs(&self, wanted: ExecMode) -> bool {
        self.calls.iter().any(|call| match call.state {
            ToolCallState::Running { mode, .. } => mode == wanted,
            _ => false,
        })
    }

    /// The call that waits for the effect, with those before it.
    fn behind(&mut self, id: EffectId) -> Option<(&[RoundCall], &mut RoundCall)> {
        let at = self.calls.iter().position(|call| call.effect() == Some(id))?;
        let (before, rest) = self.calls.split_at_mut(at);
        Some((before, rest.first_mut()?))
    }

    fn call(&mut self, id: EffectId) -> Option<&mut RoundCall> {
        self.calls.iter_mut().find(|call| call.effect() == Some(id))
    }
}
