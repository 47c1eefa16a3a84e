//! The session's log on disk: the header, then each accepted input, a line each, before anything
//! follows from it. Only its owner may read the file: it holds what was said and read.

use innerloop_core::{
    config::SessionConfig,
    input::Input,
    log,
    time::{Instant, UnixMillis},
};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A log that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
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
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line cannot be written, so that nothing may follow from it.
    #[error("cannot write the log {}: {error}; make room and run again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Journal {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// [`JournalError`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let file = private(OpenOptions::new().write(true).create_new(true)).open(path);
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(JournalError::Exists(path))
            }
            Err(error) => Err(JournalError::Create { path, error }),
        }
    }

    /// Writes the header.
    pub(crate) fn begin(
        &mut self,
        config: &SessionConfig,
        wall: UnixMillis,
    ) -> Result<(), JournalError> {
        self.append(&log::Header::new(config.clone(), wall).line(), true)
    }

    /// The line of an input.
    pub(crate) fn line(input: &Input, now: Instant) -> String {
        log::entry(input, now)
    }

    /// Writes a line; `durable` waits until it is on the disk.
    pub(crate) fn append(&mut self, line: &str, durable: bool) -> Result<(), JournalError> {
        let written = self.file.write_all(line.as_bytes());
        let synced = written.and_then(|()| if durable { self.file.sync_data() } else { Ok(()) });
        // A pipe or a device has no disk to wait for.
        let synced = synced.or_else(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
            _ => Err(error),
        });
        synced.map_err(|error| JournalError::Write { path: self.path.clone(), error })
    }
}

/// With a mode that lets nobody but the owner read a new file.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
