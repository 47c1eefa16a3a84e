//! The size of standard error's terminal. It is asked for each time, since it may change.

use crate::platform::terminal_size;
use std::io::{IsTerminal, stderr};

/// The size that is assumed for a terminal that does not report one.
const USUAL: (u16, u16) = (80, 24);

/// Returns the columns of standard error's terminal; none if it is not a terminal.
pub(crate) fn columns() -> Option<u16> {
    size().map(|(columns, _)| columns)
}

/// Returns the columns and rows of standard error's terminal; none if it is not a terminal.
pub(crate) fn size() -> Option<(u16, u16)> {
    if !stderr().is_terminal() {
        return None;
    }
    // Some pseudo-terminals report a size of 0.
    let told = terminal_size().unwrap_or((0, 0));
    let or = |told: u16, usual| if told > 0 { told } else { usual };
    Some((or(told.0, USUAL.0), or(told.1, USUAL.1)))
}
