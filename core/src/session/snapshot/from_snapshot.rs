//! The restore of a session from the forms of a snapshot. What follows from the rest is derived,
//! and what does not fit together is refused as damaged.

use super::{
    error::RestoreError,
    input::InputForm,
    snapshot_form::{AgentForm, CancelledForm, ChildForm, SessionForm},
};
use crate::{
    machine::{
        agent::Agent,
        agent_state::{AgentMemory, PendingWork, RunCounts},
        ctx::AgentCount,
        ledger::{Ledger, OpenEffect},
        model_call::{CallPurpose, ModelCall},
        phase::Phase,
        route::ToolAccess,
        setup::AgentSetup,
    },
    rules::{availability::ModelAvailability, budget::SpendTracker},
    session::Session,
};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use innerloop_json::{FromJsonCow, IntoList};
use innerloop_types::{
    config::{SessionConfig, SpendAmount},
    id::{AgentId, ById, EffectId},
    message::{Turn, TurnKind},
    time::{SessionInstant, UnixMillis},
};

impl SessionForm<'_> {
    /// Returns the session, in which it is now `wall`.
    pub(super) fn restored(self, wall: UnixMillis) -> Result<Session, RestoreError> {
        let config: SessionConfig = FromJsonCow::read_value(self.config);
        let id = config.id.clone();
        let setup = Arc::new(AgentSetup::new(config)?).at(self.model)?;
        let mut agents = ById::new();
        let mut children = Vec::new();
        for mut form in self.agents {
            children.push((form.id, core::mem::take(&mut form.children)));
            // Each agent comes behind the one that started it, whose depth it needs.
            let agent = form.restored(&setup, &agents)?;
            if agents.insert(agent.body.id, agent).is_some() {
                return Err(RestoreError::damaged("two of its agents have one number"));
            }
        }
        // As many as there are agents beside the session's own: with the checks below, each has
        // exactly one agent that started it.
        let known: usize = children.iter().map(|(_, forms)| forms.len()).sum();
        if known + 1 != agents.len() {
            return Err(RestoreError::damaged("an agent is not known to the one that started it"));
        }
        for (parent, forms) in children {
            with_children(parent, forms, &mut agents)?;
        }
        // Snapshots before version 5 told what was spent by agent only.
        let purse = self.purse.unwrap_or_else(|| purse(&agents, self.now));
        let count = AgentCount {
            newest: agents.iter().last().map_or(0, |(id, _)| id.0),
            open: open_agents(&agents),
        };
        let open = open_effects(&agents, &self.cancelled);
        let damaged = || RestoreError::damaged("its open effects do not fit together");
        let ledger = Ledger::of(self.effects, open).ok_or_else(damaged)?;
        let root = agents.remove(AgentId::ROOT);
        Ok(Session {
            id: Arc::new(id),
            root: root.ok_or_else(|| RestoreError::damaged("its own agent is missing"))?,
            others: agents,
            count,
            ledger,
            purse,
            models: ModelAvailability { off_until: FromJsonCow::read_value(self.off_until) },
            seq: self.events,
            now: self.now,
            epoch: UnixMillis(wall.0.saturating_sub(self.now.0)),
            #[cfg(feature = "seams")]
            rows: Default::default(),
        })
    }
}

impl AgentForm<'_> {
    /// Returns the agent, without those that it started.
    fn restored(
        self,
        root: &Arc<AgentSetup>,
        before: &ById<AgentId, Agent>,
    ) -> Result<Agent, RestoreError> {
        let mut spawned = None;
        let mut setup = Arc::clone(root);
        if let Some(form) = self.spawned {
            let parent = before.get(form.parent);
            let parent = parent.ok_or_else(|| RestoreError::damaged("an agent has no parent"))?;
            let options = form.options(parent.body.depth().saturating_add(1));
            setup = Arc::new(root.spawned(&options)?);
            spawned = Some(Box::new(options));
        }
        if spawned.is_none() != (self.id == AgentId::ROOT) {
            return Err(RestoreError::damaged("an agent was started by nobody"));
        }
        let turns = FromJsonCow::read_value(self.turns);
        // The counts of the runs before are what the history has beyond the run.
        let (users, replies) = counted(&turns);
        let mut agent = Agent::new(self.id, spawned, setup, turns);
        let body = &mut agent.body;
        body.run = self.run.run();
        let run = body.run.counts;
        body.past =
            self.past.counts(users.saturating_sub(run.inputs), replies.saturating_sub(run.replies));
        body.warned_of_fullness = self.warned_of_fullness;
        body.folding = self.folding.folding();
        body.succeeded = self.succeeded;
        body.run.rounds = body.history.rounds_since_input();
        let tools = if body.run.epilogue.is_some() { ToolAccess::Off } else { ToolAccess::On };
        let route = &agent.setup.route_of(body);
        body.resume(
            PendingWork {
                calls: self.calls.into_iter().map(|call| call.call(route, tools)).into_list(),
                steering: FromJsonCow::read_value(self.steering),
                follow_ups: self.follow_ups.into_iter().map(InputForm::input).into_list(),
            },
            AgentMemory {
                children: ById::new(),
                known_files: FromJsonCow::read_value(self.known_files),
                allowed: FromJsonCow::read_value(self.allowed),
            },
        );
        agent.phase = self.phase.phase(&agent)?;
        let calls = &agent.body.pending().calls;
        let is_reply = |call: &&ModelCall| matches!(call.purpose, CallPurpose::Reply(_));
        let replies = calls.iter().filter(is_reply).count();
        // A phase waits for exactly the call that it stands for. Without it nothing would ever wake
        // the agent; with another one its end would meet a phase that does not expect it.
        let fits = replies == usize::from(matches!(agent.phase, Phase::ModelCall))
            && calls.len() - replies == usize::from(matches!(agent.phase, Phase::Folding));
        if !fits {
            return Err(RestoreError::damaged("the model calls of an agent do not fit its phase"));
        }
        // An idle agent has no detector: see `AgentData::rest`.
        if !matches!(agent.phase, Phase::Idle | Phase::Closing | Phase::Closed) {
            agent.body.watch_again(&agent.setup.config.loops);
        }
        Ok(agent)
    }
}

