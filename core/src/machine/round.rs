//! One round of tool calls: each goes its way (hook, approval, run, hook) and is answered, and the
//! results go back in call order. Calls that only read run side by side, those that write one after
//! the other, and all of them do for a model without parallel calls
//! (`docs/decisions.md#parallel-calls`).

use super::{
    body::{Child, ChildState, agent_name},
    ctx::{Ctx, Signal},
    ledger::EffectKind,
    pipeline::{self, Work},
    tool_call::{RoundCall, State},
};
use crate::profile::{
    inner::{InnerCall, SpawnCall},
    plan::PlanCall,
};
use alloc::{format, string::String, vec, vec::Vec};
use innerloop_types::{
    action::{Outcome, ToolError},
    config::ExecMode,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Answer, HookReply, ToolInput},
    message::{Part, ToolCall, TurnKind},
    output::{Ask, Effect},
    path::{resolved, seen},
    time::Instant,
};

/// What follows from news of a round.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Calls are still to be answered.
    Open(Round),
    /// All results are in the history.
    Answered,
    /// A person wants the run to stop.
    Aborted(Round),
}

/// A round under way.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) calls: Vec<RoundCall>,
}

impl Round {
    /// Starts the calls of a reply.
    pub(crate) fn start(calls: Vec<ToolCall>, ctx: &mut Ctx<'_>) -> Progress {
        let mut round = Self { calls: Vec::with_capacity(calls.len()) };
        for call in calls {
            let mut call = RoundCall::new(pipeline::with_own_arguments(call, ctx.setup));
            call.enter(&round.calls, ctx);
            round.calls.push(call);
        }
        round.advance(ctx)
    }

    /// Answers every call of a reply with the same refusal: none of them may run.
    pub(crate) fn refuse(calls: Vec<ToolCall>, message: &str, ctx: &mut Ctx<'_>) -> Progress {
        let mut round = Self { calls: Vec::with_capacity(calls.len()) };
        for call in calls {
            let mut call = RoundCall::new(pipeline::with_own_arguments(call, ctx.setup));
            call.fail(Outcome::error(ToolError::InvalidArguments, message), ctx);
            round.calls.push(call);
        }
        round.advance(ctx)
    }

    pub(crate) fn on_tool(mut self, id: EffectId, input: ToolInput, ctx: &mut Ctx<'_>) -> Progress {
        let Some(call) = self.call(id) else { return Progress::Open(self) };
        match input {
            ToolInput::Delta(text) => {
                let call_id = call.tool_call.id.clone();
                ctx.event(EventKind::ToolCallOutputDelta { call_id, text });
            }
            // Refused at the door: no tool is offered a way to park.
            ToolInput::Parked { .. } => {}
            ToolInput::Done(outcome) => {
                ctx.ledger.settle(id);
                call.on_done(outcome, ctx);
            }
        }
        self.advance(ctx)
    }

    /// A person has answered.
    pub(crate) fn on_answer(mut self, id: EffectId, answer: Answer, ctx: &mut Ctx<'_>) -> Progress {
        let Some(call) = self.call(id) else { return Progress::Open(self) };
        ctx.ledger.settle(id);
        if answer == Answer::Abort {
            call.state = State::Stopped;
            return Progress::Aborted(self);
        }
        call.on_answer(answer, ctx);
        self.advance(ctx)
    }

    /// A hook has replied.
    pub(crate) fn on_hook(mut self, id: EffectId, reply: HookReply, ctx: &mut Ctx<'_>) -> Progress {
        let Some((before, call)) = self.behind(id) else { return Progress::Open(self) };
        ctx.ledger.settle(id);
        call.on_hook(reply, before, ctx);
        self.advance(ctx)
    }

    /// The host does not know what became of an effect.
    pub(crate) fn on_lost(mut self, id: EffectId, ctx: &mut Ctx<'_>) -> Progress {
        let Some((before, call)) = self.behind(id) else { return Progress::Open(self) };
        ctx.ledger.settle(id);
        call.on_lost(before, ctx);
        self.advance(ctx)
    }

    /// The run of a started agent is over: whoever waits for it goes on.
    pub(crate) fn on_child(mut self, child: AgentId, ctx: &mut Ctx<'_>) -> Progress {
        let Some(result) = ctx.body.learnt().children.get(child).map(Child::result) else {
            ctx.fault("an agent has ended that its parent does not know");
            return Progress::Open(self);
        };
        for call in &mut self.calls {
            if call.waits_for(child) {
                call.on_outcome(Outcome::text(result.text()), ctx);
            }
        }
        self.advance(ctx)
    }

    /// The host has said something: waiting for other agents ends, so that the model reads it.
    pub(crate) fn on_steer(mut self, ctx: &mut Ctx<'_>) -> Progress {
        let message = "The wait was ended by a message of the user. The agent still works.";
        for call in &mut self.calls {
            if matches!(call.state, State::Waiting { .. }) {
                call.on_outcome(Outcome::text(message), ctx);
            }
        }
        self.advance(ctx)
    }

