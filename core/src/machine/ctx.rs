//! The context of a step: all that it may read and change, and the outputs and signals that it
//! writes. A step has no other way to act. The session numbers the events, and carries the signals
//! to other agents.

use super::{
    agent_state::{AgentData, SpawnOptions},
    ledger::{EffectKind, Ledger},
    route::Route,
    setup::AgentSetup,
    turn_tools::allows,
    unsent::name,
};
use crate::rules::{
    availability::ModelAvailability,
    budget::{SpendTracker, UsedUp},
    cost,
};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};
use innerloop_json::ToJson;
use innerloop_types::{
    config::{HookPoint, Limits, Price, SpendAmount},
    event::{ErrorKind, Event, EventKind},
    id::{AgentId, EffectId, SessionId},
    json::Json,
    message::{Part, Turn, TurnKind, Usage},
    output::{Effect, HookRun, Output},
    time::{SessionInstant, UnixMillis},
};
use innerloop_wire::{MediaGate, parts};

/// A message to an agent, which the session carries over.
#[derive(Debug)]
pub(crate) enum AgentSignal {
    /// Start an agent under that id on a task.
    Spawn { child: AgentId, task: String, options: Box<SpawnOptions> },
    /// A message for the model: at its next step if the agent works, as a new task if it is idle.
    Steer { agent: AgentId, parts: Vec<Part> },
    /// End an agent.
    Close { agent: AgentId },
    /// Stop an agent's run.
    Interrupt { agent: AgentId },
    /// Describe the tools in the prompt from now on; an agent that waits goes on at once.
    InText { agent: AgentId },
    /// Leave those fields out of requests from now on; an agent that waits goes on at once.
    Without { agent: AgentId, fields: Vec<&'static str> },
    /// Choose the model anew, since the one in force has failed with that message; an agent that
    /// waits goes on at once.
    Reroute { agent: AgentId, message: String },
    /// The run of an agent is over: the agent that started it may be waiting.
    Ended { agent: AgentId, success: bool },
    /// An agent that is closing may be able to finish.
    Finish { agent: AgentId },
}

/// The output of one step of an agent.
#[derive(Debug, Default)]
pub(crate) struct StepOutput {
    /// Effects and events in causal order. Events get their number, and the effect that led to
    /// them, when the input is done.
    pub(crate) outputs: Vec<Output>,
    /// The signals, each with its place among the outputs: what follows from it comes out there.
    pub(crate) signals: Vec<(usize, AgentSignal)>,
    /// The rows of the loop's table that were followed.
    #[cfg(feature = "seams")]
    pub(crate) rows: Vec<TransitionRow>,
}

/// A row of the loop's table, in the names of `docs/architecture.md`: the phase and the cause, or
/// nothing and the step; then the step that follows, or the phase in which the agent waits.
#[cfg(feature = "seams")]
pub(crate) type TransitionRow = [&'static str; 3];

/// All that a step may read and change.
pub(crate) struct StepContext<'a> {
    pub(crate) body: &'a mut AgentData,
    pub(crate) setup: &'a AgentSetup,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) written: &'a mut StepOutput,
    pub(crate) agents: &'a mut AgentCount,
    pub(crate) purse: &'a mut SpendTracker,
    pub(crate) models: &'a mut ModelAvailability,
    /// The session's id, which also stands in for randomness.
    pub(crate) session: &'a Arc<SessionId>,
    pub(crate) now: SessionInstant,
    pub(crate) wall: UnixMillis,
}

/// The number of agents that were started and of those that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentCount {
    /// The number of the newest agent.
    pub(crate) newest: u32,
    /// The number of open agents beside the session's own.
    pub(crate) open: u32,
}

