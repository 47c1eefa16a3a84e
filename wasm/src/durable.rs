//! Snapshots and logs, which outlive the page, and the sessions that go on from either. The same
//! for agents, with the driver's masking and log, and for bare sessions.

use crate::{
    agent::RawAgent,
    callbacks::Callbacks,
    clock::wall,
    files::RawFiles,
    misuse::CallerError,
    options::AgentOptions,
    session::{RawSession, journal, millis},
};
use innerloop_core::{
    RestoreError, Session,
    id::SessionId,
    log::{self, LogError},
    output::Output,
};
use innerloop_driver::Driver;
use innerloop_json::to_string;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

#[wasm_bindgen]
impl RawAgent {
    /// Restores the session of a snapshot. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// As [`RawAgent::new`], and `bad_snapshot`.
    pub fn restore(
        snapshot: &[u8],
        options: &str,
        files: &RawFiles,
        callbacks: Callbacks,
    ) -> Result<Self, JsValue> {
        let parts = AgentOptions::parts_of(options)?;
        let driver = Driver::restore(snapshot, wall(), parts).map_err(CallerError::from)?;
        Ok(Self::with(driver, files, callbacks))
    }

    /// Resumes the session of a log. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// As [`RawAgent::new`], and `bad_log`.
    pub fn resume(
        log: &str,
        options: &str,
        files: &RawFiles,
        callbacks: Callbacks,
    ) -> Result<Self, JsValue> {
        let parts = AgentOptions::parts_of(options)?;
        let driver = Driver::resume(log, wall(), parts).map_err(CallerError::from)?;
        Ok(Self::with(driver, files, callbacks))
    }

    /// Opens another agent whose history is the first `turns` turns of this one, all if absent.
    ///
    /// # Errors
    /// As [`RawAgent::new`].
    pub fn fork(
        &self,
        turns: Option<u32>,
        id: String,
        options: &str,
        files: &RawFiles,
        callbacks: Callbacks,
    ) -> Result<Self, JsValue> {
        let parts = AgentOptions::parts_of(options)?;
        let turns = turns.and_then(|turns| usize::try_from(turns).ok()).unwrap_or(usize::MAX);
        let driver = self.host.driver.borrow();
        let fork = driver.fork(SessionId(id), turns, wall(), parts);
        Ok(Self::with(fork.map_err(CallerError::from)?, files, callbacks))
    }

    /// Returns the session as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        // The driver's and not the session's own, in which a key may be that the session has
        // assembled.
        self.host.driver.borrow().snapshot()
    }

    /// Returns the session's log, or the newest part of a long one; empty if none is kept.
    #[must_use]
    pub fn log(&self) -> String {
        self.host.log.text()
    }
}

#[wasm_bindgen]
impl RawSession {
    /// Restores the session of a snapshot.
    ///
    /// # Errors
    /// `bad_snapshot`.
    pub fn restore(snapshot: &[u8], wall: f64, logs: bool) -> Result<Self, JsValue> {
        let session = Session::restore(snapshot, millis(wall)).map_err(CallerError::from)?;
        Ok(Self::with(session, journal(logs), None))
    }

    /// Resumes the session of a log.
    ///
    /// # Errors
    /// `bad_log`.
    pub fn resume(log: &str, wall: f64, logs: bool) -> Result<Self, JsValue> {
        let resumed = log::resume(log, millis(wall)).map_err(CallerError::from)?;
        Ok(Self::with(resumed.session, journal(logs), None))
    }

    /// Replays a log and returns the session at its end. Its `opening` has a line for the opening
    /// and for each line of the log: a JSON array of the outputs, or of the events alone.
    ///
    /// # Errors
    /// `bad_log`.
    pub fn replay(log: &str, only_events: bool) -> Result<Self, JsValue> {
        let mut lines = String::new();
        let replayed = log::replay_each(log, &mut |mut outputs| {
            // Dropped here and not by the caller: each request holds the whole conversation before
            // it, so that the outputs of a log grow with its square.
            outputs.0.retain(|output| !only_events || matches!(output, Output::Event(_)));
            lines.push_str(&to_string(&outputs));
            lines.push('\n');
        });
        Ok(Self::with(replayed.map_err(CallerError::from)?, journal(false), Some(lines)))
    }

    /// Returns the session as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.session.borrow().snapshot()
    }

    /// Returns the session's present state as a line of its log.
    #[must_use]
    #[wasm_bindgen(js_name = snapshotLine)]
    pub fn snapshot_line(&self) -> String {
        log::snapshot(&self.session.borrow())
    }
}

impl From<RestoreError> for CallerError {
    fn from(error: RestoreError) -> Self {
        Self::new("bad_snapshot", error.to_string())
    }
}

impl From<LogError> for CallerError {
    fn from(error: LogError) -> Self {
        Self::new("bad_log", error.to_string())
    }
}
