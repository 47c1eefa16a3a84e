//! Stopping a run before its end, on the host's word or as its time is up: all that is open is
//! cancelled, and what was said stays said.

use super::{
    ctx::{Ctx, Signal},
    ending::{children, end_run},
    exchange::Purpose,
    folding,
    phase::{Phase, Then},
    reply,
    words::enter,
};
use alloc::vec;
use innerloop_types::{
    message::{Finish, Part, TurnKind},
    status::RunEnd,
};

/// The host stops the run; the session stays usable.
pub(crate) fn interrupt(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match halt(phase, "by the user", ctx) {
        Halted::Run => {
            let note = "[The user interrupted the run here. Wait for what they say next.]";
            ctx.append(TurnKind::Steering(vec![Part::text(note)]));
            end_run(RunEnd::Interrupted, ctx)
        }
        Halted::Fold => Phase::Idle,
        Halted::Nothing(phase) => phase,
    }
}

/// What was stopped.
pub(super) enum Halted {
    /// A run, which has not ended yet.
    Run,
    /// What the host had asked for while no run was under way.
    Fold,
    Nothing(Phase),
}

/// Cancels all that is open. Agents that this one started stop, too.
pub(super) fn halt(phase: Phase, why: &str, ctx: &mut Ctx<'_>) -> Halted {
    for agent in children(ctx) {
        ctx.signal(Signal::Interrupt { agent });
    }
    let mut is_run = true;
    for call in ctx.body.take_calls() {
        if let Purpose::Summary(plan) = &call.purpose {
            is_run = folding::interrupted(plan, ctx);
        }
        let said = call.cancel(ctx);
        reply::take_cut(&said, Finish::Unknown, ctx);
    }
    match phase {
        Phase::ModelCall | Phase::Folding => {}
        Phase::Round(round) => round.interrupt(why, ctx),
        Phase::Hooked(hooked) => {
            ctx.cancel(hooked.effect);
            match hooked.then {
                // What the user said is in the history, even if no model has read it.
                Then::Input(parts) => enter(parts, ctx),
                Then::Fold(plan) => is_run = folding::interrupted(&plan, ctx),
                // What was not let out stays in.
                Then::Give(_) | Then::Out(_) => ctx.body.run.result = Some("".into()),
                Then::Call | Then::Stop | Then::Answer(_) => {}
            }
        }
        Phase::Asked(asked) => ctx.cancel(asked.effect),
        Phase::Idle | Phase::Closing | Phase::Closed => return Halted::Nothing(phase),
    }
    if is_run {
        return Halted::Run;
    }
    ctx.body.rest();
    Halted::Fold
}
