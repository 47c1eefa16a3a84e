//! The lines of the session's log, where one is kept. Without the feature `log` none is.

use alloc::string::String;
#[cfg(feature = "log")]
use innerloop_core::log;
use innerloop_core::{
    Session,
    input::Input,
    time::{SessionInstant, UnixMillis},
};

/// Makes the lines of a log that is kept, and none of one that is not.
#[derive(Clone, Copy, Debug)]
pub struct SessionLogEncoder {
    #[cfg(feature = "log")]
    is_kept: bool,
}

#[cfg(feature = "log")]
impl SessionLogEncoder {
    /// Of a log that is kept, or not.
    #[must_use]
    pub const fn new(is_kept: bool) -> Self {
        Self { is_kept }
    }

    /// The first line of a session that is opened; empty if no log is kept.
    #[must_use]
    pub fn header(self, session: &Session, wall: UnixMillis) -> String {
        if self.is_kept { log::header(session, wall) } else { String::new() }
    }

    /// The first lines of a session that has a past.
    pub(crate) fn beginning(self, session: &Session, wall: UnixMillis) -> String {
        let snapshot = self.snapshot(session);
        snapshot.map(|snapshot| log::header(session, wall) + &snapshot).unwrap_or_default()
    }

    /// The line of an input.
    #[must_use]
    pub fn entry(self, input: &Input, at: SessionInstant) -> Option<String> {
        self.is_kept.then(|| log::entry(input, at))
    }

    /// The line of the session as it stands.
    pub(crate) fn snapshot(self, session: &Session) -> Option<String> {
        self.is_kept.then(|| log::snapshot(session))
    }
}

#[cfg(not(feature = "log"))]
impl SessionLogEncoder {
    /// Of no log.
    #[must_use]
    pub const fn none() -> Self {
        Self {}
    }

    /// Empty.
    #[must_use]
    pub const fn header(self, _: &Session, _: UnixMillis) -> String {
        String::new()
    }

    /// Nothing.
    #[must_use]
    pub const fn entry(self, _: &Input, _: SessionInstant) -> Option<String> {
        None
    }

    pub(crate) const fn snapshot(self, _: &Session) -> Option<String> {
        None
    }
}
