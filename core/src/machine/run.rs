//! The steps of a run, from the user's input to its end: each decides what follows from a reply, a
//! round, a limit or a failure, and `table` says which comes when. One gate precedes each model
//! call, for limits and budgets. Before every end, messages that wait are looked for once more.

use super::{
    agent_state::UserInput,
    corrections,
    ctx::StepContext,
    folding, instructions,
    last_reply::RunFailure,
    ledger::EffectKind,
    loop_texts::{drain_steering, enter, say},
    model_call::{CallPurpose, ModelCall},
    outbound_hook,
    phase::{HookContinuation, PendingQuestion, Phase},
    refused_parts, reply,
    route::ToolAccess,
    step::AgentStep,
    stopping::halt,
    tool_call::{checked, hook_denied, text_of},
    turn_options,
};
use crate::{
    profile::inner::FINAL_ANSWER,
    rules::{budget::UsedUp, repeat::RepeatPattern},
};
use alloc::{boxed::Box, format, string::String, vec};
use innerloop_types::{
    config::{HookPoint, LimitAction, LoopStep, ModelConfig},
    event::{ErrorKind, EventKind},
    input::{Answer, HookReply},
    json::Json,
    message::{Part, Reply, TurnKind, joined_text},
    output::{Ask, Effect},
    status::RunEnd,
};
use innerloop_wire::{FailureKind, ModelCallError};

/// Begins a run.
pub(super) fn begin(input: UserInput, ctx: &mut StepContext<'_>) -> AgentStep {
    ctx.begin_run();
    AgentStep::TakeInput(input)
}

/// Begins a run with the oldest input that waits, if there is one.
pub(super) fn take_follow_up(ctx: &mut StepContext<'_>) -> AgentStep {
    match ctx.body.next_follow_up() {
        Some(input) => begin(input, ctx),
        None => AgentStep::Wait(Phase::Idle),
    }
}

/// Takes the user's input past the hook and into the history.
pub(super) fn take_input(input: UserInput, ctx: &mut StepContext<'_>) -> AgentStep {
    let UserInput { parts, options } = input;
    // Before the hook is asked: an interruption meanwhile takes the input into the history under
    // its options.
    turn_options::begin(options, ctx);
    if let Some(effect) = ctx.hook(HookPoint::Submit, &joined_text(&parts)) {
        return AgentStep::hooked(effect, HookContinuation::Input(parts));
    }
    enter(parts, ctx);
    AgentStep::Call
}

/// Calls the model once the conversation is short enough.
pub(super) fn call(ctx: &mut StepContext<'_>) -> AgentStep {
    match gate(CallAttempt::First, ctx) {
        Some(step) => step,
        None => folding::before_call(ctx).unwrap_or_else(|| before_model(ctx)),
    }
}

/// Calls the model with a conversation that has just become shorter, or cannot become so.
pub(super) fn call_as_it_is(ctx: &mut StepContext<'_>) -> AgentStep {
    // Without a look at the tiers: a fold that gained too little would be begun again before the
    // same call.
    gate(CallAttempt::First, ctx).unwrap_or_else(|| before_model(ctx))
}

/// Calls the model unless the hook before that denies it.
fn before_model(ctx: &mut StepContext<'_>) -> AgentStep {
    warn_of_fullness(ctx);
    match ctx.hook(HookPoint::BeforeModel, &"") {
        Some(effect) => AgentStep::hooked(effect, HookContinuation::Call),
        None => request(ctx),
    }
}

/// Sends the request once the hook before the model call has let it out.
pub(super) fn send(ctx: &mut StepContext<'_>) -> AgentStep {
    // The gate again: limits may have been changed, and time or money spent, while the hook was
    // asked.
    gate(CallAttempt::First, ctx).unwrap_or_else(|| request(ctx))
}

fn request(ctx: &mut StepContext<'_>) -> AgentStep {
    let tools = if ctx.body.run.epilogue.is_some() { ToolAccess::Off } else { ToolAccess::On };
    ModelCall::start(CallPurpose::Reply(tools), ctx.route(), ctx);
    AgentStep::Wait(Phase::ModelCall)
}

