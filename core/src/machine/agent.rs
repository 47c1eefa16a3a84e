//! An agent: its data, the configuration that it works under, and its phase. `cause` lists what can
//! happen to it, and `table` what follows. Its status, deadline and open effects are derived from
//! these three and never stored, so that they cannot disagree with them.

use super::{
    agent_state::{AgentData, SpawnOptions},
    fold_plan::FoldPlan,
    history::History,
    ledger::EffectKind,
    model_call::CallPurpose,
    phase::{HookContinuation, Phase},
    route::Route,
    setup::AgentSetup,
};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::{
    compaction::FoldReason,
    id::{AgentId, EffectId, SessionId},
    message::Turn,
    output::{DeadlineReason, Effect},
    status::{AgentState, RunEnd, Status},
    time::SessionInstant,
};

/// An agent with its data, its configuration and its phase.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) body: AgentData,
    pub(crate) setup: Arc<AgentSetup>,
    pub(crate) phase: Phase,
}

impl Agent {
    /// An idle agent with a history.
    pub(crate) fn new(
        id: AgentId,
        spawned: Option<Box<SpawnOptions>>,
        setup: Arc<AgentSetup>,
        turns: Vec<Turn>,
    ) -> Self {
        let history = History::new(turns, setup.config.estimator);
        let body = AgentData::new(id, spawned, history);
        Self { body, setup, phase: Phase::Idle }
    }

    /// Returns the route to the model for the input under way.
    pub(crate) fn route(&self) -> Arc<Route> {
        self.setup.route_of(&self.body)
    }

    pub(crate) fn status(&self) -> Status {
        let counts = self.body.counts();
        Status {
            state: match &self.phase {
                Phase::Idle => AgentState::Idle,
                Phase::Closed | Phase::Closing => AgentState::Closed,
                Phase::Round(round) if round.awaits_people() => AgentState::AwaitingInput,
                Phase::Asked(_) => AgentState::AwaitingInput,
                Phase::Hooked(_) | Phase::ModelCall | Phase::Folding | Phase::Round(_) => {
                    AgentState::Processing
                }
            },
            compacting: self.is_compacting(),
            turns: self.body.turns(),
            tool_calls: counts.tool_calls,
            usage: counts.usage,
            cost_nano_usd: counts.cost_nano_usd,
        }
    }

    /// Returns whether a fold is under way that the host has asked for.
    fn is_compacting(&self) -> bool {
        // Only a fold that the host asked for has no run around it: no event of a run's end will
        // follow, so that the status has to tell of it.
        let is_asked = |plan: &FoldPlan| plan.why == FoldReason::Asked;
        match &self.phase {
            Phase::Folding => {
                self.body.pending().calls.iter().any(
                    |call| matches!(&call.purpose, CallPurpose::Summary(plan) if is_asked(plan)),
                )
            }
            Phase::Hooked(hooked) => {
                matches!(&hooked.then, HookContinuation::Fold(plan) if is_asked(plan))
            }
            _ => false,
        }
    }

    /// Returns whether the time limit of the run no longer matters: the run is summing up because
    /// its budget is used up, or its result waits for the host's hook.
    pub(crate) fn is_ending(&self) -> bool {
        // The limit has done its work by then. Were it still a deadline, one in the past would stay
        // due for as long as the hook holds the result, and each tick would report it again.
        let waits = match &self.phase {
            Phase::Hooked(hooked) => matches!(hooked.then, HookContinuation::Out(_)),
            _ => false,
        };
        waits || self.body.run.epilogue == Some(RunEnd::Budget)
    }

    /// Returns the next time at which the agent has something to do by itself, and why.
    pub(crate) fn deadline(&self) -> Option<(SessionInstant, DeadlineReason)> {
        let idle_ms = self.setup.config.retry.idle_ms;
        let calls = self.body.pending().calls.iter().filter_map(|call| call.deadline(idle_ms));
        let wait = match &self.phase {
            Phase::Round(round) => round.deadline().map(|at| (at, DeadlineReason::Wait)),
            _ => None,
        };
        calls.chain(wait).min_by_key(|(at, _)| *at)
    }

    /// Adds the effects that are open for this agent and not cancelled, made anew.
    pub(crate) fn owed(&self, session: &SessionId, effects: &mut Vec<Effect>) {
        let (agent, history) = (self.body.id, &self.body.history);
        let calls = self.body.pending().calls.iter();
        effects.extend(calls.filter_map(|call| call.owed(agent, history, session)));
        // Effects are not stored. They are made from the state again, so that a host which restores
        // the session gets the same ones.
        match &self.phase {
            Phase::Round(round) => effects.extend(round.owed(agent, &self.setup.folder)),
            Phase::Hooked(hooked) => {
                effects.push(hooked.owed(agent, &self.body.result(), history));
            }
            Phase::Asked(asked) => effects.push(asked.owed(agent)),
            Phase::Idle | Phase::ModelCall | Phase::Folding | Phase::Closing | Phase::Closed => {}
        }
    }

    /// Returns the same effects as ids and kinds.
    pub(crate) fn open_effects(&self) -> Vec<(EffectId, EffectKind)> {
        let calls = self.body.pending().calls.iter();
        let calls = calls.filter_map(|call| Some((call.effect()?, EffectKind::Http)));
        let mut effects: Vec<_> = calls.into_list();
        match &self.phase {
            Phase::Round(round) => effects.extend(round.open_effects()),
            Phase::Hooked(hooked) => effects.push((hooked.effect, EffectKind::Hook)),
            Phase::Asked(asked) => effects.push((asked.effect, EffectKind::Ask)),
            Phase::Idle | Phase::ModelCall | Phase::Folding | Phase::Closing | Phase::Closed => {}
        }
        effects
    }
}
