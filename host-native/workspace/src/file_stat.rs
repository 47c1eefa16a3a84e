//! The attributes of a file, a folder or a link, alike on every system, and the rules for the
//! permissions that tools can give a file.

pub use innerloop_tools::EntryKind;

/// The attributes of a file, folder or link. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStat {
    /// The kind of entry: file, folder, link or another.
    pub kind: EntryKind,
    /// The size in bytes.
    pub size: u64,
    /// The permissions, as mode bits.
    pub mode: u32,
    /// The number of its names (hard links).
    pub links: u64,
    /// The number of its file system.
    pub device: u64,
    /// Its number on that file system.
    pub inode: u64,
    /// The time at which its content was last read, as far as the system keeps that.
    pub accessed: u64,
    /// The time at which its content was last written, or another one that somebody has set.
    pub modified: u64,
    /// The time at which anything about it last changed, which only the system sets.
    pub changed: u64,
}

/// The mode bits that say who may do what.
const PERMISSIONS: u32 = 0o777;
/// The permissions that tools cannot remove: a file's owner can always read it and write to it.
// The host knows the key of its compiled modules by mode 0400. As long as no guest can give a file
// that mode, it cannot forge a key.
const OWNERS: u32 = 0o600;
/// The mode bits by which a file can be executed.
const EXECUTABLE: u32 = 0o111;

impl PathStat {
    /// Returns its permissions without the other bits of its mode.
    pub(crate) const fn permissions(&self) -> u32 {
        self.mode & PERMISSIONS
    }

    /// Returns whether anybody may execute it.
    pub(crate) const fn is_executable(&self) -> bool {
        self.mode & EXECUTABLE != 0
    }

    /// Returns whether it is the same file, unchanged since it had these earlier attributes.
    pub(crate) const fn is_still(&self, earlier: &Self) -> bool {
        // `modified` would not do: a program that sets it back hides what it has written.
        self.inode == earlier.inode && self.changed == earlier.changed && self.size == earlier.size
    }
}

/// Returns the permissions that a file gets if a tool asks for these.
pub(crate) const fn permitted(mode: u32) -> u32 {
    (mode & PERMISSIONS) | OWNERS
}
