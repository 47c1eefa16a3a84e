//! Commands on the machine itself: by its own shell, as this user, inside of bubblewrap where that
//! works. Files are read and written as in the sandbox, over the workspace's handle. This is only
//! for those who ask for it: nothing else in this crate starts a process.

#[cfg(unix)]
mod machine;
#[cfg(windows)]
mod nowhere;
mod options;

#[cfg(unix)]
pub use machine::{LocalEnvironment, bubblewrap};
#[cfg(windows)]
pub use nowhere::{LocalEnvironment, bubblewrap};
pub use options::{BubblewrapMode, InheritPolicy, LocalError, LocalOptions};
