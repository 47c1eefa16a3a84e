//! A whole reply: it enters the history, and its calls, text and finish reason decide what follows.
//! The order of the checks matters: a reply that is thrown away is no turn, and calls are handled
//! before the end of the run.

use super::{
    corrections,
    ctx::StepContext,
    history::History,
    last_reply::{CONTINUE, RunFailure, ending},
    model_call::ReplyTiming,
    step::AgentStep,
};
use crate::rules::reply_fault;
use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use innerloop_json::{IntoList, Map};
use innerloop_types::{
    config::{ModelConfig, Price},
    corrections::ReplyFault,
    event::{ErrorKind, EventKind},
    message::{Block, FinishReason, Part, Reply, ToolCall, TurnKind, made_up_call_id},
    status::RunEnd,
    text::prefix,
};
use innerloop_wire::{FailureKind, ModelCallError, ends_in_call};

/// The number of times in a row that a provider may pause a reply before the run fails.
const MAX_PAUSES: u32 = 16;

/// The number of times in a row that a limit may cut calls before the run fails.
pub(super) const MAX_CUTS: u32 = 8;

/// Takes a reply into the history.
pub(super) fn take(
    mut reply: Reply,
    model: &ModelConfig,
    timing: ReplyTiming,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    let ending = ending(&reply).filter(|_| reply.tool_calls().next().is_none());
    let is_grown = outgrows(&reply, ctx);
    let is_useless = ending.as_ref().is_some_and(|ending| ending.end == RunEnd::Failed)
        && ctx.body.run.epilogue.is_none()
        && ctx.body.run.repairs.empties < ctx.setup.config.repair.retry_on_empty;
    let is_done = ending.is_none() && reply.tool_calls().next().is_none();
    let is_echo = reply.finish == FinishReason::Repetition;
    let fault = if is_done || is_echo { corrections::find(&mut reply, ctx) } else { None };
    if let Some(ReplyFault::FakeResult | ReplyFault::Echo) = fault {
        show_again(&reply, ctx);
    }
    // What is asked for again is withdrawn: nothing of it may be seen twice.
    if is_grown || (is_useless && !reply.blocks.is_empty()) {
        reply.blocks.clear();
        ctx.event(EventKind::TextReset);
    }
    // Before the reply is appended: a call's id must be unique among those that are there already.
    name_calls(&mut reply, &mut ctx.body.history);
    // A reply that is thrown away has cost its tokens, and is no turn.
    let replies = &mut ctx.body.run.counts.replies;
    *replies = replies.saturating_add(u32::from(!is_grown));
    let text = tell(&reply, model.price.as_ref(), timing, ctx);
    if is_grown {
        ctx.warn("a call was cut by the output limit: it is asked for again with twice the limit");
        ctx.body.run.repairs.grown = true;
        return AgentStep::CallAgain;
    }
    let calls: Vec<ToolCall> = reply.tool_calls().cloned().into_list();
    let finish = reply.finish;
    ctx.append(TurnKind::Assistant(Box::new(reply)));
    if finish == FinishReason::Pause && calls.is_empty() {
        return on_pause(ctx);
    }
    ctx.body.run.repairs.pauses = 0;
    if ctx.body.run.epilogue.is_some() {
        // A model may call tools although the request offers none. Its calls are answered, since
        // none may stay open, and the run ends behind them.
        let why = "Not run: tools are off, and the run ends with your summary.";
        return if calls.is_empty() { AgentStep::Stop } else { AgentStep::RefuseCalls(calls, why) };
    }
    if !calls.is_empty() {
        return on_calls(calls, finish, ctx);
    }
    if let Some(fault) = fault
        && corrections::correct(fault, reply_fault::words(fault).into(), ctx)
    {
        return AgentStep::CallAgain;
    }
    match ending {
        Some(ending) if may_help(finish, &ending, ctx) => AgentStep::CallAgain,
        Some(ending) => AgentStep::StopShort(ending),
        None if fault == Some(ReplyFault::FakeResult) && text.is_empty() => {
            let message = String::from("the model goes on to make up the results of tools");
            AgentStep::StopShort(RunFailure {
                end: RunEnd::Failed,
                kind: ErrorKind::Reply,
                message,
            })
        }
        None => AgentStep::Stop,
    }
}

/// Appends what the model had said when its reply was ended from outside. At most a character for
/// each token of the context window is kept, which leaves room for more.
pub(super) fn take_cut(said: &str, finish: FinishReason, ctx: &mut StepContext<'_>) {
    let most = usize::try_from(ctx.setup.config.model.context_window).unwrap_or(usize::MAX);
    let text = String::from(prefix(said, most));
    if !text.is_empty() {
        let blocks = vec![Block::Text(text)];
        let reply = Reply { blocks, finish, ..Reply::default() };
        let replies = &mut ctx.body.run.counts.replies;
        *replies = replies.saturating_add(1);
        // Nobody has told its usage, so that it has no price either.
        tell(&reply, None, ReplyTiming::default(), ctx);
        ctx.append(TurnKind::Assistant(Box::new(reply)));
    }
}

