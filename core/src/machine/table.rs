//! The table of the loop: the first step for each cause in each phase, and the next one for each
//! step, until the agent waits again. `docs/architecture.md` shows both parts as tables, and a test
//! holds that they are the ones that run.

use super::{
    agent_state::UserInput,
    cause::{AgentCommand, EffectUpdate, TransitionCause},
    ctx::StepContext,
    folding, import,
    model_call::{CallPurpose, EndedCall},
    phase::Phase,
    reply, rewind,
    round::ToolRound,
    run,
    run_end::{close_when_settled, end_run, fail, finish, shut},
    step::AgentStep,
    stopping::{close, interrupt},
    turn_options,
};
use alloc::vec::Vec;
use innerloop_types::{
    id::EffectId,
    input::{Answer, HookReply},
    message::Part,
};

/// Takes all steps that follow from a cause, until the agent waits again; returns its phase.
pub(crate) fn step(phase: Phase, cause: TransitionCause, ctx: &mut StepContext<'_>) -> Phase {
    #[cfg(feature = "seams")]
    let from = [phase.name(), cause.name()];
    // Time may make several things due at once, each of which has steps of its own.
    if matches!(cause, TransitionCause::Tick) {
        return tick(phase, ctx);
    }
    let step = first(phase, cause, ctx);
    #[cfg(feature = "seams")]
    ctx.note(from, step.name());
    settled(step, ctx)
}

/// Takes a step and all that follow, until the agent waits; returns its phase.
fn settled(mut step: AgentStep, ctx: &mut StepContext<'_>) -> Phase {
    loop {
        #[cfg(feature = "seams")]
        let from = ["", step.name()];
        step = match step {
            AgentStep::Wait(phase) => return phase,
            step => next(step, ctx),
        };
        #[cfg(feature = "seams")]
        ctx.note(from, step.name());
    }
}

/// Takes a step; returns the next one.
fn next(step: AgentStep, ctx: &mut StepContext<'_>) -> AgentStep {
    match step {
        AgentStep::Wait(phase) => AgentStep::Wait(phase),
        AgentStep::TakeInput(input) => run::take_input(input, ctx),
        AgentStep::Call => run::call(ctx),
        AgentStep::CallAsItIs => run::call_as_it_is(ctx),
        AgentStep::Send => run::send(ctx),
        AgentStep::TakeReply(reply, route, timing) => {
            match folding::overfull(&reply, &route.model, ctx) {
                Some(failure) => run::give_back(&reply, failure, &route.model, ctx),
                None => reply::take(reply, &route.model, timing, ctx),
            }
        }
        AgentStep::CallAgain => run::call_again(ctx),
        AgentStep::RunCalls(calls) => ToolRound::start(calls, ctx),
        AgentStep::RefuseCalls(calls, why) => ToolRound::refuse(calls, why, ctx),
        AgentStep::EndRound => run::end_round(ctx),
        AgentStep::Recover(failure) => run::recover(failure, ctx),
        AgentStep::GiveIn(failure) => run::give_in(failure, ctx),
        AgentStep::Stop => run::stop(ctx),
        AgentStep::StopShort(ending) => run::stop_short(ending, ctx),
        AgentStep::Answer(answer) => run::answer(answer, ctx),
        AgentStep::NextInput => run::next_input(ctx),
        AgentStep::End(end) => end_run(end, ctx),
        AgentStep::Finish(end) => {
            finish(end, ctx);
            AgentStep::Wait(Phase::Idle)
        }
        AgentStep::Fail(failure) => fail(&failure, ctx),
        AgentStep::Rest => {
            ctx.body.rest();
            run::take_follow_up(ctx)
        }
        AgentStep::Interrupt(phase) => interrupt(phase, ctx),
        AgentStep::Shut => shut(ctx),
    }
}

/// Takes in a cause; returns the first step.
fn first(phase: Phase, cause: TransitionCause, ctx: &mut StepContext<'_>) -> AgentStep {
    match (phase, cause) {
        (Phase::Idle, TransitionCause::Order(AgentCommand::Submit(input))) => {
            run::begin(input, ctx)
        }
        (Phase::Idle, TransitionCause::Told { parts, options }) => {
            run::begin(UserInput { parts, options }, ctx)
        }
        (Phase::Idle, TransitionCause::Order(AgentCommand::FollowUp(input))) => {
            ctx.body.pending_mut().follow_ups.push(input);
            // Inputs that have waited since an earlier run come first.
            run::take_follow_up(ctx)
        }
        (Phase::Idle, TransitionCause::Order(AgentCommand::Import(turns))) => {
            import::take(turns, ctx);
            AgentStep::Wait(Phase::Idle)
        }
        (Phase::Idle, TransitionCause::Order(AgentCommand::Compact(instructions))) => {
            folding::compact(instructions.as_deref(), ctx)
        }
        (Phase::Idle, TransitionCause::Rewind { at, why }) => {
            rewind::rewind(at, why, ctx);
            AgentStep::Wait(Phase::Idle)
        }
        (phase, TransitionCause::Order(AgentCommand::FollowUp(input))) => {
            ctx.body.pending_mut().follow_ups.push(input);
            AgentStep::Wait(phase)
        }
        (phase, TransitionCause::Order(AgentCommand::Steer(parts))) => steer(phase, parts, ctx),
        (phase, TransitionCause::Order(AgentCommand::Interrupt)) => AgentStep::Interrupt(phase),
        (phase, TransitionCause::TimeUp) => run::time_up(phase, ctx),
        (phase @ (Phase::Closing | Phase::Closed), TransitionCause::Order(AgentCommand::Close)) => {
            AgentStep::Wait(phase)
        }
        (phase, TransitionCause::Order(AgentCommand::Close)) => close(phase, ctx),
        (phase, TransitionCause::News(id, news)) => on_news(phase, id, news, ctx),
        (Phase::Round(round), TransitionCause::ChildEnded(child)) => round.on_child(child, ctx),
        (Phase::Round(round), TransitionCause::Settled) => round.advance(ctx),
        (Phase::Closing, TransitionCause::Settled) => close_when_settled(ctx),
        (phase @ (Phase::Closing | Phase::Closed), TransitionCause::Told { .. })
        | (
            phase,
            TransitionCause::ChildEnded(_) | TransitionCause::Settled | TransitionCause::Tick,
        ) => AgentStep::Wait(phase),
        (phase, TransitionCause::Told { parts, options }) => {
            // A message without limits of its own leaves those of the input under way in force.
            if options.is_some() {
                turn_options::enter(options, ctx);
            }
            steer(phase, parts, ctx)
        }
        (phase, TransitionCause::Order(_) | TransitionCause::Rewind { .. }) => {
            ctx.fault("an order to an agent that is not idle");
            AgentStep::Wait(phase)
        }
    }
}

