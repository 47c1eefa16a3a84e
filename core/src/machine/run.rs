//! A run: from the user's input to its end. What follows from a reply, a round, a limit or a
//! failure is decided here.

use super::{
    body::UserInput,
    ctx::{Ctx, Signal},
    ending::{end_run, fail, finish},
    exchange::{ModelCall, Purpose},
    folding::{self, Folded},
    instructions,
    last_reply::Ending,
    ledger::EffectKind,
    left_out,
    model_call::Next,
    options, outbound,
    phase::{Asked, Hooked, Phase, Then},
    reply::{self, Verdict},
    round::{Progress, Round},
    route::Tools,
    stopping::{Halted, halt, interrupt},
    tool_call::{checked, text_of},
    words::{drain_steering, enter, say},
};
use crate::{
    profile::inner::FINAL_ANSWER,
    rules::{budget::UsedUp, repeat::Found},
};
use alloc::{boxed::Box, format, string::String, vec};
use innerloop_types::{
    config::{HookPoint, LimitAction, LoopStep},
    event::{ErrorKind, EventKind},
    input::{Answer, HookReply},
    json::Json,
    message::{Part, Reply, TurnKind, joined_text},
    output::{Ask, Effect},
    status::RunEnd,
};
use innerloop_wire::{Failure, FailureKind};

/// What follows from news of a model call.
pub(super) fn on_call(phase: Phase, next: Next, ctx: &mut Ctx<'_>) -> Phase {
    match next {
        Next::Open(call) => {
            ctx.body.pending_mut().calls.push(call);
            phase
        }
        Next::InText(call) => {
            ctx.body.pending_mut().calls.push(call);
            ctx.warn(
                "the endpoint has no tools for this model: from now on they are told in the \
                 prompt, and calls are read from the model's text",
            );
            ctx.signal(Signal::InText { agent: ctx.body.id });
            phase
        }
        Next::Over(Purpose::Reply(_), result) => {
            debug_assert!(matches!(phase, Phase::ModelCall), "a reply in another phase");
            match result {
                Ok(reply) => on_reply(reply, ctx),
                Err(failure) => on_failure(&failure, ctx),
            }
        }
        Next::Over(Purpose::Summary(plan), result) => {
            debug_assert!(matches!(phase, Phase::Folding), "a summary in another phase");
            on_folded(folding::on_summary(plan, result, ctx), ctx)
        }
    }
}

/// What follows from an attempt to make the conversation shorter.
pub(super) fn on_folded(folded: Folded, ctx: &mut Ctx<'_>) -> Phase {
    match folded {
        Folded::Waits(phase) => phase,
        Folded::Call => match stop_at_limit(ctx) {
            Some(phase) => phase,
            None => call_as_is(ctx),
        },
        Folded::Failed(failure) => give_in(&failure, ctx),
        Folded::Idle => {
            ctx.body.rest();
            match ctx.body.next_follow_up() {
                Some(input) => {
                    ctx.begin_run();
                    take_input(input, ctx)
                }
                None => Phase::Idle,
            }
        }
    }
}

/// A model call failed for good: a conversation that is too long may be made shorter.
fn on_failure(failure: &Failure, ctx: &mut Ctx<'_>) -> Phase {
    // The last call of a run is not made twice once all is used up.
    let is_again = failure.is_retryable()
        || (failure.kind == FailureKind::ContextOverflow && ctx.body.run.epilogue.is_some());
    if is_again && let Some(phase) = out_of_budget(ctx) {
        return phase;
    }
    match folding::on_overflow(failure, ctx) {
        Some(folded) => on_folded(folded, ctx),
        None => give_in(failure, ctx),
    }
}

/// The model call has failed, unless a part of what is said is to blame that can be left out.
fn give_in(failure: &Failure, ctx: &mut Ctx<'_>) -> Phase {
    if left_out::on_refused(failure, ctx) {
        return call_model(ctx);
    }
    fail(failure, ctx)
}

