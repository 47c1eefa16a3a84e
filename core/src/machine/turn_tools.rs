//! The tools that an input lets the model call, by their names alone.

use crate::profile::inner::FINAL_ANSWER;
use innerloop_types::input::TurnOptions;

/// Returns whether a tool may be called. The final answer always may: without it no run would end.
pub(super) fn allows(options: &TurnOptions, name: &str) -> bool {
    let Some(tools) = &options.tools else { return true };
    name == FINAL_ANSWER.name() || tools.iter().any(|tool| tool == name)
}
