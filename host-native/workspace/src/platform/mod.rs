//! The differences between Linux, macOS and Windows, under one name each: errors of the system,
//! names as bytes, permissions, limits of a process. Handles of folders are in `root`; nothing else
//! in this crate asks which system it is built for.

mod file_facts;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use file_facts::{FileIdentity, FilePermissions};
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[cfg(not(any(unix, windows)))]
compile_error!("innerloop-workspace is for Linux and macOS and, without a folder, for Windows");

/// True if one call can bring a whole file system to the disk (`syncfs`).
pub(crate) const SYNCS_ALL: bool = cfg!(target_os = "linux");
