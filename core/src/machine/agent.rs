//! The loop (Spec §2.5): submit, call the model, run its tools, call again, until it is done, a
//! limit is hit, or the host stops it. All that is decided about a run is decided here.

use super::{
    body::{Body, Memory, Run, Scope},
    call::{Calling, Next, Waiting},
    ctx::{Ctx, Step},
    history::History,
    reply::{self, Verdict},
    round::{Progress, Round},
    setup::Setup,
    slot::{checked, text_of},
};
use crate::{
    nouns::{
        config::HookPoint,
        event::{ErrorKind, EventKind},
        input::{Answer, HookReply, HttpInput, ToolInput},
        message::{Part, Reply, Turn, TurnKind, joined_text},
        output::{DeadlineReason, Effect, HookRun},
        status::{AgentState, RunEnd, Status},
    },
    wire::{Failure, FailureKind},
    words::{
        id::{AgentId, EffectId, SessionId},
        json::Json,
        time::Instant,
    },
};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use serde::{Deserialize, Serialize};

/// An agent: what it has, what it is told, and where it stands.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) body: Body,
    pub(crate) setup: Arc<Setup>,
    pub(crate) phase: Phase,
}

/// Where an agent stands. Data that is only true in one phase lives only there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Phase {
    #[default]
    Idle,
    /// The host's hook looks at what is to come.
    Hooked(Hooked),
    Calling(Calling),
    Waiting(Waiting),
    Running(Round),
    /// Cancelled effects may still answer; then the agent is over.
    Closing,
    Closed,
}

/// What waits for a hook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hooked {
    effect: EffectId,
    then: Then,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Then {
    /// An input of the user.
    Input(Vec<Part>),
    /// A model call.
    Call,
    /// The end of the run.
    Stop,
    /// The final answer, which ends the run.
    Answer(String),
}

impl Agent {
    /// An idle agent with a history.
    pub(crate) fn new(id: AgentId, scope: Scope, setup: Arc<Setup>, turns: Vec<Turn>) -> Self {
        let body = Body {
            id,
            scope,
            history: History::new(turns),
            memory: Memory::default(),
            run: Run::default(),
        };
        Self { body, setup, phase: Phase::Idle }
    }

    pub(crate) fn status(&self) -> Status {
        let counts = self.body.counts();
        Status {
            state: match &self.phase {
                Phase::Idle => AgentState::Idle,
                Phase::Closed | Phase::Closing => AgentState::Closed,
                Phase::Running(round) if round.awaits_people() => AgentState::AwaitingInput,
                Phase::Hooked(_) | Phase::Calling(_) | Phase::Waiting(_) | Phase::Running(_) => {
                    AgentState::Processing
                }
            },
            turns: self.body.turns(),
            tool_calls: counts.tool_calls,
            usage: counts.usage,
        }
    }

    /// Another configuration is in force, from the next model call.
    pub(crate) fn configure(&mut self, setup: Arc<Setup>) {
        let before = core::mem::replace(&mut self.setup, setup);
        if before.config.model != self.setup.config.model {
            self.body.history.forget_encoded();
        }
        if let Phase::Calling(calling) = &mut self.phase {
            calling.keep(before);
        }
    }

    /// What the agent itself waits for, and until when.
    pub(crate) fn deadline(&self) -> Option<(Instant, DeadlineReason)> {
        match &self.phase {
            Phase::Calling(calling) => {
                let idle_ms = self.setup.config.retry.idle_ms;
                Some((calling.deadline(idle_ms), DeadlineReason::ModelIdle))
            }
            Phase::Waiting(waiting) => Some((waiting.deadline(), DeadlineReason::Retry)),
            Phase::Running(round) => round.deadline().map(|at| (at, DeadlineReason::Wait)),
            Phase::Idle | Phase::Hooked(_) | Phase::Closing | Phase::Closed => None,
        }
    }