/// Calls the model for the run's next reply.
fn ask_for_reply(ctx: &mut Ctx<'_>) -> Phase {
    let tools = if ctx.body.run.epilogue.is_some() { Tools::Off } else { Tools::On };
    let call = ModelCall::start(Purpose::Reply(tools), ctx.route(), ctx);
    ctx.body.pending_mut().calls.push(call);
    Phase::ModelCall
}

pub(super) fn on_progress(progress: Progress, ctx: &mut Ctx<'_>) -> Phase {
    match progress {
        Progress::Open(round) => Phase::Round(round),
        Progress::Aborted(round) => interrupt(Phase::Round(round), ctx),
        Progress::Answered => after_round(ctx),
    }
}

pub(super) fn on_hooked(then: Then, hook: HookReply, ctx: &mut Ctx<'_>) -> Phase {
    // What a hook that broke has not stored is not left out.
    let reply = if matches!(then, Then::Fold(_)) { hook } else { checked(hook, ctx) };
    match (then, reply) {
        (Then::Fold(plan), reply) => on_folded(folding::on_hook(plan, reply, ctx), ctx),
        (Then::Input(parts), HookReply::Allow | HookReply::Failed { .. }) => {
            enter(parts, ctx);
            call_model(ctx)
        }
        (Then::Input(_), HookReply::Replace(text)) if text_of(&text).trim().is_empty() => {
            ctx.warn("a hook put nothing in the input's place");
            end_run(RunEnd::Denied, ctx)
        }
        (Then::Input(_), HookReply::Replace(text)) => {
            enter(vec![Part::text(text_of(&text))], ctx);
            call_model(ctx)
        }
        (Then::Call, HookReply::Allow | HookReply::Failed { .. }) => send(ctx),
        (Then::Call, HookReply::Replace(text)) => {
            ctx.append(TurnKind::System(text_of(&text)));
            send(ctx)
        }
        (then @ (Then::Stop | Then::Answer(_)), HookReply::Deny { reason }) => {
            if ctx.body.run.repairs.denials >= ctx.setup.config.hooks.max_denials {
                return give_up(then, &reason, ctx);
            }
            ctx.body.run.repairs.denials += 1;
            let blank = reason.trim().is_empty();
            say(if blank { "The task is not done yet: go on." } else { &reason }, ctx);
            call_model(ctx)
        }
        (Then::Stop, _) => next_input(ctx),
        (Then::Answer(answer), _) => give_answer(answer, ctx),
        (Then::Give(answer), reply) => match outbound::answer(answer, reply, ctx) {
            Some(answer) => given(answer, ctx),
            None => finish(RunEnd::Denied, ctx),
        },
        (Then::Out(end), reply) => on_released(end, reply, ctx),
        (Then::Input(_) | Then::Call, HookReply::Deny { reason }) => {
            ctx.warn(&format!("a hook denied it: {reason}"));
            end_run(RunEnd::Denied, ctx)
        }
    }
}

/// The hook before the end has denied it too often: the run ends with what there is.
fn give_up(then: Then, reason: &str, ctx: &mut Ctx<'_>) -> Phase {
    ctx.warn(&format!("a hook has denied the end of the run too often: {reason}"));
    if let Then::Answer(answer) = then {
        ctx.body.run.result = Some(answer.into());
    }
    end_run(RunEnd::Unverified, ctx)
}

/// The user's input goes on its way: past the hook, into the history, to the model.
pub(super) fn take_input(input: UserInput, ctx: &mut Ctx<'_>) -> Phase {
    let UserInput { parts, options } = input;
    options::enter(options, ctx);
    if let Some(effect) = ctx.hook(HookPoint::Submit, &joined_text(&parts)) {
        return Phase::Hooked(Box::new(Hooked { effect, then: Then::Input(parts) }));
    }
    enter(parts, ctx);
    call_model(ctx)
}

