//! The choice of the model in a session that has several: at each input of its own agent, and when
//! the one in force has failed. All agents change together, since they share what has failed.

use super::Session;
use crate::{
    machine::{
        agent_state::UserInput,
        cause::{AgentCommand, TransitionCause},
        phase::Phase,
        setup::AgentSetup,
    },
    rules::task_kind,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_types::{
    event::EventKind, id::AgentId, message::joined_text, model::ModelOrigin, output::Output,
};

impl Session {
    /// Puts a configuration in force that the host has changed.
    pub(super) fn reconfigure(&mut self, setup: &Arc<AgentSetup>, outputs: &mut Vec<Output>) {
        let (new, old) = (&setup.config, self.root.setup.given());
        if new.model != old.model || new.routing != old.routing {
            // Places stand for other models now, and a person who names a model wants that one.
            self.models.off_until.clear();
            return self.configure(setup, outputs);
        }
        match setup.at(self.root.setup.at) {
            Ok(setup) => self.configure(&setup, outputs),
            Err(_) => self.fault("a configuration in force cannot work", outputs),
        }
    }

    /// Chooses the model for an input that the session's own agent begins with.
    pub(super) fn route_input(
        &mut self,
        agent: AgentId,
        order: &AgentCommand,
        outputs: &mut Vec<Output>,
    ) {
        let (AgentCommand::Submit(input) | AgentCommand::FollowUp(input)) = order else { return };
        let policy = &self.root.setup.config.routing;
        let is_idle = matches!(self.root.phase, Phase::Idle);
        if !cfg!(feature = "routing")
            || policy.models.is_empty()
            || agent != AgentId::ROOT
            || !is_idle
        {
            return;
        }
        let is_by_task = policy.models.iter().any(|model| !model.tasks.is_empty());
        let UserInput { parts, .. } = input;
        let task = if is_by_task { task_kind::of_text(&joined_text(parts)) } else { None };
        // With none free, the one in force is as good as any.
        if let Some(at) = self.models.best(policy, task, self.now) {
            self.switch(at, outputs);
        }
        let to = self.origin();
        outputs.push(Output::Event(self.event(AgentId::ROOT, EventKind::Routed { to, task })));
    }

    /// Puts another model in force where the one in force has failed, and lets the agent's call try
    /// again.
    pub(super) fn reroute(&mut self, id: AgentId, message: String, outputs: &mut Vec<Output>) {
        let setup = &self.root.setup;
        let best = self.models.best(&setup.config.routing, None, self.now);
        // Another agent's call may have failed before, so that the model has changed already.
        if let Some(at) = best.filter(|_| !self.models.is_free(setup.at, self.now)) {
            let failed = self.origin();
            self.switch(at, outputs);
            let to = self.origin();
            let kind = EventKind::Rerouted { failed, to, message };
            outputs.push(Output::Event(self.event(id, kind)));
        }
        self.step(id, outputs, TransitionCause::Tick);
    }

    /// Puts the model at that place in force, for all agents.
    fn switch(&mut self, at: usize, outputs: &mut Vec<Output>) {
        if at == self.root.setup.at {
            return;
        }
        match self.root.setup.at(at) {
            Ok(setup) => self.configure(&setup, outputs),
            Err(_) => self.fault("a configuration in force cannot work", outputs),
        }
    }

    fn origin(&self) -> ModelOrigin {
        self.root.setup.config.model.origin()
    }
}