    /// The effects that are open for this agent and not cancelled, made again.
    pub(crate) fn owed(&self, session: &SessionId) -> Vec<Effect> {
        let agent = self.body.id;
        match &self.phase {
            Phase::Calling(calling) => {
                let Setup { head, config, .. } = &**calling.sent_with().unwrap_or(&self.setup);
                let request = self.body.history.request_again(head, &config.model, &session.0);
                vec![calling.effect(agent, request)]
            }
            Phase::Running(round) => round.owed(agent).collect(),
            Phase::Hooked(hooked) => vec![hooked.owed(agent, &self.body.run.text)],
            Phase::Idle | Phase::Waiting(_) | Phase::Closing | Phase::Closed => Vec::new(),
        }
    }
}

impl Hooked {
    /// The open effect, made again; `said` is what the model said last.
    fn owed(&self, agent: AgentId, said: &str) -> Effect {
        let (point, payload) = match &self.then {
            Then::Input(parts) => (HookPoint::Submit, joined_text(parts)),
            Then::Call => (HookPoint::BeforeModel, String::new()),
            Then::Stop => (HookPoint::BeforeStop, String::from(said)),
            Then::Answer(answer) => (HookPoint::BeforeStop, answer.clone()),
        };
        let payload = Json::parse(serde_json::to_string(&payload).unwrap_or_default());
        let hook = HookRun { point, payload: payload.unwrap_or_default() };
        Effect::RunHook { id: self.effect, agent, hook }
    }
}

/// The user's input while idle: a run begins.
pub(crate) fn submit(parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.begin_run();
    take_input(parts, ctx)
}

/// An input for when the current one is done; while idle a run starts at once, with what was left
/// waiting before it if there is any.
pub(crate) fn follow_up(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    let queue = &mut ctx.body.memory.follow_ups;
    queue.push_back(parts);
    match phase {
        Phase::Idle => match queue.pop_front() {
            Some(oldest) => submit(oldest, ctx),
            None => Phase::Idle,
        },
        other => other,
    }
}

/// A message for the model at its next step; one that waits for other agents takes it now.
pub(crate) fn steer(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.memory.steering.push_back(parts);
    match phase {
        Phase::Running(round) => on_progress(round.on_steer(ctx), ctx),
        other => other,
    }
}

/// News of the model call.
pub(crate) fn on_http(phase: Phase, input: HttpInput, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_http(input, ctx), ctx),
        other => other,
    }
}

/// News of a tool's run.
pub(crate) fn on_tool(phase: Phase, id: EffectId, input: ToolInput, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_tool(id, input, ctx), ctx),
        other => other,
    }
}

/// A person has answered.
pub(crate) fn on_answer(phase: Phase, id: EffectId, answer: Answer, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_answer(id, answer, ctx), ctx),
        other => other,
    }
}

/// A hook has replied.
pub(crate) fn on_hook(phase: Phase, id: EffectId, hook: HookReply, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_hook(id, hook, ctx), ctx),
        Phase::Hooked(hooked) => {
            ctx.ledger.settle(hooked.effect);
            on_hooked(hooked.then, hook, ctx)
        }
        other => other,
    }
}

/// The host does not know what became of an effect.
pub(crate) fn on_lost(phase: Phase, id: EffectId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_lost(ctx), ctx),
        Phase::Running(round) => on_progress(round.on_lost(id, ctx), ctx),
        Phase::Hooked(_) => {
            let message = String::from("it was lost when the host stopped");
            on_hook(phase, id, HookReply::Failed { message }, ctx)
        }
        other => other,
    }
}

/// The run of an agent that this one started is over.
pub(crate) fn on_child(phase: Phase, child: AgentId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_child(child, ctx), ctx),
        other => other,
    }
}

/// Time has passed.
pub(crate) fn on_tick(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_tick(ctx), ctx),
        Phase::Waiting(waiting) => on_next(waiting.on_tick(ctx), ctx),
        Phase::Running(round) => on_progress(round.on_tick(ctx), ctx),
        other => other,
    }
}

/// A cancelled effect has answered, or its grace is over.
pub(crate) fn on_settled(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.advance(ctx), ctx),
        Phase::Closing => finish(ctx),
        other => other,
    }
}

