//! Who may say what and when. An input is taken apart once: what comes out is a step that fits, or
//! the input as it was and why it was refused, before anything has changed.

use super::{Session, admitted::Admitted};
use crate::machine::{
    agent::Agent,
    agent_state::UserInput,
    cause::{News, Order},
    folding, import,
    ledger::Lookup,
    phase::Phase,
    rewind::Steps,
    setup::Setup,
    turn_options,
};
use alloc::{format, sync::Arc};
use innerloop_json::Object;
use innerloop_types::{
    config::{ConfigError, Limits, Spend},
    id::{AgentId, EffectId},
    input::{Command, Input, Reason, Rejected, ToolInput},
    message::{Part, Why},
};

#[expect(clippy::result_large_err, reason = "only a host's mistake pays for the input's return")]
impl Session {
    /// Takes an input apart.
    pub(super) fn admit(&self, input: Input) -> Result<Admitted, Rejected> {
        match input {
            Input::Command { agent, command } => match command {
                Command::Submit { parts, options } => {
                    self.admit_order(agent, Order::Submit(UserInput { parts, options }))
                }
                Command::Steer { parts } => self.admit_order(agent, Order::Steer(parts)),
                Command::FollowUp { parts, options } => {
                    self.admit_order(agent, Order::FollowUp(UserInput { parts, options }))
                }
                Command::Import { turns } => self.admit_order(agent, Order::Import(turns)),
                Command::Undo { .. }
                | Command::Redo { .. }
                | Command::Restore { .. }
                | Command::Clear => self.admit_rewind(agent, command),
                Command::Configure { patch } => self.admit_patch(agent, patch),
                Command::Compact { instructions } => {
                    self.admit_order(agent, Order::Compact(instructions))
                }
                Command::Interrupt => self.admit_order(agent, Order::Interrupt),
                Command::Close => self.admit_order(agent, Order::Close),
            },
            Input::Http { id, input } => self.admit_news(id, News::Http(input)),
            Input::Tool { id, input } => self.admit_news(id, News::Tool(input)),
            Input::Answer { id, answer } => self.admit_news(id, News::Answer(answer)),
            Input::Hook { id, reply } => self.admit_news(id, News::Hook(reply)),
            Input::Lost { id } => self.admit_news(id, News::Lost),
            Input::Tick => Ok(Admitted::Tick),
        }
    }

    fn admit_order(&self, agent: AgentId, order: Order) -> Result<Admitted, Rejected> {
        match self.check_order(agent, &order) {
            Ok(()) => Ok(Admitted::Order(agent, order)),
            Err(reason) => Err(Rejected { input: order.into_input(agent), reason }),
        }
    }

    fn admit_rewind(&self, agent: AgentId, command: Command) -> Result<Admitted, Rejected> {
        match self.rewound(agent, &command) {
            Ok((why, at)) => Ok(Admitted::Rewind(agent, why, at)),
            Err(reason) => Err(Rejected { input: Input::Command { agent, command }, reason }),
        }
    }

    fn admit_patch(&self, agent: AgentId, patch: Object) -> Result<Admitted, Rejected> {
        match self.patched(agent, &patch) {
            Ok(setup) => {
                let says_anew = patch.field("approval").is_some();
                Ok(Admitted::Configure(setup, says_anew))
            }
            Err(reason) => {
                let input = Input::Command { agent, command: Command::Configure { patch } };
                Err(Rejected { input, reason })
            }
        }
    }

    fn admit_news(&self, id: EffectId, news: News) -> Result<Admitted, Rejected> {
        match self.owner(id, &news) {
            Ok(Owner::Waits(agent)) => Ok(Admitted::News(agent, id, news)),
            Ok(Owner::HasCancelled(agent)) if news.is_terminal() => Ok(Admitted::Ended(agent, id)),
            Ok(Owner::HasCancelled(_) | Owner::None) => Ok(Admitted::Late),
            Err(reason) => Err(Rejected { input: news.into_input(id), reason }),
        }
    }
}

/// Who is concerned by news of an effect.
enum Owner {
    /// The agent that waits for it.
    Waits(AgentId),
    /// The agent that has cancelled it.
    HasCancelled(AgentId),
    /// Nobody any more.
    None,
}

