//! The store of sessions: one folder for each, below the state folder, which only their owner may
//! read. A folder counts as a session once it has a log or changes.

use super::{
    open_session::LockedSession,
    session_facts::SessionInfo,
    stored_session::{
        DELETED, LOG, ListedSession, StoredSession, about_in, has_changes, locked, read, refused,
        short, unusable,
    },
};
use crate::exit::CliError;
use innerloop_core::id::SessionId;
use innerloop_host::host::new_session_id;
use innerloop_workspace::{app_dirs, platform::DirBuilderExt as _};
use std::{
    fs::{self, DirBuilder},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The age from which a folder without a log counts as left behind by a program that was killed. A
/// younger one may be a session that is just being opened.
const LEFT: Duration = Duration::from_secs(3_600);

/// All sessions that are kept.
#[derive(Clone, Debug)]
pub(crate) struct SessionStore(PathBuf);

impl SessionStore {
    /// Returns the store of this user, which need not exist yet.
    pub(crate) fn open() -> Result<Self, CliError> {
        let state = app_dirs::state().ok_or_else(|| {
            CliError::configuration(
                "there is no home folder to keep sessions in; set XDG_STATE_HOME",
            )
        })?;
        Ok(Self(state.join("sessions")))
    }

    /// Makes the folder of a session. One that exists is used only if it is damaged.
    pub(crate) fn create(&self, about: SessionInfo) -> Result<LockedSession, CliError> {
        let folder = self.0.join(&about.id);
        let unmade = |error: io::Error| unusable("cannot make", &folder, &error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(unmade)?;
        let is_new = match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(unmade(error)),
        };
        let lock = locked(&folder).map_err(|error| refused(&folder, short(&about.id), &error))?;
        if !is_new && about_in(&folder, &about.id).is_ok() {
            let short = short(&about.id);
            return Err(CliError::usage(format!(
                "the session {short} is kept already: innerloop resume {short} goes on with it"
            )));
        }
        let held = LockedSession::new(
            StoredSession { folder, about, used: SystemTime::now() },
            is_new,
            lock,
        );
        held.write().map_err(|error| unusable("cannot write", &held.kept.folder, &error))?;
        Ok(held)
    }

    /// Returns all sessions, the newest first. Other folders are skipped.
    pub(crate) fn list(&self) -> Result<Vec<ListedSession>, CliError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unusable("cannot read", &self.0, &error)),
        };
        let mut all: Vec<ListedSession> =
            entries.flatten().filter_map(|it| read(it.path())).collect();
        all.sort_by(|one, other| other.used().cmp(&one.used()).then(one.id().cmp(other.id())));
        Ok(all)
    }

    /// Returns the session of an id or its beginning, or, for `last`, the newest one of a folder.
    pub(crate) fn find(&self, named: &str, folder: &Path) -> Result<StoredSession, CliError> {
        match self.find_any(named, folder)? {
            ListedSession::Kept(kept) => Ok(*kept),
            ListedSession::Damaged(damaged) => Err(damaged.failure()),
        }
    }

    /// Returns the same, also if the session is damaged.
    pub(crate) fn find_any(&self, named: &str, folder: &Path) -> Result<ListedSession, CliError> {
        let mut all = self.list()?;
        if named == "last" {
            let of_folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            let is_of_folder = |listed: &ListedSession| match listed {
                ListedSession::Kept(kept) => kept.about.workspace == of_folder,
                _ => false,
            };
            let at = all.iter().position(is_of_folder);
            return at.map(|at| all.swap_remove(at)).ok_or_else(|| {
                let here = of_folder.display();
                let advice = "innerloop sessions list shows those of other folders";
                CliError::usage(format!("no session of {here} is kept; {advice}"))
            });
        }
        all.retain(|it| !named.is_empty() && it.id().starts_with(named));
        match (all.pop(), all.len()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(CliError::usage(format!(
                "no session {named:?} is kept; innerloop sessions list shows all"
            ))),
            (Some(_), others) => Err(CliError::usage(format!(
                "{} sessions begin with {named:?}; write more of the id",
                others + 1
            ))),
        }
    }

    /// Removes the remains of sessions whose programs were killed while they made or deleted them.
    pub(crate) fn sweep(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let (folder, name) = (entry.path(), entry.file_name());
            let is_deleted = name.to_str().is_some_and(|name| name.starts_with(DELETED));
            let made = entry.metadata().and_then(|found| found.modified());
            let is_old = made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > LEFT));
            let is_left =
                is_deleted || is_old && !folder.join(LOG).exists() && !has_changes(&folder);
            // A program that makes or deletes it at this moment holds its lock.
            if is_left && entry.file_type().is_ok_and(|it| it.is_dir()) && locked(&folder).is_ok() {
                drop(fs::remove_dir_all(&folder));
            }
        }
    }
}

/// Returns a new id of 128 random bits.
pub(crate) fn new_id() -> Result<SessionId, CliError> {
    new_session_id().map_err(|error| {
        CliError::configuration(format!("the system gives no random numbers: {error}"))
    })
}

#[cfg(test)]
mod tests;
