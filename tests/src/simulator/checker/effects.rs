//! What holds of effects: each is issued once, numbers grow, each is settled once or cancelled,
//! and nothing runs that was not allowed or that would write beside another.

use super::seen::{Seen, require};
use innerloop_core::{
    action::Outcome,
    config::{AskAbout, HookPoint, SessionConfig},
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Answer, Command, HookReply, HttpInput, Input, ToolInput},
    output::{Ask, Effect, HookRun, Output},
    time::SessionInstant,
    tool::{Job, ToolRun},
};
use std::collections::{BTreeMap, BTreeSet};

/// The checker's own ledger.
#[derive(Debug, Default)]
pub(super) struct Effects {
    known: BTreeMap<EffectId, Known>,
    newest: u64,
    /// The effect that was answered last, if it was open no more.
    late: Option<EffectId>,
    /// Calls that a person allowed, and those that a hook let pass.
    allowed: BTreeSet<(AgentId, String)>,
    passed: BTreeSet<(AgentId, String)>,
    /// Tools that a person allowed for good.
    always: BTreeSet<(AgentId, String)>,
}

#[derive(Debug)]
struct Known {
    agent: AgentId,
    kind: Kind,
    state: State,
    /// When it was issued.
    since: SessionInstant,
    /// The effect, to compare what is owed with.
    whole: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Cancelled { grace: SessionInstant },
    Settled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Tool { writes: bool },
    Ask,
    Hook,
}

/// What must come of an input that answers an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Refused.
    Refusal,
    /// Accepted, and nothing follows.
    Nothing,
    /// Accepted.
    Something,
    /// That depends on more than the ledger knows.
    Anything,
}

impl Effects {
    /// The effects that are open and not cancelled.
    pub(super) fn open(&self) -> impl Iterator<Item = (EffectId, AgentId)> {
        let open = self.known.iter().filter(|(_, known)| known.state == State::Open);
        open.map(|(&id, known)| (id, known.agent))
    }

    /// Whether an effect is neither settled nor given up.
    pub(super) fn is_any_left(&self) -> bool {
        self.known.values().any(|known| known.state != State::Settled)
    }

    /// The hook at `point` that is open under that id.
    pub(super) fn open_hook(&self, id: EffectId, point: HookPoint) -> Option<(AgentId, &HookRun)> {
        let known = self.known.get(&id).filter(|known| known.state == State::Open)?;
        match &known.whole {
            Effect::RunHook { hook, .. } if hook.point == point => Some((known.agent, hook)),
            _ => None,
        }
    }

    pub(super) fn expected(&self, input: &Input) -> Expected {
        let (id, kind) = match input {
            Input::Command { .. } => return Expected::Anything,
            Input::Tick => return Expected::Something,
            Input::Http { id, .. } => (id, Some(Kind::Http)),
            Input::Tool { id, .. } => (id, Some(Kind::Tool { writes: false })),
            Input::Answer { id, .. } => (id, Some(Kind::Ask)),
            Input::Hook { id, .. } => (id, Some(Kind::Hook)),
            Input::Lost { id } => (id, None),
        };
        let Some(known) = self.known.get(id) else { return Expected::Refusal };
        if known.state == State::Settled {
            return Expected::Nothing;
        }
        let fits =
            |kind: Kind| core::mem::discriminant(&kind) == core::mem::discriminant(&known.kind);
        match input {
            _ if !kind.is_none_or(fits) => Expected::Refusal,
            Input::Tool { input: ToolInput::Parked { .. }, .. } => Expected::Refusal,
            Input::Http { input: HttpInput::Chunk(_) | HttpInput::End, .. } => Expected::Anything,
            _ => Expected::Something,
        }
    }

    /// Takes an accepted input into account, before its outputs.
    pub(super) fn on_input(&mut self, seen: &Seen<'_>) {
        let ends = match seen.input {
            Input::Http { id, input: HttpInput::End | HttpInput::Failed(_) }
            | Input::Tool { id, input: ToolInput::Done(_) }
            | Input::Answer { id, .. }
            | Input::Hook { id, .. }
            | Input::Lost { id } => Some(*id),
            _ => None,
        };
        if let Some(id) = ends {
            self.on_end(id, seen);
        }
        if *seen.input == Input::Tick {
            for known in self.known.values_mut() {
                if matches!(known.state, State::Cancelled { grace } if grace <= seen.now) {
                    known.state = State::Settled;
                }
            }
        }
    }

