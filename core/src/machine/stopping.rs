//! The stop of a run before its end, by the host or because its time is up: all that is open is
//! cancelled and answered at once, and what was said stays. Late answers of cancelled effects are
//! ignored.

use super::{
    ctx::{AgentSignal, StepContext},
    folding,
    loop_texts::enter,
    model_call::CallPurpose,
    phase::{HookContinuation, Phase},
    reply,
    run_end::{children, finish},
    step::AgentStep,
};
use alloc::vec;
use innerloop_types::{
    message::{FinishReason, Part, TurnKind},
    status::RunEnd,
};

/// Stops the run on the command of the host; the session stays usable.
pub(super) fn interrupt(phase: Phase, ctx: &mut StepContext<'_>) -> AgentStep {
    match halt(phase, "by the user", ctx) {
        Ok(()) => {
            note_interruption(ctx);
            AgentStep::End(RunEnd::Interrupted)
        }
        Err(phase) => AgentStep::Wait(phase),
    }
}

/// Closes the agent, and those that it started, on the command of the host.
pub(super) fn close(phase: Phase, ctx: &mut StepContext<'_>) -> AgentStep {
    if halt(phase, "by the user", ctx).is_ok() {
        note_interruption(ctx);
        finish(RunEnd::Interrupted, ctx);
    }
    AgentStep::Shut
}

fn note_interruption(ctx: &mut StepContext<'_>) {
    // Without a note the next request would look as if the model had stopped by itself.
    let note = "[The user interrupted the run here. Wait for what they say next.]";
    ctx.append(TurnKind::Steering(vec![Part::text(note)]));
}

/// Cancels all that is open, also of the agents that this one started.
///
/// # Errors
/// There is no run to end: the phase in which the agent then waits.
pub(super) fn halt(phase: Phase, why: &str, ctx: &mut StepContext<'_>) -> Result<(), Phase> {
    // Before the phase is looked at: agents that this one started may work while it is idle itself.
    for agent in children(ctx) {
        ctx.signal(AgentSignal::Interrupt { agent });
    }
    let mut is_run = true;
    for call in ctx.body.take_calls() {
        if let CallPurpose::Summary(plan) = &call.purpose {
            is_run = folding::interrupted(plan, ctx);
        }
        let said = call.cancel(ctx);
        reply::take_cut(&said, FinishReason::Unknown, ctx);
    }
    match phase {
        Phase::ModelCall | Phase::Folding => {}
        Phase::Round(round) => round.interrupt(why, ctx),
        Phase::Hooked(hooked) => {
            ctx.cancel(hooked.effect);
            match hooked.then {
                // What the user said stays said, even if no model has read it.
                HookContinuation::Input(parts) => enter(parts, ctx),
                HookContinuation::Fold(plan) => is_run = folding::interrupted(&plan, ctx),
                // The hook has not let the result out; the interruption must not do so in its
                // place.
                HookContinuation::Give(_) | HookContinuation::Out(_) => {
                    ctx.body.run.result = Some("".into());
                }
                HookContinuation::Call
                | HookContinuation::Round
                | HookContinuation::Stop
                | HookContinuation::Answer(_) => {}
            }
        }
        Phase::Asked(asked) => ctx.cancel(asked.effect),
        Phase::Idle | Phase::Closing | Phase::Closed => {
            return Err(phase);
        }
    }
    if is_run {
        return Ok(());
    }
    ctx.body.rest();
    Err(Phase::Idle)
}
