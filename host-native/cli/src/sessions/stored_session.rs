//! A session in its folder: its facts (`about.json`), its log (`log.jsonl`), and the changes of its
//! agent (`overlay`). Any program may read it; one that writes to it holds the folder's lock.

use super::{
    logs,
    session_facts::{SessionInfo, names},
};
use crate::exit::CliError;
use innerloop_host::lock::LockFile;
use innerloop_workspace::plain_file;
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

pub(super) const ABOUT: &str = "about.json";
pub(super) const LOG: &str = "log.jsonl";
/// The name of the copy of a damaged log.
const DAMAGED: &str = "log.damaged.jsonl";
pub(super) const OVERLAY: &str = "overlay";
const LOCK: &str = "lock";
/// The file of an overlay that exists as long as it holds changes.
pub(super) const VIEW: &str = "view.json";

/// The prefix of a session's folder while it is being deleted.
pub(super) const DELETED: &str = ".deleted-";

/// The most bytes of `about.json` that are read.
const MOST_ABOUT: u64 = 1 << 20;

/// A session in the store.
#[derive(Clone, Debug)]
pub(crate) enum ListedSession {
    Kept(Box<StoredSession>),
    Damaged(DamagedSession),
}

/// A session that is kept.
#[derive(Clone, Debug)]
pub(crate) struct StoredSession {
    pub(super) folder: PathBuf,
    pub(crate) about: SessionInfo,
    /// The time at which its log was last written to.
    pub(crate) used: SystemTime,
}

/// A session whose `about.json` can't be read.
#[derive(Clone, Debug)]
pub(crate) struct DamagedSession {
    pub(super) folder: PathBuf,
    pub(crate) id: String,
    pub(crate) used: SystemTime,
    /// The problem, as the end of a sentence.
    pub(crate) why: String,
}

impl ListedSession {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Kept(kept) => &kept.about.id,
            Self::Damaged(damaged) => &damaged.id,
        }
    }

    /// Returns the first digits of its id, for people.
    pub(crate) fn short(&self) -> &str {
        short(self.id())
    }

    pub(crate) const fn used(&self) -> SystemTime {
        match self {
            Self::Kept(kept) => kept.used,
            Self::Damaged(damaged) => damaged.used,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Kept(kept) => &kept.folder,
            Self::Damaged(damaged) => &damaged.folder,
        }
    }

    /// Returns whether it holds changes that are not applied.
    pub(crate) fn has_changes(&self) -> bool {
        has_changes(self.folder())
    }

    /// Locks its folder for this program until the lock is dropped.
    pub(crate) fn lock(&self) -> Result<LockFile, CliError> {
        locked(self.folder()).map_err(|error| refused(self.folder(), self.short(), &error))
    }

    /// Returns the folder of its overlay.
    pub(crate) fn overlay(&self) -> PathBuf {
        self.folder().join(OVERLAY)
    }

    /// Removes it. If the program is killed meanwhile, what is left no longer counts as a session.
    pub(crate) fn delete(&self) -> Result<(), CliError> {
        let _lock = self.lock()?;
        remove(self.folder(), self.id())
    }
}

impl StoredSession {
    /// Returns the folder of its overlay.
    pub(crate) fn overlay(&self) -> PathBuf {
        self.folder.join(OVERLAY)
    }

    /// Returns whether it holds changes that are not applied.
    pub(crate) fn has_changes(&self) -> bool {
        has_changes(&self.folder)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// Reads the session's log.
    pub(crate) fn log(&self) -> Result<String, CliError> {
        logs::read(&self.log_path()).map_err(|failure| CliError::configuration(failure.message))
    }

    /// Copies a damaged log before a new one takes its place; returns the copy's path.
    pub(crate) fn keep_damaged(&self) -> Result<PathBuf, CliError> {
        let copy = self.folder.join(DAMAGED);
        let copied = fs::copy(self.log_path(), &copy);
        copied.map(|_| copy).map_err(|error| self.failed(&error))
    }

    /// Returns the bytes of its files.
    pub(crate) fn size(&self) -> u64 {
        size(&self.folder) + size(&self.overlay())
    }

    /// Returns the first digits of its id, for people.
    pub(crate) fn short(&self) -> &str {
        short(&self.about.id)
    }

    pub(super) fn failed(&self, error: &io::Error) -> CliError {
        refused(&self.folder, self.short(), error)
    }
}

impl DamagedSession {
    /// Returns the error about it, with what can be done.
    pub(crate) fn failure(&self) -> CliError {
        let (short, why) = (short(&self.id), &self.why);
        let log = self.folder.join(LOG);
        CliError::configuration(format!(
            "the session {short} is damaged: {why}; innerloop resume {} makes it whole again for \
             the folder in which that is said, and innerloop sessions delete {short} removes it",
            log.display()
        ))
    }
}

/// Returns the first digits of an id, for people.
pub(super) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Returns whether the overlay of the session in that folder holds changes.
pub(super) fn has_changes(folder: &Path) -> bool {
    folder.join(OVERLAY).join(VIEW).exists()
}

/// Returns the bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok()).filter(|found| found.is_file());
    files.map(|found| found.len()).sum()
}

