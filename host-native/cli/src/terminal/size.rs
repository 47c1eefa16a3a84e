//! How large the terminal is that standard error goes to.

use crate::platform::terminal_size;
use std::io::{IsTerminal, stderr};

/// The size of a terminal that does not say which it has.
const USUAL: (u16, u16) = (80, 24);

/// The columns of standard error's terminal as it is now; none if it goes elsewhere.
pub(crate) fn columns() -> Option<u16> {
    size().map(|(columns, _)| columns)
}

/// The columns and rows of standard error's terminal as it is now; none if it goes elsewhere.
pub(crate) fn size() -> Option<(u16, u16)> {
    if !stderr().is_terminal() {
        return None;
    }
    let told = terminal_size().unwrap_or((0, 0));
    let or = |told: u16, usual| if told > 0 { told } else { usual };
    Some((or(told.0, USUAL.0), or(told.1, USUAL.1)))
}
