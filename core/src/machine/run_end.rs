//! The end of a run: its result goes out, and the agent is idle, or closed once nothing of it is
//! open. Why it ends is decided in `run`. Each run has exactly one `processing_end`, which `finish`
//! writes.

use super::{
    ctx::{AgentSignal, StepContext},
    outbound_hook,
    phase::{HookContinuation, Phase},
    reply,
    step::AgentStep,
};
use alloc::{format, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::{
    event::EventKind,
    id::AgentId,
    message::FinishReason,
    status::{AgentState, RunEnd},
};
use innerloop_wire::{FailureKind, ModelCallError};

/// Ends the run, once the host's hook has let out what it has come to.
pub(super) fn end_run(end: RunEnd, ctx: &mut StepContext<'_>) -> AgentStep {
    // Nothing is handed over as a result in these cases, so that there is nothing to ask about.
    let keeps_in = matches!(end, RunEnd::Interrupted | RunEnd::Denied | RunEnd::Failed);
    if !keeps_in
        && !ctx.body.run.released
        && let Some(effect) = outbound_hook::ask(&ctx.body.result(), ctx)
    {
        return AgentStep::hooked(effect, HookContinuation::Out(end));
    }
    AgentStep::Finish(end)
}

/// Reports that the run is over, and how.
pub(super) fn finish(end: RunEnd, ctx: &mut StepContext<'_>) {
    ctx.body.rest();
    let run = &ctx.body.run;
    let event = EventKind::ProcessingEnd {
        end,
        text: ctx.body.result(),
        usage: run.counts.usage,
        cost_nano_usd: run.counts.cost_nano_usd,
        replies: run.counts.replies,
        tool_calls: run.counts.tool_calls,
        rounds: ctx.body.rounds(),
    };
    ctx.event(event);
    let success = end == RunEnd::Completed;
    ctx.body.succeeded = success;
    if ctx.body.id == AgentId::ROOT {
        ctx.purse.end_run(ctx.now);
    }
    ctx.signal(AgentSignal::Ended { agent: ctx.body.id, success });
}

/// Fails the run. A failure that may pass leaves the session usable; one that never can closes it,
/// if that is wanted (`docs/decisions.md#ends-of-a-run`).
pub(super) fn fail(failure: &ModelCallError, ctx: &mut StepContext<'_>) -> AgentStep {
    let kind = failure.kind.as_event();
    // What people have been shown of a reply that a limit ended is kept as the model's turn.
    reply::take_cut(&failure.said, FinishReason::Length, ctx);
    if failure.kind == FailureKind::ContextOverflow {
        ctx.warn(&format!("the conversation no longer fits the model: {}", failure.message));
    }
    ctx.event(EventKind::Error { kind, message: failure.message.clone() });
    let end = match failure.kind {
        FailureKind::ContentFilter => RunEnd::Refused,
        _ => RunEnd::Failed,
    };
    let may_pass = match failure.kind {
        FailureKind::Authentication
        | FailureKind::InvalidRequest
        | FailureKind::NoTools
        | FailureKind::Host => false,
        FailureKind::Quota
        | FailureKind::RateLimit
        | FailureKind::Overloaded
        | FailureKind::ContextOverflow
        | FailureKind::ContentFilter
        | FailureKind::Server
        | FailureKind::Network
        | FailureKind::Protocol => true,
    };
    let stays_open = may_pass || !ctx.setup.config.retry.refusal_closes;
    if stays_open {
        return AgentStep::End(end);
    }
    finish(end, ctx);
    AgentStep::Shut
}

/// Closes the agent, and those that it started, once what is open has answered.
pub(super) fn shut(ctx: &mut StepContext<'_>) -> AgentStep {
    for call in ctx.body.take_calls() {
        drop(call.cancel(ctx));
    }
    for agent in children(ctx) {
        ctx.signal(AgentSignal::Close { agent });
    }
    // The agent that started it learns that it is closed, even if it was idle.
    ctx.signal(AgentSignal::Ended { agent: ctx.body.id, success: ctx.body.succeeded });
    // Last, so that the agents below are closing already when this one asks what is still open. The
    // session's own agent is asked when the input is done.
    if ctx.body.id != AgentId::ROOT {
        ctx.signal(AgentSignal::Finish { agent: ctx.body.id });
    }
    AgentStep::Wait(Phase::Closing)
}

/// Closes the agent if nothing is open: for the session's own agent nothing at all, for another one
/// nothing of its own.
pub(super) fn close_when_settled(ctx: &mut StepContext<'_>) -> AgentStep {
    let id = ctx.body.id;
    let is_root = id == AgentId::ROOT;
    // `session_end` is the last event of a session, so that its own agent waits for all others.
    let waits = if is_root {
        !ctx.ledger.is_empty() || ctx.agents.open > 0
    } else {
        ctx.ledger.has_any(id)
    };
    if waits {
        return AgentStep::Wait(Phase::Closing);
    }
    if is_root {
        ctx.event(EventKind::SessionEnd { state: AgentState::Closed });
    } else {
        ctx.agents.open = ctx.agents.open.saturating_sub(1);
        let output = ctx.body.result();
        ctx.event(EventKind::AgentEnded { success: ctx.body.succeeded, output });
    }
    AgentStep::Wait(Phase::Closed)
}

/// Returns the agents that this one started.
pub(super) fn children(ctx: &StepContext<'_>) -> Vec<AgentId> {
    ctx.body.learnt().children.iter().map(|(id, _)| id).into_list()
}
