//! The encoder of a session's log. It is a value with the same methods whether a log is kept or
//! not, and without the feature `log`, so that the driver needs no second path. A line is made only
//! if somebody keeps it: encoding an input costs as much as the input is long.

use alloc::string::String;
#[cfg(feature = "log")]
use innerloop_core::log;
use innerloop_core::{
    Session,
    input::Input,
    time::{SessionInstant, UnixMillis},
};

/// The encoder of the lines of a session's log; it makes none if the log is not kept.
#[derive(Clone, Copy, Debug)]
pub struct SessionLogEncoder {
    #[cfg(feature = "log")]
    is_kept: bool,
}

#[cfg(feature = "log")]
impl SessionLogEncoder {
    /// Makes the encoder of a log that is kept, or of none.
    #[must_use]
    pub const fn new(is_kept: bool) -> Self {
        Self { is_kept }
    }

    /// Returns the first line of a session that is opened; empty if no log is kept.
    #[must_use]
    pub fn header(self, session: &Session, wall: UnixMillis) -> String {
        if self.is_kept { log::header(session, wall) } else { String::new() }
    }

    /// Returns the first lines of a session that has a past.
    pub(crate) fn beginning(self, session: &Session, wall: UnixMillis) -> String {
        // A header alone would replay to a new session: what came before is in no line of this log.
        let snapshot = self.snapshot(session);
        snapshot.map(|snapshot| log::header(session, wall) + &snapshot).unwrap_or_default()
    }

    /// Returns the line of an input that is handled at `at`; `None` if no log is kept.
    #[must_use]
    pub fn entry(self, input: &Input, at: SessionInstant) -> Option<String> {
        self.is_kept.then(|| log::entry(input, at))
    }

    /// Returns the line with the session's present state.
    pub(crate) fn snapshot(self, session: &Session) -> Option<String> {
        self.is_kept.then(|| log::snapshot(session))
    }
}

#[cfg(not(feature = "log"))]
impl SessionLogEncoder {
    /// Makes the encoder that makes no lines.
    #[must_use]
    pub const fn none() -> Self {
        Self {}
    }

    /// Returns an empty text: no log is kept.
    #[must_use]
    pub const fn header(self, _: &Session, _: UnixMillis) -> String {
        String::new()
    }

    /// Returns `None`: no log is kept.
    #[must_use]
    pub const fn entry(self, _: &Input, _: SessionInstant) -> Option<String> {
        None
    }

    pub(crate) const fn snapshot(self, _: &Session) -> Option<String> {
        None
    }
}
