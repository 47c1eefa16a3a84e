//! Floor 5: the session. It checks what comes in, finds the agent that it concerns, carries signals
//! between agents, stamps what goes out with numbers and time, and saves and restores. The meaning
//! of an input is the agents' business. Equal inputs lead to equal outputs, byte for byte.

mod admission;
pub(crate) mod blueprint;
mod input_effects;
pub mod log;
mod overview;
mod routing;
mod signals;
pub(crate) mod snapshot;
#[cfg(feature = "seams")]
mod test_probes;

use crate::{
    machine::{
        agent::Agent, cause::TransitionCause, ctx::AgentCount, history::History, ledger::Ledger,
        phase::Phase, setup::AgentSetup,
    },
    rules::{availability::ModelAvailability, budget::SpendTracker},
};
use alloc::{sync::Arc, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::{
    config::{ConfigError, SessionConfig},
    event::{Event, EventKind},
    id::{AgentId, ById, EffectId, SessionId},
    input::{Input, RejectedInput},
    output::{Deadline, DeadlineReason, Effect, Output, OutputBatch},
    status::Status,
    time::{SessionInstant, UnixMillis},
};
use input_effects::AdmittedInput;

/// Raised whenever equal inputs no longer give equal outputs.
pub const REPLAY_VERSION: u32 = 13;

/// A conversation with a model that works with tools.
#[derive(Debug)]
pub struct Session {
    id: Arc<SessionId>,
    root: Agent,
    /// The agents that were started from it, by number.
    others: ById<AgentId, Agent>,
    count: AgentCount,
    ledger: Ledger,
    purse: SpendTracker,
    models: ModelAvailability,
    /// The number of the last event.
    seq: u64,
    now: SessionInstant,
    /// The wall time at which session time was 0.
    epoch: UnixMillis,
    /// The rows of the table of the loop that were followed.
    #[cfg(feature = "seams")]
    rows: alloc::collections::BTreeSet<crate::machine::ctx::TransitionRow>,
}

impl Session {
    /// Opens a session. Session time starts at 0, which is `wall`.
    ///
    /// # Errors
    /// The field of the configuration that cannot work, and why.
    pub fn open(
        config: SessionConfig,
        wall: UnixMillis,
    ) -> Result<(Self, OutputBatch), ConfigError> {
        let id = config.id.clone();
        Ok(Self::with(id, Arc::new(AgentSetup::new(config)?), wall))
    }

    /// Opens a session with a setup that exists already.
    fn with(id: SessionId, setup: Arc<AgentSetup>, wall: UnixMillis) -> (Self, OutputBatch) {
        let mut session = Self {
            id: Arc::new(id),
            root: Agent::new(AgentId::ROOT, None, setup, Vec::new()),
            others: ById::new(),
            count: AgentCount::default(),
            ledger: Ledger::default(),
            purse: SpendTracker::default(),
            models: ModelAvailability::default(),
            seq: 0,
            now: SessionInstant(0),
            epoch: wall,
            #[cfg(feature = "seams")]
            rows: Default::default(),
        };
        let start = session.event(AgentId::ROOT, session.root.setup.start());
        let outputs = session.stamped(None, Vec::from([Output::Event(start)]));
        (session, outputs)
    }

    /// Takes in what happened at `now` and returns all that follows. A time before that of an
    /// earlier input counts as that earlier time.
    ///
    /// # Errors
    /// A mistake of the host: the input comes back, and the session is as it was.
    #[expect(
        clippy::result_large_err,
        reason = "only a host's mistake pays for the input's return"
    )]
    pub fn handle(
        &mut self,
        input: Input,
        now: SessionInstant,
    ) -> Result<OutputBatch, RejectedInput> {
        let effect = input.effect();
        // Nothing has changed before the input is admitted, not even the time.
        let admitted = self.admit(input)?;
        self.now = self.now.max(now);
        let mut outputs = Vec::new();
        match admitted {
            AdmittedInput::Order(agent, order) => {
                self.route_input(agent, &order, &mut outputs);
                self.step(agent, &mut outputs, TransitionCause::Order(order));
            }
            AdmittedInput::Rewind(agent, why, at) => {
                self.step(agent, &mut outputs, TransitionCause::Rewind { at, why });
            }
            AdmittedInput::Configure(setup, says_anew) => {
                self.reconfigure(&setup, &mut outputs);
                if says_anew {
                    self.forget_allowed();
                }
            }
            AdmittedInput::News(agent, id, news) => {
                self.step(agent, &mut outputs, TransitionCause::News(id, news));
            }
            AdmittedInput::Ended(agent, id) => {
                self.ledger.settle(id);
                self.settled(&[agent], &mut outputs);
            }
            AdmittedInput::Tick => self.on_tick(&mut outputs),
            AdmittedInput::Late => {}
        }
        Ok(self.stamped(effect, outputs))
    }

    /// Returns when to send [`Input::Tick`] if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let grace = self.ledger.deadline().map(|at| (at, DeadlineReason::Grace));
        let agents = self.agents().filter_map(Agent::deadline);
        let budget = self.time_up().map(|at| (at, DeadlineReason::Budget));
        let (at, reason) = agents.chain(grace).chain(budget).min_by_key(|(at, _)| *at)?;
        Some(Deadline { at, reason })
    }

    /// Every open effect again, whole, under its id: what a host that restored the session has
    /// to carry out, or to report as [`Input::Lost`].
    pub fn owed(&self) -> OutputBatch {
        let mut effects = Vec::new();
        self.agents().for_each(|agent| agent.owed(&self.id, &mut effects));
        // In the order in which they were issued, whichever agent or phase holds them.
        innerloop_json::sort(&mut effects, |a: &Effect, b| a.id().cmp(&b.id()));
        OutputBatch(effects.into_iter().map(Output::Effect).into_list())
    }

    /// Returns where an agent stands; `None` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: AgentId) -> Option<Status> {
        self.agent(agent).map(Agent::status)
    }

    /// Returns the history of an agent; `None` if there is no such agent.
    #[must_use]
    pub fn history(&self, agent: AgentId) -> Option<&History> {
        self.agent(agent).map(|agent| &agent.body.history)
    }

    /// Returns the session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the configuration in force. Where a [`SessionBlueprint`](crate::SessionBlueprint)
    /// opened the session, its `id` is the blueprint's.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        self.root.setup.given()
    }

    /// Returns the session time of the last input.
    #[must_use]
    pub const fn now(&self) -> SessionInstant {
        self.now
    }

    /// Returns a new session that has heard the first `turns` turns of this one's own agent and
    /// goes on from there, under an id of its own. Calls without a result are answered as
    /// interrupted. Session time begins again at 0, which is `wall`.
    ///
    /// # Errors
    /// The new id is empty, or it is this session's.
    pub fn fork(
        &self,
        id: SessionId,
        turns: usize,
        wall: UnixMillis,
    ) -> Result<(Self, OutputBatch), ConfigError> {
        // Session id and effect id together make a request idempotent, and effects are counted from
        // 1 again.
        if id == *self.id {
            let message = "is this session's own: a fork needs another";
            return Err(ConfigError::new("id", message));
        }
        if id.0.trim().is_empty() {
            let message = "is empty: give the fork a unique id";
            return Err(ConfigError::new("id", message));
        }
        let (mut fork, outputs) = Self::with(id, self.root.setup.own(), wall);
        for turn in self.root.body.history.turns().iter().take(turns) {
            fork.root.body.take_over(turn.clone());
        }
        fork.root.body.history.answer_open_calls(wall);
        Ok((fork, outputs))
    }

    /// Returns when the time of the run is up; `None` if the run is about to end anyway.
    fn time_up(&self) -> Option<SessionInstant> {
        self.purse.deadline(&self.config().limits).filter(|_| !self.root.is_ending())
    }

    fn agents(&self) -> impl Iterator<Item = &Agent> {
        core::iter::once(&self.root).chain(self.others.values())
    }

    fn agent(&self, id: AgentId) -> Option<&Agent> {
        if id == AgentId::ROOT { Some(&self.root) } else { self.others.get(id) }
    }

    /// Fires all that is due, and what becomes due at once, as where a time limit is 0.
    fn on_tick(&mut self, outputs: &mut Vec<Output>) {
        loop {
            let before = outputs.len();
            self.fire(outputs);
            // After a tick the next deadline is later than now, or the host would be called again
            // at once. What gives no output has changed nothing, and would be due for ever.
            let is_due = self.deadline().is_some_and(|deadline| deadline.at <= self.now);
            if !is_due || outputs.len() == before {
                return;
            }
        }
    }

    /// Handles the deadlines that have passed. What follows for one agent comes out before the next
    /// is stepped.
    fn fire(&mut self, outputs: &mut Vec<Output>) {
        if self.time_up().is_some_and(|at| at <= self.now) {
            self.step(AgentId::ROOT, outputs, TransitionCause::TimeUp);
        }
        let expired = self.ledger.expire(self.now);
        self.settled(&expired, outputs);
        let due: Vec<AgentId> = self
            .agents()
            .filter(|agent| agent.deadline().is_some_and(|(at, _)| at <= self.now))
            .map(|agent| agent.body.id)
            .into_list();
        // An agent of the list may not be due any more, since the one before may have changed it:
        // its tick then does nothing.
        for id in due {
            self.step(id, outputs, TransitionCause::Tick);
        }
    }

    /// Steps these agents, since effects that they had cancelled are settled.
    fn settled(&mut self, agents: &[AgentId], outputs: &mut Vec<Output>) {
        // The session's own agent comes last: when it closes, it may be waiting for all the others.
        let root = (!agents.is_empty()).then_some(&AgentId::ROOT);
        for &id in agents.iter().filter(|id| **id != AgentId::ROOT).chain(root) {
            self.step(id, outputs, TransitionCause::Settled);
        }
    }

    /// Returns the wall time of the last input.
    #[must_use]
    pub fn wall(&self) -> UnixMillis {
        UnixMillis(self.epoch.0.saturating_add(self.now.0))
    }

    fn event(&self, agent: AgentId, kind: EventKind) -> Event {
        let (at, wall, session) = (self.now, self.wall(), Arc::clone(&self.id));
        Event { seq: 0, at, wall, session, agent, effect: None, kind }
    }

    /// Returns the outputs with their events numbered, and marked with the effect whose answer led
    /// to them.
    fn stamped(&mut self, effect: Option<EffectId>, mut outputs: Vec<Output>) -> OutputBatch {
        // The end of the session comes behind all that others write, also where what they write is
        // put before what the session's own agent wrote.
        if matches!(self.root.phase, Phase::Closing) {
            self.step(AgentId::ROOT, &mut outputs, TransitionCause::Settled);
        }
        // Only here is the order final: signals insert what other agents write between earlier
        // events.
        for output in &mut outputs {
            if let Output::Event(event) = output {
                self.seq += 1;
                event.seq = self.seq;
                event.effect = effect;
            }
        }
        OutputBatch(outputs)
    }
}