    pub(crate) fn on_tick(mut self, ctx: &mut Ctx<'_>) -> Progress {
        for call in &mut self.calls {
            if let State::Waiting { until: Some(until), .. } = call.state
                && until <= ctx.now
            {
                let message = "The agent still works: the time to wait is over.";
                call.on_outcome(Outcome::error(ToolError::Timeout, message), ctx);
            }
        }
        self.advance(ctx)
    }

    /// When the first wait is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let until = |call: &RoundCall| match call.state {
            State::Waiting { until, .. } => until,
            _ => None,
        };
        self.calls.iter().filter_map(until).min()
    }

    /// Starts what may start now, and ends the round once each call is answered.
    pub(crate) fn advance(mut self, ctx: &mut Ctx<'_>) -> Progress {
        let (mut others_run, alone_runs) =
            (self.runs(ExecMode::Parallel), self.runs(ExecMode::Serial));
        let mut held = false;
        // What is said to other agents goes out behind what is told of this round's calls: it may
        // come back at once and end the round.
        let mut signals = Vec::new();
        for call in &mut self.calls {
            match &call.state {
                State::Running { mode: ExecMode::Serial, .. } => break,
                State::Queued(Work::Inner(_)) => act(call, &mut signals, ctx),
                // Calls that run alone keep their order, also behind one that somebody still looks
                // at; those that run beside others do not wait for people.
                State::Hooked { work, .. } | State::Asking { work, .. } => {
                    held |= matches!(work, Work::Run { mode: ExecMode::Serial, .. });
                }
                State::Queued(Work::Run { .. }) if alone_runs => {}
                State::Queued(Work::Run { mode: ExecMode::Serial, .. }) if held => {}
                State::Queued(Work::Run { mode: ExecMode::Parallel, .. }) => {
                    call.launch(ctx);
                    others_run = true;
                }
                State::Queued(Work::Run { mode: ExecMode::Serial, .. }) => {
                    // A cancelled run of before may still be writing.
                    if !others_run && !ctx.ledger.has_cancelled_tool(ctx.body.id) {
                        call.launch(ctx);
                    }
                    if !matches!(call.state, State::Done(_)) {
                        break;
                    }
                }
                // Waits for somebody, or is answered: nothing that others would wait for.
                _ => {}
            }
            if ctx.setup.one_by_one && !matches!(call.state, State::Done(_)) {
                break;
            }
        }
        for signal in signals {
            ctx.signal(signal);
        }
        if self.calls.iter().any(|call| !matches!(call.state, State::Done(_))) {
            return Progress::Open(self);
        }
        self.append(ctx);
        Progress::Answered
    }

    /// Ends the round before its time: what is open is cancelled and answered.
    pub(crate) fn interrupt(mut self, why: &str, ctx: &mut Ctx<'_>) {
        for call in &mut self.calls {
            call.interrupt(why, ctx);
        }
        self.append(ctx);
    }

    /// The results enter the history, in call order.
    fn append(self, ctx: &mut Ctx<'_>) {
        let mut results: Vec<_> = self.calls.into_iter().filter_map(RoundCall::result).collect();
        results.shrink_to_fit();
        ctx.append(TurnKind::ToolResults(results));
    }

    /// The effects that the host owes an answer for, made again.
    pub(crate) fn owed(&self, agent: AgentId, folder: &str) -> impl Iterator<Item = Effect> {
        let owed = move |(at, call): (usize, &RoundCall)| {
            call.owed(agent, folder, self.calls.get(..at).unwrap_or_default())
        };
        self.calls.iter().enumerate().filter_map(owed)
    }

    /// The same effects, by their kinds.
    pub(crate) fn open_effects(&self) -> impl Iterator<Item = (EffectId, EffectKind)> {
        self.calls.iter().filter_map(RoundCall::open_effect)
    }

    /// Whether only people are waited for.
    pub(crate) fn awaits_people(&self) -> bool {
        let asks =
            |call: &RoundCall| matches!(call.state, State::Asking { .. } | State::Question { .. });
        let rests = |call: &RoundCall| matches!(call.state, State::Done(_) | State::Queued(_));
        self.calls.iter().any(asks) && self.calls.iter().all(|call| asks(call) || rests(call))
    }

    /// Whether the host runs a call of that mode.
    fn runs(&self, wanted: ExecMode) -> bool {
        self.calls.iter().any(|call| match call.state {
            State::Running { mode, .. } => mode == wanted,
            _ => false,
        })
    }

    /// The call that waits for the effect, with those before it.
    fn behind(&mut self, id: EffectId) -> Option<(&[RoundCall], &mut RoundCall)> {
        let at = self.calls.iter().position(|call| call.effect() == Some(id))?;
        let (before, rest) = self.calls.split_at_mut(at);
        Some((before, rest.first_mut()?))
    }

    fn call(&mut self, id: EffectId) -> Option<&mut RoundCall> {
        self.calls.iter_mut().find(|call| call.effect() == Some(id))
    }
}