/// Asks for the reply once more.
pub(super) fn call_again(ctx: &mut StepContext<'_>) -> AgentStep {
    gate(CallAttempt::Again, ctx).unwrap_or(AgentStep::Call)
}

/// The kind of a call for a reply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallAttempt {
    /// It is for a new reply.
    First,
    /// It is for a reply in place of a useless or missing one.
    Again,
}

/// Returns what follows in place of a model call if a limit is reached or the budget is used up.
/// The call that sums the run up passes once.
fn gate(attempt: CallAttempt, ctx: &mut StepContext<'_>) -> Option<AgentStep> {
    if let Some(end) = ctx.body.run.epilogue {
        return match attempt {
            CallAttempt::First => None,
            CallAttempt::Again => ctx.used_up(true).map(|_| AgentStep::End(end)),
        };
    }
    // The budget comes first: it holds for all agents, and after it only the session's own may sum
    // up.
    if let Some(UsedUp { which, used, limit }) = ctx.used_up(true) {
        ctx.event(EventKind::BudgetLimit { which, used, limit });
        return Some(stop_at(RunEnd::Budget, which, limit, ctx));
    }
    let limits = ctx.setup.config.limits;
    let turns = [
        ("max_tool_rounds_per_input", limits.max_tool_rounds_per_input, ctx.body.run.rounds),
        ("max_turns", limits.max_turns, ctx.body.turns()),
    ];
    // A reply that is asked for again is no further turn.
    for (limit, value, used) in turns.into_iter().filter(|_| attempt == CallAttempt::First) {
        if value > 0 && used >= value {
            ctx.event(EventKind::TurnLimit { limit, value });
            return Some(stop_at(RunEnd::Limit, limit, value.into(), ctx));
        }
    }
    None
}

/// Ends the run because its time is up.
pub(super) fn time_up(phase: Phase, ctx: &mut StepContext<'_>) -> AgentStep {
    let is_round = matches!(phase, Phase::Round(_));
    match halt(phase, "as the time of the run was up", ctx) {
        Ok(()) => {
            if is_round {
                turn_options::on_halted_round(ctx);
            }
            gate(CallAttempt::Again, ctx).unwrap_or(AgentStep::End(RunEnd::Budget))
        }
        Err(phase) => AgentStep::Wait(phase),
    }
}

/// Ends the run at a limit, in the way that the configuration says.
fn stop_at(end: RunEnd, limit: &str, value: u64, ctx: &mut StepContext<'_>) -> AgentStep {
    match ctx.setup.config.limits.action {
        LimitAction::Idle => AgentStep::End(end),
        LimitAction::Summarize if end == RunEnd::Limit || ctx.body.depth() == 0 => sum_up(end, ctx),
        LimitAction::Partial | LimitAction::Summarize => {
            ctx.body.run.result = Some(ctx.body.history.said_since_input().into());
            // What the hook has let out before was another result.
            ctx.body.run.released = false;
            AgentStep::End(end)
        }
        LimitAction::Error => {
            let message = format!("the limit {limit} of {value} is reached");
            ctx.event(EventKind::Error { kind: ErrorKind::Limit, message });
            AgentStep::End(RunEnd::Failed)
        }
    }
}

/// Has the model sum up without tools; the run ends with that.
fn sum_up(end: RunEnd, ctx: &mut StepContext<'_>) -> AgentStep {
    ctx.body.run.epilogue = Some(end);
    let text = "Stop here: no more tools can be called. Sum up in a few sentences what you have \
                done and found, and what is still open.";
    say(text, ctx);
    AgentStep::Call
}

/// Warns once when the context window gets full, and again only after it was not.
fn warn_of_fullness(ctx: &mut StepContext<'_>) {
    let percent = ctx.body.history.gauge().warning(ctx.window(), ctx.setup.head_cost);
    let warned = core::mem::replace(&mut ctx.body.warned_of_fullness, percent.is_some());
    if let Some(percent) = percent.filter(|_| !warned) {
        ctx.warn(&format!("Context usage at ~{percent}% of context window"));
    }
}

