//! Signals: one agent is stepped at a time, and what it says to others is carried over at once. So
//! all that follows from an input comes out of it, in the place where it was caused.

use super::Session;
use crate::machine::{
    agent::Agent,
    agent_state::SpawnOptions,
    cause::{AgentCommand, TransitionCause},
    ctx::{AgentSignal, StepContext, StepOutput},
    setup::AgentSetup,
    table, turn_options,
};
use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};
use innerloop_types::{
    config::SessionConfig,
    event::{ErrorKind, EventKind},
    id::{AgentId, ById},
    input::TurnOptions,
    message::Part,
    output::Output,
    status::SubagentState,
};

impl Session {
    /// Steps an agent for a cause; what follows is appended to `outputs`.
    pub(super) fn step(&mut self, id: AgentId, outputs: &mut Vec<Output>, cause: TransitionCause) {
        let wall = self.wall();
        let Some(agent) = agent_mut(&mut self.root, &mut self.others, id) else { return };
        // The step appends to the list itself: the places of signals are then places in it, and no
        // list is copied.
        let mut written = StepOutput { outputs: core::mem::take(outputs), ..StepOutput::default() };
        let phase = core::mem::take(&mut agent.phase);
        let mut ctx = StepContext {
            body: &mut agent.body,
            setup: &agent.setup,
            ledger: &mut self.ledger,
            written: &mut written,
            agents: &mut self.count,
            purse: &mut self.purse,
            models: &mut self.models,
            session: &self.id,
            now: self.now,
            wall,
        };
        agent.phase = table::step(phase, cause, &mut ctx);
        #[cfg(feature = "seams")]
        self.rows.extend(written.rows);
        *outputs = written.outputs;
        self.deliver(written.signals, outputs);
    }

    /// Handles signals, each at the place among the outputs where it was given.
    fn deliver(&mut self, signals: Vec<(usize, AgentSignal)>, outputs: &mut Vec<Output>) {
        let Some(&(first, _)) = signals.first() else { return };
        // What follows from a signal comes out where the signal was given. What the step wrote
        // behind that place is put back piece by piece.
        let mut behind = outputs.split_off(first.min(outputs.len())).into_iter();
        let mut taken = first;
        for (place, signal) in signals {
            outputs.extend(behind.by_ref().take(place.saturating_sub(taken)));
            taken = place;
            self.on_signal(signal, outputs);
        }
        outputs.extend(behind);
    }

    fn on_signal(&mut self, signal: AgentSignal, outputs: &mut Vec<Output>) {
        match signal {
            AgentSignal::Spawn { child, task, options } => {
                self.spawn(child, task, options, outputs);
            }
            AgentSignal::Steer { agent, parts } => self.steer(agent, parts, outputs),
            AgentSignal::Close { agent } => {
                self.step(agent, outputs, TransitionCause::Order(AgentCommand::Close));
            }
            AgentSignal::Interrupt { agent } => {
                self.step(agent, outputs, TransitionCause::Order(AgentCommand::Interrupt));
            }
            AgentSignal::Finish { agent } => self.step(agent, outputs, TransitionCause::Settled),
            AgentSignal::InText { agent } => {
                let config = self.root.setup.in_text();
                self.call_anew(agent, config, outputs);
            }
            AgentSignal::Without { agent, fields } => {
                let config = self.root.setup.without(&fields);
                self.call_anew(agent, config, outputs);
            }
            AgentSignal::Reroute { agent, message } => self.reroute(agent, message, outputs),
            AgentSignal::Ended { agent, success } => self.ended(agent, success, outputs),
        }
    }

    fn spawn(
        &mut self,
        child: AgentId,
        task: String,
        options: Box<SpawnOptions>,
        outputs: &mut Vec<Output>,
    ) {
        let parent = options.parent;
        let Ok(setup) = self.root.setup.spawned(&options) else {
            return self.fault("an agent's configuration cannot work", outputs);
        };
        let kind = EventKind::AgentStarted {
            parent,
            task: task.clone(),
            model: setup.config.model.name.clone(),
            folder: options.folder.clone(),
            name: options.name().into(),
        };
        outputs.push(Output::Event(self.event(child, kind)));
        self.others.insert(child, Agent::new(child, Some(options), Arc::new(setup), Vec::new()));
        let (parts, options) = (vec![Part::text(task)], self.handed_on(parent));
        self.step(child, outputs, TransitionCause::Told { parts, options });
    }