/// The host stops the run; the session stays usable. Agents that this one started stop too.
pub(crate) fn interrupt(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    for &agent in ctx.body.memory.children.keys() {
        ctx.steps.push(Step::Halt { agent });
    }
    match phase {
        Phase::Calling(calling) => calling.cancel(ctx),
        Phase::Waiting(_) => {}
        Phase::Running(round) => round.interrupt(ctx),
        Phase::Hooked(hooked) => {
            ctx.cancel(hooked.effect);
            // What the user said is in the history, even if no model has read it.
            if let Then::Input(parts) = hooked.then {
                enter(parts, ctx);
            }
        }
        Phase::Idle | Phase::Closing | Phase::Closed => return phase,
    }
    let note = "[The user interrupted the run here. Wait for what they say next.]";
    ctx.append(TurnKind::Steering(vec![Part::text(note)]));
    end_run(RunEnd::Interrupted, ctx)
}

/// Ends the agent and those that it started, when the cancelled effects have answered.
pub(crate) fn close(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    if matches!(phase, Phase::Closing | Phase::Closed) {
        return phase;
    }
    interrupt(phase, ctx);
    shut(ctx)
}

fn shut(ctx: &mut Ctx<'_>) -> Phase {
    for &agent in ctx.body.memory.children.keys() {
        ctx.steps.push(Step::Shut { agent });
    }
    // Whoever started it learns that it is over, even if it was idle.
    ctx.steps.push(Step::Ended { agent: ctx.body.id, success: ctx.body.memory.succeeded });
    ctx.steps.push(Step::Finish { agent: ctx.body.id });
    Phase::Closing
}

/// The session's own agent is over when nothing is open any more, another one when nothing of its
/// own is.
fn finish(ctx: &mut Ctx<'_>) -> Phase {
    let id = ctx.body.id;
    let is_root = id == AgentId::ROOT;
    let waits = if is_root {
        !ctx.ledger.is_empty() || ctx.agents.open > 0
    } else {
        ctx.ledger.has_any(id)
    };
    if waits {
        return Phase::Closing;
    }
    if is_root {
        ctx.event(EventKind::SessionEnd { state: AgentState::Closed });
    } else {
        ctx.agents.open = ctx.agents.open.saturating_sub(1);
        let output = ctx.body.run.text.clone();
        ctx.event(EventKind::AgentEnded { success: ctx.body.memory.succeeded, output });
        ctx.steps.push(Step::Finish { agent: AgentId::ROOT });
    }
    Phase::Closed
}

fn on_next(next: Next, ctx: &mut Ctx<'_>) -> Phase {
    match next {
        Next::Call(calling) => Phase::Calling(calling),
        Next::Wait(waiting) => Phase::Waiting(waiting),
        Next::Reply(reply) => on_reply(reply, ctx),
        Next::Fail(failure) => fail(&failure, ctx),
    }
}

fn on_progress(progress: Progress, ctx: &mut Ctx<'_>) -> Phase {
    match progress {
        Progress::Open(round) => Phase::Running(round),
        Progress::Aborted(round) => interrupt(Phase::Running(round), ctx),
        Progress::Answered => after_round(ctx),
    }
}

fn on_hooked(then: Then, hook: HookReply, ctx: &mut Ctx<'_>) -> Phase {
    let reply = checked(hook, ctx);
    match (then, reply) {
        (Then::Input(parts), HookReply::Allow | HookReply::Failed { .. }) => {
            enter(parts, ctx);
            call_model(ctx)
        }
        (Then::Input(_), HookReply::Replace(text)) if text_of(&text).trim().is_empty() => {
            ctx.warn("a hook put nothing in the input's place");
            end_run(RunEnd::Denied, ctx)
        }
        (Then::Input(_), HookReply::Replace(text)) => {
            enter(vec![Part::text(text_of(&text))], ctx);
            call_model(ctx)
        }
        (Then::Call, HookReply::Allow | HookReply::Failed { .. }) => send(ctx),
        (Then::Call, HookReply::Replace(text)) => {
            ctx.append(TurnKind::System(text_of(&text)));
            send(ctx)
        }
        (Then::Stop | Then::Answer(_), HookReply::Deny { reason }) => {
            let blank = reason.trim().is_empty();
            say(if blank { "The task is not done yet: go on." } else { &reason }, ctx);
            call_model(ctx)
        }
        (Then::Stop, _) => next_input(ctx),
        (Then::Answer(answer), _) => give_answer(answer, ctx),
        (Then::Input(_) | Then::Call, HookReply::Deny { reason }) => {
            ctx.warn(&format!("a hook denied it: {reason}"));
            end_run(RunEnd::Denied, ctx)
        }
    }
}

