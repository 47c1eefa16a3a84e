//! The loop as a table that runs: the first step for each cause in each phase, and the next one for
//! each step, until the agent waits again. `docs/architecture.md` shows both as a reader sees them;
//! a test holds that what it shows is what runs.

use super::{
    agent_state::UserInput,
    cause::{Cause, News, Order},
    ctx::Ctx,
    folding, import,
    model_call::{EndedCall, Purpose},
    phase::Phase,
    reply, rewind,
    round::Round,
    run,
    run_end::{close_when_settled, end_run, fail, finish, shut},
    step::Step,
    stopping::{close, interrupt},
    turn_options,
};
use alloc::vec::Vec;
use innerloop_types::{
    id::EffectId,
    input::{Answer, HookReply},
    message::Part,
};

/// Takes all steps that follow from a cause, until the agent waits again.
pub(crate) fn step(phase: Phase, cause: Cause, ctx: &mut Ctx<'_>) -> Phase {
    #[cfg(feature = "seams")]
    let from = [phase.name(), cause.name()];
    if matches!(cause, Cause::Tick) {
        return tick(phase, ctx);
    }
    let step = first(phase, cause, ctx);
    #[cfg(feature = "seams")]
    ctx.note(from, step.name());
    settled(step, ctx)
}

/// Takes a step and all that follow, until the agent waits.
fn settled(mut step: Step, ctx: &mut Ctx<'_>) -> Phase {
    loop {
        #[cfg(feature = "seams")]
        let from = ["", step.name()];
        step = match step {
            Step::Wait(phase) => return phase,
            step => next(step, ctx),
        };
        #[cfg(feature = "seams")]
        ctx.note(from, step.name());
    }
}

/// Takes a step; gives the next one.
fn next(step: Step, ctx: &mut Ctx<'_>) -> Step {
    match step {
        Step::Wait(phase) => Step::Wait(phase),
        Step::TakeInput(input) => run::take_input(input, ctx),
        Step::Call => run::call(ctx),
        Step::CallAsItIs => run::call_as_it_is(ctx),
        Step::Send => run::send(ctx),
        Step::TakeReply(reply) => match folding::overfull(&reply, ctx) {
            Some(failure) => run::give_back(&reply, failure, ctx),
            None => reply::take(reply, ctx),
        },
        Step::CallAgain => run::call_again(ctx),
        Step::RunCalls(calls) => Round::start(calls, ctx),
        Step::RefuseCalls(calls, why) => Round::refuse(calls, why, ctx),
        Step::EndRound => run::end_round(ctx),
        Step::Recover(failure) => run::recover(failure, ctx),
        Step::GiveIn(failure) => run::give_in(failure, ctx),
        Step::Stop => run::stop(ctx),
        Step::StopShort(ending) => run::stop_short(ending, ctx),
        Step::Answer(answer) => run::answer(answer, ctx),
        Step::NextInput => run::next_input(ctx),
        Step::End(end) => end_run(end, ctx),
        Step::Finish(end) => {
            finish(end, ctx);
            Step::Wait(Phase::Idle)
        }
        Step::Fail(failure) => fail(&failure, ctx),
        Step::Rest => {
            ctx.body.rest();
            run::take_follow_up(ctx)
        }
        Step::Interrupt(phase) => interrupt(phase, ctx),
        Step::Shut => shut(ctx),
    }
}

