//! The lock of a log: one program writes it at a time, in whatever language. The Python package
//! takes the same.

use crate::build_error::BuildError;
use innerloop_host::journal::private;
use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::time::sleep;

/// How often it is tried, and with which pause: an agent of this program that was dropped just now
/// still comes to its end.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock of the log at a path, which lasts as long as what is returned.
pub(crate) async fn take(log: &Path) -> Result<File, BuildError> {
    let path = beside(log);
    let file = private(OpenOptions::new().append(true).create(true)).open(&path);
    let file = file.map_err(|error| BuildError::Unlocked { path: path.clone(), error })?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => sleep(PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(BuildError::Unlocked { path, error }),
        }
    }
    Err(BuildError::Busy { path: log.to_owned() })
}

/// The file that is locked: the log itself is another one each time that it is begun anew.
pub(crate) fn beside(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".runs");
    name.into()
}
