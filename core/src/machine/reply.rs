//! What to make of a whole reply: it enters the history, and the loop is told how to go on.

use super::{ctx::Ctx, history::History};
use crate::{
    base::text::{listed, prefix},
    types::{
        event::EventKind,
        message::{Block, Finish, Part, Reply, ToolCall, TurnKind, made_up_call_id},
    },
    wire::{Failure, FailureKind, ends_in_call},
};
use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use innerloop_json::Map;

/// How often in a row a provider may pause a reply before the run fails.
const MAX_PAUSES: u32 = 16;

/// How often in a row calls may be cut by a limit before the run fails.
pub(super) const MAX_CUTS: u32 = 8;

/// How the loop goes on.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Run these calls.
    Calls(Vec<ToolCall>),
    /// Answer these calls with that: none may run.
    Refused(Vec<ToolCall>, &'static str),
    /// Call the model again.
    Again,
    /// The model is done.
    Done,
    /// The provider does not keep to its protocol.
    Broken(Failure),
}

/// Takes a reply into the history.
pub(super) fn take(mut reply: Reply, ctx: &mut Ctx<'_>) -> Verdict {
    let is_asked_again = outgrows(&reply, ctx);
    if is_asked_again {
        reply.blocks.clear();
        ctx.event(EventKind::TextReset);
    }
    name_calls(&mut reply, &mut ctx.body.history);
    // What is thrown away costs its tokens, and is no turn.
    let replies = &mut ctx.body.run.counts.replies;
    *replies = replies.saturating_add(u32::from(!is_asked_again));
    let text = tell(&reply, ctx);
    if is_asked_again {
        ctx.warn("a call was cut by the output limit: it is asked for again with twice the limit");
        ctx.body.run.repairs.grown = true;
        return Verdict::Again;
    }
    let calls: Vec<ToolCall> = reply.tool_calls().cloned().collect();
    let (finish, refusal) = (reply.finish, reply.refusal.clone());
    ctx.append(TurnKind::Assistant(Box::new(reply)));
    if finish == Finish::Pause && calls.is_empty() {
        return on_pause(ctx);
    }
    ctx.body.run.repairs.pauses = 0;
    if ctx.body.run.epilogue.is_some() {
        let why = "Not run: tools are off, and the run ends with your summary.";
        return if calls.is_empty() { Verdict::Done } else { Verdict::Refused(calls, why) };
    }
    if !calls.is_empty() {
        return on_calls(calls, finish, ctx);
    }
    match finish {
        Finish::Length => return on_length(ctx),
        Finish::Refusal => {
            let why = refusal.map_or(String::new(), |why| format!(": {why}"));
            ctx.warn(&format!("the model refused{why}"));
        }
        Finish::ContextWindow => ctx.warn("the context window is full; the reply was cut"),
        Finish::ContentFilter => ctx.warn("a content filter stopped the reply"),
        Finish::Error | Finish::MalformedToolCall => {
            return again("the provider says that the reply went wrong", ctx);
        }
        _ if text.trim().is_empty() => {
            return again("the model's reply has no text and no tool call", ctx);
        }
        _ if needs_nudge(&text, ctx) => {
            ctx.body.run.repairs.nudges += 1;
            let text = "Please use the available tools to complete the task. If it is completed, \
                        say that it is done and what you found.";
            ctx.append(TurnKind::Steering(vec![Part::text(text)]));
            return Verdict::Again;
        }
        _ => {}
    }
    Verdict::Done
}

/// Takes what the model said until a limit of ours ended its reply, as much of it as leaves room
/// for more: a character for each token of the context window.
pub(super) fn take_cut(said: &str, ctx: &mut Ctx<'_>) {
    let most = usize::try_from(ctx.setup.config.model.context_window).unwrap_or(usize::MAX);
    let text = String::from(prefix(said, most));
    if !text.is_empty() {
        let blocks = vec![Block::Text(text)];
        let reply = Reply { blocks, finish: Finish::Length, ..Reply::default() };
        tell(&reply, ctx);
        ctx.append(TurnKind::Assistant(Box::new(reply)));
    }
}