/// Takes in a cause; gives the first step.
fn first(phase: Phase, cause: Cause, ctx: &mut Ctx<'_>) -> Step {
    match (phase, cause) {
        (Phase::Idle, Cause::Order(Order::Submit(input))) => run::begin(input, ctx),
        (Phase::Idle, Cause::Told { parts, options }) => {
            run::begin(UserInput { parts, options }, ctx)
        }
        (Phase::Idle, Cause::Order(Order::FollowUp(input))) => {
            ctx.body.pending_mut().follow_ups.push(input);
            // What was left waiting before comes first.
            run::take_follow_up(ctx)
        }
        (Phase::Idle, Cause::Order(Order::Import(turns))) => {
            import::take(turns, ctx);
            Step::Wait(Phase::Idle)
        }
        (Phase::Idle, Cause::Order(Order::Compact(instructions))) => {
            folding::compact(instructions.as_deref(), ctx)
        }
        (Phase::Idle, Cause::Rewind { at, why }) => {
            rewind::rewind(at, why, ctx);
            Step::Wait(Phase::Idle)
        }
        (phase, Cause::Order(Order::FollowUp(input))) => {
            ctx.body.pending_mut().follow_ups.push(input);
            Step::Wait(phase)
        }
        (phase, Cause::Order(Order::Steer(parts))) => steer(phase, parts, ctx),
        (phase, Cause::Order(Order::Interrupt)) => Step::Interrupt(phase),
        (phase, Cause::TimeUp) => run::time_up(phase, ctx),
        (phase @ (Phase::Closing | Phase::Closed), Cause::Order(Order::Close)) => Step::Wait(phase),
        (phase, Cause::Order(Order::Close)) => close(phase, ctx),
        (phase, Cause::News(id, news)) => on_news(phase, id, news, ctx),
        (Phase::Round(round), Cause::ChildEnded(child)) => round.on_child(child, ctx),
        (Phase::Round(round), Cause::Settled) => round.advance(ctx),
        (Phase::Closing, Cause::Settled) => close_when_settled(ctx),
        (phase @ (Phase::Closing | Phase::Closed), Cause::Told { .. })
        | (phase, Cause::ChildEnded(_) | Cause::Settled | Cause::Tick) => Step::Wait(phase),
        (phase, Cause::Told { parts, options }) => {
            if options.is_some() {
                turn_options::enter(options, ctx);
            }
            steer(phase, parts, ctx)
        }
        (phase, Cause::Order(_) | Cause::Rewind { .. }) => {
            ctx.fault("an order to an agent that is not idle");
            Step::Wait(phase)
        }
    }
}

/// News of an effect that is open and not cancelled. Those of a model call are its own business,
/// whatever phase the agent stands in.
fn on_news(phase: Phase, id: EffectId, news: News, ctx: &mut Ctx<'_>) -> Step {
    if let Some(call) = ctx.body.take_call(id) {
        let ended = match news {
            News::Http(input) => call.on_http(input, ctx),
            News::Lost => call.on_lost(ctx),
            News::Tool(_) | News::Answer(_) | News::Hook(_) => call.go_on(ctx),
        };
        return on_call(phase, ended, ctx);
    }
    match (phase, news) {
        (Phase::Round(round), News::Tool(input)) => round.on_tool(id, input, ctx),
        (Phase::Round(round), News::Answer(answer)) => round.on_answer(id, answer, ctx),
        (Phase::Round(round), News::Hook(reply)) => round.on_hook(id, reply, ctx),
        (Phase::Round(round), News::Lost) => round.on_lost(id, ctx),
        (Phase::Hooked(hooked), news @ (News::Hook(_) | News::Lost)) => {
            let reply = match news {
                News::Hook(reply) => reply,
                _ => HookReply::Failed { message: "it was lost when the host stopped".into() },
            };
            ctx.ledger.settle(hooked.effect);
            run::on_hook(hooked.then, reply, ctx)
        }
        (Phase::Asked(asked), news @ (News::Answer(_) | News::Lost)) => {
            let answer = match news {
                News::Answer(answer) => answer,
                _ => Answer::nobody("the question was lost when the host stopped"),
            };
            ctx.ledger.settle(asked.effect);
            run::on_go_on(answer, ctx)
        }
        (phase, _) => {
            ctx.fault("news of an open effect that its agent does not know");
            Step::Wait(phase)
        }
    }
}

/// Gives the step behind a model call, which goes on or is over.
fn on_call(phase: Phase, ended: Option<EndedCall>, ctx: &mut Ctx<'_>) -> Step {
    let Some(EndedCall { purpose, result }) = ended else { return Step::Wait(phase) };
    match (phase, purpose, result) {
        (Phase::ModelCall, Purpose::Reply(_), Ok(reply)) => Step::TakeReply(reply),
        (Phase::ModelCall, Purpose::Reply(_), Err(failure)) => Step::Recover(failure),
        (Phase::Folding, Purpose::Summary(plan), result) => folding::on_summary(plan, result, ctx),
        (phase, ..) => {
            ctx.fault("the end of a model call in another phase");
            Step::Wait(phase)
        }
    }
}

/// Takes in that time has passed: all that is due comes one after the other, each with its steps.
fn tick(mut phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    if let Phase::Round(round) = phase {
        let step = round.on_tick(ctx);
        #[cfg(feature = "seams")]
        ctx.note(["Round", "Tick"], step.name());
        phase = settled(step, ctx);
    }
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

/// Queues a message for the model's next call; a round that waits for other agents takes it now.
fn steer(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Step {
    ctx.body.pending_mut().steering.push(parts);
    match phase {
        Phase::Round(round) => round.on_steer(ctx),
        other => Step::Wait(other),
    }
}