/// The user's input goes on its way: past the hook, into the history, to the model.
fn take_input(parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    if let Some(effect) = ctx.hook(HookPoint::Submit, &joined_text(&parts)) {
        return Phase::Hooked(Hooked { effect, then: Then::Input(parts) });
    }
    enter(parts, ctx);
    call_model(ctx)
}

fn enter(parts: Vec<Part>, ctx: &mut Ctx<'_>) {
    ctx.body.run.rounds = 0;
    let inputs = &mut ctx.body.run.counts.inputs;
    *inputs = inputs.saturating_add(1);
    ctx.event(EventKind::UserInput { parts: parts.clone() });
    ctx.append(TurnKind::User(parts));
    drain_steering(ctx);
}

/// Moves what the host wants to say into the history (Spec §2.6).
fn drain_steering(ctx: &mut Ctx<'_>) -> bool {
    let queued = core::mem::take(&mut ctx.body.memory.steering);
    let any = !queued.is_empty();
    for parts in queued {
        ctx.event(EventKind::SteeringInjected { parts: parts.clone() });
        ctx.append(TurnKind::Steering(parts));
    }
    any
}

/// Says something to the model in the loop's own name.
fn say(text: impl Into<String>, ctx: &mut Ctx<'_>) {
    ctx.append(TurnKind::Steering(vec![Part::text(text)]));
}

/// Calls the model, unless a limit is reached or a hook denies it.
fn call_model(ctx: &mut Ctx<'_>) -> Phase {
    if let Some(idle) = stop_at_limit(ctx) {
        return idle;
    }
    warn_of_fullness(ctx);
    match ctx.hook(HookPoint::BeforeModel, &"") {
        Some(effect) => Phase::Hooked(Hooked { effect, then: Then::Call }),
        None => Phase::Calling(Calling::start(1, ctx)),
    }
}

/// The hook before the model call has replied; the limits may be others than before.
fn send(ctx: &mut Ctx<'_>) -> Phase {
    stop_at_limit(ctx).unwrap_or_else(|| Phase::Calling(Calling::start(1, ctx)))
}

/// Ends the run if a limit is reached.
fn stop_at_limit(ctx: &mut Ctx<'_>) -> Option<Phase> {
    let limits = ctx.setup.config.limits;
    let checks = [
        ("max_tool_rounds_per_input", limits.max_tool_rounds_per_input, ctx.body.run.rounds),
        ("max_turns", limits.max_turns, ctx.body.turns()),
    ];
    for (limit, value, used) in checks {
        if value > 0 && used >= value {
            ctx.event(EventKind::TurnLimit { limit, value });
            return Some(end_run(RunEnd::Limit, ctx));
        }
    }
    None
}

/// Warns once when the context window gets full (Spec §5.5), and again after it was not.
fn warn_of_fullness(ctx: &mut Ctx<'_>) {
    let percent = ctx.body.history.gauge().warning(ctx.setup.config.model.context_window);
    let warned = core::mem::replace(&mut ctx.body.memory.full, percent.is_some());
    if let Some(percent) = percent.filter(|_| !warned) {
        ctx.warn(&format!("Context usage at ~{percent}% of context window"));
    }
}

/// A reply is whole.
fn on_reply(reply: Reply, ctx: &mut Ctx<'_>) -> Phase {
    match reply::take(reply, ctx) {
        Verdict::Calls(calls) => on_progress(Round::start(calls, ctx), ctx),
        Verdict::Refused(calls, why) => on_progress(Round::refuse(calls, why, ctx), ctx),
        Verdict::Again => call_model(ctx),
        Verdict::Broken(failure) => fail(&failure, ctx),
        Verdict::Done => natural_end(ctx),
    }
}

