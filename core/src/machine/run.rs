//! A run: from the user's input to its end. Each step decides what follows from a reply, a round, a
//! limit or a failure; `table` says which one comes when.

use super::{
    agent_state::UserInput,
    ctx::Ctx,
    folding, instructions,
    last_reply::Ending,
    ledger::EffectKind,
    left_out,
    model_call::{ModelCall, Purpose},
    outbound,
    phase::{Asked, Phase, Then},
    reply,
    route::Tools,
    step::Step,
    stopping::halt,
    tool_call::{checked, text_of},
    turn_options,
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

/// A run begins.
pub(super) fn begin(input: UserInput, ctx: &mut Ctx<'_>) -> Step {
    ctx.begin_run();
    Step::TakeInput(input)
}

/// A run begins with the oldest input that waits for one, if any does.
pub(super) fn take_follow_up(ctx: &mut Ctx<'_>) -> Step {
    match ctx.body.next_follow_up() {
        Some(input) => begin(input, ctx),
        None => Step::Wait(Phase::Idle),
    }
}

/// The user's input goes on its way: past the hook, into the history, to the model.
pub(super) fn take_input(input: UserInput, ctx: &mut Ctx<'_>) -> Step {
    let UserInput { parts, options } = input;
    turn_options::enter(options, ctx);
    if let Some(effect) = ctx.hook(HookPoint::Submit, &joined_text(&parts)) {
        return Step::hooked(effect, Then::Input(parts));
    }
    enter(parts, ctx);
    Step::Call
}

/// Calls the model, once the conversation is short enough.
pub(super) fn call(ctx: &mut Ctx<'_>) -> Step {
    match gate(Attempt::First, ctx) {
        Some(step) => step,
        None => folding::before_call(ctx).unwrap_or_else(|| before_model(ctx)),
    }
}

/// Calls the model with a conversation that has just become shorter, or cannot.
pub(super) fn call_as_it_is(ctx: &mut Ctx<'_>) -> Step {
    gate(Attempt::First, ctx).unwrap_or_else(|| before_model(ctx))
}

/// Calls the model unless the hook before that denies it.
fn before_model(ctx: &mut Ctx<'_>) -> Step {
    warn_of_fullness(ctx);
    match ctx.hook(HookPoint::BeforeModel, &"") {
        Some(effect) => Step::hooked(effect, Then::Call),
        None => request(ctx),
    }
}

/// The hook before the model call lets the request go out; the limits may be others than before.
pub(super) fn send(ctx: &mut Ctx<'_>) -> Step {
    gate(Attempt::First, ctx).unwrap_or_else(|| request(ctx))
}

fn request(ctx: &mut Ctx<'_>) -> Step {
    let tools = if ctx.body.run.epilogue.is_some() { Tools::Off } else { Tools::On };
    ModelCall::start(Purpose::Reply(tools), ctx.route(), ctx);
    Step::Wait(Phase::ModelCall)
}

/// Asks for the reply once more.
pub(super) fn call_again(ctx: &mut Ctx<'_>) -> Step {
    gate(Attempt::Again, ctx).unwrap_or(Step::Call)
}

/// Which call of the model for a reply one would be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// It is for a new reply.
    First,
    /// The reply that has come, or has not, is of no use.
    Again,
}

/// The gate before each model call of a run: what follows in its place if a limit is reached or
/// what may be spent is used up. The call that sums the run up passes once.
fn gate(attempt: Attempt, ctx: &mut Ctx<'_>) -> Option<Step> {
    if let Some(end) = ctx.body.run.epilogue {
        return match attempt {
            Attempt::First => None,
            Attempt::Again => ctx.used_up(true).map(|_| Step::End(end)),
        };
    }
    // First what is used up for all agents: after it, only the session's own agent sums up.
    if let Some(UsedUp { which, used, limit }) = ctx.used_up(true) {
        ctx.event(EventKind::BudgetLimit { which, used, limit });
        return Some(stop_at(RunEnd::Budget, which, limit, ctx));
    }
    let limits = ctx.setup.config.limits;
    let turns = [
        ("max_tool_rounds_per_input", limits.max_tool_rounds_per_input, ctx.body.run.rounds),
        ("max_turns", limits.max_turns, ctx.body.turns()),
    ];
    for (limit, value, used) in turns.into_iter().filter(|_| attempt == Attempt::First) {
        if value > 0 && used >= value {
            ctx.event(EventKind::TurnLimit { limit, value });
            return Some(stop_at(RunEnd::Limit, limit, value.into(), ctx));
        }
    }
    None
}