/// Calls the model, unless a limit is reached or a hook denies it.
pub(super) fn call_model(ctx: &mut Ctx<'_>) -> Phase {
    if let Some(phase) = stop_at_limit(ctx) {
        return phase;
    }
    match folding::before_call(ctx) {
        Some(folded) => on_folded(folded, ctx),
        None => call_as_is(ctx),
    }
}

/// Calls the model with the conversation as it is, unless a hook denies it.
fn call_as_is(ctx: &mut Ctx<'_>) -> Phase {
    warn_of_fullness(ctx);
    match ctx.hook(HookPoint::BeforeModel, &"") {
        Some(effect) => Phase::Hooked(Box::new(Hooked { effect, then: Then::Call })),
        None => ask_for_reply(ctx),
    }
}

/// The hook before the model call has replied; the limits may be others than before.
fn send(ctx: &mut Ctx<'_>) -> Phase {
    match stop_at_limit(ctx) {
        Some(phase) => phase,
        None => ask_for_reply(ctx),
    }
}

/// Ends the run if a limit is reached, or has it summed up.
fn stop_at_limit(ctx: &mut Ctx<'_>) -> Option<Phase> {
    if ctx.body.run.epilogue.is_some() {
        return None;
    }
    // First what is used up for all agents: after it, only the session's own agent sums up.
    if let Some(phase) = stop_at_budget(ctx) {
        return Some(phase);
    }
    let limits = ctx.setup.config.limits;
    let checks = [
        ("max_tool_rounds_per_input", limits.max_tool_rounds_per_input, ctx.body.run.rounds),
        ("max_turns", limits.max_turns, ctx.body.turns()),
    ];
    for (limit, value, used) in checks {
        if value > 0 && used >= value {
            ctx.event(EventKind::TurnLimit { limit, value });
            return Some(stop(RunEnd::Limit, limit, value.into(), ctx));
        }
    }
    None
}

/// Ends the run if what may be spent is used up, or has it summed up.
fn stop_at_budget(ctx: &mut Ctx<'_>) -> Option<Phase> {
    let UsedUp { which, used, limit } = ctx.used_up(true)?;
    ctx.event(EventKind::BudgetLimit { which, used, limit });
    Some(stop(RunEnd::Budget, which, limit, ctx))
}

/// The run may not go on if what may be spent is used up, not even to its summary.
fn out_of_budget(ctx: &mut Ctx<'_>) -> Option<Phase> {
    match ctx.body.run.epilogue {
        None => stop_at_budget(ctx),
        Some(end) => ctx.used_up(true).map(|_| end_run(end, ctx)),
    }
}

/// A limit is reached.
fn stop(end: RunEnd, limit: &str, value: u64, ctx: &mut Ctx<'_>) -> Phase {
    match ctx.setup.config.limits.action {
        LimitAction::Idle => end_run(end, ctx),
        LimitAction::Summarize if end == RunEnd::Limit || ctx.body.depth() == 0 => sum_up(end, ctx),
        LimitAction::Partial | LimitAction::Summarize => {
            ctx.body.run.result = Some(ctx.body.history.said_since_input().into());
            ctx.body.run.released = false;
            end_run(end, ctx)
        }
        LimitAction::Error => {
            let message = format!("the limit {limit} of {value} is reached");
            ctx.event(EventKind::Error { kind: ErrorKind::Limit, message });
            end_run(RunEnd::Failed, ctx)
        }
    }
}

/// Has the model say without tools what it has found; the run ends with that.
fn sum_up(end: RunEnd, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.run.epilogue = Some(end);
    let text = "Stop here: no more tools can be called. Sum up in a few sentences what you have \
                done and found, and what is still open.";
    say(text, ctx);
    call_model(ctx)
}

