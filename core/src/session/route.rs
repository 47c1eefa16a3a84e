//! From steps to outputs: events are numbered and timed, and what agents say to one another is
//! carried over, so that all that follows from an input comes out of it at once.

use super::Session;
use crate::{
    base::{id::AgentId, time::UnixMillis},
    machine::{
        agent::{self, Agent},
        body::{ChildState, Scope},
        ctx::{Ctx, Step},
        phase::Phase,
        run,
        setup::Setup,
    },
    profile::inner::SpawnCall,
    types::{
        event::{Event, EventKind},
        message::Part,
        output::{Output, Outputs},
    },
};
use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};

impl Session {
    /// Turns steps into outputs. What follows from a word to another agent stands in its place.
    pub(super) fn emit(&mut self, steps: Vec<Step>) -> Outputs {
        let mut outputs = Vec::with_capacity(steps.len());
        // Steps that are still to be taken, the next one last.
        let mut rest: Vec<Step> = steps.into_iter().rev().collect();
        while let Some(step) = rest.pop() {
            let follows = match step {
                Step::Effect(effect) => {
                    outputs.push(Output::Effect(effect));
                    continue;
                }
                Step::Event(agent, kind) => {
                    self.seq += 1;
                    outputs.push(Output::Event(Event { seq: self.seq, at: self.now, agent, kind }));
                    continue;
                }
                Step::Spawn { child, parent, call } => self.spawn(child, parent, call),
                Step::Tell { agent, parts } => self.tell(agent, parts),
                Step::Shut { agent } => self.step(agent, agent::close),
                Step::Halt { agent } => self.step(agent, run::interrupt),
                Step::Finish { agent } => self.step(agent, agent::on_settled),
                Step::InText { agent } => self.in_text(agent),
                Step::Ended { agent, success } => self.ended(agent, success),
            };
            rest.extend(follows.into_iter().rev());
        }
        Outputs(outputs)
    }

    /// Steps an agent's phase by value.
    pub(super) fn step(
        &mut self,
        id: AgentId,
        f: impl FnOnce(Phase, &mut Ctx<'_>) -> Phase,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let agent = match id {
            AgentId::ROOT => &mut self.root,
            _ => match self.others.get_mut(&id) {
                Some(agent) => agent,
                None => return steps,
            },
        };
        let phase = core::mem::take(&mut agent.phase);
        let mut ctx = Ctx {
            body: &mut agent.body,
            setup: &agent.setup,
            ledger: &mut self.ledger,
            steps: &mut steps,
            agents: &mut self.roll,
            session: &self.id,
            now: self.now,
            wall: UnixMillis(self.epoch.0.saturating_add(self.now.0)),
        };
        agent.phase = f(phase, &mut ctx);
        steps
    }

    fn spawn(&mut self, child: AgentId, parent: AgentId, call: SpawnCall) -> Vec<Step> {
        let depth = self.agent(parent).map_or(0, |parent| parent.body.depth());
        let scope = Scope {
            parent,
            depth: depth.saturating_add(1),
            model: call.model.filter(|model| !model.trim().is_empty()),
            working_dir: call.working_dir,
            max_turns: call.max_turns.unwrap_or(0),
        };
        let Ok(setup) = self.root.setup.scoped(&scope) else {
            return self.ended(child, false);
        };
        let started = EventKind::AgentStarted {
            parent,
            task: call.task.clone(),
            model: setup.config.model.name.clone(),
        };
        let scope = Some(Box::new(scope));
        self.others.insert(child, Agent::new(child, scope, Arc::new(setup), Vec::new()));
        let mut steps = vec![Step::Event(child, started)];
        let parts = vec![Part::text(call.task)];
        steps.extend(self.step(child, |_, ctx| agent::submit(parts, ctx)));
        steps
    }

    /// An endpoint has no tools: all agents tell them in the prompt from now on, and the one that
    /// learned of it asks again.
    fn in_text(&mut self, id: AgentId) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(config) = self.root.setup.in_text() {
            // Nothing that was checked before has changed; if it fails, asking again would not
            // help either.
            let Ok(setup) = Setup::new(config) else { return self.step(id, run::interrupt) };
            steps = self.on_patch(&Arc::new(setup));
        }
        steps.extend(self.step(id, agent::on_tick));
        steps
    }

    /// A word to another agent: at its next step if it works, as a new task if it is idle.
    fn tell(&mut self, id: AgentId, parts: Vec<Part>) -> Vec<Step> {
        self.step(id, |phase, ctx| match phase {
            Phase::Idle => agent::submit(parts, ctx),
            Phase::Closing | Phase::Closed => phase,
            other => agent::steer(other, parts, ctx),
        })
    }

    /// An agent's run is over: whoever started it learns what came of it.
    fn ended(&mut self, id: AgentId, success: bool) -> Vec<Step> {
        let Some(agent) = self.others.get(&id) else { return Vec::new() };
        let Some(parent) = agent.body.scope.as_ref().map(|scope| scope.parent) else {
            return Vec::new();
        };
        let over = matches!(agent.phase, Phase::Closing | Phase::Closed);
        let (output, turns) = (agent.body.result(), agent.body.turns());
        self.step(parent, |phase, ctx| {
            if let Some(child) = ctx.body.memory.children.get_mut(&id) {
                if child.state != ChildState::Closed {
                    child.state = if success { ChildState::Completed } else { ChildState::Failed };
                }
                child.output = output;
                child.turns = turns;
                child.over |= over;
            }
            agent::on_child(phase, id, ctx)
        })
    }
}
