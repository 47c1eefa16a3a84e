//! The session's log on disk: the lines that the driver gives, written before anything follows from
//! them. Only its owner may read the file: it holds what was said and read.

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

    /// Writes lines; `durable` waits until they are on the disk.
    pub(crate) fn append(&mut self, lines: &str, durable: bool) -> Result<(), JournalError> {
        if lines.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(lines.as_bytes());
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
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
