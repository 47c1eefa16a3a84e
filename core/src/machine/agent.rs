//! The loop (Spec §2.5): submit, call the model, run its tools, call again, until it is done, a
//! limit is hit, or the host stops it.

use super::{
    body::Body,
    call::{Calling, Next, Waiting},
    ctx::Ctx,
    round::{Progress, Round},
};
use crate::{
    nouns::{
        event::EventKind,
        input::{HttpInput, ToolInput},
        message::{Block, Finish, Part, Reply, ToolCall, TurnKind},
        status::{AgentState, RunEnd, Status},
    },
    wire::{Failure, FailureKind},
    words::id::EffectId,
};
use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};
use serde::{Deserialize, Serialize};

/// How often in a row a provider may pause a reply before the run fails.
const MAX_PAUSES: u32 = 16;

/// An agent: what it has, and where it stands.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) body: Body,
    pub(crate) phase: Phase,
}

/// Where an agent stands. Data that is only true in one phase lives only there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Phase {
    #[default]
    Idle,
    Calling(Calling),
    Waiting(Waiting),
    Running(Round),
    /// Cancelled effects may still answer; then the session ends.
    Closing,
    Closed,
}

impl Agent {
    pub(crate) fn status(&self) -> Status {
        let (run, past) = (&self.body.run, &self.body.past);
        let mut usage = past.usage;
        usage.add(&run.usage);
        Status {
            state: match self.phase {
                Phase::Idle => AgentState::Idle,
                Phase::Closed | Phase::Closing => AgentState::Closed,
                Phase::Calling(_) | Phase::Waiting(_) | Phase::Running(_) => AgentState::Processing,
            },
            turns: self.body.turns(),
            tool_calls: past.tool_calls.saturating_add(run.tool_calls),
            usage,
        }
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

/// The host does not know what became of an effect.
pub(crate) fn on_lost(phase: Phase, id: EffectId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_lost(ctx), ctx),
        Phase::Running(round) => on_progress(round.on_lost(id, ctx), ctx),
        other => other,
    }
}

/// Time has passed.
pub(crate) fn on_tick(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_tick(ctx), ctx),
        Phase::Waiting(waiting) => on_next(waiting.on_tick(ctx), ctx),
        other => other,
    }
}

fn on_next(next: Next, ctx: &mut Ctx<'_>) -> Phase {
    match next {
        Next::Call(calling) => Phase::Calling(calling),
        Next::Wait(waiting) => Phase::Waiting(waiting),
        Next::Reply(reply) => on_reply(reply, ctx),
        Next::Fail(failure) => fail(&failure, ctx),
    }
}

/// The user's input: a run begins.
pub(crate) fn submit(parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.begin_run();
    take_input(parts, ctx)
}

fn take_input(parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.run.rounds = 0;
    ctx.body.run.inputs = ctx.body.run.inputs.saturating_add(1);
    ctx.event(EventKind::UserInput { parts: parts.clone() });
    ctx.append(TurnKind::User(parts));
    drain_steering(ctx);
    next_call(ctx)
}

/// Moves what the host wants to say into the history (Spec §2.6).
fn drain_steering(ctx: &mut Ctx<'_>) -> bool {
    let queued = core::mem::take(&mut ctx.body.queues.steering);
    let any = !queued.is_empty();
    for parts in queued {
        ctx.event(EventKind::SteeringInjected { parts: parts.clone() });
        ctx.append(TurnKind::Steering(parts));
    }
    any
}

/// Calls the model, unless a limit is reached.
fn next_call(ctx: &mut Ctx<'_>) -> Phase {
    let limits = ctx.setup.config.limits;
    let checks = [
        ("max_tool_rounds_per_input", limits.max_tool_rounds_per_input, ctx.body.run.rounds),
        ("max_turns", limits.max_turns, ctx.body.turns()),
    ];
    for (limit, value, used) in checks {
        if value > 0 && used >= value {
            ctx.event(EventKind::TurnLimit { limit, value });
            return end_run(RunEnd::Limit, ctx);
        }
    }
    Phase::Calling(Calling::start(1, ctx))
}