/// Throws away a reply that fills the window, and treats the call as failed.
pub(super) fn give_back(
    reply: &Reply,
    failure: ModelCallError,
    model: &ModelConfig,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    ctx.event(EventKind::TextReset);
    ctx.count(reply.usage, model.price.as_ref());
    AgentStep::Recover(failure)
}

/// Handles a model call that failed for good: a conversation that is too long may be made shorter.
pub(super) fn recover(failure: ModelCallError, ctx: &mut StepContext<'_>) -> AgentStep {
    // With the budget used up, a failure that may pass was not tried again, and the call that sums
    // up is not made again in a shorter conversation: the budget ends the run, not the failure.
    let is_again = failure.is_retryable()
        || (failure.kind == FailureKind::ContextOverflow && ctx.body.run.epilogue.is_some());
    if is_again && let Some(step) = gate(CallAttempt::Again, ctx) {
        return step;
    }
    folding::on_overflow(&failure, ctx).unwrap_or(AgentStep::GiveIn(failure))
}

/// Fails the run, unless a part of the conversation is to blame that can be left out.
pub(super) fn give_in(failure: ModelCallError, ctx: &mut StepContext<'_>) -> AgentStep {
    if refused_parts::on_refused(&failure, ctx) {
        AgentStep::Call
    } else {
        AgentStep::Fail(failure)
    }
}

/// Takes the reply of a hook.
pub(super) fn on_hook(
    then: HookContinuation,
    hook: HookReply,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    // A hook that failed has stored nothing, so that its turns must not be left out, even where a
    // failing hook otherwise counts as consent.
    let reply = if matches!(then, HookContinuation::Fold(_)) { hook } else { checked(hook, ctx) };
    match (then, reply) {
        (HookContinuation::Fold(plan), reply) => folding::on_hook(plan, reply, ctx),
        (HookContinuation::Input(parts), HookReply::Allow | HookReply::Failed { .. }) => {
            enter(parts, ctx);
            AgentStep::Call
        }
        (HookContinuation::Input(_), HookReply::Replace(text))
            if text_of(&text).trim().is_empty() =>
        {
            ctx.warn("a hook put nothing in the input's place");
            AgentStep::End(RunEnd::Denied)
        }
        (HookContinuation::Input(_), HookReply::Replace(text)) => {
            enter(vec![Part::text(text_of(&text))], ctx);
            AgentStep::Call
        }
        (HookContinuation::Call, HookReply::Allow | HookReply::Failed { .. }) => AgentStep::Send,
        (HookContinuation::Call, HookReply::Replace(text)) => {
            ctx.append(TurnKind::System(text_of(&text)));
            AgentStep::Send
        }
        (HookContinuation::Round, HookReply::Allow | HookReply::Failed { .. }) => AgentStep::Call,
        (HookContinuation::Round, HookReply::Replace(text)) => {
            say(text_of(&text), ctx);
            AgentStep::Call
        }
        (
            then @ (HookContinuation::Stop | HookContinuation::Answer(_)),
            HookReply::Deny { reason },
        ) => {
            if ctx.body.run.repairs.denials >= ctx.setup.config.hooks.max_denials {
                return give_up(then, &reason, ctx);
            }
            ctx.body.run.repairs.denials += 1;
            let blank = reason.trim().is_empty();
            say(if blank { "The task is not done yet: go on." } else { &reason }, ctx);
            AgentStep::Call
        }
        (HookContinuation::Stop, _) => AgentStep::NextInput,
        (HookContinuation::Answer(answer), _) => AgentStep::Answer(answer),
        (HookContinuation::Give(answer), reply) => {
            match outbound_hook::answer(answer, reply, ctx) {
                Some(answer) => given(answer, ctx),
                None => AgentStep::Finish(RunEnd::Denied),
            }
        }
        (HookContinuation::Out(end), reply) => on_released(end, reply, ctx),
        (
            HookContinuation::Input(_) | HookContinuation::Call | HookContinuation::Round,
            HookReply::Deny { reason },
        ) => {
            hook_denied(&reason, ctx);
            AgentStep::End(RunEnd::Denied)
        }
    }
}