/// Warns once when the context window gets full, and again after it was not.
fn warn_of_fullness(ctx: &mut Ctx<'_>) {
    let percent = ctx.body.history.gauge().warning(ctx.window(), ctx.setup.head_cost);
    let warned = core::mem::replace(&mut ctx.body.warned_of_fullness, percent.is_some());
    if let Some(percent) = percent.filter(|_| !warned) {
        ctx.warn(&format!("Context usage at ~{percent}% of context window"));
    }
}

/// The time of the run is up.
pub(crate) fn on_time_up(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match halt(phase, "as the time of the run was up", ctx) {
        Halted::Run => match out_of_budget(ctx) {
            Some(phase) => phase,
            None => end_run(RunEnd::Budget, ctx),
        },
        Halted::Fold => Phase::Idle,
        Halted::Nothing(phase) => phase,
    }
}

/// A reply is whole.
fn on_reply(reply: Reply, ctx: &mut Ctx<'_>) -> Phase {
    if let Some(failure) = folding::overfull(&reply, ctx) {
        ctx.event(EventKind::TextReset);
        ctx.count(reply.usage, ctx.setup.config.model.price.as_ref());
        return on_failure(&failure, ctx);
    }
    match reply::take(reply, ctx) {
        Verdict::Calls(calls) => on_progress(Round::start(calls, ctx), ctx),
        Verdict::Refused(calls, why) => on_progress(Round::refuse(calls, why, ctx), ctx),
        Verdict::Again => match out_of_budget(ctx) {
            Some(phase) => phase,
            None => call_model(ctx),
        },
        Verdict::Broken(failure) => on_failure(&failure, ctx),
        Verdict::Done => natural_end(ctx),
        Verdict::Ended(ending) => on_ending(ending, ctx),
    }
}

/// The model says no more, and that is no success: the run ends so, unless somebody has said
/// something meanwhile. A text that was cut is none the less followed by the final answer.
fn on_ending(ending: Ending, ctx: &mut Ctx<'_>) -> Phase {
    let Ending { end, kind, message } = ending;
    let owes_answer = ctx.setup.config.answer.is_some() && ctx.body.depth() == 0;
    if !ctx.body.pending().steering.is_empty() || (end == RunEnd::Incomplete && owes_answer) {
        ctx.warn(&message);
        return natural_end(ctx);
    }
    ctx.event(EventKind::Error { kind, message });
    end_run(end, ctx)
}

/// The results of a round are in the history.
fn after_round(ctx: &mut Ctx<'_>) -> Phase {
    options::on_called(ctx);
    if ctx.body.run.repairs.cut > reply::MAX_CUTS {
        let most = reply::MAX_CUTS;
        let message = format!("the model's calls were cut by a limit {most} times in a row");
        return fail(&Failure::new(FailureKind::Protocol, message), ctx);
    }
    if let Some(end) = ctx.body.run.epilogue {
        return end_run(end, ctx);
    }
    let found = ctx.body.watch_round(&ctx.setup.config.loops);
    instructions::on_round(ctx);
    let said_more = drain_steering(ctx);
    // A word that came while the answer was given has not been answered.
    if let Some(answer) = ctx.body.run.answer.take().filter(|_| !said_more) {
        let answer = String::from(answer);
        return match ctx.hook(HookPoint::BeforeStop, &answer) {
            Some(effect) => Phase::Hooked(Box::new(Hooked { effect, then: Then::Answer(answer) })),
            None => give_answer(answer, ctx),
        };
    }
    match found {
        Some(found) => on_loop(found, ctx),
        None => call_model(ctx),
    }
}

