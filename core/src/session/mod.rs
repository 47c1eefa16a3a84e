//! Floor 5: the front desk. It checks what comes in, knows whose it is, carries words between
//! agents, stamps what goes out with numbers and time, and saves and restores. What it means is
//! the agents' business.

mod accepted;
mod admission;
pub(crate) mod blueprint;
pub mod log;
mod route;
pub(crate) mod snapshot;

use crate::{
    base::{
        id::{AgentId, SessionId},
        time::{Instant, UnixMillis},
    },
    machine::{
        agent::{self, Agent},
        ctx::{Roll, Step},
        history::History,
        ledger::{Entry, Ledger},
        phase::Phase,
        run,
        setup::Setup,
    },
    types::{
        config::{ConfigError, SessionConfig},
        event::EventKind,
        input::{Command, Input, Rejected},
        output::{Deadline, DeadlineReason, Effect, Output, Outputs},
        status::Status,
    },
};
use accepted::Accepted;
use alloc::{collections::BTreeMap, sync::Arc, vec, vec::Vec};

/// Raised whenever equal inputs no longer give equal outputs.
pub const REPLAY_VERSION: u32 = 2;

/// A conversation with a model that works with tools.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    root: Agent,
    /// The agents that were started from it, by number.
    others: BTreeMap<AgentId, Agent>,
    roll: Roll,
    ledger: Ledger,
    /// The number of the last event.
    seq: u64,
    now: Instant,
    /// The wall time at which session time was 0.
    epoch: UnixMillis,
}

impl Session {
    /// Opens a session. Session time starts at 0, which is `wall`.
    ///
    /// # Errors
    /// The field of the configuration that cannot work, and why.
    pub fn open(config: SessionConfig, wall: UnixMillis) -> Result<(Self, Outputs), ConfigError> {
        let id = config.id.clone();
        Ok(Self::with(id, Arc::new(Setup::new(config)?), wall))
    }

    /// A session whose setup is there already.
    fn with(id: SessionId, setup: Arc<Setup>, wall: UnixMillis) -> (Self, Outputs) {
        let mut session = Self {
            id,
            root: Agent::new(AgentId::ROOT, None, setup, Vec::new()),
            others: BTreeMap::new(),
            roll: Roll::default(),
            ledger: Ledger::default(),
            seq: 0,
            now: Instant(0),
            epoch: wall,
        };
        let outputs = session.emit(vec![Step::Event(AgentId::ROOT, EventKind::SessionStart)]);
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
    pub fn handle(&mut self, input: Input, now: Instant) -> Result<Outputs, Rejected> {
        let accepted = match self.check(&input) {
            Ok(accepted) => accepted,
            Err(reason) => return Err(Rejected { input, reason }),
        };
        self.now = self.now.max(now);
        let steps = match (accepted, input) {
            (Accepted::Answer(entry), input) if entry.grace.is_some() => {
                return Ok(self.on_late_answer(entry, &input));
            }
            (Accepted::Command, Input::Command { agent, command }) => {
                self.on_command(agent, command)
            }
            (Accepted::Patch(setup), _) => self.on_patch(&setup),
            (Accepted::Answer(entry), input) => self.on_answer(entry, input),
            (Accepted::Tick, _) => return Ok(self.on_tick()),
            (Accepted::Command | Accepted::Late, _) => Vec::new(),
        };
        Ok(self.emit(steps))
    }

    /// When to send [`Input::Tick`] if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let grace = self.ledger.deadline().map(|at| (at, DeadlineReason::Grace));
        let agents = self.agents().filter_map(Agent::deadline);
        let (at, reason) = agents.chain(grace).min_by_key(|(at, _)| *at)?;
        Some(Deadline { at, reason })
    }

    /// Every open effect again, whole, under its id: what a host that restored the session has
    /// to carry out, or to report as [`Input::Lost`].
    pub fn owed(&self) -> Outputs {
        let mut effects: Vec<Effect> =
            self.agents().flat_map(|agent| agent.owed(&self.id)).collect();
        effects.sort_by_key(Effect::id);
        Outputs(effects.into_iter().map(Output::Effect).collect())
    }