/// Ends the run with what there is, since the hook before the end has denied it too often.
fn give_up(then: HookContinuation, reason: &str, ctx: &mut StepContext<'_>) -> AgentStep {
    ctx.warn(&format!("a hook has denied the end of the run too often: {reason}"));
    if let HookContinuation::Answer(answer) = then {
        ctx.body.run.result = Some(answer.into());
    }
    AgentStep::End(RunEnd::Unverified)
}

/// Ends a run whose last reply is no success, unless a message waits. A text that was cut is still
/// followed by the final answer, if one is owed.
pub(super) fn stop_short(ending: RunFailure, ctx: &mut StepContext<'_>) -> AgentStep {
    let RunFailure { end, kind, message } = ending;
    let owes_answer = ctx.setup.config.answer.is_some() && ctx.body.depth() == 0;
    if !ctx.body.pending().steering.is_empty() || (end == RunEnd::Incomplete && owes_answer) {
        ctx.warn(&message);
        return AgentStep::Stop;
    }
    ctx.event(EventKind::Error { kind, message });
    AgentStep::End(end)
}

/// Continues after a round, whose results are in the history.
pub(super) fn end_round(ctx: &mut StepContext<'_>) -> AgentStep {
    turn_options::on_round(ctx);
    if ctx.body.run.repairs.cut > reply::MAX_CUTS {
        let most = reply::MAX_CUTS;
        let message = format!("the model's calls were cut by a limit {most} times in a row");
        return AgentStep::Fail(ModelCallError::new(FailureKind::Protocol, message));
    }
    if let Some(end) = ctx.body.run.epilogue {
        return AgentStep::End(end);
    }
    // Before anything is appended: this and the next line look at the last two turns of the
    // history, the calls and their results.
    let found = ctx.body.watch_round(&ctx.setup.config.loops);
    corrections::on_round(ctx);
    instructions::on_round(ctx);
    let said_more = drain_steering(ctx);
    // A message that came while the answer was given has not been answered by it.
    if let Some(answer) = ctx.body.run.answer.take().filter(|_| !said_more) {
        let answer = String::from(answer);
        return match ctx.hook(HookPoint::BeforeStop, &answer) {
            Some(effect) => AgentStep::hooked(effect, HookContinuation::Answer(answer)),
            None => AgentStep::Answer(answer),
        };
    }
    match found {
        Some(found) => on_loop(found, ctx),
        None => after_round(ctx),
    }
}

/// Calls the model again unless the hook after the round denies it.
fn after_round(ctx: &mut StepContext<'_>) -> AgentStep {
    // Last of all: what the hook adds must not stand between the calls and their results, at which
    // the look for repetition and the corrections look.
    match ctx.hook(HookPoint::AfterIteration, &ctx.body.result()) {
        Some(effect) => AgentStep::hooked(effect, HookContinuation::Round),
        None => AgentStep::Call,
    }
}

/// Takes the next step of the ladder, since calls repeat.
fn on_loop(found: RepeatPattern, ctx: &mut StepContext<'_>) -> AgentStep {
    let RepeatPattern { period, calls, step } = found;
    let message = format!(
        "Loop detected: the last {calls} tool calls follow a repeating pattern. Try a different \
         approach."
    );
    ctx.event(EventKind::LoopDetection { message: message.clone(), period });
    match step {
        LoopStep::Warn => {
            say(message, ctx);
            after_round(ctx)
        }
        LoopStep::Summarize => {
            gate(CallAttempt::Again, ctx).unwrap_or_else(|| sum_up(RunEnd::Loop, ctx))
        }
        LoopStep::Stop => AgentStep::End(RunEnd::Loop),
        LoopStep::AskUser => {
            let question = format!(
                "The last {calls} tool calls follow a repeating pattern. Should the agent go on?"
            );
            let (effect, agent) = (ctx.issue(EffectKind::Ask), ctx.body.id);
            let ask = Ask::Question { text: question.clone() };
            ctx.effect(Effect::Ask { id: effect, agent, ask });
            AgentStep::Wait(Phase::Asked(Box::new(PendingQuestion { effect, question })))
        }
    }
}