/// The time of the run is up.
pub(super) fn time_up(phase: Phase, ctx: &mut Ctx<'_>) -> Step {
    match halt(phase, "as the time of the run was up", ctx) {
        Ok(()) => gate(Attempt::Again, ctx).unwrap_or(Step::End(RunEnd::Budget)),
        Err(phase) => Step::Wait(phase),
    }
}

/// A limit is reached.
fn stop_at(end: RunEnd, limit: &str, value: u64, ctx: &mut Ctx<'_>) -> Step {
    match ctx.setup.config.limits.action {
        LimitAction::Idle => Step::End(end),
        LimitAction::Summarize if end == RunEnd::Limit || ctx.body.depth() == 0 => sum_up(end, ctx),
        LimitAction::Partial | LimitAction::Summarize => {
            ctx.body.run.result = Some(ctx.body.history.said_since_input().into());
            ctx.body.run.released = false;
            Step::End(end)
        }
        LimitAction::Error => {
            let message = format!("the limit {limit} of {value} is reached");
            ctx.event(EventKind::Error { kind: ErrorKind::Limit, message });
            Step::End(RunEnd::Failed)
        }
    }
}

/// Has the model say without tools what it has found; the run ends with that.
fn sum_up(end: RunEnd, ctx: &mut Ctx<'_>) -> Step {
    ctx.body.run.epilogue = Some(end);
    let text = "Stop here: no more tools can be called. Sum up in a few sentences what you have \
                done and found, and what is still open.";
    say(text, ctx);
    Step::Call
}

/// Warns once when the context window gets full, and again after it was not.
fn warn_of_fullness(ctx: &mut Ctx<'_>) {
    let percent = ctx.body.history.gauge().warning(ctx.window(), ctx.setup.head_cost);
    let warned = core::mem::replace(&mut ctx.body.warned_of_fullness, percent.is_some());
    if let Some(percent) = percent.filter(|_| !warned) {
        ctx.warn(&format!("Context usage at ~{percent}% of context window"));
    }
}

/// A reply fills the window: it is thrown away, and the call counts as failed.
pub(super) fn give_back(reply: &Reply, failure: Failure, ctx: &mut Ctx<'_>) -> Step {
    ctx.event(EventKind::TextReset);
    ctx.count(reply.usage, ctx.setup.config.model.price.as_ref());
    Step::Recover(failure)
}

/// A model call failed for good: a conversation that is too long may be made shorter.
pub(super) fn recover(failure: Failure, ctx: &mut Ctx<'_>) -> Step {
    // The last call of a run is not made twice once all is used up.
    let is_again = failure.is_retryable()
        || (failure.kind == FailureKind::ContextOverflow && ctx.body.run.epilogue.is_some());
    if is_again && let Some(step) = gate(Attempt::Again, ctx) {
        return step;
    }
    folding::on_overflow(&failure, ctx).unwrap_or(Step::GiveIn(failure))
}

/// The model call has failed, unless a part of what is said is to blame that can be left out.
pub(super) fn give_in(failure: Failure, ctx: &mut Ctx<'_>) -> Step {
    if left_out::on_refused(&failure, ctx) { Step::Call } else { Step::Fail(failure) }
}

