//! The hook before a result goes out: the host may replace what the session's own agent has come
//! to, or withhold it. The history keeps what the model said. A hook that failed has become a
//! denial before, where the configuration wants that (`tool_call::checked`).

use super::{ctx::StepContext, tool_call::text_of};
use crate::profile::{ToolArguments, inner::FINAL_ANSWER};
use alloc::{format, string::String};
use innerloop_types::{
    config::HookPoint,
    id::{AgentId, EffectId},
    input::HookReply,
};

/// Asks the hook, if there is one. The results of other agents go only to the agents that started
/// them.
pub(super) fn ask(result: &str, ctx: &mut StepContext<'_>) -> Option<EffectId> {
    if ctx.body.id != AgentId::ROOT {
        return None;
    }
    ctx.hook(HookPoint::Outbound, &result)
}

/// Takes the reply about the result of a run. Returns whether the result is withheld.
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

/// Takes the reply about the final answer. Returns the one that goes out; `None` if it is withheld.
pub(super) fn answer(
    answer: String,
    reply: HookReply,
    ctx: &mut StepContext<'_>,
) -> Option<String> {
    match reply {
        HookReply::Allow | HookReply::Failed { .. } => Some(answer),
        HookReply::Replace(other) => {
            // Whoever reads the answer relies on its schema, so that a replacement which does not
            // fit is withheld and not passed on.
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
    // Empty and not absent: without a result the model's last message would stand for it.
    ctx.body.run.result = Some("".into());
}