impl Session {
    /// The agent of that id, neither it nor the session being over.
    fn open_agent(&self, id: AgentId) -> Result<&Agent, Reason> {
        let agent = self.agent(id).ok_or(Reason::UnknownAgent(id))?;
        if agent.phase.is_over() || self.root.phase.is_over() {
            return Err(Reason::Closed);
        }
        Ok(agent)
    }

    /// The agent of that id, which has no run under way.
    fn idle_agent(&self, id: AgentId) -> Result<&Agent, Reason> {
        let agent = self.open_agent(id)?;
        if matches!(agent.phase, Phase::Idle) { Ok(agent) } else { Err(Reason::Busy) }
    }

    fn check_order(&self, id: AgentId, order: &Order) -> Result<(), Reason> {
        let agent = match order {
            Order::Submit(_) | Order::Import(_) | Order::Compact(_) => self.idle_agent(id)?,
            _ => self.open_agent(id)?,
        };
        match order {
            Order::Compact(_) if self.is_spent() => Err(Reason::Budget),
            Order::Compact(_) if !folding::can_fold(&agent.body.history, &agent.setup) => {
                Err(Reason::Nothing("no turn is old enough to be folded"))
            }
            Order::Import(turns) if turns.is_empty() => Err(Reason::Empty),
            Order::Import(turns) => {
                import::check(&agent.body.history, turns).map_err(Reason::Import)
            }
            Order::Submit(UserInput { parts, .. })
            | Order::Steer(parts)
            | Order::FollowUp(UserInput { parts, .. })
                if parts.iter().all(is_blank) =>
            {
                Err(Reason::Empty)
            }
            Order::Submit(UserInput { options: Some(options), .. })
            | Order::FollowUp(UserInput { options: Some(options), .. }) => {
                turn_options::check(options, &agent.setup).map_err(Reason::from)
            }
            _ => Ok(()),
        }
    }

    /// Whether what the session may spend is used up.
    fn is_spent(&self) -> bool {
        let limits = Limits { run: Spend::default(), ..self.config().limits };
        self.purse.used_up(&limits, self.now).is_some()
    }

    /// To which length of its log a command leads an agent back.
    fn rewound(&self, id: AgentId, command: &Command) -> Result<(Why, u32), Reason> {
        let agent = self.idle_agent(id)?;
        let history = &agent.body.history;
        let steps = Steps::of(history.turns(), agent.setup.config.undo.max_steps);
        let (why, at, nothing) = match *command {
            Command::Undo { steps: most } => {
                (Why::Undo, steps.undone(most), "there is nothing to undo")
            }
            Command::Redo { steps: most } => {
                (Why::Redo, steps.redone(most), "there is nothing to redo")
            }
            Command::Restore { at } => {
                let is_past = usize::try_from(at).is_ok_and(|at| at < history.turns().len());
                (Why::Restore, is_past.then_some(at), "the log has no more turns than that")
            }
            _ => {
                let says_something = history.seen().next().is_some();
                (Why::Clear, says_something.then_some(0), "nothing was said")
            }
        };
        at.map(|at| (why, at)).ok_or(Reason::Nothing(nothing))
    }

    /// The configuration in force with a change.
    fn patched(&self, id: AgentId, patch: &Object) -> Result<Arc<Setup>, Reason> {
        self.open_agent(id)?;
        if id != AgentId::ROOT {
            let why = "the configuration is the session's: give it to agent 0";
            return Err(Reason::Unsupported(why));
        }
        let setup = self.root.setup.patched(patch).and_then(Setup::new).map_err(Reason::from)?;
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

    /// Who is concerned by news that fit the effect.
    fn owner(&self, id: EffectId, news: &News) -> Result<Owner, Reason> {
        let entry = match self.ledger.lookup(id) {
            Lookup::Never => return Err(Reason::UnknownEffect(id)),
            Lookup::Settled => return Ok(Owner::None),
            Lookup::Open(entry) => entry,
        };
        if news.kind().is_some_and(|kind| kind != entry.kind) {
            return Err(Reason::WrongKind(id));
        }
        if let News::Tool(ToolInput::Parked { .. }) = news {
            return Err(Reason::Unsupported("background runs are not offered"));
        }
        if entry.grace.is_some() {
            return Ok(Owner::HasCancelled(entry.agent));
        }
        if let News::Http(input) = news
            && let Some(agent) = self.agent(entry.agent)
            && !agent.body.accepts(id, input)
        {
            return Err(Reason::OutOfOrder(id));
        }
        Ok(Owner::Waits(entry.agent))
    }
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}
