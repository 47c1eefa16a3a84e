//! Texts that the loop appends for the model to read: the user's input, queued messages, and words
//! of its own. What counts for one input begins anew here.

use super::{ctx::StepContext, skills};
use crate::rules::task_kind;
use alloc::{string::String, vec, vec::Vec};
use innerloop_types::{
    event::EventKind,
    message::{Part, TurnKind, VisibleTurn, joined_text},
};

/// The note on how to share work out among agents (`docs/decisions.md#subagents`).
const COORDINATION: &str = "This task is for several agents. Split it into parts that do not need \
                            one another; what changes the same file is one part. Prefer many \
                            small parts to a long chain. Start five to seven at once by one call \
                            of spawn_agents, and more in a next wave. Name to each the files that \
                            it needs, earlier results among them, and say what it is to return. \
                            Then put the results together in your own words, without repeating \
                            any, and say of each part that failed why, and what to try next.";

/// Takes the user's input into the history, and the queued messages behind it.
pub(super) fn enter(parts: Vec<Part>, ctx: &mut StepContext<'_>) {
    // These belong to one input, and a run may have several; the other counts of the run go on.
    ctx.body.run.rounds = 0;
    ctx.body.run.repairs.grown = false;
    ctx.body.run.repairs.overflowed = false;
    ctx.body.run.repairs.denials = 0;
    // The result of the input before does not answer this one.
    ctx.body.run.result = None;
    ctx.body.run.released = false;
    let inputs = &mut ctx.body.run.counts.inputs;
    *inputs = inputs.saturating_add(1);
    ctx.event(EventKind::UserInput { parts: parts.clone() });
    let is_shared_out = needs_coordination(&parts, ctx);
    let skills = skills::called_for(&joined_text(&parts), ctx);
    ctx.append(TurnKind::User(parts));
    for text in skills {
        ctx.append(TurnKind::System(text));
    }
    if is_shared_out {
        ctx.append(TurnKind::System(COORDINATION.into()));
    }
    drain_steering(ctx);
}

/// Returns whether an input asks for several agents, and the model does not see yet how to share
/// its work out among them.
fn needs_coordination(parts: &[Part], ctx: &StepContext<'_>) -> bool {
    cfg!(feature = "named-agents")
        && ctx.setup.config.subagents.coordinate
        && ctx.setup.tool("spawn_agents").is_some()
        && task_kind::of_text(&joined_text(parts)) == Some("orchestration")
        && !ctx
            .body
            .history
            .seen()
            .any(|said| matches!(said, VisibleTurn::System(text) if text == COORDINATION))
}

/// Moves the queued messages of the host into the history; returns whether there were any
/// (`docs/decisions.md#steering-and-follow-ups`).
pub(super) fn drain_steering(ctx: &mut StepContext<'_>) -> bool {
    let queued = ctx.body.take_steering();
    let any = !queued.is_empty();
    for parts in queued {
        ctx.event(EventKind::SteeringInjected { parts: parts.clone() });
        ctx.append(TurnKind::Steering(parts));
    }
    any
}

/// Appends a message in the loop's own name.
pub(super) fn say(text: impl Into<String>, ctx: &mut StepContext<'_>) {
    ctx.append(TurnKind::Steering(vec![Part::text(text)]));
}
