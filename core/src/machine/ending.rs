//! The end of a run: what it has come to goes out, and the agent is idle. Why it ends is decided in
//! `run`.

use super::{
    ctx::{Ctx, Signal},
    outbound,
    phase::{Hooked, Phase, Then},
};
use crate::{
    base::id::AgentId,
    types::{event::EventKind, status::RunEnd},
};
use alloc::boxed::Box;

/// Ends the run, once the host's hook has let out what it has come to.
pub(super) fn end_run(end: RunEnd, ctx: &mut Ctx<'_>) -> Phase {
    let keeps_in = matches!(end, RunEnd::Interrupted | RunEnd::Denied | RunEnd::Failed);
    if !keeps_in
        && !ctx.body.run.released
        && let Some(effect) = outbound::ask(&ctx.body.result(), ctx)
    {
        return Phase::Hooked(Box::new(Hooked { effect, then: Then::Out(end) }));
    }
    finish(end, ctx)
}

/// Ends the run now.
pub(super) fn finish(end: RunEnd, ctx: &mut Ctx<'_>) -> Phase {
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
    ctx.signal(Signal::Ended { agent: ctx.body.id, success });
    Phase::Idle
}