/// The results of a round are in the history.
fn after_round(ctx: &mut Ctx<'_>) -> Phase {
    if ctx.body.run.repairs.cut > reply::MAX_CUTS {
        let most = reply::MAX_CUTS;
        let message = format!("the model's calls were cut by a limit {most} times in a row");
        return fail(&Failure::new(FailureKind::Protocol, message), ctx);
    }
    let said_more = drain_steering(ctx);
    // A word that came while the answer was given has not been answered.
    if let Some(answer) = ctx.body.run.answer.take().filter(|_| !said_more) {
        return match ctx.hook(HookPoint::BeforeStop, &answer) {
            Some(effect) => Phase::Hooked(Hooked { effect, then: Then::Answer(answer) }),
            None => give_answer(answer, ctx),
        };
    }
    if let Some(period) = ctx.body.run.looping.take() {
        let message = format!(
            "Loop detected: the last {} tool calls follow a repeating pattern. Try a different \
             approach.",
            ctx.setup.config.loops.window
        );
        ctx.event(EventKind::LoopDetection { message: message.clone(), period });
        say(message, ctx);
    }
    call_model(ctx)
}

/// The final answer stands, unless somebody has said something meanwhile. It answers this input;
/// what the user said to do next is still to be done.
fn give_answer(answer: String, ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    let value = Json::parse(answer.clone()).unwrap_or_default();
    ctx.event(EventKind::FinalAnswer { value });
    ctx.body.run.text = answer;
    next_input(ctx)
}

/// The model is done, unless somebody has said something meanwhile (CONFLICTS X7), or the final
/// answer is still owed.
fn natural_end(ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    if let Some(answer) = ctx.setup.config.answer.as_ref().filter(|_| ctx.body.scope.depth == 0) {
        let asked = &mut ctx.body.run.repairs.answers;
        if *asked >= answer.retries {
            let message = String::from("the run ended without the final answer in its form");
            ctx.event(EventKind::Error { kind: ErrorKind::Answer, message });
            return end_run(RunEnd::Failed, ctx);
        }
        *asked += 1;
        say("Give the final answer now, with the tool final_answer.", ctx);
        return call_model(ctx);
    }
    match ctx.hook(HookPoint::BeforeStop, &ctx.body.run.text.clone()) {
        Some(effect) => Phase::Hooked(Hooked { effect, then: Then::Stop }),
        None => next_input(ctx),
    }
}

fn next_input(ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    match ctx.body.memory.follow_ups.pop_front() {
        Some(parts) => take_input(parts, ctx),
        None => end_run(RunEnd::Completed, ctx),
    }
}

/// A model call failed for good. What may pass leaves the session usable; what can never work
/// ends it (Spec, appendix B).
fn fail(failure: &Failure, ctx: &mut Ctx<'_>) -> Phase {
    let kind = failure.kind.as_event();
    if failure.kind == FailureKind::ContextOverflow {
        ctx.warn(&format!("the conversation no longer fits the model: {}", failure.message));
    }
    ctx.event(EventKind::Error { kind, message: failure.message.clone() });
    let idle = end_run(RunEnd::Failed, ctx);
    match failure.kind {
        FailureKind::Authentication | FailureKind::InvalidRequest | FailureKind::Host => shut(ctx),
        FailureKind::Quota
        | FailureKind::RateLimit
        | FailureKind::Overloaded
        | FailureKind::ContextOverflow
        | FailureKind::ContentFilter
        | FailureKind::Server
        | FailureKind::Network
        | FailureKind::Protocol => idle,
    }
}

fn end_run(end: RunEnd, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.history.rest();
    let run = &ctx.body.run;
    let event = EventKind::ProcessingEnd {
        end,
        text: run.text.clone(),
        usage: run.counts.usage,
        replies: run.counts.replies,
        tool_calls: run.counts.tool_calls,
    };
    ctx.event(event);
    let success = end == RunEnd::Completed;
    ctx.body.memory.succeeded = success;
    ctx.steps.push(Step::Ended { agent: ctx.body.id, success });
    Phase::Idle
}
