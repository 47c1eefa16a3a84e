//! How a run of the host's own tool is told that gives no result. The words are the same on every
//! host; of time limits the session tells itself.

use alloc::format;
use core::fmt::Display;
use innerloop_core::action::{Outcome, ToolError};

/// The outcome of a tool that failed for this reason.
#[must_use]
pub fn failed(name: &str, reason: &dyn Display) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("The tool {name} failed: {reason}"))
}

/// The outcome of a tool whose result nobody waits for any more.
#[must_use]
pub fn interrupted() -> Outcome {
    Outcome::error(ToolError::Interrupted, "")
}

/// The outcome of a tool whose time is up.
#[must_use]
pub fn timed_out() -> Outcome {
    Outcome { timed_out: true, ..Outcome::error(ToolError::Timeout, "") }
}
