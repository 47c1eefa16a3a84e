//! What is said to the model: the user's input, what waits to be said, and the loop's own words.

use super::ctx::StepContext;
use alloc::{string::String, vec, vec::Vec};
use innerloop_types::{
    event::EventKind,
    message::{Part, TurnKind},
};

/// The user's input enters the history, and what waits to be said behind it.
pub(super) fn enter(parts: Vec<Part>, ctx: &mut StepContext<'_>) {
    ctx.body.run.rounds = 0;
    ctx.body.run.repairs.grown = false;
    ctx.body.run.repairs.overflowed = false;
    ctx.body.run.repairs.denials = 0;
    // What the input before came to does not answer this one.
    ctx.body.run.result = None;
    ctx.body.run.released = false;
    let inputs = &mut ctx.body.run.counts.inputs;
    *inputs = inputs.saturating_add(1);
    ctx.event(EventKind::UserInput { parts: parts.clone() });
    ctx.append(TurnKind::User(parts));
    drain_steering(ctx);
}

/// Moves what the host wants to say into the history (`docs/decisions.md#steering-and-follow-ups`).
pub(super) fn drain_steering(ctx: &mut StepContext<'_>) -> bool {
    let queued = ctx.body.take_steering();
    let any = !queued.is_empty();
    for parts in queued {
        ctx.event(EventKind::SteeringInjected { parts: parts.clone() });
        ctx.append(TurnKind::Steering(parts));
    }
    any
}

/// Says something to the model in the loop's own name.
pub(super) fn say(text: impl Into<String>, ctx: &mut StepContext<'_>) {
    ctx.append(TurnKind::Steering(vec![Part::text(text)]));
}
