//! A round of tool calls: each goes its way (hook, approval, run, hook) and gets a result, and the
//! results are appended in call order. Calls that only read run side by side, those that write one
//! after the other, and so do all of them for a model without parallel calls
//! (`docs/decisions.md#parallel-calls`).

mod inner;
mod steps;

use super::{
    ctx::StepContext,
    ledger::EffectKind,
    tool_call::{RoundCall, ToolCallState},
};
use alloc::vec::Vec;
use innerloop_json::IntoList;
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
    /// Returns the time at which the first wait ends.
    pub(crate) fn deadline(&self) -> Option<SessionInstant> {
        let until = |call: &RoundCall| match &call.state {
            ToolCallState::Waiting(wait) => wait.until,
            _ => None,
        };
        self.calls.iter().filter_map(until).min()
    }

    /// Ends the round early: cancels and answers what is open.
    pub(crate) fn interrupt(mut self, why: &str, ctx: &mut StepContext<'_>) {
        for call in &mut self.calls {
            call.interrupt(why, ctx);
        }
        self.append(ctx);
    }

    /// Appends the results to the history, in call order.
    fn append(self, ctx: &mut StepContext<'_>) {
        // In call order, whatever order the calls ended in: providers that match results by
        // position would mix them up.
        let mut results: Vec<_> = self.calls.into_iter().filter_map(RoundCall::result).into_list();
        results.shrink_to_fit();
        ctx.append(TurnKind::ToolResults(results));
    }

    /// Returns the effects that the host owes an answer for, made anew.
    pub(crate) fn owed(&self, agent: AgentId, folder: &str) -> impl Iterator<Item = Effect> {
        let owed = move |(at, call): (usize, &RoundCall)| {
            call.owed(agent, folder, self.calls.get(..at).unwrap_or_default())
        };
        self.calls.iter().enumerate().filter_map(owed)
    }

    /// Returns the same effects as ids and kinds.
    pub(crate) fn open_effects(&self) -> impl Iterator<Item = (EffectId, EffectKind)> {
        self.calls.iter().filter_map(RoundCall::open_effect)
    }

    /// Returns whether the round waits for people and nothing else.
    pub(crate) fn awaits_people(&self) -> bool {
        let asks = |call: &RoundCall| {
            matches!(call.state, ToolCallState::Asking { .. } | ToolCallState::Question { .. })
        };
        // Calls in the queue count as resting: they wait behind the question, and an agent that
        // runs one call at a time would otherwise never await input.
        let rests = |call: &RoundCall| {
            matches!(call.state, ToolCallState::Done(_) | ToolCallState::Queued(_))
        };
        self.calls.iter().any(asks) && self.calls.iter().all(|call| asks(call) || rests(call))
    }

    /// Returns whether the host runs a call in that mode.
    fn runs(&self, wanted: ExecMode) -> bool {
        self.calls.iter().any(|call| match call.state {
            ToolCallState::Running { mode, .. } => mode == wanted,
            _ => false,
        })
    }

    /// Returns the call that waits for the effect, and those before it.
    fn behind(&mut self, id: EffectId) -> Option<(&[RoundCall], &mut RoundCall)> {
        let at = self.calls.iter().position(|call| call.effect() == Some(id))?;
        let (before, rest) = self.calls.split_at_mut(at);
        Some((before, rest.first_mut()?))
    }

    fn call(&mut self, id: EffectId) -> Option<&mut RoundCall> {
        self.calls.iter_mut().find(|call| call.effect() == Some(id))
    }
}
