//! Where sessions are kept: a folder for each, below the state folder, with what is known of it
//! (`about.json`) and its log (`log.jsonl`). Only their owner may read them. Whoever works with a
//! session holds the lock on its folder.

use super::about::About;
use crate::{cli::exit::Failure, journal::private, places};
use innerloop_core::id::SessionId;
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    hash::{BuildHasher, RandomState},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

const ABOUT: &str = "about.json";
const LOG: &str = "log.jsonl";
const LOCK: &str = "lock";

/// Largest file that is read of what is known of a session.
const MOST_ABOUT: u64 = 1 << 20;

/// All sessions that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Store(PathBuf);

/// A session that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    pub(crate) about: About,
    /// When its log was last written to.
    pub(crate) used: SystemTime,
}

/// A session that this program works with. The lock goes with it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) kept: Kept,
    /// Whether it was made by this program.
    is_new: bool,
    _lock: File,
}

impl Drop for Held {
    /// A session that was never opened is none.
    fn drop(&mut self) {
        if self.is_new && !self.kept.log_path().exists() {
            drop(fs::remove_dir_all(&self.kept.folder));
        }
    }
}

impl Store {
    /// The store of this user.
    pub(crate) fn open() -> Result<Self, Failure> {
        let state = places::state().ok_or_else(|| {
            Failure::configuration(
                "there is no home folder to keep sessions in; set XDG_STATE_HOME",
            )
        })?;
        Ok(Self(state.join("sessions")))
    }

    /// Makes the folder of a session.
    pub(crate) fn create(&self, about: About) -> io::Result<Held> {
        let folder = self.0.join(&about.id);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        let lock = locked(&folder)?;
        let held = Held {
            kept: Kept { folder, about, used: SystemTime::now() },
            is_new: true,
            _lock: lock,
        };
        held.write()?;
        Ok(held)
    }

    /// All sessions, the newest first. What is none is passed over.
    pub(crate) fn list(&self) -> Vec<Kept> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut all: Vec<Kept> = entries.flatten().filter_map(|it| Kept::read(it.path())).collect();
        all.sort_by(|one, other| other.used.cmp(&one.used).then(one.about.id.cmp(&other.about.id)));
        all
    }

    /// The session that is meant: by its id or the beginning of it, or `last` for the newest one
    /// of a folder.
    pub(crate) fn find(&self, named: &str, folder: &Path) -> Result<Kept, Failure> {
        let mut all = self.list();
        if named == "last" {
            let of_folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            let at = all.iter().position(|kept| kept.about.workspace == of_folder);
            return at.map(|at| all.swap_remove(at)).ok_or_else(|| {
                let here = of_folder.display();
                let advice = "innerloop sessions list shows those of other folders";
                Failure::usage(format!("no session of {here} is kept; {advice}"))
            });
        }
        all.retain(|kept| kept.about.id.starts_with(named));
        match all.len() {
            1 => all.pop().ok_or_else(|| Failure::usage("no session")),
            0 => Err(Failure::usage(format!(
                "no session {named:?} is kept; innerloop sessions list shows all"
            ))),
            n => Err(Failure::usage(format!(
                "{n} sessions begin with {named:?}; write more of the id"
            ))),
        }
    }
}

impl Kept {
    fn read(folder: PathBuf) -> Option<Self> {
        let path = folder.join(ABOUT);
        if fs::metadata(&path).ok()?.len() > MOST_ABOUT {
            return None;
        }
        let about: About = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        if folder.file_name()?.to_str()? != about.id {
            return None;
        }
        let log = fs::metadata(folder.join(LOG)).or_else(|_| fs::metadata(&folder));
        Some(Self { used: log.ok()?.modified().ok()?, folder, about })
    }

    /// Takes the session for this program alone.
    pub(crate) fn hold(self) -> Result<Held, Failure> {
        let lock = locked(&self.folder).map_err(|error| self.failed(&error))?;
        Ok(Held { kept: self, is_new: false, _lock: lock })
    }

    /// Where an overlay of the session's workspace stands.
    pub(crate) fn overlay(&self) -> PathBuf {
        self.folder.join("overlay")
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The session's log, as text.
    pub(crate) fn log(&self) -> Result<String, Failure> {
        fs::read_to_string(self.log_path()).map_err(|error| self.failed(&error))
    }

    /// Bytes of its files.
    pub(crate) fn size(&self) -> u64 {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
    }

    /// The first digits of its id, for people.
    pub(crate) fn short(&self) -> &str {
        self.about.id.get(..8).unwrap_or(&self.about.id)
    }

    fn failed(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::WouldBlock {
            let short = self.short();
            return Failure::usage(format!(
                "another innerloop works with the session {short}; wait for it, or fork it with \
                 innerloop sessions fork {short}"
            ));
        }
        Failure::configuration(format!("cannot use {}: {error}", self.folder.display()))
    }
}

impl Held {
    pub(crate) fn short(&self) -> &str {
        self.kept.short()
    }

    /// Says what the session is about, if nothing has been said yet.
    pub(crate) fn entitle(&mut self, title: &str) -> io::Result<()> {
        if !self.kept.about.title.is_empty() || title.is_empty() {
            return Ok(());
        }
        title.clone_into(&mut self.kept.about.title);
        self.write()
    }

    /// Whether nothing has been said to it.
    pub(crate) const fn is_silent(&self) -> bool {
        self.kept.about.title.is_empty()
    }

    /// Notes whether changes that the agent has made are gone.
    pub(crate) fn note_dropped(&mut self, is_dropped: bool) {
        if is_dropped && !self.kept.about.dropped {
            self.kept.about.dropped = true;
            // It is told where it is needed: a session goes on without it, too.
            drop(self.write());
        }
    }

    /// Takes the note that changes are gone.
    pub(crate) fn take_dropped(&mut self) -> bool {
        let was_dropped = std::mem::take(&mut self.kept.about.dropped);
        if was_dropped {
            drop(self.write());
        }
        was_dropped
    }

    /// Writes what is known of the session.
    pub(crate) fn write(&self) -> io::Result<()> {
        let path = self.kept.folder.join(ABOUT);
        let new = path.with_extension("new");
        let text = serde_json::to_vec(&self.kept.about)?;
        let options = &mut OpenOptions::new();
        let mut file = private(options.write(true).create(true).truncate(true)).open(&new)?;
        file.write_all(&text)?;
        fs::rename(&new, &path)
    }

    /// Removes the session.
    pub(crate) fn delete(self) -> Result<(), Failure> {
        fs::remove_dir_all(&self.kept.folder).map_err(|error| self.kept.failed(&error))
    }
}

/// The lock of a session's folder; `WouldBlock` if another program has it.
fn locked(folder: &Path) -> io::Result<File> {
    let options = &mut OpenOptions::new();
    let file = private(options.write(true).create(true).truncate(false)).open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        // Some file systems have no locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// 128 bits that no other session has: the keys of the hashes are random.
pub(crate) fn new_id() -> SessionId {
    let random = || RandomState::new().hash_one(process::id());
    SessionId(format!("{:016x}{:016x}", random(), random()))
}