/// Puts a reply's text in the place of the longer one that was shown.
fn show_again(reply: &Reply, ctx: &mut StepContext<'_>) {
    ctx.event(EventKind::TextReset);
    let text = reply.text();
    if !text.is_empty() {
        ctx.event(EventKind::AssistantTextStart);
        ctx.event(EventKind::AssistantTextDelta { text });
    }
}

/// Reports a reply and counts what it costs; returns its text.
fn tell(
    reply: &Reply,
    price: Option<&Price>,
    timing: ReplyTiming,
    ctx: &mut StepContext<'_>,
) -> String {
    let (text, reasoning, usage) = (reply.text(), reply.reasoning(), reply.usage);
    let cost_nano_usd = ctx.count(usage, price);
    let said = text.clone();
    let ReplyTiming { ttft_ms, ms } = timing;
    let end =
        EventKind::AssistantTextEnd { text: said, reasoning, usage, cost_nano_usd, ttft_ms, ms };
    ctx.event(end);
    text
}

/// Returns whether a reply was cut within a call, and twice the length has not been tried yet.
fn outgrows(reply: &Reply, ctx: &StepContext<'_>) -> bool {
    let may_grow = ctx.setup.config.repair.grow_output && !ctx.body.run.repairs.grown;
    may_grow
        && reply.finish == FinishReason::Length
        && (reply.tool_calls().next().is_some()
            || ends_in_call(&ctx.setup.route.model, &reply.text()))
}

fn on_calls(calls: Vec<ToolCall>, finish: FinishReason, ctx: &mut StepContext<'_>) -> AgentStep {
    ctx.body.run.rounds = ctx.body.run.rounds.saturating_add(1);
    // Providers end replies with calls by different reasons, Gemini by the same as any other. Only
    // those that mean a limit or a fault make the calls doubtful.
    let is_cut = !matches!(
        finish,
        FinishReason::ToolCalls
            | FinishReason::Stop
            | FinishReason::Unknown
            | FinishReason::Pause
            | FinishReason::Refusal
    );
    let cut = &mut ctx.body.run.repairs.cut;
    *cut = if is_cut { cut.saturating_add(1) } else { 0 };
    match finish {
        // Arguments that were cut can still parse, so that the calls are refused whatever they look
        // like.
        FinishReason::Length | FinishReason::ContextWindow => AgentStep::RefuseCalls(
            calls,
            "Not run: the reply was cut by a limit, so the call may be incomplete. Make \
             it again, in smaller pieces if it was long.",
        ),
        FinishReason::ContentFilter | FinishReason::Error | FinishReason::MalformedToolCall => {
            AgentStep::RefuseCalls(
                calls,
                "Not run: the provider stopped the reply, so the call may be incomplete.",
            )
        }
        _ => AgentStep::RunCalls(calls),
    }
}

/// The provider wants its own unfinished reply back to go on.
fn on_pause(ctx: &mut StepContext<'_>) -> AgentStep {
    let pauses = &mut ctx.body.run.repairs.pauses;
    *pauses = pauses.saturating_add(1);
    if *pauses > MAX_PAUSES {
        let message = format!("the provider paused its reply {MAX_PAUSES} times in a row");
        return AgentStep::Recover(ModelCallError::new(FailureKind::Protocol, message));
    }
    AgentStep::CallAgain
}

/// Returns whether another reply may help where one was no success: the rest of a text that the
/// output limit has cut (`docs/decisions.md#replies-cut-by-a-limit`), or a reply in place of a
/// useless one. Counts the try, of which a run has only so many.
fn may_help(finish: FinishReason, ending: &RunFailure, ctx: &mut StepContext<'_>) -> bool {
    let policy = &ctx.setup.config.repair;
    let repairs = &mut ctx.body.run.repairs;
    let (tried, most) = match ending.end {
        _ if finish == FinishReason::Length => (&mut repairs.continued, policy.continue_on_length),
        RunEnd::Failed => (&mut repairs.empties, policy.retry_on_empty),
        _ => return false,
    };
    if *tried >= most {
        return false;
    }
    *tried += 1;
    if finish == FinishReason::Length {
        ctx.append(TurnKind::Steering(vec![Part::text(CONTINUE)]));
    }
    true
}

/// Gives each call an id that no other call of the conversation has: providers refuse empty and
/// repeated ones.
fn name_calls(reply: &mut Reply, history: &mut History) {
    let turn = history.turns().len();
    let mut seen: Map<()> = Map::new();
    for (index, block) in reply.blocks.iter_mut().enumerate() {
        let Block::ToolCall(call) = block else { continue };
        // A made-up id depends on the place alone, so that a replay makes the same one. Should a
        // model have used that very id, it grows until it is unique.
        while call.id.is_empty() || seen.contains_key(&call.id) || history.has_call(&call.id) {
            call.id.push_str(&made_up_call_id(turn, index));
        }
        seen.insert(call.id.clone(), ());
    }
}
