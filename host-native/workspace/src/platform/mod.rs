//! The differences between Linux, macOS and Windows, under one name each: errors of the system,
//! names as bytes, permissions, limits of a process. Handles of folders are in `root`; nothing else
//! in this crate asks which system it is built for.

mod file_facts;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::{Path, PathBuf};

pub use file_facts::{FileIdentity, FilePermissions};
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[cfg(not(any(unix, windows)))]
compile_error!("innerloop-workspace is for Linux and macOS and, without a folder, for Windows");

/// True if one call can bring a whole file system to the disk (`syncfs`).
pub(crate) const SYNCS_ALL: bool = cfg!(target_os = "linux");

/// Returns the file of this program, to start it once more; `None` if the system does not tell.
pub fn own_program() -> Option<PathBuf> {
    // After an update, its path is gone or leads to another version. Linux has a link to the file
    // that runs, whose target nobody can replace.
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Some(running.to_owned());
    }
    std::env::current_exe().ok()
}
