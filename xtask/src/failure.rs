//! Why something failed, as every command tells it.

use std::fmt;

/// A failure: what failed, and what to do about it, as one text for the terminal.
#[derive(Debug)]
pub(crate) struct TaskError(pub(crate) String);

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