/// A reply is whole.
fn on_reply(mut reply: Reply, ctx: &mut Ctx<'_>) -> Phase {
    name_calls(&mut reply);
    let (text, reasoning) = (reply.text(), reply.reasoning());
    let run = &mut ctx.body.run;
    run.replies = run.replies.saturating_add(1);
    run.usage.add(&reply.usage.unwrap_or_default());
    run.text.clone_from(&text);
    ctx.event(EventKind::AssistantTextEnd { text, reasoning, usage: reply.usage });
    let calls: Vec<ToolCall> = reply.tool_calls().cloned().collect();
    let (finish, refusal) = (reply.finish, reply.refusal.clone());
    ctx.append(TurnKind::Assistant(reply));
    if finish == Finish::Pause && calls.is_empty() {
        return on_pause(ctx);
    }
    ctx.body.run.pauses = 0;
    match finish {
        Finish::Length if !calls.is_empty() => {
            let message = "Not run: the reply was cut by the output limit, so the call may be \
                           incomplete. Make it again, in smaller pieces if it was long.";
            ctx.body.run.rounds = ctx.body.run.rounds.saturating_add(1);
            return on_progress(Round::refuse(calls, message, ctx), ctx);
        }
        Finish::Length => warn("the reply was cut by the output limit (max_output_tokens)", ctx),
        Finish::ContextWindow => warn("the context window is full; the reply was cut", ctx),
        Finish::Refusal => {
            let why = refusal.map_or(String::new(), |why| format!(": {why}"));
            warn(&format!("the model refused{why}"), ctx);
        }
        Finish::ContentFilter => warn("a content filter stopped the reply", ctx),
        _ => {}
    }
    if !calls.is_empty() {
        ctx.body.run.rounds = ctx.body.run.rounds.saturating_add(1);
        return on_progress(Round::start(calls, ctx), ctx);
    }
    if ctx.body.run.text.trim().is_empty() && finish == Finish::Stop {
        warn("the model's reply has no text and no tool call", ctx);
    }
    natural_end(ctx)
}

/// The provider wants its own unfinished reply back to go on.
fn on_pause(ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.run.pauses = ctx.body.run.pauses.saturating_add(1);
    if ctx.body.run.pauses > MAX_PAUSES {
        let message = format!("the provider paused its reply {MAX_PAUSES} times in a row");
        return fail(&Failure::new(FailureKind::Protocol, message), ctx);
    }
    next_call(ctx)
}

fn warn(message: &str, ctx: &mut Ctx<'_>) {
    ctx.event(EventKind::Warning { message: message.into() });
}

/// The model is done, unless somebody has said something meanwhile (CONFLICTS X7).
fn natural_end(ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return next_call(ctx);
    }
    match ctx.body.queues.follow_ups.pop_front() {
        Some(parts) => take_input(parts, ctx),
        None => end_run(RunEnd::Completed, ctx),
    }
}

fn on_progress(progress: Progress, ctx: &mut Ctx<'_>) -> Phase {
    match progress {
        Progress::Open(round) => Phase::Running(round),
        Progress::Answered => {
            drain_steering(ctx);
            next_call(ctx)
        }
    }
}

/// A model call failed for good. What the user may mend outside leaves the session usable; what
/// can never work ends it (Spec, appendix B).
fn fail(failure: &Failure, ctx: &mut Ctx<'_>) -> Phase {
    let kind = failure.kind.as_event();
    if failure.kind == FailureKind::ContextOverflow {
        warn(&format!("the conversation no longer fits the model: {}", failure.message), ctx);
    }
    ctx.event(EventKind::Error { kind, message: failure.message.clone() });
    let end = end_run(RunEnd::Failed, ctx);
    match failure.kind {
        FailureKind::Authentication | FailureKind::InvalidRequest | FailureKind::Host => close(ctx),
        FailureKind::RateLimit
        | FailureKind::Overloaded
        | FailureKind::ContextOverflow
        | FailureKind::Server
        | FailureKind::Network
        | FailureKind::Protocol => end,
    }
}

/// The host stops the run; the session stays usable.
pub(crate) fn interrupt(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => calling.cancel(ctx),
        Phase::Waiting(_) => {}
        Phase::Running(round) => round.interrupt(ctx),
        Phase::Idle | Phase::Closing | Phase::Closed => return phase,
    }
    let note = "[The user interrupted the run here. Wait for what they say next.]";
    ctx.append(TurnKind::Steering(vec![Part::text(note)]));
    end_run(RunEnd::Interrupted, ctx)
}

fn end_run(end: RunEnd, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.history.drop_encoded();
    let run = &ctx.body.run;
    let event = EventKind::ProcessingEnd {
        end,
        text: run.text.clone(),
        usage: run.usage,
        replies: run.replies,
        tool_calls: run.tool_calls,
    };
    ctx.event(event);
    Phase::Idle
}

/// Ends the session: now, or when the cancelled effects have answered.
pub(crate) fn close(ctx: &mut Ctx<'_>) -> Phase {
    if ctx.ledger.has_any(ctx.body.id) {
        return Phase::Closing;
    }
    ctx.event(EventKind::SessionEnd { state: AgentState::Closed });
    Phase::Closed
}

/// A cancelled effect has answered, or its grace is over.
pub(crate) fn on_settled(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.advance(ctx), ctx),
        Phase::Closing => close(ctx),
        other => other,
    }
}

/// Gives each call an id of its own: providers refuse empty and repeated ones.
fn name_calls(reply: &mut Reply) {
    let mut seen = BTreeSet::new();
    for (index, block) in reply.blocks.iter_mut().enumerate() {
        let Block::ToolCall(call) = block else { continue };
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("{}call_{index}", call.id);
        }
        seen.insert(call.id.clone());
    }
}
