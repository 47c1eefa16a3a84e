//! The import of turns from another conversation. They are checked as a whole before anything
//! changes, and must be what a provider takes behind the turns that are seen: the user first, every
//! call answered in order, no id twice.

use super::{ctx::StepContext, history::History};
use alloc::{string::String, vec::Vec};
use innerloop_json::Map;
use innerloop_types::message::{Turn, TurnKind, VisibleTurn};

/// Checks that `turns` can follow on what is seen of `history`.
///
/// # Errors
/// The rule that they break.
pub(crate) fn check(history: &History, turns: &[Turn]) -> Result<(), &'static str> {
    let mut is_first = true;
    let mut known: Map<()> = Map::new();
    for said in history.seen() {
        is_first = false;
        if let VisibleTurn::Assistant(reply) = said {
            for call in reply.tool_calls() {
                known.insert(call.id.clone(), ());
            }
        }
    }
    let mut open: Vec<&String> = Vec::new();
    for turn in turns {
        let answers = match &turn.kind {
            TurnKind::ToolResults(results) => Some(results.as_slice()),
            _ => None,
        };
        let answered = answers.unwrap_or_default().iter().map(|result| &result.call_id);
        // Results come exactly where calls are open, for all of these and in their order. The calls
        // of the last reply may stay open: `take` answers them.
        if answers.is_some() == open.is_empty() || !open.drain(..).eq(answered) {
            return Err("results answer the calls of the reply before them, in their order");
        }
        match &turn.kind {
            TurnKind::Assistant(_) if is_first => {
                return Err("a conversation begins with the user");
            }
            TurnKind::Assistant(reply) => {
                for call in reply.tool_calls() {
                    if call.id.is_empty() || known.insert(call.id.clone(), ()).is_some() {
                        return Err("a call has an id that no other has");
                    }
                    open.push(&call.id);
                }
            }
            // They name places of the log that they come from, which mean other turns in this one.
            TurnKind::Folded(_) | TurnKind::LeftOut(_) | TurnKind::Rewound { .. } => {
                return Err("folds and rewinds stay in their own log");
            }
            _ => {}
        }
        is_first = false;
    }
    Ok(())
}

/// Takes the turns over, and answers calls that are still open.
pub(super) fn take(turns: Vec<Turn>, ctx: &mut StepContext<'_>) {
    for turn in turns {
        ctx.body.take_over(turn);
    }
    ctx.body.history.answer_open_calls(ctx.wall);
}
