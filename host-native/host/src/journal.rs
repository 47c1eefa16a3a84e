//! The session's log on disk: the lines that the driver gives, written before anything follows from
//! them. Only its owner may read the file, which holds everything that was said and read.

use innerloop_workspace::platform::OpenOptionsExt;
use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A log that is being written, to one file or to several alike.
#[derive(Debug)]
pub struct Journal(Vec<LogFile>);

/// A file of a log.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    /// The path that the file is renamed to once it holds the session.
    becomes: Option<PathBuf>,
    /// The callback for a failure after which the session goes on without the file; `None` if it
    /// must not.
    dispensable: Option<WriteErrorCallback>,
}

/// The callback for a log that can't be written any more.
struct WriteErrorCallback(Box<dyn Fn(&JournalError) + Send + Sync>);

impl fmt::Debug for WriteErrorCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteErrorCallback")
    }
}

/// The log cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Something is there already, and a log is never overwritten.
    #[error("{} exists already; name a new file for the log", .0.display())]
    Exists(PathBuf),
    /// The file cannot be made.
    #[error("cannot create the log {}: {error}; name another file", path.display())]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// A line cannot be written, so that nothing may follow from it.
    #[error("cannot write the log {}: {error}; make room and run again", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
}

impl Journal {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// [`JournalError`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        Ok(Self(vec![LogFile::open(path, OpenOptions::new().create_new(true), None)?]))
    }

    /// Begins a log for a session that goes on. As soon as the file holds the session, it replaces
    /// the log at `path`, if there is one.
    ///
    /// # Errors
    /// [`JournalError`] if the file beside it cannot be made.
    pub fn replace(path: &Path) -> Result<Self, JournalError> {
        let new = path.with_extension("new");
        let options = &mut OpenOptions::new();
        let becomes = Some(path.to_owned());
        Ok(Self(vec![LogFile::open(&new, options.create(true).truncate(true), becomes)?]))
    }

    /// Begins a log as [`Journal::replace`] does, but the session goes on without the file if it
    /// can't be written any more. `told` is called once then, and what the file holds by then
    /// stays.
    ///
    /// # Errors
    /// As [`Journal::replace`].
    pub fn try_replace(
        path: &Path,
        told: impl Fn(&JournalError) + Send + Sync + 'static,
    ) -> Result<Self, JournalError> {
        let mut journal = Self::replace(path)?;
        if let Some(file) = journal.0.first_mut() {
            file.dispensable = Some(WriteErrorCallback(Box::new(told)));
        }
        Ok(journal)
    }

    /// Returns a log that writes the same lines to the files of both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Writes lines to every file. With `durable` it waits until they are on the disk.
    ///
    /// # Errors
    /// [`JournalError::Write`] if a file that the session needs can't be written.
    pub fn append(&mut self, lines: &str, durable: bool) -> Result<(), JournalError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut failed = None;
        // A failure does not end the loop: the other files still get the lines.
        self.0.retain_mut(|file| {
            let Err(error) = file.append(lines, durable) else { return true };
            let error = JournalError::Write { path: file.path.clone(), error };
            match &file.dispensable {
                Some(WriteErrorCallback(told)) => told(&error),
                None => {
                    failed.get_or_insert(error);
                    return true;
                }
            }
            false
        });
        failed.map_or(Ok(()), Err)
    }
}

impl LogFile {
    fn open(
        path: &Path,
        options: &mut OpenOptions,
        becomes: Option<PathBuf>,
    ) -> Result<Self, JournalError> {
        let path = path.to_owned();
        match private(options.write(true)).open(&path) {
            Ok(file) => Ok(Self { path, file, becomes, dispensable: None }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(JournalError::Exists(path))
            }
            Err(error) => Err(JournalError::Create { path, error }),
        }
    }

    fn append(&mut self, lines: &str, durable: bool) -> io::Result<()> {
        self.file.write_all(lines.as_bytes())?;
        // The first lines are on the disk before the rename, or a crash could leave an empty file
        // where the old log was.
        if durable || self.becomes.is_some() {
            self.file.sync_data().or_else(|error| match error.kind() {
                // A pipe or a device has no disk to wait for.
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
                _ => Err(error),
            })?;
        }
        if let Some(path) = self.becomes.take() {
            fs::rename(&self.path, &path)?;
            self.path = path;
        }
        Ok(())
    }
}

/// Sets the mode with which only the owner can read a new file. A file that exists keeps its mode.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    OpenOptionsExt::mode(options, 0o600);
    options
}
