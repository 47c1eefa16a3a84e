//! Commands on the machine itself: by its own shell, as this user, inside of bubblewrap where that
//! works. Files are read and written as in the sandbox, over the workspace's handle. This is only
//! for those who ask for it, by an option or by hooks: nothing else in this crate starts a process.

mod hook_command;
#[cfg(unix)]
mod machine;
#[cfg(windows)]
mod nowhere;
mod options;

pub use hook_command::{HookCommand, HookSite};
#[cfg(unix)]
pub use machine::{HookCommands, LocalEnvironment, bubblewrap};
#[cfg(windows)]
pub use nowhere::{HookCommands, LocalEnvironment, bubblewrap};
pub use options::{BubblewrapMode, InheritPolicy, LocalError, LocalOptions};
