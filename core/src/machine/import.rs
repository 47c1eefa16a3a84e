//! Taking over what was said elsewhere.

use super::{ctx::StepContext, history::History};
use alloc::{string::String, vec::Vec};
use innerloop_json::Map;
use innerloop_types::message::{Turn, TurnKind, VisibleTurn};

/// Returns whether `turns` can stand behind what is seen of `history`.
///
/// # Errors
/// Why not.
pub(crate) fn check(history: &History, turns: &[Turn]) -> Result<(), &'static str> {
    let mut is_first = true;
    let mut known: Map<()> = Map::new();
    for said in history.seen() {
        is_first = false;
        if let VisibleTurn::Assistant(reply) = said {
            known.extend(reply.tool_calls().map(|call| (call.id.clone(), ())));
        }
    }
    let mut open: Vec<&String> = Vec::new();
    for turn in turns {
        let answers = match &turn.kind {
            TurnKind::ToolResults(results) => Some(results.as_slice()),
            _ => None,
        };
        let answered = answers.into_iter().flatten().map(|result| &result.call_id);
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
            TurnKind::Folded(_) | TurnKind::LeftOut(_) | TurnKind::Rewound { .. } => {
                return Err("folds and rewinds stay in their own log");
            }
            _ => {}
        }
        is_first = false;
    }
    Ok(())
}

/// Takes the turns over.
pub(super) fn take(turns: Vec<Turn>, ctx: &mut StepContext<'_>) {
    for turn in turns {
        ctx.body.take_over(turn);
    }
    ctx.body.history.answer_open_calls(ctx.wall);
}