/// Does what the core does itself.
fn act(call: &mut RoundCall, signals: &mut Vec<Signal>, ctx: &mut Ctx<'_>) {
    let inner = match core::mem::replace(&mut call.state, State::Stopped) {
        State::Queued(Work::Inner(inner)) => inner,
        other => {
            call.state = other;
            return;
        }
    };
    call.announce(ctx);
    match inner {
        InnerCall::Spawn(spawn_call) => {
            let outcome = spawn(spawn_call, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Send { agent_id, message } => {
            let outcome = send(&agent_id, message, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Wait { agent_id, timeout_ms } => match ctx.body.child(&agent_id) {
            None => call.on_outcome(unknown_agent(&agent_id), ctx),
            Some((child, known)) if known.state == ChildState::Running => {
                let until = timeout_ms.map(|ms| ctx.now.plus_ms(ms));
                call.state = State::Waiting { child, until };
            }
            Some((_, known)) => {
                let outcome = Outcome::text(known.result().text());
                call.on_outcome(outcome, ctx);
            }
        },
        InnerCall::Close { agent_id } => {
            let outcome = close(&agent_id, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Ask { question } => {
            let id = ctx.issue(EffectKind::Ask);
            let (agent, text) = (ctx.body.id, question.clone());
            ctx.effect(Effect::Ask { id, agent, ask: Ask::Question { text } });
            call.state = State::Question { effect: id, question };
        }
        InnerCall::Plan(PlanCall { items, reply }) => {
            ctx.event(EventKind::Plan { items });
            call.on_outcome(Outcome::text(reply), ctx);
        }
        InnerCall::Answer(answer) => call.on_final_answer(answer, ctx),
    }
}

fn spawn(call: SpawnCall, signals: &mut Vec<Signal>, ctx: &mut Ctx<'_>) -> Outcome {
    let wanted = call.working_dir.unwrap_or_default();
    let is_foreign =
        wanted.starts_with('~') || wanted.get(1..2) == Some(":") || wanted.contains('\0');
    let folder = resolved(&ctx.setup.folder, &wanted)
        .filter(|folder| !is_foreign && seen(&ctx.setup.folder, folder).is_some());
    let Some(folder) = folder else {
        let message = format!(
            "working_dir {wanted} is not in your working directory: name a folder relative to it"
        );
        return Outcome::error(ToolError::PermissionDenied, message);
    };
    let call = SpawnCall { working_dir: Some(folder), ..call };
    let most = ctx.setup.config.subagents.max_open;
    if ctx.agents.open >= most {
        let message = format!("{most} agents are open already: close one that is done first");
        return Outcome::error(ToolError::Limit, message);
    }
    if let Some(model) = call.model.as_deref().filter(|model| ctx.setup.cannot_pay(model)) {
        let message = format!(
            "what {model} costs is not known, and the cost of the run is limited: leave model out"
        );
        return Outcome::error(ToolError::Limit, message);
    }
    ctx.agents.open += 1;
    ctx.agents.newest += 1;
    let (child, parent) = (AgentId(ctx.agents.newest), ctx.body.id);
    signals.push(Signal::Spawn { child, parent, call });
    let since = u32::try_from(ctx.body.history.turns().len()).unwrap_or(u32::MAX);
    let started =
        Child { state: ChildState::Running, output: String::new(), turns: 0, since, over: false };
    ctx.body.learnt_mut().children.insert(child, started);
    let name = agent_name(child);
    Outcome::text(format!("{{\"agent_id\":\"{name}\",\"status\":\"running\"}}"))
}

fn send(agent_id: &str, message: String, signals: &mut Vec<Signal>, ctx: &mut Ctx<'_>) -> Outcome {
    let Some((agent, known)) = ctx.body.child(agent_id) else { return unknown_agent(agent_id) };
    if known.over {
        let message = format!("{agent_id} is closed: spawn another one");
        return Outcome::error(ToolError::NotFound, message);
    }
    if let Some(known) = ctx.body.child_mut(agent) {
        known.state = ChildState::Running;
    }
    signals.push(Signal::Steer { agent, parts: vec![Part::text(message)] });
    Outcome::text(format!("Said to {agent_id}."))
}

fn close(agent_id: &str, signals: &mut Vec<Signal>, ctx: &mut Ctx<'_>) -> Outcome {
    let Some((agent, known)) = ctx.body.child(agent_id) else { return unknown_agent(agent_id) };
    let last = known.result();
    if !known.over {
        signals.push(Signal::Close { agent });
    }
    if let Some(known) = ctx.body.child_mut(agent) {
        known.state = ChildState::Closed;
        known.over = true;
    }
    Outcome::text(last.text())
}

fn unknown_agent(agent_id: &str) -> Outcome {
    let message = format!("there is no agent {agent_id} that you started");
    Outcome::error(ToolError::NotFound, message)
}
