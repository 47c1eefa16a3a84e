//! The session's log on disk: the lines that the driver gives, written before anything follows from
//! them. Only its owner may read the file, which holds everything that was said and read. A whole
//! snapshot comes whenever the session is idle; older ones are dropped now and then, so that the
//! file grows with the conversation and not with its square.

use innerloop_workspace::platform::OpenOptionsExt;
use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Write},
    mem,
    path::{Path, PathBuf},
};

/// The number of bytes of older snapshots that a file may have however short it is.
const SPARE: usize = 64 << 10;

/// The beginning of a snapshot's line.
const SNAPSHOT: &[u8] = b"{\"snapshot\":";

/// A log that is being written, to one file or to several alike.
#[derive(Debug)]
pub struct Journal(Vec<LogFile>);

/// A file of a log.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    /// The number of its bytes.
    size: usize,
    /// The number of bytes of its newest snapshot.
    newest: usize,
    /// The number of bytes of the snapshots before that one.
    spare: usize,
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
        let becomes = Some(path.to_owned());
        Ok(Self(vec![LogFile::open(&cleared(path), OpenOptions::new().create_new(true), becomes)?]))
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

    /// Writes a snapshot to every file behind the lines that it stands for. The older ones are
    /// dropped once they are a third of the file.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_snapshot(&mut self, line: &str) -> Result<(), JournalError> {
        // One that a crash cuts off is no loss: the lines before it say the same.
        self.append(line, false)?;
        if !line.is_empty() {
            self.0.iter_mut().for_each(|file| file.on_snapshot(line.len()));
        }
        Ok(())
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
            Ok(file) => {
                let (size, newest, spare) = (0, 0, 0);
                Ok(Self { path, file, size, newest, spare, becomes, dispensable: None })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(JournalError::Exists(path))
            }
            Err(error) => Err(JournalError::Create { path, error }),
        }
    }

    fn append(&mut self, lines: &str, durable: bool) -> io::Result<()> {
        self.file.write_all(lines.as_bytes())?;
        self.size += lines.len();
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

    fn on_snapshot(&mut self, length: usize) {
        self.spare += mem::replace(&mut self.newest, length);
        let needed = self.size - self.spare;
        // A file that cannot be written anew stays as it is, which is whole.
        if self.spare > SPARE.max(needed / 2) && self.compact().is_ok() {
            (self.size, self.spare) = (needed, 0);
        }
    }

    /// Puts a file without the older snapshots in the place of this one. The newest must stay: a
    /// program of another version reads no more than that.
    fn compact(&mut self) -> io::Result<()> {
        let new = cleared(&self.path);
        let file = private(OpenOptions::new().write(true).create_new(true)).open(&new)?;
        let written = copy_without_older(&self.path, self.size, &file)
            .and_then(|()| file.sync_data())
            .and_then(|()| fs::rename(&new, &self.path));
        match &written {
            Ok(()) => self.file = file,
            Err(_) => drop(fs::remove_file(&new)),
        }
        written
    }
}

/// Returns the path of the file that is to replace a log, at which there is none yet.
// Removed and made anew, and never truncated: where a log is in the workspace, the agent may have
// put a link there, which would be followed to another file.
fn cleared(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".new");
    let path = PathBuf::from(name);
    // If it cannot be removed, it cannot be created either, and that error is reported.
    drop(fs::remove_file(&path));
    path
}

/// Copies a log of that many bytes, which ends with a snapshot, without the older ones.
fn copy_without_older(path: &Path, size: usize, into: &File) -> io::Result<()> {
    let (mut from, mut into) = (BufReader::new(File::open(path)?), BufWriter::new(into));
    let (mut line, mut number, mut end) = (Vec::new(), 0, 0);
    while from.read_until(b'\n', &mut line)? > 0 {
        end += line.len();
        // One behind the header may stand for inputs that are in no line.
        if number <= 1 || end == size || !line.starts_with(SNAPSHOT) {
            into.write_all(&line)?;
        }
        number += 1;
        line.clear();
    }
    into.flush()
}

/// Sets the mode with which only the owner can read a new file. A file that exists keeps its mode.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    OpenOptionsExt::mode(options, 0o600);
    options
}
