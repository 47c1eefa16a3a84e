//! Outputs of which the model reads only a part: it is told the id under which the whole is kept.
//! The driver keeps it and answers `read_result`, so that neither history nor snapshot grows by it
//! (`docs/decisions.md#kept-results`).

use super::{ctx::StepContext, edited_arguments::add};
use alloc::{format, string::String};
use innerloop_types::{
    event::EventKind,
    id::AgentId,
    message::{ToolCall, ToolResult},
    text::counted,
};

/// Has the whole text of a call's output kept, and tells the model where.
pub(super) fn keep(
    call: &ToolCall,
    text: String,
    result: &mut ToolResult,
    ctx: &mut StepContext<'_>,
) {
    if !cfg!(feature = "kept-results") {
        return;
    }
    // By the call's place in the log, which only grows: the ids of a fork do not mean other outputs
    // than those of the turns that it has taken over.
    let number = ctx.body.history.call_number(&call.id);
    let id = match ctx.body.id {
        AgentId::ROOT => format!("result-{number}"),
        AgentId(agent) => format!("result-{agent}-{number}"),
    };
    let chars = text.chars().count() as u64;
    let size = counted(chars, "character");
    add(&format!("[whole output: {id}, {size}; read_result]"), false, result);
    let (call_id, name) = (call.id.clone(), call.name.clone());
    ctx.event(EventKind::ResultKept { id, call_id, name, chars, text });
}