    /// Adapts to an endpoint that takes other requests than it was sent: all agents talk to it so
    /// from now on, and the one that has learnt it asks again.
    fn call_anew(&mut self, id: AgentId, config: Option<SessionConfig>, outputs: &mut Vec<Output>) {
        // Without a configuration another agent has learnt the same before, and only the new try is
        // left.
        if let Some(config) = config {
            let setup = AgentSetup::new(config).map(Arc::new);
            match setup.and_then(|setup| setup.at(self.root.setup.at)) {
                Ok(setup) => self.configure(&setup, outputs),
                Err(_) => self.fault("a configuration in force cannot work", outputs),
            }
        }
        self.step(id, outputs, TransitionCause::Tick);
    }

    /// Carries a message to another agent: for its next step if it works, as a new task if it is
    /// idle.
    fn steer(&mut self, id: AgentId, parts: Vec<Part>, outputs: &mut Vec<Output>) {
        // The options of the agent that sends it hold: only the agent that started another can
        // message it.
        let spawned = self.agent(id).and_then(|agent| agent.body.spawned.as_ref());
        let options = spawned.and_then(|spawned| self.handed_on(spawned.parent));
        self.step(id, outputs, TransitionCause::Told { parts, options });
    }

    /// Returns the options under which other agents are started, or messaged, for an agent's input.
    fn handed_on(&self, id: AgentId) -> Option<Box<TurnOptions>> {
        self.agent(id)?
            .body
            .run
            .options
            .as_ref()
            .and_then(|options| turn_options::for_children(options))
    }

    /// Tells the agent that started another one that its run is over.
    fn ended(&mut self, id: AgentId, success: bool, outputs: &mut Vec<Output>) {
        let Some(agent) = self.others.get(id) else { return };
        let Some(options) = &agent.body.spawned else { return };
        let (parent, over) = (options.parent, agent.phase.is_over());
        let (output, turns) = (agent.body.result(), agent.body.turns());
        let parent_agent = agent_mut(&mut self.root, &mut self.others, parent);
        if let Some(child) = parent_agent.and_then(|agent| agent.body.child_mut(id)) {
            // One that the model has closed stays closed, however the run that was stopped with it
            // ended.
            if child.state != SubagentState::Closed {
                child.state =
                    if success { SubagentState::Completed } else { SubagentState::Failed };
            }
            child.output = output;
            child.turns = turns;
            child.over |= over;
        }
        self.step(parent, outputs, TransitionCause::ChildEnded(id));
    }

    /// Puts another configuration in force, from the next model call on, also for the other agents.
    pub(super) fn configure(&mut self, setup: &Arc<AgentSetup>, outputs: &mut Vec<Output>) {
        let mut works = true;
        let mut rebased = Vec::new();
        for agent in core::iter::once(&mut self.root).chain(self.others.values_mut()) {
            let new = match &agent.body.spawned {
                None => Arc::clone(setup),
                Some(options) => match setup.spawned(options) {
                    Ok(setup) => Arc::new(setup),
                    Err(_) => {
                        works = false;
                        continue;
                    }
                },
            };
            // An agent that has said nothing has no prefix in a provider's cache, and nothing to
            // report.
            let has_said = !agent.phase.is_over() && !agent.body.history.turns().is_empty();
            if has_said && !new.begins_as(&agent.setup) {
                rebased.push(agent.body.id);
            }
            // What a refusal has taught of the window holds for one model only.
            if new.config.model.name != agent.setup.config.model.name {
                agent.body.folding.window = 0;
            }
            agent.setup = new;
        }
        // Reported once all agents have the new configuration, in the order of their numbers.
        for agent in rebased {
            let reason = "the model, its options or the system prompt changed";
            outputs.push(Output::Event(self.event(agent, EventKind::PrefixRebased { reason })));
        }
        if !works {
            self.fault("an agent's configuration cannot work any more", outputs);
        }
    }

    /// Forgets the calls that a person has allowed for good, so that they need approval again.
    pub(super) fn forget_allowed(&mut self) {
        for agent in core::iter::once(&mut self.root).chain(self.others.values_mut()) {
            agent.body.forget_allowed();
        }
    }

    /// Reports a bug of our own, something that cannot happen; see [`StepContext::fault`].
    pub(super) fn fault(&mut self, message: &str, outputs: &mut Vec<Output>) {
        debug_assert!(false, "{message}");
        let kind = EventKind::Error { kind: ErrorKind::Internal, message: message.into() };
        outputs.push(Output::Event(self.event(AgentId::ROOT, kind)));
        self.step(AgentId::ROOT, outputs, TransitionCause::Order(AgentCommand::Close));
    }
}

/// Returns the agent of that id; apart from the session, so that its other fields can be borrowed
/// too.
fn agent_mut<'a>(
    root: &'a mut Agent,
    others: &'a mut ById<AgentId, Agent>,
    id: AgentId,
) -> Option<&'a mut Agent> {
    if id == AgentId::ROOT { Some(root) } else { others.get_mut(id) }
}