/// Goes on or ends, as the user has answered.
pub(super) fn on_go_on(answer: Answer, ctx: &mut StepContext<'_>) -> AgentStep {
    match answer {
        Answer::Deny { .. } | Answer::Abort => AgentStep::End(RunEnd::Loop),
        Answer::Text(text) => {
            say(text, ctx);
            after_round(ctx)
        }
        Answer::Allow | Answer::AllowAlways | Answer::AllowRule(_) | Answer::AllowEdited(_) => {
            after_round(ctx)
        }
    }
}

/// Lets out the final answer, unless a message waits. It answers this input; further inputs that
/// wait are still taken.
pub(super) fn answer(answer: String, ctx: &mut StepContext<'_>) -> AgentStep {
    if drain_steering(ctx) {
        return AgentStep::Call;
    }
    match outbound_hook::ask(&answer, ctx) {
        Some(effect) => AgentStep::hooked(effect, HookContinuation::Give(answer)),
        None => given(answer, ctx),
    }
}

/// Reports the final answer, which is the result of the run.
fn given(answer: String, ctx: &mut StepContext<'_>) -> AgentStep {
    match Json::parse(answer.clone()) {
        Ok(value) => ctx.event(EventKind::FinalAnswer { value }),
        Err(_) => ctx.fault("a final answer that is not JSON"),
    }
    ctx.body.run.result = Some(answer.into());
    ctx.body.run.released = true;
    AgentStep::NextInput
}

/// Ends the input, unless a message waits or the final answer is still owed.
pub(super) fn stop(ctx: &mut StepContext<'_>) -> AgentStep {
    if let Some(end) = ctx.body.run.epilogue {
        return AgentStep::End(end);
    }
    // A message that came while the model wrote its last text would otherwise wait for the next
    // input.
    if drain_steering(ctx) {
        return AgentStep::Call;
    }
    if let Some(answer) = ctx.setup.config.answer.as_ref().filter(|_| ctx.body.depth() == 0) {
        let asked = &mut ctx.body.run.repairs.answers;
        if *asked >= answer.retries {
            let message = String::from("the run ended without the final answer in its form");
            ctx.event(EventKind::Error { kind: ErrorKind::Answer, message });
            return AgentStep::End(RunEnd::Failed);
        }
        *asked += 1;
        let tool = FINAL_ANSWER.name();
        say(format!("Give the final answer now, with the tool {tool}."), ctx);
        return AgentStep::Call;
    }
    match ctx.hook(HookPoint::BeforeStop, &ctx.body.result()) {
        Some(effect) => AgentStep::hooked(effect, HookContinuation::Stop),
        None => AgentStep::NextInput,
    }
}

/// Goes on with the next input that waits, unless a message waits.
pub(super) fn next_input(ctx: &mut StepContext<'_>) -> AgentStep {
    // Looked for again: the hook before the end takes time, in which somebody may have said
    // something.
    if drain_steering(ctx) {
        return AgentStep::Call;
    }
    match ctx.body.next_follow_up() {
        Some(input) => AgentStep::TakeInput(input),
        None => AgentStep::End(RunEnd::Completed),
    }
}

/// Ends the run whose result the hook has seen.
fn on_released(end: RunEnd, reply: HookReply, ctx: &mut StepContext<'_>) -> AgentStep {
    let denied = outbound_hook::result(reply, ctx);
    if denied {
        return AgentStep::Finish(RunEnd::Denied);
    }
    // What was said while the hook looked is still to be done.
    let pending = ctx.body.pending();
    if end == RunEnd::Completed && !(pending.steering.is_empty() && pending.follow_ups.is_empty()) {
        return AgentStep::NextInput;
    }
    AgentStep::Finish(end)
}
