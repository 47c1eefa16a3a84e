//! A session that this program works with: what it notes of it, and the lock that goes with it.

use super::{
    session_facts::{SessionInfo, SessionOptions},
    stored_session::{ABOUT, ListedSession, StoredSession, locked, read, remove},
};
use crate::{console::warn, exit::CliError};
use innerloop_host::{journal::private, lock::LockFile};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
};

/// A session that this program works with. The lock goes with it.
#[derive(Debug)]
pub(crate) struct LockedSession {
    pub(crate) kept: StoredSession,
    /// True if it was made by this program.
    is_new: bool,
    _lock: LockFile,
}

impl Drop for LockedSession {
    /// A session that was never opened is none, unless its log could not be written.
    fn drop(&mut self) {
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

    /// Returns whether it can be resumed: its log could be written.
    pub(crate) fn has_log(&self) -> bool {
        self.kept.log_path().exists()
    }

    /// Says what the session is about, if nothing has been said yet.
    pub(crate) fn entitle(&mut self, title: &str) -> io::Result<()> {
        if !self.kept.about.title.is_empty() || title.is_empty() {
            return Ok(());
        }
        title.clone_into(&mut self.kept.about.title);
        self.write()
    }

    /// Returns whether nothing has been said to it.
    pub(crate) const fn is_silent(&self) -> bool {
        self.kept.about.title.is_empty()
    }

    /// Notes options that are in force from now on, and the model.
    pub(crate) fn note(
        &mut self,
        change: impl FnOnce(&mut SessionOptions),
        model: &str,
    ) -> io::Result<()> {
        let SessionInfo { options, model: noted, .. } = &mut self.kept.about;
        let before = (serde_json::to_vec(options)?, noted.clone());
        change(options);
        model.clone_into(noted);
        match (serde_json::to_vec(options)?, noted.clone()) == before {
            true => Ok(()),
            false => self.write(),
        }
    }

    /// Returns whether changes that the agent has made are gone, which it has not been told.
    pub(crate) const fn has_dropped(&self) -> bool {
        self.kept.about.dropped
    }

    /// Notes that changes that the agent has made are gone, or that it is told so.
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

    /// Writes what is known of the session.
    pub(crate) fn write(&self) -> io::Result<()> {
        let path = self.kept.folder.join(ABOUT);
        let new = path.with_extension("new");
        let text = serde_json::to_vec(&self.kept.about)?;
        let options = &mut OpenOptions::new();
        let mut file = private(options.write(true).create(true).truncate(true)).open(&new)?;
        file.write_all(&text)?;
        // A name that stands for nothing yet would be no session.
        file.sync_all()?;
        fs::rename(&new, &path)
    }

    /// Removes the session.
    pub(crate) fn delete(self) -> Result<(), CliError> {
        remove(&self.kept.folder, &self.kept.about.id)
    }
}

impl StoredSession {
    /// Takes the session for this program alone, as it is by then.
    pub(crate) fn hold(self) -> Result<LockedSession, CliError> {
        let lock = locked(&self.folder).map_err(|error| self.failed(&error))?;
        match read(self.folder.clone()) {
            Some(ListedSession::Kept(kept)) => Ok(LockedSession::new(*kept, false, lock)),
            Some(ListedSession::Damaged(damaged)) => Err(damaged.failure()),
            None => Err(self.failed(&io::ErrorKind::NotFound.into())),
        }
    }
}
