//! What each system has in its own way, under one name: errors of the system, names as bytes,
//! permissions, signals, the terminal. Handles of folders are in `workspace::root`, and the
//! machine's own programs in `local`; no other file asks which system it is built for.

mod found;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) use found::{Identity, Told};
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(not(any(unix, windows)))]
compile_error!("innerloop-host is for Linux and macOS and, without the sandbox, for Windows");

/// Whether all of a file system can be brought to the disk by one call.
pub(crate) const SYNCS_ALL: bool = cfg!(target_os = "linux");

/// Whether the key ring is that of macOS.
pub(crate) const HAS_KEYCHAIN: bool = cfg!(target_os = "macos");
