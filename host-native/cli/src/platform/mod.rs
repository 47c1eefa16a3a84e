//! The differences between systems behind one set of names: signals, the terminal, the key ring. No
//! other file of this crate asks which system it is built for.

mod system_facts;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) use system_facts::SystemSignal;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// True if the key ring is that of macOS.
pub(crate) const HAS_KEYCHAIN: bool = cfg!(target_os = "macos");
