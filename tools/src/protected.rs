//! The folders in which version systems keep their own: what is written there runs with the user's
//! next command, as hooks and settings do.

/// Their names, for all that protects them or passes over them.
pub const VERSION_SYSTEMS: [&str; 8] =
    [".git", ".hg", ".sl", ".jj", ".bzr", ".svn", "_darcs", ".pijul"];

/// Returns whether a folder of that name is a version system's own, as it is written.
#[must_use]
pub fn is_version_system(name: &str) -> bool {
    name.starts_with(['.', '_']) && VERSION_SYSTEMS.contains(&name)
}

/// The version system's folder that a name stands for on the most lenient file system.
pub(crate) fn version_system(name: &str) -> Option<&'static str> {
    VERSION_SYSTEMS.into_iter().find(|known| name.eq_ignore_ascii_case(known))
}
