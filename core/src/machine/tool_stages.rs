//! The stages in which small models are shown their tools: first only the choice of a category, and
//! then its tools. Which stage an input has come to follows from its rounds, so that nothing of it
//! is kept (`docs/decisions.md#tools-shown`).

use super::history::History;
use crate::profile::inner::{CATEGORIES, SELECT_CATEGORY};
use innerloop_json::{Value, from_str};
use innerloop_types::message::ToolCall;

/// The number of wrong choices after which all tools are shown.
const MOST_WRONG: u32 = 2;

/// A stage: 0 before a category is chosen, and then that category's number, counted from 1; `None`
/// if all tools are shown.
pub(super) type ToolStage = Option<usize>;

/// The stage at which each input begins.
const FIRST: ToolStage = Some(0);

/// Returns the stage before the last round of the newest input, and the one that it is at now.
pub(super) fn last_two(history: &History) -> (ToolStage, ToolStage) {
    let (mut before, mut now, mut wrong) = (FIRST, FIRST, 0);
    for round in history.rounds_since(1) {
        let mut round = round.peekable();
        if round.peek().is_some() {
            before = now;
        }
        for (call, result) in round {
            let is_choice = call.name == SELECT_CATEGORY.name();
            match chosen(call).filter(|_| is_choice && !result.is_error) {
                Some(category) => now = now.map(|_| category + 1),
                // What else is called before anything is chosen is a wrong choice as well.
                None => wrong += u32::from(is_choice || now == FIRST),
            }
        }
        if wrong >= MOST_WRONG {
            now = None;
        }
    }
    (before, now)
}

fn chosen(call: &ToolCall) -> Option<usize> {
    let arguments: Value = from_str(&call.arguments).ok()?;
    let category = arguments.get("category")?.as_str()?;
    CATEGORIES.iter().position(|known| *known == category)
}