    fn on_end(&mut self, id: EffectId, seen: &Seen<'_>) {
        let Some(known) = self.known.get_mut(&id) else { return };
        let state = core::mem::replace(&mut known.state, State::Settled);
        self.late = (state != State::Open).then_some(id);
        if state != State::Open {
            return;
        }
        match (known.whole.clone(), seen.input) {
            (Effect::Ask { agent, ask, .. }, Input::Answer { answer, .. }) => {
                self.on_answer(agent, &ask, answer);
            }
            (Effect::RunHook { agent, hook, .. }, Input::Hook { reply, .. }) => {
                self.on_hook(agent, &hook, reply, seen.config);
            }
            (Effect::RunHook { agent, hook, .. }, Input::Lost { .. }) => {
                let broke = HookReply::Failed { message: String::new() };
                self.on_hook(agent, &hook, &broke, seen.config);
            }
            _ => {}
        }
    }

    fn on_answer(&mut self, agent: AgentId, ask: &Ask, answer: &Answer) {
        let Ask::Approval { call_id, name, .. } = ask else { return };
        match answer {
            Answer::Allow | Answer::AllowEdited(_) => {
                self.allowed.insert((agent, call_id.clone()));
            }
            Answer::AllowAlways => {
                self.always.insert((agent, name.clone()));
            }
            _ => {}
        }
    }

    fn on_hook(
        &mut self,
        agent: AgentId,
        hook: &HookRun,
        reply: &HookReply,
        config: &SessionConfig,
    ) {
        let is_denied = match reply {
            HookReply::Deny { .. } => true,
            HookReply::Failed { .. } => config.hooks.fail_closed,
            _ => false,
        };
        if hook.point == HookPoint::BeforeTool && !is_denied {
            let told: serde_json::Value = serde_json::from_str(hook.payload.text()).unwrap();
            let call_id = told["call_id"].as_str().unwrap_or_default().to_owned();
            self.passed.insert((agent, call_id));
        }
    }

