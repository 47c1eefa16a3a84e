//! Restarts of sessions: from a snapshot, from a log, and as a fork. Such a session comes with text
//! of a time when the endpoints had other keys, so each is masked with the keys of its new table
//! before it runs: no session holds a key of the table that it works with.

use crate::{
    driver::{Driver, OpeningOutputs, OwedEffects},
    masking::SecretKeys,
    options::DriverOptions,
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
    /// Restores the session of a snapshot; session time goes on from where it stood, which is now
    /// `wall`. Keys of the endpoints are masked.
    ///
    /// # Errors
    /// The bytes are damaged, or come from a version that cannot be read.
    pub fn restore(
        snapshot: &[u8],
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, RestoreError> {
        let keys = parts.endpoints.keys();
        // Not masked before: the digest of the bytes has to be checked as they were written.
        let session = Session::restore_edited(snapshot, wall, &|state| keys.masked_json(state))?;
        Ok(Self::again(session, wall, parts))
    }

    /// Resumes the session of a log; session time goes on from where it stood, which is now `wall`.
    /// The lines that follow make up a log of their own, which may replace the old one. Keys of the
    /// endpoints are masked.
    ///
    /// # Errors
    /// The first line that is needed and cannot be read or does not fit.
    pub fn resume(log: &str, wall: UnixMillis, parts: DriverOptions) -> Result<Self, LogError> {
        let session = log::resume(log, wall)?.session;
        // The new log begins with the session's snapshot, which does not keep how far a response
        // has been read. The session goes on from that snapshot, too: otherwise it would be in the
        // middle of a response, and a replay of its own log would not.
        let session = without(&session.snapshot(), wall, &parts.endpoints.keys())
            .map_err(|error| LogError::Snapshot { line: log.lines().count(), error })?;
        Ok(Self::again(session, wall, parts))
    }

    /// Opens a new session under an id of its own whose history is the first `turns` turns of this
    /// one, with options of its own. Keys of its endpoints are masked in those turns.
    ///
    /// # Errors
    /// The id is empty, or is this session's.
    pub fn fork(
        &self,
        id: SessionId,
        turns: usize,
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, ConfigError> {
        let (session, outputs) = self.session().fork(id, turns, wall)?;
        // The fork may have other endpoints: what is plain text in this session may be a key there.
        let session = without_keys(session, wall, &parts.endpoints.keys())
            .map_err(|error| ConfigError::new("model.endpoint", error.to_string()))?;
        let log = parts.journal().beginning(&session, wall);
        Ok(Self::with(session, OpeningOutputs { log, outputs, owed: OwedEffects::Nothing }, parts))
    }

    /// Returns the session as bytes, without any key that it has assembled, not even one in the
    /// half of a reply that has come so far.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let snapshot = self.session().snapshot();
        // `holds_key` does not say it: it is set by whole texts, and half a reply is not told as
        // one. So the bytes are searched each time.
        if self.keys().masked_json(&String::from_utf8_lossy(&snapshot)).is_none() {
            return snapshot;
        }
        // Any wall time will do: a snapshot holds session time only.
        let edited = without(&snapshot, UnixMillis(0), self.keys());
        edited.map_or(snapshot, |session| session.snapshot())
    }

    /// Masks the keys that an idle session has assembled.
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

/// Returns a session without the keys of another table than its own: text that was no secret there
/// is one now.
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
