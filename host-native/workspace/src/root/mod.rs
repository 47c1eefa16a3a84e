//! A folder that is held open, and all below it by that handle. No path is looked up from the
//! system's own root, no link is followed, no border of a file system is crossed, and nothing but
//! plain files and folders is opened. What a path stands for is judged on what was opened.

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
