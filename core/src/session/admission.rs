//! Admission: who may say what and when. An input is taken apart once, and becomes a step that
//! fits, or comes back as it was with the reason of its refusal. All checks are here, before
//! anything has changed, so that a refused input changes nothing.

use super::{Session, input_effects::AdmittedInput};
use crate::machine::{
    agent::Agent,
    agent_state::UserInput,
    cause::{AgentCommand, EffectUpdate},
    folding, import,
    ledger::EffectLookup,
    phase::Phase,
    rewind::UndoStack,
    setup::AgentSetup,
    turn_options,
};
use alloc::{format, sync::Arc};
use innerloop_json::JsonObject;
use innerloop_types::{
    config::{ConfigError, Limits, SpendAmount},
    id::{AgentId, EffectId},
    input::{Command, Input, RejectedInput, RejectionReason, ToolInput},
    message::{Part, RewindReason},
};

#[expect(clippy::result_large_err, reason = "only a host's mistake pays for the input's return")]
impl Session {
    /// Takes an input apart, and checks it.
    pub(super) fn admit(&self, input: Input) -> Result<AdmittedInput, RejectedInput> {
        match input {
            Input::Command { agent, command } => match command {
                Command::Submit { parts, options } => {
                    self.admit_order(agent, AgentCommand::Submit(UserInput { parts, options }))
                }
                Command::Steer { parts } => self.admit_order(agent, AgentCommand::Steer(parts)),
                Command::FollowUp { parts, options } => {
                    self.admit_order(agent, AgentCommand::FollowUp(UserInput { parts, options }))
                }
                Command::Import { turns } => self.admit_order(agent, AgentCommand::Import(turns)),
                Command::Undo { .. }
                | Command::Redo { .. }
                | Command::Restore { .. }
                | Command::Clear => self.admit_rewind(agent, command),
                Command::Configure { patch } => self.admit_patch(agent, patch),
                Command::Compact { instructions } => {
                    self.admit_order(agent, AgentCommand::Compact(instructions))
                }
                Command::Interrupt => self.admit_order(agent, AgentCommand::Interrupt),
                Command::Close => self.admit_order(agent, AgentCommand::Close),
            },
            Input::Http { id, input } => self.admit_news(id, EffectUpdate::Http(input)),
            Input::Tool { id, input } => self.admit_news(id, EffectUpdate::Tool(input)),
            Input::Answer { id, answer } => self.admit_news(id, EffectUpdate::Answer(answer)),
            Input::Hook { id, reply } => self.admit_news(id, EffectUpdate::Hook(reply)),
            Input::Lost { id } => self.admit_news(id, EffectUpdate::Lost),
            Input::Tick => Ok(AdmittedInput::Tick),
        }
    }

    fn admit_order(
        &self,
        agent: AgentId,
        order: AgentCommand,
    ) -> Result<AdmittedInput, RejectedInput> {
        match self.check_order(agent, &order) {
            Ok(()) => Ok(AdmittedInput::Order(agent, order)),
            Err(reason) => Err(RejectedInput { input: order.into_input(agent), reason }),
        }
    }

    fn admit_rewind(
        &self,
        agent: AgentId,
        command: Command,
    ) -> Result<AdmittedInput, RejectedInput> {
        match self.rewound(agent, &command) {
            Ok((why, at)) => Ok(AdmittedInput::Rewind(agent, why, at)),
            Err(reason) => Err(RejectedInput { input: Input::Command { agent, command }, reason }),
        }
    }

    fn admit_patch(
        &self,
        agent: AgentId,
        patch: JsonObject,
    ) -> Result<AdmittedInput, RejectedInput> {
        match self.patched(agent, &patch) {
            Ok(setup) => {
                let says_anew = patch.field("approval").is_some();
                Ok(AdmittedInput::Configure(setup, says_anew))
            }
            Err(reason) => {
                let input = Input::Command { agent, command: Command::Configure { patch } };
                Err(RejectedInput { input, reason })
            }
        }
    }

    fn admit_news(&self, id: EffectId, news: EffectUpdate) -> Result<AdmittedInput, RejectedInput> {
        match self.owner(id, &news) {
            Ok(EffectOwner::Waits(agent)) => Ok(AdmittedInput::News(agent, id, news)),
            Ok(EffectOwner::HasCancelled(agent)) if news.is_terminal() => {
                Ok(AdmittedInput::Ended(agent, id))
            }
            // Answers that come late are normal, since a host cannot take them back: they are
            // ignored, not refused.
            Ok(EffectOwner::HasCancelled(_) | EffectOwner::None) => Ok(AdmittedInput::Late),
            Err(reason) => Err(RejectedInput { input: news.into_input(id), reason }),
        }
    }
}

/// The agent that news of an effect concerns.
enum EffectOwner {
    /// The agent that waits for it.
    Waits(AgentId),
    /// The agent that has cancelled it.
    HasCancelled(AgentId),
    /// Nobody any more.
    None,
}

impl Session {
    /// Returns the agent of that id, unless it or the session is closed.
    fn open_agent(&self, id: AgentId) -> Result<&Agent, RejectionReason> {
        let agent = self.agent(id).ok_or(RejectionReason::UnknownAgent(id))?;
        if agent.phase.is_over() || self.root.phase.is_over() {
            return Err(RejectionReason::Closed);
        }
        Ok(agent)
    }

