//! What the session's own agent has come to goes out: the host's hook may put something else in its
//! place, or keep it in.

use super::{ctx::StepContext, tool_call::text_of};
use crate::profile::{ToolArguments, inner::FINAL_ANSWER};
use alloc::{format, string::String};
use innerloop_types::{
    config::HookPoint,
    id::{AgentId, EffectId},
    input::HookReply,
};

/// Asks the hook, if there is one. What other agents say goes to the one that started them.
pub(super) fn ask(result: &str, ctx: &mut StepContext<'_>) -> Option<EffectId> {
    if ctx.body.id != AgentId::ROOT {
        return None;
    }
    ctx.hook(HookPoint::Outbound, &result)
}

/// The hook has seen what a run has come to. Says whether it stays in.
pub(super) fn result(reply: HookReply, ctx: &mut StepContext<'_>) -> bool {
    match reply {
        HookReply::Allow | HookReply::Failed { .. } => false,
        HookReply::Replace(text) => {
            ctx.body.run.result = Some(text_of(&text).into());
            false
        }
        HookReply::Deny { reason } => {
            withhold(&reason, ctx);
            true
        }
    }
}

/// The hook has seen the final answer. Gives the one that goes out; nothing if it stays in.
pub(super) fn answer(
    answer: String,
    reply: HookReply,
    ctx: &mut StepContext<'_>,
) -> Option<String> {
    match reply {
        HookReply::Allow | HookReply::Failed { .. } => Some(answer),
        HookReply::Replace(other) => {
            let tool = ctx.setup.tool(FINAL_ANSWER.name());
            let fits = tool.map(|tool| {
                ToolArguments::parse(FINAL_ANSWER.name(), other.text(), &tool.schema, false)
                    .map(|_| ())
            });
            if let Some(Err(message)) = fits {
                withhold(&format!("the hook's answer has another form: {message}"), ctx);
                return None;
            }
            Some(other.into_text())
        }
        HookReply::Deny { reason } => {
            withhold(&reason, ctx);
            None
        }
    }
}

fn withhold(reason: &str, ctx: &mut StepContext<'_>) {
    ctx.warn(&format!("a hook withheld the result: {reason}"));
    ctx.body.run.result = Some("".into());
}