    /// Where an agent stands; `None` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: AgentId) -> Option<Status> {
        self.agent(agent).map(Agent::status)
    }

    /// What an agent and its user have said; `None` if there is no such agent.
    #[must_use]
    pub fn history(&self, agent: AgentId) -> Option<&History> {
        self.agent(agent).map(|agent| &agent.body.history)
    }

    /// The session's id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// The configuration in force. Where a [`Blueprint`](crate::Blueprint) opened the session, its
    /// `id` is the blueprint's.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.root.setup.config
    }

    /// The session time of the last input.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// A new session that has heard the first `turns` turns of this one's own agent and goes on
    /// from there, under an id of its own. Calls that have no answer there are answered as
    /// interrupted. Session time starts anew at 0, which is `wall`.
    ///
    /// # Errors
    /// The new id is empty, or no other than this session's.
    pub fn fork(
        &self,
        id: SessionId,
        turns: usize,
        wall: UnixMillis,
    ) -> Result<(Self, Outputs), ConfigError> {
        if id == self.id {
            let message = "is this session's own: a fork needs another".into();
            return Err(ConfigError { field: "id", message });
        }
        if id.0.trim().is_empty() {
            let message = "is empty: give the fork a unique id".into();
            return Err(ConfigError { field: "id", message });
        }
        let (mut fork, outputs) = Self::with(id, Arc::clone(&self.root.setup), wall);
        for turn in self.root.body.history.turns().iter().take(turns) {
            fork.root.body.hear(turn.clone());
        }
        fork.root.body.history.answer_open_calls(wall);
        Ok((fork, outputs))
    }

    fn agents(&self) -> impl Iterator<Item = &Agent> {
        core::iter::once(&self.root).chain(self.others.values())
    }

    fn agent(&self, id: AgentId) -> Option<&Agent> {
        if id == AgentId::ROOT { Some(&self.root) } else { self.others.get(&id) }
    }

    fn on_command(&mut self, id: AgentId, command: Command) -> Vec<Step> {
        self.step(id, |phase, ctx| match command {
            Command::Submit { parts } => agent::submit(parts, ctx),
            Command::Steer { parts } => agent::steer(phase, parts, ctx),
            Command::FollowUp { parts } => agent::follow_up(phase, parts, ctx),
            Command::Interrupt => run::interrupt(phase, ctx),
            Command::Close => agent::close(phase, ctx),
            // Arrives as `Accepted::Patch`.
            Command::Configure { .. } => phase,
        })
    }

    /// Another configuration is in force, for the other agents too.
    pub(super) fn on_patch(&mut self, setup: &Arc<Setup>) -> Vec<Step> {
        let mut steps = Vec::new();
        for agent in core::iter::once(&mut self.root).chain(self.others.values_mut()) {
            // The session's own setup works, and what an agent was started with did before.
            let new = match &agent.body.scope {
                None => Some(Arc::clone(setup)),
                Some(scope) => setup.scoped(scope).ok().map(Arc::new),
            };
            let Some(new) = new else { continue };
            let is_over = matches!(agent.phase, Phase::Closing | Phase::Closed);
            let has_said = !is_over && !agent.body.history.turns().is_empty();
            if new.head != agent.setup.head && has_said {
                let reason = "the model, its options or the system prompt changed";
                steps.push(Step::Event(agent.body.id, EventKind::PrefixRebased { reason }));
            }
            agent.configure(new);
        }
        steps
    }

    fn on_answer(&mut self, entry: Entry, input: Input) -> Vec<Step> {
        self.step(entry.agent, |phase, ctx| match input {
            Input::Http { input, .. } => agent::on_http(phase, input, ctx),
            Input::Tool { id, input } => agent::on_tool(phase, id, input, ctx),
            Input::Answer { id, answer } => agent::on_answer(phase, id, answer, ctx),
            Input::Hook { id, reply } => agent::on_hook(phase, id, reply, ctx),
            Input::Lost { id } => agent::on_lost(phase, id, ctx),
            Input::Command { .. } | Input::Tick => phase,
        })
    }

    /// News of a cancelled effect: only that it has ended counts.
    fn on_late_answer(&mut self, entry: Entry, input: &Input) -> Outputs {
        let mut outputs = Outputs::default();
        let Some(ended) = input.answered() else { return outputs };
        self.ledger.settle(ended);
        self.settled(&[entry.agent], &mut outputs);
        outputs
    }

    /// One tick fires all that is due, and what that makes due at once, as where a time limit is 0.
    fn on_tick(&mut self) -> Outputs {
        let mut outputs = Outputs::default();
        loop {
            let before = outputs.0.len();
            self.fire(&mut outputs);
            let is_due = self.deadline().is_some_and(|deadline| deadline.at <= self.now);
            if !is_due || outputs.0.len() == before {
                return outputs;
            }
        }
    }

    /// What follows for one agent comes out before the next one is stepped: it may change it.
    fn fire(&mut self, outputs: &mut Outputs) {
        let expired = self.ledger.expire(self.now);
        self.settled(&expired, outputs);
        let due: Vec<AgentId> = self
            .agents()
            .filter(|agent| agent.deadline().is_some_and(|(at, _)| at <= self.now))
            .map(|agent| agent.body.id)
            .collect();
        for id in due {
            let steps = self.step(id, agent::on_tick);
            outputs.0.extend(self.emit(steps));
        }
    }

    /// Cancelled effects of these agents are settled; the session's own may be waiting for all.
    fn settled(&mut self, agents: &[AgentId], outputs: &mut Outputs) {
        let root = (!agents.is_empty()).then_some(&AgentId::ROOT);
        for &id in agents.iter().filter(|id| **id != AgentId::ROOT).chain(root) {
            let steps = self.step(id, agent::on_settled);
            outputs.0.extend(self.emit(steps));
        }
    }
}