    /// Takes the outputs in.
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let before = self.newest;
        for output in seen.outputs {
            let Output::Effect(effect) = output else { continue };
            let id = effect.id();
            if let Effect::Cancel { grace_ms, .. } = effect {
                let Some(known) = self.known.get_mut(&id) else {
                    return Err(format!("{id} is cancelled and was never issued"));
                };
                require(known.state == State::Open, || {
                    format!("{id} is cancelled and is {:?}", known.state)
                })?;
                // One tick fires all that is due, the grace of what it cancels included.
                known.state = if *grace_ms == 0 && *seen.input == Input::Tick {
                    State::Settled
                } else {
                    State::Cancelled { grace: seen.now.plus_ms(*grace_ms) }
                };
                continue;
            }
            require(!self.known.contains_key(&id), || format!("{id} is issued twice"))?;
            require(id.0 > before, || format!("{id} is issued after effect {before}"))?;
            self.newest = self.newest.max(id.0);
            let (agent, kind) = match effect {
                Effect::Http { agent, .. } => (*agent, Kind::Http),
                Effect::RunTool { agent, run, .. } => {
                    let writes = writes(run, seen.config);
                    self.check_run(*agent, run, writes, seen.config)?;
                    (*agent, Kind::Tool { writes })
                }
                Effect::Ask { agent, .. } => (*agent, Kind::Ask),
                Effect::RunHook { agent, .. } => (*agent, Kind::Hook),
                Effect::Cancel { .. } => continue,
            };
            let (state, whole) = (State::Open, effect.clone());
            let since = seen.now;
            self.known.insert(id, Known { agent, kind, state, since, whole });
        }
        let count = self.known.len() as u64;
        require(count == self.newest, || {
            format!("{count} effects and the newest is {}", self.newest)
        })
    }

    /// A run may start: it was let pass and allowed, and no write goes on beside another run.
    fn check_run(
        &self,
        agent: AgentId,
        run: &ToolRun,
        writes: bool,
        config: &SessionConfig,
    ) -> Result<(), String> {
        let (call, name) = (&run.call_id, &run.name);
        for (id, known) in self.known.iter().filter(|(_, known)| known.agent == agent) {
            let Kind::Tool { writes: other } = known.kind else { continue };
            let clash = match known.state {
                State::Open => writes || other,
                State::Cancelled { .. } => writes,
                State::Settled => false,
            };
            require(!clash, || format!("{name} ({call}) of {agent} runs beside {id}"))?;
        }
        let key = (agent, call.clone());
        let hooked = config.hooks.points.contains(&HookPoint::BeforeTool);
        require(!hooked || self.passed.contains(&key), || format!("no hook let {call} pass"))?;
        let asks = match config.approval.ask {
            AskAbout::Nothing => false,
            // The simulated sessions do not use it.
            AskAbout::Programs | AskAbout::Changes => writes,
            AskAbout::Everything => !matches!(run.job, Job::Kept(_)),
        };
        let free = config.approval.allow.iter().any(|rule| rule.tool == *name)
            || self.always.contains(&(agent, name.clone()))
            || self.allowed.contains(&key);
        require(!asks || free, || format!("nobody allowed {name} ({call})"))
    }

    /// A call is over: what was said about it holds for it alone.
    pub(super) fn on_call_end(&mut self, agent: AgentId, call_id: &str) {
        let key = (agent, call_id.to_owned());
        self.allowed.remove(&key);
        self.passed.remove(&key);
    }

    /// What a tool says is told of its own call, whole, and how long it took; an agent that is
    /// stopped waits for nothing.
    pub(super) fn check_answer(&self, seen: &Seen<'_>) -> Result<(), String> {
        let stopped = match seen.input {
            Input::Command { agent: AgentId::ROOT, command } => {
                matches!(command, Command::Interrupt | Command::Close)
            }
            _ => false,
        };
        require(!stopped || self.open().next().is_none(), || {
            format!("all is stopped, and open are {:?}", self.open().collect::<Vec<_>>())
        })?;
        let Input::Tool { id, input: ToolInput::Done(outcome) } = seen.input else { return Ok(()) };
        let Some(Known { whole: Effect::RunTool { agent, run, .. }, since, .. }) =
            self.known.get(id)
        else {
            return Ok(());
        };
        let measured = seen.now.ms_since(*since);
        let duration_ms = Some(outcome.duration_ms.unwrap_or(measured));
        let outcome = Outcome { duration_ms, ..outcome.clone() };
        let told = seen.outputs.events().any(|event| match &event.kind {
            EventKind::ToolCallEnd { call_id, outcome: told, .. } => {
                event.agent == *agent && *call_id == run.call_id && **told == outcome
            }
            _ => false,
        });
        let is_late = self.late == Some(*id);
        require(told || is_late, || format!("what {id} came to is not told of {}", run.call_id))
    }

    /// What the session says it is owed is what the ledger has open, word for word.
    pub(super) fn check_owed(&self, seen: &Seen<'_>) -> Result<(), String> {
        let owed = seen.subject.owed();
        let ids: Vec<EffectId> = owed.effects().map(Effect::id).collect();
        let open: Vec<EffectId> = self.open().map(|(id, _)| id).collect();
        require(ids == open, || format!("owed are {ids:?} and open are {open:?}"))?;
        for effect in owed.effects() {
            let Some(known) = self.known.get(&effect.id()) else { continue };
            require(is_again(effect, &known.whole), || {
                format!("owed is {effect:?}\nissued was {:?}", known.whole)
            })?;
        }
        Ok(())
    }
}

/// Whether an effect that is owed is the one that was issued. A question may wait for fewer calls
/// than it did: some are over by now.
fn is_again(owed: &Effect, issued: &Effect) -> bool {
    let mut owed = owed.clone();
    if let Effect::Ask { ask: Ask::Approval { after, .. }, .. } = &mut owed
        && let Effect::Ask { ask: Ask::Approval { after: before, .. }, .. } = issued
        && after.iter().all(|id| before.contains(id))
    {
        after.clone_from(before);
    }
    owed == *issued
}

fn writes(run: &ToolRun, config: &SessionConfig) -> bool {
    match &run.job {
        Job::Builtin(action) => !action.is_read_only(),
        Job::Kept(_) => false,
        Job::Custom(_) => !config.tools.iter().any(|tool| tool.name == run.name && tool.read_only),
    }
}