    /// Returns the agent of that id if it is idle.
    fn idle_agent(&self, id: AgentId) -> Result<&Agent, RejectionReason> {
        let agent = self.open_agent(id)?;
        if matches!(agent.phase, Phase::Idle) { Ok(agent) } else { Err(RejectionReason::Busy) }
    }

    fn check_order(&self, id: AgentId, order: &AgentCommand) -> Result<(), RejectionReason> {
        let agent = match order {
            AgentCommand::Submit(_) | AgentCommand::Import(_) | AgentCommand::Compact(_) => {
                self.idle_agent(id)?
            }
            _ => self.open_agent(id)?,
        };
        match order {
            AgentCommand::Compact(_) if self.is_spent() => Err(RejectionReason::Budget),
            AgentCommand::Compact(_) if !folding::can_fold(&agent.body.history, &agent.setup) => {
                Err(RejectionReason::Nothing("no turn is old enough to be folded"))
            }
            AgentCommand::Import(turns) if turns.is_empty() => Err(RejectionReason::Empty),
            AgentCommand::Import(turns) => {
                import::check(&agent.body.history, turns).map_err(RejectionReason::Import)
            }
            AgentCommand::Submit(UserInput { parts, .. })
            | AgentCommand::Steer(parts)
            | AgentCommand::FollowUp(UserInput { parts, .. })
                if parts.iter().all(is_blank) =>
            {
                Err(RejectionReason::Empty)
            }
            AgentCommand::Submit(UserInput { options: Some(options), .. })
            | AgentCommand::FollowUp(UserInput { options: Some(options), .. }) => {
                turn_options::check(options, &agent.setup).map_err(RejectionReason::from)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the session has spent all that it may.
    fn is_spent(&self) -> bool {
        // Without the limits of a run: a fold that the host asks for is outside of any.
        let limits = Limits { run: SpendAmount::default(), ..self.config().limits };
        self.purse.used_up(&limits, self.now).is_some()
    }

    /// Returns the length of its log to which a command leads an agent back, and why.
    fn rewound(
        &self,
        id: AgentId,
        command: &Command,
    ) -> Result<(RewindReason, u32), RejectionReason> {
        let agent = self.idle_agent(id)?;
        let history = &agent.body.history;
        let steps = UndoStack::of(history.turns(), agent.setup.config.undo.max_steps);
        let (why, at, nothing) = match *command {
            Command::Undo { steps: most } => {
                (RewindReason::Undo, steps.undone(most), "there is nothing to undo")
            }
            Command::Redo { steps: most } => {
                (RewindReason::Redo, steps.redone(most), "there is nothing to redo")
            }
            Command::Restore { at } => {
                let is_past = usize::try_from(at).is_ok_and(|at| at < history.turns().len());
                (
                    RewindReason::Restore,
                    is_past.then_some(at),
                    "the log has no more turns than that",
                )
            }
            _ => {
                let says_something = history.seen().next().is_some();
                (RewindReason::Clear, says_something.then_some(0), "nothing was said")
            }
        };
        at.map(|at| (why, at)).ok_or(RejectionReason::Nothing(nothing))
    }

    /// Returns the setup with a patch of the configuration applied.
    fn patched(&self, id: AgentId, patch: &JsonObject) -> Result<Arc<AgentSetup>, RejectionReason> {
        self.open_agent(id)?;
        if id != AgentId::ROOT {
            let why = "the configuration is the session's: give it to agent 0";
            return Err(RejectionReason::Unsupported(why));
        }
        let setup = self
            .root
            .setup
            .patched(patch)
            .and_then(AgentSetup::new)
            .map_err(RejectionReason::from)?;
        // Agents that work with another model may have been started while the cost had no limit; a
        // new limit could not be kept for them.
        let mut others = self.others.values().filter(|agent| !agent.phase.is_over());
        let models = others.find_map(|agent| {
            let own = agent.body.spawned.as_ref()?.model.as_deref()?;
            setup.cannot_pay(own).then_some(own)
        });
        match models {
            Some(model) => {
                let message = format!("an agent works with {model}, whose price is not known");
                Err(ConfigError::new("limits", message).into())
            }
            None => Ok(Arc::new(setup)),
        }
    }

    /// Returns the agent that news of an effect concern, if they fit it.
    fn owner(&self, id: EffectId, news: &EffectUpdate) -> Result<EffectOwner, RejectionReason> {
        let entry = match self.ledger.lookup(id) {
            EffectLookup::Never => return Err(RejectionReason::UnknownEffect(id)),
            EffectLookup::Settled => return Ok(EffectOwner::None),
            EffectLookup::Open(entry) => entry,
        };
        // A cancelled effect is checked like any other: an answer of the wrong kind is the host's
        // mistake even where nobody waits for it.
        if news.kind().is_some_and(|kind| kind != entry.kind) {
            return Err(RejectionReason::WrongKind(id));
        }
        if let EffectUpdate::Tool(ToolInput::Parked { .. }) = news {
            return Err(RejectionReason::Unsupported("background runs are not offered"));
        }
        if entry.grace.is_some() {
            return Ok(EffectOwner::HasCancelled(entry.agent));
        }
        // Chunks before a head could not be decoded. The call knows, since a restored one begins
        // anew with its head.
        if let EffectUpdate::Http(input) = news
            && let Some(agent) = self.agent(entry.agent)
            && !agent.body.accepts(id, input)
        {
            return Err(RejectionReason::OutOfOrder(id));
        }
        Ok(EffectOwner::Waits(entry.agent))
    }
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}