/// Returns the number of inputs and of replies.
fn counted(turns: &[Turn]) -> (u32, u32) {
    turns.iter().fold((0, 0), |(users, replies): (u32, u32), turn| match turn.kind {
        TurnKind::User(_) => (users.saturating_add(1), replies),
        TurnKind::Assistant(_) => (users, replies.saturating_add(1)),
        _ => (users, replies),
    })
}

/// Gives an agent its knowledge of those that it started.
fn with_children(
    parent: AgentId,
    forms: Vec<ChildForm<'_>>,
    agents: &mut ById<AgentId, Agent>,
) -> Result<(), RestoreError> {
    for form in forms {
        let id = form.id;
        let started = |child: &&Agent| {
            child.body.spawned.as_ref().is_some_and(|options| options.parent == parent)
        };
        let child = agents.get(id).filter(started);
        let child = child.ok_or_else(|| RestoreError::damaged("a child is missing"))?;
        let (output, turns) = (child.body.result(), child.body.turns());
        let child = form.child(output, turns, child.phase.is_over());
        let before = agents
            .get_mut(parent)
            .and_then(|parent| parent.body.learnt_mut().children.insert(id, child));
        if before.is_some() {
            return Err(RestoreError::damaged("a child is there twice"));
        }
    }
    Ok(())
}

/// Returns what all agents have spent, as far as their own counts tell.
fn purse(agents: &ById<AgentId, Agent>, now: SessionInstant) -> SpendTracker {
    let spend = |counts: &RunCounts| SpendAmount {
        cost_nano_usd: counts.cost_nano_usd.unwrap_or_default(),
        tokens: counts.usage.tokens(),
        ms: 0,
    };
    let mut purse = SpendTracker::default();
    for agent in agents.values() {
        let all = spend(&agent.body.counts());
        purse.spend(all.cost_nano_usd, all.tokens);
    }
    purse.before = purse.spent;
    let Some(root) = agents.get(AgentId::ROOT) else { return purse };
    let run = spend(&root.body.run.counts);
    purse.before.cost_nano_usd = purse.before.cost_nano_usd.saturating_sub(run.cost_nano_usd);
    purse.before.tokens = purse.before.tokens.saturating_sub(run.tokens);
    let is_idle = matches!(root.phase, Phase::Idle | Phase::Closing | Phase::Closed);
    // When the run began is not known any more, nor how long earlier ones took: their time is not
    // counted.
    purse.since = (!is_idle).then_some(now);
    purse
}

/// Returns the number of agents that are open, without the session's own.
fn open_agents(agents: &ById<AgentId, Agent>) -> u32 {
    let is_open = |(id, agent): &(AgentId, &Agent)| {
        *id != AgentId::ROOT && !matches!(agent.phase, Phase::Closed)
    };
    u32::try_from(agents.iter().filter(is_open).count()).unwrap_or(u32::MAX)
}

fn open_effects(
    agents: &ById<AgentId, Agent>,
    cancelled: &[CancelledForm],
) -> Vec<(EffectId, OpenEffect)> {
    let mut open: Vec<_> = cancelled.iter().map(CancelledForm::entry).into_list();
    for agent in agents.values() {
        let entry = |(id, kind)| (id, OpenEffect { agent: agent.body.id, kind, grace: None });
        open.extend(agent.open_effects().into_iter().map(entry));
    }
    open
}