/// A hook has replied.
pub(super) fn on_hook(then: Then, hook: HookReply, ctx: &mut Ctx<'_>) -> Step {
    // What a hook that broke has not stored is not left out.
    let reply = if matches!(then, Then::Fold(_)) { hook } else { checked(hook, ctx) };
    match (then, reply) {
        (Then::Fold(plan), reply) => folding::on_hook(plan, reply, ctx),
        (Then::Input(parts), HookReply::Allow | HookReply::Failed { .. }) => {
            enter(parts, ctx);
            Step::Call
        }
        (Then::Input(_), HookReply::Replace(text)) if text_of(&text).trim().is_empty() => {
            ctx.warn("a hook put nothing in the input's place");
            Step::End(RunEnd::Denied)
        }
        (Then::Input(_), HookReply::Replace(text)) => {
            enter(vec![Part::text(text_of(&text))], ctx);
            Step::Call
        }
        (Then::Call, HookReply::Allow | HookReply::Failed { .. }) => Step::Send,
        (Then::Call, HookReply::Replace(text)) => {
            ctx.append(TurnKind::System(text_of(&text)));
            Step::Send
        }
        (then @ (Then::Stop | Then::Answer(_)), HookReply::Deny { reason }) => {
            if ctx.body.run.repairs.denials >= ctx.setup.config.hooks.max_denials {
                return give_up(then, &reason, ctx);
            }
            ctx.body.run.repairs.denials += 1;
            let blank = reason.trim().is_empty();
            say(if blank { "The task is not done yet: go on." } else { &reason }, ctx);
            Step::Call
        }
        (Then::Stop, _) => Step::NextInput,
        (Then::Answer(answer), _) => Step::Answer(answer),
        (Then::Give(answer), reply) => match outbound::answer(answer, reply, ctx) {
            Some(answer) => given(answer, ctx),
            None => Step::Finish(RunEnd::Denied),
        },
        (Then::Out(end), reply) => on_released(end, reply, ctx),
        (Then::Input(_) | Then::Call, HookReply::Deny { reason }) => {
            ctx.warn(&format!("a hook denied it: {reason}"));
            Step::End(RunEnd::Denied)
        }
    }
}

/// The hook before the end has denied it too often: the run ends with what there is.
fn give_up(then: Then, reason: &str, ctx: &mut Ctx<'_>) -> Step {
    ctx.warn(&format!("a hook has denied the end of the run too often: {reason}"));
    if let Then::Answer(answer) = then {
        ctx.body.run.result = Some(answer.into());
    }
    Step::End(RunEnd::Unverified)
}

/// The model says no more, and that is no success: the run ends so, unless somebody has said
/// something meanwhile. A text that was cut is none the less followed by the final answer.
pub(super) fn stop_short(ending: Ending, ctx: &mut Ctx<'_>) -> Step {
    let Ending { end, kind, message } = ending;
    let owes_answer = ctx.setup.config.answer.is_some() && ctx.body.depth() == 0;
    if !ctx.body.pending().steering.is_empty() || (end == RunEnd::Incomplete && owes_answer) {
        ctx.warn(&message);
        return Step::Stop;
    }
    ctx.event(EventKind::Error { kind, message });
    Step::End(end)
}

/// The results of a round are in the history.
pub(super) fn end_round(ctx: &mut Ctx<'_>) -> Step {
    turn_options::on_called(ctx);
    if ctx.body.run.repairs.cut > reply::MAX_CUTS {
        let most = reply::MAX_CUTS;
        let message = format!("the model's calls were cut by a limit {most} times in a row");
        return Step::Fail(Failure::new(FailureKind::Protocol, message));
    }
    if let Some(end) = ctx.body.run.epilogue {
        return Step::End(end);
    }
    let found = ctx.body.watch_round(&ctx.setup.config.loops);
    instructions::on_round(ctx);
    let said_more = drain_steering(ctx);
    // A word that came while the answer was given has not been answered.
    if let Some(answer) = ctx.body.run.answer.take().filter(|_| !said_more) {
        let answer = String::from(answer);
        return match ctx.hook(HookPoint::BeforeStop, &answer) {
            Some(effect) => Step::hooked(effect, Then::Answer(answer)),
            None => Step::Answer(answer),
        };
    }
    match found {
        Some(found) => on_loop(found, ctx),
        None => Step::Call,
    }
}