/// Tells of a reply, and counts what it costs; gives its text.
fn tell(reply: &Reply, ctx: &mut Ctx<'_>) -> String {
    let (text, reasoning, usage) = (reply.text(), reply.reasoning(), reply.usage);
    let cost_nano_usd = ctx.count(usage, ctx.setup.config.model.price.as_ref());
    let said = text.clone();
    ctx.event(EventKind::AssistantTextEnd { text: said, reasoning, usage, cost_nano_usd });
    text
}

/// Whether a reply was cut in a call, and one of twice the length has not been tried yet.
fn outgrows(reply: &Reply, ctx: &Ctx<'_>) -> bool {
    let may_grow = ctx.setup.config.repair.grow_output && !ctx.body.run.repairs.grown;
    may_grow
        && reply.finish == Finish::Length
        && (reply.tool_calls().next().is_some()
            || ends_in_call(&ctx.setup.route.model, &reply.text()))
}

fn on_calls(calls: Vec<ToolCall>, finish: Finish, ctx: &mut Ctx<'_>) -> Verdict {
    ctx.body.run.rounds = ctx.body.run.rounds.saturating_add(1);
    let is_cut = !matches!(
        finish,
        Finish::ToolCalls | Finish::Stop | Finish::Unknown | Finish::Pause | Finish::Refusal
    );
    let cut = &mut ctx.body.run.repairs.cut;
    *cut = if is_cut { cut.saturating_add(1) } else { 0 };
    match finish {
        Finish::Length | Finish::ContextWindow => Verdict::Refused(
            calls,
            "Not run: the reply was cut by a limit, so the call may be incomplete. Make \
             it again, in smaller pieces if it was long.",
        ),
        Finish::ContentFilter | Finish::Error | Finish::MalformedToolCall => Verdict::Refused(
            calls,
            "Not run: the provider stopped the reply, so the call may be incomplete.",
        ),
        _ => Verdict::Calls(calls),
    }
}

/// The provider wants its own unfinished reply back to go on.
fn on_pause(ctx: &mut Ctx<'_>) -> Verdict {
    let pauses = &mut ctx.body.run.repairs.pauses;
    *pauses = pauses.saturating_add(1);
    if *pauses > MAX_PAUSES {
        let message = format!("the provider paused its reply {MAX_PAUSES} times in a row");
        return Verdict::Broken(Failure::new(FailureKind::Protocol, message));
    }
    Verdict::Again
}

/// A text was cut by the output limit (`docs/decisions.md#replies-cut-by-a-limit`).
fn on_length(ctx: &mut Ctx<'_>) -> Verdict {
    let continued = &mut ctx.body.run.repairs.continued;
    if *continued >= ctx.setup.config.repair.continue_on_length {
        ctx.warn("the reply was cut by the output limit (max_output_tokens)");
        return Verdict::Done;
    }
    *continued += 1;
    let text = "Continue from where you left off.";
    ctx.append(TurnKind::Steering(vec![Part::text(text)]));
    Verdict::Again
}

/// Whether a text without calls only announces what is still to be done
/// (`docs/decisions.md#replies-without-calls`).
fn needs_nudge(text: &str, ctx: &Ctx<'_>) -> bool {
    const FINAL: &str = "done|complete|finished|in summary|final answer|no further|?";
    let left = ctx.setup.config.repair.nudges.saturating_sub(ctx.body.run.repairs.nudges);
    let text = text.to_ascii_lowercase();
    left > 0 && ctx.has_tools() && !listed(FINAL).any(|word| text.contains(word))
}

/// A reply of no use is asked for again, so often.
fn again(warning: &str, ctx: &mut Ctx<'_>) -> Verdict {
    let empties = &mut ctx.body.run.repairs.empties;
    if *empties >= ctx.setup.config.repair.retry_on_empty {
        ctx.warn(warning);
        return Verdict::Done;
    }
    *empties += 1;
    Verdict::Again
}

/// Gives each call an id that is no other call's of the conversation: providers refuse empty and
/// repeated ones.
fn name_calls(reply: &mut Reply, history: &mut History) {
    let turn = history.turns().len();
    let mut seen: Map<()> = Map::new();
    for (index, block) in reply.blocks.iter_mut().enumerate() {
        let Block::ToolCall(call) = block else { continue };
        while call.id.is_empty() || seen.contains_key(&call.id) || history.has_call(&call.id) {
            call.id.push_str(&made_up_call_id(turn, index));
        }
        seen.insert(call.id.clone(), ());
    }
}
