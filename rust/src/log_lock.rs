//! The lock of a log: one program writes it at a time. The Python package takes the same lock, so
//! that agents in both languages exclude each other.

use crate::build_error::BuildError;
use innerloop_host::lock::LockFile;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::sleep;

/// The number of attempts to take the lock, and the pause between them: an agent of this program
/// that was just dropped may still be shutting down.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Locks the log at a path; the lock is held until the file is dropped.
pub(crate) async fn take(log: &Path) -> Result<LockFile, BuildError> {
    let path = beside(log);
    let unlocked = |error| BuildError::Unlocked { path: path.clone(), error };
    let file = LockFile::open(&path).map_err(unlocked)?;
    for _ in 0..TRIES {
        if file.try_hold().map_err(unlocked)? {
            return Ok(file);
        }
        sleep(PAUSE).await;
    }
    Err(BuildError::Busy { path: log.to_owned() })
}

/// Returns the path of the file that is locked.
pub(crate) fn beside(log: &Path) -> PathBuf {
    // Not the log itself: each time that it is begun anew, another file takes its place, and the
    // lock would stay on the old one. The name is that of Python's list of runs.
    let mut name = log.as_os_str().to_owned();
    name.push(".runs");
    name.into()
}