/// Returns the session in a folder; none if it was never opened.
pub(super) fn read(folder: PathBuf) -> Option<ListedSession> {
    let id = folder.file_name()?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
    // The log tells when a session was last used: `about.json` is written only when facts change.
    let used = match fs::metadata(folder.join(LOG)).and_then(|log| log.modified()) {
        Ok(used) => used,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let why = format!("its folder cannot be read: {error}");
            return Some(ListedSession::Damaged(DamagedSession {
                folder,
                id,
                used: SystemTime::now(),
                why,
            }));
        }
        // Without its log it can't be resumed, but its changes can still be applied.
        Err(_) if has_changes(&folder) => {
            let view = fs::metadata(folder.join(OVERLAY).join(VIEW));
            view.and_then(|view| view.modified()).unwrap_or_else(|_| SystemTime::now())
        }
        Err(_) => return None,
    };
    Some(match about_in(&folder, &id) {
        Ok(about) => ListedSession::Kept(Box::new(StoredSession { folder, about, used })),
        Err(why) => ListedSession::Damaged(DamagedSession { folder, id, used, why }),
    })
}

/// Returns the facts of the session of that id, or what is wrong with them.
pub(super) fn about_in(folder: &Path, id: &str) -> Result<SessionInfo, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("its {ABOUT} cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = plain_file::open(&folder.join(ABOUT)).map_err(|error| unreadable(&error))?;
    file.take(MOST_ABOUT).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let mut about: SessionInfo =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
    if about.id != id {
        return Err(format!("its {ABOUT} is that of another session"));
    }
    // Values are never taken from this file, whoever has written them there.
    let set = &mut about.options.environment.set_env;
    *set = names(set);
    Ok(about)
}

/// Removes the folder of a session whose lock is held.
pub(super) fn remove(folder: &Path, id: &str) -> Result<(), CliError> {
    // Renamed first, so that a program that is killed meanwhile leaves no half of a session.
    let gone = folder.with_file_name(format!("{DELETED}{id}"));
    drop(fs::remove_dir_all(&gone));
    fs::rename(folder, &gone).map_err(|error| refused(folder, short(id), &error))?;
    fs::remove_dir_all(&gone).map_err(|error| unusable("cannot remove", &gone, &error))
}

/// Returns the error for a session's folder that the system does not let us use.
pub(super) fn refused(folder: &Path, short: &str, error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::WouldBlock => CliError::usage(format!(
            "another innerloop works with the session {short}; wait for it, or fork it with \
             innerloop sessions fork {short}"
        )),
        io::ErrorKind::NotFound => {
            CliError::usage(format!("the session {short} was deleted meanwhile"))
        }
        _ => unusable("cannot use", folder, error),
    }
}

pub(super) fn unusable(what: &str, folder: &Path, error: &io::Error) -> CliError {
    CliError::configuration(format!("{what} {}: {error}", folder.display()))
}

/// Locks a session's folder; fails with `WouldBlock` if another program has the lock.
pub(super) fn locked(folder: &Path) -> io::Result<LockFile> {
    let lock = LockFile::open(&folder.join(LOCK))?;
    match lock.try_hold() {
        Ok(true) => Ok(lock),
        Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
        // Some file systems have no locks; sessions work there without.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(lock),
        Err(error) => Err(error),
    }
}
