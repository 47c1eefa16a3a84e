//! How a run ended.

use std::time::Duration;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// It ended by itself, with this exit code.
    #[error("exit code {0}")]
    Exit(i32),
    /// The time limit ended it.
    #[error("the time limit of {} ms ended it", .0.as_millis())]
    Timeout(Duration),
    /// The host stopped it.
    #[error("it was interrupted")]
    Cancelled,
    /// It broke.
    #[error("it crashed: {0}")]
    Trap(String),
    /// It printed more than it may.
    #[error("it was stopped because it printed too much")]
    OutputLimit,
    /// It failed after more memory had been refused.
    #[error("it failed because it needs more memory than it may have")]
    MemoryLimit,
    /// It wrote more to files than it may.
    #[error("it was stopped because it wrote too much to files")]
    DiskLimit,
    /// It opened more files than it may have open at the same time.
    #[error("it was stopped because it opened too many files at the same time")]
    FileLimit,
}