/// Takes in news of an effect that is open and not cancelled. Those of a model call belong to the
/// call, whatever the phase.
fn on_news(phase: Phase, id: EffectId, news: EffectUpdate, ctx: &mut StepContext<'_>) -> AgentStep {
    if let Some(call) = ctx.body.take_call(id) {
        let ended = match news {
            EffectUpdate::Http(input) => call.on_http(input, ctx),
            EffectUpdate::Lost => call.on_lost(ctx),
            EffectUpdate::Tool(_) | EffectUpdate::Answer(_) | EffectUpdate::Hook(_) => {
                call.go_on(ctx)
            }
        };
        return on_call(phase, ended, ctx);
    }
    match (phase, news) {
        (Phase::Round(round), EffectUpdate::Tool(input)) => round.on_tool(id, input, ctx),
        (Phase::Round(round), EffectUpdate::Answer(answer)) => round.on_answer(id, answer, ctx),
        (Phase::Round(round), EffectUpdate::Hook(reply)) => round.on_hook(id, reply, ctx),
        (Phase::Round(round), EffectUpdate::Lost) => round.on_lost(id, ctx),
        (Phase::Hooked(hooked), news @ (EffectUpdate::Hook(_) | EffectUpdate::Lost)) => {
            let reply = match news {
                EffectUpdate::Hook(reply) => reply,
                _ => HookReply::Failed { message: "it was lost when the host stopped".into() },
            };
            ctx.ledger.settle(hooked.effect);
            run::on_hook(hooked.then, reply, ctx)
        }
        (Phase::Asked(asked), news @ (EffectUpdate::Answer(_) | EffectUpdate::Lost)) => {
            let answer = match news {
                EffectUpdate::Answer(answer) => answer,
                _ => Answer::nobody("the question was lost when the host stopped"),
            };
            ctx.ledger.settle(asked.effect);
            run::on_go_on(answer, ctx)
        }
        (phase, _) => {
            ctx.fault("news of an open effect that its agent does not know");
            AgentStep::Wait(phase)
        }
    }
}

/// Returns the step behind a model call, which goes on or is over.
fn on_call(phase: Phase, ended: Option<EndedCall>, ctx: &mut StepContext<'_>) -> AgentStep {
    let Some(EndedCall { purpose, route, result, timing }) = ended else {
        return AgentStep::Wait(phase);
    };
    match (phase, purpose, result) {
        (Phase::ModelCall, CallPurpose::Reply(_), Ok(reply)) => {
            AgentStep::TakeReply(reply, route, timing)
        }
        (Phase::ModelCall, CallPurpose::Reply(_), Err(failure)) => AgentStep::Recover(failure),
        (Phase::Folding, CallPurpose::Summary(plan), result) => {
            folding::on_summary(plan, &route.model, result, ctx)
        }
        (phase, ..) => {
            ctx.fault("the end of a model call in another phase");
            AgentStep::Wait(phase)
        }
    }
}

/// Takes in that time has passed: all that is due comes one after the other, each with its steps.
fn tick(mut phase: Phase, ctx: &mut StepContext<'_>) -> Phase {
    if let Phase::Round(round) = phase {
        let step = round.on_tick(ctx);
        #[cfg(feature = "seams")]
        ctx.note(["Round", "Tick"], step.name());
        phase = settled(step, ctx);
    }
    // At most as often as there are calls now: one that is due again at once waits for the
    // session's next look at its deadlines.
    for _ in 0..ctx.body.pending().calls.len() {
        let Some(call) = ctx.body.take_due_call(ctx.now, ctx.setup.config.retry.idle_ms) else {
            break;
        };
        #[cfg(feature = "seams")]
        let from = [phase.name(), "Tick"];
        let ended = call.on_tick(ctx);
        let step = on_call(phase, ended, ctx);
        #[cfg(feature = "seams")]
        ctx.note(from, step.name());
        phase = settled(step, ctx);
    }
    phase
}

/// Queues a message for the model's next call; a round that waits for other agents ends these
/// waits.
fn steer(phase: Phase, parts: Vec<Part>, ctx: &mut StepContext<'_>) -> AgentStep {
    ctx.body.pending_mut().steering.push(parts);
    match phase {
        Phase::Round(round) => round.on_steer(ctx),
        other => AgentStep::Wait(other),
    }
}
