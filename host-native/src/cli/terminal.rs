//! How wide the terminal is that standard error goes to.

use std::io::{IsTerminal, stderr};

/// The columns of a terminal that does not say how many it has.
const USUAL: u16 = 80;

/// The columns of standard error's terminal as it is now; none if it goes elsewhere.
pub(super) fn columns() -> Option<u16> {
    if !stderr().is_terminal() {
        return None;
    }
    let told = rustix::termios::tcgetwinsize(stderr()).map_or(0, |size| size.ws_col);
    Some(if told > 0 { told } else { USUAL })
}
