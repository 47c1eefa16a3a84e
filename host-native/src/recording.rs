//! Recordings of model traffic on disk: one that is being made, a line for each exchange, and the
//! reading of one. Requests are not in it, and so neither is any key.

use crate::journal::private;
use innerloop_driver::traffic::{Player, TrafficError};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A recording that is being made, with what went wrong when it was written.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: File,
    error: Option<io::Error>,
}

/// A recording cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Something is there already, and a recording is never overwritten.
    #[error("{} exists already; name a new file for the recording", .0.display())]
    Exists(PathBuf),
    /// The file cannot be made.
    #[error("cannot create the recording {}: {error}; name another file", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line could not be written.
    #[error("the recording {} is not whole: {error}; make room and record again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the recording {}: {error}; name another file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is in it is no recording.
    #[error("{} is no recording: {error}; make a new one with --record", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Why.
        error: TrafficError,
    },
}

impl Recording {
    /// Creates the file, which must not exist; a pipe or a device is written to as it is.
    ///
    /// # Errors
    /// [`RecordingError`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = OpenOptions::new();
        let file = private(options.write(true).create_new(!is_stream)).open(path);
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Self { path, file, error: None }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RecordingError::Exists(path))
            }
            Err(error) => Err(RecordingError::Create { path, error }),
        }
    }

    /// Writes lines. The first failure is kept for [`Recording::finish`]: the run goes on.
    pub(crate) fn append(&mut self, lines: &str) {
        if let Err(error) = self.file.write_all(lines.as_bytes()) {
            self.error.get_or_insert(error);
        }
    }

    /// Whether everything was written.
    ///
    /// # Errors
    /// [`RecordingError::Write`] with the first thing that went wrong.
    pub fn finish(self) -> Result<(), RecordingError> {
        let Self { path, error, .. } = self;
        error.map_or(Ok(()), |error| Err(RecordingError::Write { path, error }))
    }
}

/// Reads a recording.
///
/// # Errors
/// [`RecordingError`] if the file cannot be read or is no recording.
pub fn player(path: &Path) -> Result<Player, RecordingError> {
    let text = fs::read_to_string(path)
        .map_err(|error| RecordingError::Read { path: path.to_owned(), error })?;
    Player::parse(&text).map_err(|error| RecordingError::Parse { path: path.to_owned(), error })
}