impl StepContext<'_> {
    pub(crate) fn event(&mut self, kind: EventKind) {
        let session = Arc::clone(self.session);
        let (at, wall, agent) = (self.now, self.wall, self.body.id);
        // No number yet: a signal may insert what other agents say before this event, and numbers
        // must follow the order in which events come out.
        let event = Event { seq: 0, at, wall, session, agent, effect: None, kind };
        self.written.outputs.push(Output::Event(event));
    }

    /// Notes a row of the loop's table, unless the agent stays in its phase.
    #[cfg(feature = "seams")]
    pub(super) fn note(&mut self, [phase, cause]: [&'static str; 2], step: &'static str) {
        if phase != step {
            self.written.rows.push([phase, cause, step]);
        }
    }

    pub(crate) fn warn(&mut self, message: &str) {
        self.event(EventKind::Warning { message: message.into() });
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.written.outputs.push(Output::Effect(effect));
    }

    pub(crate) fn signal(&mut self, signal: AgentSignal) {
        self.written.signals.push((self.written.outputs.len(), signal));
    }

    /// Reports a bug of our own, something that cannot happen, and closes the session.
    pub(crate) fn fault(&mut self, message: &str) {
        // Tests stop here. A release build must not panic, so the host is told, and the session
        // ends before it does something worse.
        debug_assert!(false, "{message}");
        self.event(EventKind::Error { kind: ErrorKind::Internal, message: message.into() });
        self.signal(AgentSignal::Close { agent: AgentId::ROOT });
    }

    pub(crate) fn issue(&mut self, kind: EffectKind) -> EffectId {
        self.ledger.issue(self.body.id, kind)
    }

    pub(crate) fn cancel(&mut self, id: EffectId) {
        let grace_ms = self.setup.config.timeouts.grace_ms;
        self.ledger.cancel(id, self.now.plus_ms(grace_ms));
        self.effect(Effect::Cancel { id, grace_ms });
    }

    /// Returns the route to the model for the input under way.
    pub(crate) fn route(&self) -> Arc<Route> {
        self.setup.route_of(self.body)
    }

    /// Returns whether the model may call any tool for the input under way.
    pub(crate) fn has_tools(&self) -> bool {
        let options = self.body.run.options.as_deref();
        self.setup.tool_names().any(|name| options.is_none_or(|options| allows(options, name)))
    }

    /// Returns the estimated number of tokens of the conversation.
    pub(crate) fn tokens(&self) -> u64 {
        self.body.history.gauge().tokens(self.setup.head_cost)
    }

    /// Returns the number of tokens that count as the context window.
    pub(crate) fn window(&self) -> u64 {
        self.setup.window(self.body.folding.window)
    }

    /// Counts the usage of a reply; returns its cost where the price of the model is known.
    pub(crate) fn count(&mut self, usage: Option<Usage>, price: Option<&Price>) -> Option<u64> {
        let counts = &mut self.body.run.counts;
        counts.usage.add(&usage.unwrap_or_default());
        let cost = usage.zip(price).map(|(usage, price)| cost::nano_usd(&usage, price));
        counts.cost_nano_usd = cost::sum(counts.cost_nano_usd, cost);
        self.purse.spend(cost.unwrap_or_default(), usage.map_or(0, |usage| usage.tokens()));
        cost
    }

    /// Counts as spent what no agent shows in its own counts.
    pub(crate) fn spend(&mut self, usage: &Usage, price: Option<&Price>) {
        let cost = price.map_or(0, |price| cost::nano_usd(usage, price));
        self.purse.spend(cost, usage.tokens());
    }

    /// Returns the first limit of spending that is reached. Outside of a run only those of the
    /// session count.
    pub(crate) fn used_up(&self, is_run: bool) -> Option<UsedUp> {
        let limits = self.setup.config.limits;
        let run = if is_run { limits.run } else { SpendAmount::default() };
        self.purse.used_up(&Limits { run, ..limits }, self.now)
    }

    /// Begins a run.
    pub(crate) fn begin_run(&mut self) {
        self.body.begin_run();
        // The runs of other agents belong to the one under way and spend from its budget: a limit
        // for each of them alone would be none.
        if self.body.id == AgentId::ROOT {
            self.purse.begin_run(self.now);
        }
    }

    pub(crate) fn append(&mut self, kind: TurnKind) {
        let said = kind.said();
        // The gate goes through all that is seen, so it is asked only for turns that are more than
        // text; and before the turn is added, since the turn may change it.
        let has_media =
            said.is_some_and(|said| parts(&said).iter().any(|part| part.as_text().is_none()));
        let before = has_media.then(|| self.gate());
        self.body.history.push(Turn { at: self.wall, kind });
        if let Some(before) = before {
            self.on_media(before);
        }
    }

    /// Returns the gate that decides which pictures and files of the view are sent to the model.
    pub(super) fn gate(&self) -> MediaGate {
        MediaGate::new(&self.setup.route.model).among(self.body.history.seen())
    }

    /// Warns of the parts of a new turn that are not sent to the model. Where it makes many
    /// pictures, the large ones of earlier turns are not sent any more either.
    fn on_media(&mut self, before: MediaGate) {
        let gate = self.gate();
        let is_crowd = gate.is_crowded() && !before.is_crowded();
        let is_dropped = |part: &Part| before.fault(part).is_none() && gate.fault(part).is_some();
        // The prefix is rebased only if a part that was sent before no longer is; a crowd of small
        // pictures leaves it as it was.
        let is_changed = is_crowd
            && self.body.history.seen().any(|said| parts(&said).into_iter().any(is_dropped));
        let mut unsent = Vec::new();
        if let Some(said) = self.body.history.seen().next_back() {
            let mut last = "";
            for part in parts(&said) {
                if let Some(why) = gate.fault(part) {
                    let name = name(part, last);
                    unsent.push(format!("{name} is not sent to the model: {why}"));
                }
                last = part.as_text().unwrap_or(last);
            }
        }
        unsent.iter().for_each(|message| self.warn(message));
        if is_crowd {
            self.body.history.encode_again();
        }
        if is_changed {
            let reason = "of so many pictures, the large ones are left out";
            self.event(EventKind::PrefixRebased { reason });
        }
    }

    /// Asks the host's hook at `point`; returns the effect, or `None` if the host has no hook
    /// there.
    pub(crate) fn hook(&mut self, point: HookPoint, payload: &impl ToJson) -> Option<EffectId> {
        if !self.setup.config.hooks.points.contains(&point) {
            return None;
        }
        let id = self.issue(EffectKind::Hook);
        let (agent, payload) = (self.body.id, Json::of(payload));
        self.effect(Effect::RunHook { id, agent, hook: HookRun { point, payload } });
        Some(id)
    }
}
