//! Sessions that go on: from a snapshot, from a log, as a fork. What was no secret where they come
//! from may be a key of the table that they go on with.

use crate::{
    driver::{Driver, DriverOptions, OpeningOutputs, OwedEffects},
    masking::SecretKeys,
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use innerloop_core::{
    RestoreError, Session,
    config::ConfigError,
    id::SessionId,
    log::{self, LogError},
    time::UnixMillis,
};

impl Driver {
    /// Makes the session of a snapshot again; session time goes on from where it stood, which is
    /// now `wall`. A key of the endpoints' that stands in the snapshot is masked.
    ///
    /// # Errors
    /// The bytes are damaged, or come from another version.
    pub fn restore(
        snapshot: &[u8],
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, RestoreError> {
        let keys = parts.endpoints.keys();
        let session = Session::restore_edited(snapshot, wall, &|state| keys.masked_json(state))?;
        Ok(Self::again(session, wall, parts))
    }

    /// Goes on from a session's log, which is now `wall`. The lines that follow make a log of their
    /// own, which may take the place of the old one. A key of the endpoints' that stands in the log
    /// is masked.
    ///
    /// # Errors
    /// The first line that is needed and cannot be read or does not fit.
    pub fn resume(log: &str, wall: UnixMillis, parts: DriverOptions) -> Result<Self, LogError> {
        let session = log::resume(log, wall)?.session;
        // The log that follows begins with its snapshot, in which no response is half read: it
        // comes anew.
        let session = without(&session.snapshot(), wall, &parts.endpoints.keys())
            .map_err(|error| LogError::Snapshot { line: log.lines().count(), error })?;
        Ok(Self::again(session, wall, parts))
    }

    /// A new session under an id of its own that has heard the first `turns` turns of this one's
    /// agent, with parts of its own. A key of the endpoints' that stands in the turns is masked.
    ///
    /// # Errors
    /// The id is empty, or no other than this session's.
    pub fn fork(
        &self,
        id: SessionId,
        turns: usize,
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, ConfigError> {
        let (session, outputs) = self.session().fork(id, turns, wall)?;
        let session = without_keys(session, wall, &parts.endpoints.keys())
            .map_err(|error| ConfigError::new("model.endpoint", error.to_string()))?;
        let log = parts.journal().beginning(&session, wall);
        Ok(Self::with(session, OpeningOutputs { log, outputs, owed: OwedEffects::Nothing }, parts))
    }

    /// The session as bytes, without a key that it has put together, be it in half a reply, which
    /// nobody has been told of as a whole.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let snapshot = self.session().snapshot();
        if self.keys().masked_json(&String::from_utf8_lossy(&snapshot)).is_none() {
            return snapshot;
        }
        let edited = without(&snapshot, UnixMillis(0), self.keys());
        edited.map_or(snapshot, |session| session.snapshot())
    }

    /// Takes the keys out that an idle session has put together.
    pub(crate) fn forget_keys(&mut self) {
        let snapshot = self.session().snapshot();
        let wall = self.session().wall();
        let edited = without(&snapshot, wall, self.keys());
        debug_assert!(edited.is_ok(), "{edited:?}");
        if let Ok(session) = edited {
            self.replace(session);
        }
    }

    fn again(session: Session, wall: UnixMillis, parts: DriverOptions) -> Self {
        let log = parts.journal().beginning(&session, wall);
        let outputs = session.owed();
        Self::with(session, OpeningOutputs { log, outputs, owed: OwedEffects::LostRuns }, parts)
    }
}

/// A session without the keys of a table that was not its own: what was no secret there is one
/// now.
fn without_keys(
    session: Session,
    wall: UnixMillis,
    keys: &SecretKeys,
) -> Result<Session, RestoreError> {
    let snapshot = session.snapshot();
    if keys.masked_json(&String::from_utf8_lossy(&snapshot)).is_none() {
        return Ok(session);
    }
    without(&snapshot, wall, keys)
}

fn without(snapshot: &[u8], wall: UnixMillis, keys: &SecretKeys) -> Result<Session, RestoreError> {
    Session::restore_edited(snapshot, wall, &|state| keys.masked_json(state))
}
