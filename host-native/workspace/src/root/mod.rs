//! A folder that is held open, and everything below it by that handle. No path is looked up from
//! the system's root, no link is followed, no other file system is entered, and only plain files
//! and folders are opened. A path is judged by what was opened, not by what it named before.

mod access;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use access::{FileAccess, ListedEntry};
pub use system::set_file_times;
pub(crate) use system::{Root, copy, dress, open_folder::OpenFolder, set_file_mode, stat_file};
