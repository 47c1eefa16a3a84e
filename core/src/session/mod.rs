//! Floor 5: the front desk. It checks what comes in, knows whose it is, stamps what goes out with
//! numbers and time, and saves and restores. What it means is the agents' business.

pub mod log;
pub(crate) mod snapshot;

use crate::{
    machine::{
        agent::{self, Agent, Phase},
        body::{Body, Queues, Run},
        ctx::{Ctx, Step},
        history::History,
        ledger::{EffectKind, Entry, Ledger, Lookup},
        setup::Setup,
    },
    nouns::{
        config::{ConfigError, ConfigPatch, SessionConfig},
        event::{Event, EventKind},
        input::{Command, HttpInput, Input, Reason, Rejected, ToolInput},
        message::Part,
        output::{Deadline, DeadlineReason, Effect, Output, Outputs, Purpose},
        status::Status,
        tool::ToolRun,
    },
    words::{
        id::{AgentId, EffectId},
        time::{Instant, UnixMillis},
    },
};
use alloc::{sync::Arc, vec, vec::Vec};

/// Raised whenever equal inputs no longer give equal outputs.
pub const REPLAY_VERSION: u32 = 1;

/// A conversation with a model that works with tools.
#[derive(Debug)]
pub struct Session {
    setup: Arc<Setup>,
    agent: Agent,
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
        let setup = Setup::new(config)?;
        let body = Body {
            id: AgentId::ROOT,
            history: History::new(setup.config.model.wire, Vec::new()),
            queues: Queues::default(),
            run: Run::default(),
            past: Run::default(),
        };
        let mut session = Self {
            setup: Arc::new(setup),
            agent: Agent { body, phase: Phase::Idle },
            ledger: Ledger::default(),
            seq: 0,
            now: Instant(0),
            epoch: wall,
        };
        let outputs = session.stamp(vec![Step::Event(AgentId::ROOT, EventKind::SessionStart)]);
        Ok((session, outputs))
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
        let mut steps = Vec::new();
        match accepted {
            Accepted::Command => {
                if let Input::Command { command, .. } = input {
                    self.on_command(command, &mut steps);
                }
            }
            Accepted::Patch(setup) => self.on_patch(setup, &mut steps),
            Accepted::Answer(entry) => self.on_answer(entry, input, &mut steps),
            Accepted::Tick => self.on_tick(&mut steps),
            Accepted::Late => {}
        }
        Ok(self.stamp(steps))
    }

    /// When to send [`Input::Tick`] if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let retry = &self.setup.config.retry;
        let phase = match &self.agent.phase {
            Phase::Calling(calling) => {
                Some((calling.deadline(retry.idle_ms), DeadlineReason::ModelIdle))
            }
            Phase::Waiting(waiting) => Some((waiting.deadline(), DeadlineReason::Retry)),
            Phase::Idle | Phase::Running(_) | Phase::Closing | Phase::Closed => None,
        };
        let grace = self.ledger.deadline().map(|at| (at, DeadlineReason::Grace));
        let (at, reason) = phase.into_iter().chain(grace).min_by_key(|(at, _)| *at)?;
        Some(Deadline { at, reason })
    }

    /// Every open effect again, whole, under its id: what a host that restored the session has
    /// to carry out, or to report as [`Input::Lost`].
    pub fn owed(&self) -> Outputs {
        let effects: Vec<Effect> = match &self.agent.phase {
            Phase::Calling(calling) => {
                let Setup { head, config, .. } = &*self.setup;
                let request = self.agent.body.history.request_again(head, &config.model);
                vec![Effect::Http { id: calling.effect, request, purpose: Purpose::Model }]
            }
            Phase::Running(round) => {
                let run =
                    |(id, run): (EffectId, &ToolRun)| Effect::RunTool { id, run: run.clone() };
                round.running().map(run).collect()
            }
            Phase::Idle | Phase::Waiting(_) | Phase::Closing | Phase::Closed => Vec::new(),
        };
        Outputs(effects.into_iter().map(Output::Effect).collect())
    }

    /// Where an agent stands; `None` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: AgentId) -> Option<Status> {
        (agent == AgentId::ROOT).then(|| self.agent.status())
    }

    /// What an agent and its user have said; `None` if there is no such agent.
    #[must_use]
    pub fn history(&self, agent: AgentId) -> Option<&History> {
        (agent == AgentId::ROOT).then_some(&self.agent.body.history)
    }

    /// Session time, that of the latest input: a host's clock goes on from here after a restore.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.setup.config
    }

    fn check(&self, input: &Input) -> Result<Accepted, Reason> {
        match input {
            Input::Command { agent, command } => {
                if *agent != AgentId::ROOT {
                    return Err(Reason::UnknownAgent(*agent));
                }
                self.check_command(command)
            }
            Input::Http { id, input } => {
                let Some(entry) = self.find(*id)? else { return Ok(Accepted::Late) };
                self.check_http(*id, entry, input)
            }
            Input::Tool { id, input } => {
                let Some(entry) = self.find(*id)? else { return Ok(Accepted::Late) };
                if entry.kind != EffectKind::Tool {
                    return Err(Reason::WrongKind(*id));
                }
                if let ToolInput::Parked { .. } = input {
                    return Err(Reason::Unsupported("background runs are not offered"));
                }
                Ok(Accepted::Answer(entry))
            }
            Input::Answer { id, .. } | Input::Hook { id, .. } => {
                self.find(*id)?.map_or(Ok(Accepted::Late), |_| Err(Reason::WrongKind(*id)))
            }
            Input::Lost { id } => Ok(self.find(*id)?.map_or(Accepted::Late, Accepted::Answer)),
            Input::Tick => Ok(Accepted::Tick),
        }
    }

    /// The entry of an open effect, nothing for a settled one.
    fn find(&self, id: EffectId) -> Result<Option<Entry>, Reason> {
        match self.ledger.lookup(id) {
            Lookup::Never => Err(Reason::UnknownEffect(id)),
            Lookup::Settled => Ok(None),
            Lookup::Open(entry) => Ok(Some(entry)),
        }
    }

    fn check_command(&self, command: &Command) -> Result<Accepted, Reason> {
        let phase = &self.agent.phase;
        if matches!(phase, Phase::Closing | Phase::Closed) {
            return Err(Reason::Closed);
        }
        match command {
            Command::Submit { .. } if !matches!(phase, Phase::Idle) => Err(Reason::Busy),
            Command::Submit { parts } | Command::Steer { parts } | Command::FollowUp { parts }
                if parts.iter().all(is_blank) =>
            {
                Err(Reason::Empty)
            }
            Command::Configure { patch } => self.check_patch(patch),
            _ => Ok(Accepted::Command),
        }
    }

    fn check_patch(&self, patch: &ConfigPatch) -> Result<Accepted, Reason> {
        match self.setup.patched(patch) {
            Ok(setup) => Ok(Accepted::Patch(Arc::new(setup))),
            Err(error) => Err(Reason::Config(error.field)),
        }
    }

    fn check_http(
        &self,
        id: EffectId,
        entry: Entry,
        input: &HttpInput,
    ) -> Result<Accepted, Reason> {
        if entry.kind != EffectKind::Http {
            return Err(Reason::WrongKind(id));
        }
        match &self.agent.phase {
            Phase::Calling(calling) if calling.effect == id && !calling.accepts(input) => {
                Err(Reason::OutOfOrder(id))
            }
            _ => Ok(Accepted::Answer(entry)),
        }
    }

    fn on_command(&mut self, command: Command, steps: &mut Vec<Step>) {
        match command {
            Command::Submit { parts } => self.step(steps, |_, ctx| agent::submit(parts, ctx)),
            Command::Steer { parts } => self.agent.body.queues.steering.push_back(parts),
            Command::FollowUp { parts } => self.step(steps, |phase, ctx| match phase {
                Phase::Idle => agent::submit(parts, ctx),
                other => {
                    ctx.body.queues.follow_ups.push_back(parts);
                    other
                }
            }),
            Command::Interrupt => self.step(steps, agent::interrupt),
            Command::Close => self.step(steps, |phase, ctx| {
                agent::interrupt(phase, ctx);
                agent::close(ctx)
            }),
            // Arrives as `Accepted::Patch`.
            Command::Configure { .. } => {}
        }
    }

    fn on_patch(&mut self, setup: Arc<Setup>, steps: &mut Vec<Step>) {
        if setup.head != self.setup.head {
            let reason = "the model, its options or the system prompt changed";
            steps.push(Step::Event(AgentId::ROOT, EventKind::PrefixRebased { reason }));
        }
        self.setup = setup;
    }

    fn on_answer(&mut self, entry: Entry, input: Input, steps: &mut Vec<Step>) {
        if entry.grace.is_some() {
            return self.on_late_answer(&input, steps);
        }
        self.step(steps, |phase, ctx| match input {
            Input::Http { input, .. } => agent::on_http(phase, input, ctx),
            Input::Tool { id, input } => agent::on_tool(phase, id, input, ctx),
            Input::Lost { id } => agent::on_lost(phase, id, ctx),
            _ => phase,
        });
    }

    /// News of a cancelled effect: only that it has ended counts.
    fn on_late_answer(&mut self, input: &Input, steps: &mut Vec<Step>) {
        let ended = match input {
            Input::Http { id, input: HttpInput::End | HttpInput::Failed(_) }
            | Input::Tool { id, input: ToolInput::Done(_) }
            | Input::Lost { id } => *id,
            _ => return,
        };
        self.ledger.settle(ended);
        self.step(steps, agent::on_settled);
    }

    fn on_tick(&mut self, steps: &mut Vec<Step>) {
        if !self.ledger.expire(self.now).is_empty() {
            self.step(steps, agent::on_settled);
        }
        self.step(steps, agent::on_tick);
    }

    /// Steps the agent's phase by value.
    fn step(&mut self, steps: &mut Vec<Step>, f: impl FnOnce(Phase, &mut Ctx<'_>) -> Phase) {
        let phase = core::mem::take(&mut self.agent.phase);
        let mut ctx = Ctx {
            body: &mut self.agent.body,
            setup: &self.setup,
            ledger: &mut self.ledger,
            steps,
            now: self.now,
            wall: UnixMillis(self.epoch.0.saturating_add(self.now.0)),
        };
        self.agent.phase = f(phase, &mut ctx);
    }

    /// Turns steps into outputs.
    fn stamp(&mut self, steps: Vec<Step>) -> Outputs {
        let stamped = steps.into_iter().map(|step| match step {
            Step::Effect(effect) => Output::Effect(effect),
            Step::Event(agent, kind) => {
                self.seq += 1;
                Output::Event(Event { seq: self.seq, at: self.now, agent, kind })
            }
        });
        Outputs(stamped.collect())
    }
}

/// What an input that is not refused comes to.
enum Accepted {
    Command,
    Patch(Arc<Setup>),
    Answer(Entry),
    Tick,
    /// The effect is settled already.
    Late,
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}
