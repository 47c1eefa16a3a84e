//! The folders in which version systems keep their own files. What is written there runs with the
//! user's next command, as hooks and settings do, so tools never change it, and searches pass over
//! it.

/// The names of these folders, for everything that protects them or passes over them.
pub const VERSION_SYSTEMS: [&str; 8] =
    [".git", ".hg", ".sl", ".jj", ".bzr", ".svn", "_darcs", ".pijul"];

/// Returns whether a folder of exactly that name is a version system's own.
#[must_use]
pub fn is_version_system(name: &str) -> bool {
    // Every entry of every walk is asked about, and few begin so.
    name.starts_with(['.', '_']) && VERSION_SYSTEMS.contains(&name)
}

/// Returns the version system's folder that a name stands for on a file system that ignores case.
pub(crate) fn version_system(name: &str) -> Option<&'static str> {
    VERSION_SYSTEMS.into_iter().find(|known| name.eq_ignore_ascii_case(known))
}
