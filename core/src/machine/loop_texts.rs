//! Texts that the loop appends for the model to read: the user's input, queued messages, and words
//! of its own. What counts for one input begins anew here.

use super::ctx::StepContext;
use alloc::{string::String, vec, vec::Vec};
use innerloop_types::{
    event::EventKind,
    message::{Part, TurnKind},
};

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
    ctx.append(TurnKind::User(parts));
    drain_steering(ctx);
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
