//! The outcomes of a host's own tool that gives no result. The words are the same on every host, so
//! that one recording fits all of them.

use alloc::format;
use core::fmt::Display;
use innerloop_core::action::{Outcome, ToolError};

/// Returns the outcome of a tool that failed for this reason.
#[must_use]
pub fn failed(name: &str, reason: &dyn Display) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("The tool {name} failed: {reason}"))
}

/// Returns the outcome of a tool whose result nobody waits for any more.
#[must_use]
pub fn interrupted() -> Outcome {
    // Without words, here and below: the session has its own for the model.
    Outcome::error(ToolError::Interrupted, "")
}

/// Returns the outcome of a tool that exceeded its time limit.
#[must_use]
pub fn timed_out() -> Outcome {
    Outcome { timed_out: true, ..Outcome::error(ToolError::Timeout, "") }
}