/// Calls repeat themselves.
fn on_loop(found: Found, ctx: &mut Ctx<'_>) -> Phase {
    let Found { period, calls, step } = found;
    let message = format!(
        "Loop detected: the last {calls} tool calls follow a repeating pattern. Try a different \
         approach."
    );
    ctx.event(EventKind::LoopDetection { message: message.clone(), period });
    match step {
        LoopStep::Warn => {
            say(message, ctx);
            call_model(ctx)
        }
        LoopStep::Summarize => match stop_at_budget(ctx) {
            Some(phase) => phase,
            None => sum_up(RunEnd::Loop, ctx),
        },
        LoopStep::Stop => end_run(RunEnd::Loop, ctx),
        LoopStep::AskUser => {
            let question = format!(
                "The last {calls} tool calls follow a repeating pattern. Should the agent go on?"
            );
            let (effect, agent) = (ctx.issue(EffectKind::Ask), ctx.body.id);
            let ask = Ask::Question { text: question.clone() };
            ctx.effect(Effect::Ask { id: effect, agent, ask });
            Phase::Asked(Box::new(Asked { effect, question }))
        }
    }
}

/// The user has said whether to go on.
pub(super) fn on_go_on(answer: Answer, ctx: &mut Ctx<'_>) -> Phase {
    match answer {
        Answer::Deny { .. } | Answer::Abort => end_run(RunEnd::Loop, ctx),
        Answer::Text(text) => {
            say(text, ctx);
            call_model(ctx)
        }
        Answer::Allow | Answer::AllowAlways | Answer::AllowRule(_) | Answer::AllowEdited(_) => {
            call_model(ctx)
        }
    }
}

/// The final answer stands, unless somebody has said something meanwhile. It answers this input;
/// what the user said to do next is still to be done.
fn give_answer(answer: String, ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    match outbound::ask(&answer, ctx) {
        Some(effect) => Phase::Hooked(Box::new(Hooked { effect, then: Then::Give(answer) })),
        None => given(answer, ctx),
    }
}

/// The final answer goes out.
fn given(answer: String, ctx: &mut Ctx<'_>) -> Phase {
    match Json::parse(answer.clone()) {
        Ok(value) => ctx.event(EventKind::FinalAnswer { value }),
        Err(_) => ctx.fault("a final answer that is not JSON"),
    }
    ctx.body.run.result = Some(answer.into());
    ctx.body.run.released = true;
    next_input(ctx)
}

/// The model is done, unless somebody has said something meanwhile, or the final answer is still
/// owed.
fn natural_end(ctx: &mut Ctx<'_>) -> Phase {
    if let Some(end) = ctx.body.run.epilogue {
        return end_run(end, ctx);
    }
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    if let Some(answer) = ctx.setup.config.answer.as_ref().filter(|_| ctx.body.depth() == 0) {
        let asked = &mut ctx.body.run.repairs.answers;
        if *asked >= answer.retries {
            let message = String::from("the run ended without the final answer in its form");
            ctx.event(EventKind::Error { kind: ErrorKind::Answer, message });
            return end_run(RunEnd::Failed, ctx);
        }
        *asked += 1;
        let tool = FINAL_ANSWER.name();
        say(format!("Give the final answer now, with the tool {tool}."), ctx);
        return call_model(ctx);
    }
    match ctx.hook(HookPoint::BeforeStop, &ctx.body.result()) {
        Some(effect) => Phase::Hooked(Box::new(Hooked { effect, then: Then::Stop })),
        None => next_input(ctx),
    }
}

fn next_input(ctx: &mut Ctx<'_>) -> Phase {
    if drain_steering(ctx) {
        return call_model(ctx);
    }
    match ctx.body.next_follow_up() {
        Some(input) => take_input(input, ctx),
        None => end_run(RunEnd::Completed, ctx),
    }
}

/// The hook has seen what the run has come to.
fn on_released(end: RunEnd, reply: HookReply, ctx: &mut Ctx<'_>) -> Phase {
    let denied = outbound::result(reply, ctx);
    if denied {
        return finish(RunEnd::Denied, ctx);
    }
    // What was said meanwhile is still to be done.
    let pending = ctx.body.pending();
    if end == RunEnd::Completed && !(pending.steering.is_empty() && pending.follow_ups.is_empty()) {
        return next_input(ctx);
    }
    finish(end, ctx)
}