/// Calls repeat themselves.
fn on_loop(found: Found, ctx: &mut Ctx<'_>) -> Step {
    let Found { period, calls, step } = found;
    let message = format!(
        "Loop detected: the last {calls} tool calls follow a repeating pattern. Try a different \
         approach."
    );
    ctx.event(EventKind::LoopDetection { message: message.clone(), period });
    match step {
        LoopStep::Warn => {
            say(message, ctx);
            Step::Call
        }
        LoopStep::Summarize => {
            gate(Attempt::Again, ctx).unwrap_or_else(|| sum_up(RunEnd::Loop, ctx))
        }
        LoopStep::Stop => Step::End(RunEnd::Loop),
        LoopStep::AskUser => {
            let question = format!(
                "The last {calls} tool calls follow a repeating pattern. Should the agent go on?"
            );
            let (effect, agent) = (ctx.issue(EffectKind::Ask), ctx.body.id);
            let ask = Ask::Question { text: question.clone() };
            ctx.effect(Effect::Ask { id: effect, agent, ask });
            Step::Wait(Phase::Asked(Box::new(Asked { effect, question })))
        }
    }
}

/// The user has said whether to go on.
pub(super) fn on_go_on(answer: Answer, ctx: &mut Ctx<'_>) -> Step {
    match answer {
        Answer::Deny { .. } | Answer::Abort => Step::End(RunEnd::Loop),
        Answer::Text(text) => {
            say(text, ctx);
            Step::Call
        }
        Answer::Allow | Answer::AllowAlways | Answer::AllowRule(_) | Answer::AllowEdited(_) => {
            Step::Call
        }
    }
}

/// The final answer stands, unless somebody has said something meanwhile. It answers this input;
/// what the user said to do next is still to be done.
pub(super) fn answer(answer: String, ctx: &mut Ctx<'_>) -> Step {
    if drain_steering(ctx) {
        return Step::Call;
    }
    match outbound::ask(&answer, ctx) {
        Some(effect) => Step::hooked(effect, Then::Give(answer)),
        None => given(answer, ctx),
    }
}

/// The final answer goes out.
fn given(answer: String, ctx: &mut Ctx<'_>) -> Step {
    match Json::parse(answer.clone()) {
        Ok(value) => ctx.event(EventKind::FinalAnswer { value }),
        Err(_) => ctx.fault("a final answer that is not JSON"),
    }
    ctx.body.run.result = Some(answer.into());
    ctx.body.run.released = true;
    Step::NextInput
}

/// The model is done, unless somebody has said something meanwhile, or the final answer is still
/// owed.
pub(super) fn stop(ctx: &mut Ctx<'_>) -> Step {
    if let Some(end) = ctx.body.run.epilogue {
        return Step::End(end);
    }
    if drain_steering(ctx) {
        return Step::Call;
    }
    if let Some(answer) = ctx.setup.config.answer.as_ref().filter(|_| ctx.body.depth() == 0) {
        let asked = &mut ctx.body.run.repairs.answers;
        if *asked >= answer.retries {
            let message = String::from("the run ended without the final answer in its form");
            ctx.event(EventKind::Error { kind: ErrorKind::Answer, message });
            return Step::End(RunEnd::Failed);
        }
        *asked += 1;
        let tool = FINAL_ANSWER.name();
        say(format!("Give the final answer now, with the tool {tool}."), ctx);
        return Step::Call;
    }
    match ctx.hook(HookPoint::BeforeStop, &ctx.body.result()) {
        Some(effect) => Step::hooked(effect, Then::Stop),
        None => Step::NextInput,
    }
}

/// The input is done, unless somebody has said something meanwhile.
pub(super) fn next_input(ctx: &mut Ctx<'_>) -> Step {
    if drain_steering(ctx) {
        return Step::Call;
    }
    match ctx.body.next_follow_up() {
        Some(input) => Step::TakeInput(input),
        None => Step::End(RunEnd::Completed),
    }
}

/// The hook has seen what the run has come to.
fn on_released(end: RunEnd, reply: HookReply, ctx: &mut Ctx<'_>) -> Step {
    let denied = outbound::result(reply, ctx);
    if denied {
        return Step::Finish(RunEnd::Denied);
    }
    // What was said meanwhile is still to be done.
    let pending = ctx.body.pending();
    if end == RunEnd::Completed && !(pending.steering.is_empty() && pending.follow_ups.is_empty()) {
        return Step::NextInput;
    }
    Step::Finish(end)
}
