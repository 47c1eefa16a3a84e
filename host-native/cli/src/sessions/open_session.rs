//! A session that this program works with: its lock, and the changes to `about.json`. Nobody else
//! writes to the session's folder as long as the lock is held.

use super::{
    session_facts::{SessionInfo, SessionOptions},
    stored_session::{ABOUT, ListedSession, StoredSession, locked, read, remove},
};
use crate::{console::warn, exit::CliError};
use innerloop_core::config::ModelConfig;
use innerloop_host::{journal::private, lock::LockFile};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
};

/// A session that this program works with; it is unlocked when this is dropped.
#[derive(Debug)]
pub(crate) struct LockedSession {
    pub(crate) kept: StoredSession,
    /// True if it was made by this program.
    is_new: bool,
    _lock: LockFile,
}

impl Drop for LockedSession {
    /// Removes the folder of a new session that was never opened.
    fn drop(&mut self) {
        // One with changes stays although it has no log: writing that may have failed.
        if self.is_new && !self.has_log() && !self.kept.has_changes() {
            drop(fs::remove_dir_all(&self.kept.folder));
        }
    }
}

impl LockedSession {
    pub(super) const fn new(kept: StoredSession, is_new: bool, lock: LockFile) -> Self {
        Self { kept, is_new, _lock: lock }
    }

    pub(crate) fn short(&self) -> &str {
        self.kept.short()
    }

    /// Returns whether it can be resumed, which takes a log.
    pub(crate) fn has_log(&self) -> bool {
        self.kept.log_path().exists()
    }

    /// Sets the session's title, unless it has one.
    pub(crate) fn entitle(&mut self, title: &str) -> io::Result<()> {
        if !self.kept.about.title.is_empty() || title.is_empty() {
            return Ok(());
        }
        title.clone_into(&mut self.kept.about.title);
        self.write()
    }

    /// Returns whether it has no title, since nothing has been said to it.
    pub(crate) const fn is_silent(&self) -> bool {
        self.kept.about.title.is_empty()
    }

    /// Stores the options that are in force from now on, and the model with its provider. Writes
    /// nothing if they are the same.
    pub(crate) fn note(
        &mut self,
        change: impl FnOnce(&mut SessionOptions),
        model: &ModelConfig,
    ) -> io::Result<()> {
        let SessionInfo { options, provider, model: noted, .. } = &mut self.kept.about;
        let before = (serde_json::to_vec(options)?, provider.clone(), noted.clone());
        change(options);
        model.endpoint.0.clone_into(provider);
        model.name.clone_into(noted);
        match (serde_json::to_vec(options)?, provider.clone(), noted.clone()) == before {
            true => Ok(()),
            false => self.write(),
        }
    }

    /// Returns whether the agent's changes are gone and it has not been told.
    pub(crate) const fn has_dropped(&self) -> bool {
        self.kept.about.dropped
    }

    /// Stores that the agent's changes are gone, or that it has been told.
    pub(crate) fn note_dropped(&mut self, is_dropped: bool) {
        if self.kept.about.dropped == is_dropped {
            return;
        }
        self.kept.about.dropped = is_dropped;
        if let Err(error) = self.write() {
            let what = if is_dropped { "will not be" } else { "will again be" };
            warn(&format!("the agent {what} told that its changes are gone: {error}"));
        }
    }

    /// Writes `about.json`, whole or not at all.
    pub(crate) fn write(&self) -> io::Result<()> {
        let path = self.kept.folder.join(ABOUT);
        let new = path.with_extension("new");
        let text = serde_json::to_vec(&self.kept.about)?;
        let options = &mut OpenOptions::new();
        let mut file = private(options.write(true).create(true).truncate(true)).open(&new)?;
        file.write_all(&text)?;
        // Without this, a crash could leave the new name with an empty file, and with that the
        // session would be damaged.
        file.sync_all()?;
        fs::rename(&new, &path)
    }

    /// Removes the session.
    pub(crate) fn delete(self) -> Result<(), CliError> {
        remove(&self.kept.folder, &self.kept.about.id)
    }
}

impl StoredSession {
    /// Locks the session for this program, and reads it again: it may have changed meanwhile.
    pub(crate) fn hold(self) -> Result<LockedSession, CliError> {
        let lock = locked(&self.folder).map_err(|error| self.failed(&error))?;
        match read(self.folder.clone()) {
            Some(ListedSession::Kept(kept)) => Ok(LockedSession::new(*kept, false, lock)),
            Some(ListedSession::Damaged(damaged)) => Err(damaged.failure()),
            None => Err(self.failed(&io::ErrorKind::NotFound.into())),
        }
    }
}
