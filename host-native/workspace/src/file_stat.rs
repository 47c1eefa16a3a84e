//! What the system says of a file, a folder or a link.

pub use innerloop_tools::EntryKind;

/// The attributes of a file, folder or link. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStat {
    /// File, folder or link.
    pub kind: EntryKind,
    /// In bytes.
    pub size: u64,
    /// The permissions, as mode bits.
    pub mode: u32,
    /// The number of its names.
    pub links: u64,
    /// The number of its file system.
    pub device: u64,
    /// Its number on that file system.
    pub inode: u64,
    /// The time at which its content was last read, as far as the system keeps that.
    pub accessed: u64,
    /// The time at which its content was last written, or another one that somebody has set.
    pub modified: u64,
    /// The time at which anything about it last changed, which nobody can set.
    pub changed: u64,
}

/// The mode bits that say who may do what.
const PERMISSIONS: u32 = 0o777;
/// Those of them that tools cannot take away: its owner can always read a file and write to it.
const OWNERS: u32 = 0o600;
/// Those by which a file can be executed.
const EXECUTABLE: u32 = 0o111;

impl PathStat {
    /// Returns who may do what with it, and nothing else of its mode.
    pub(crate) const fn permissions(&self) -> u32 {
        self.mode & PERMISSIONS
    }

    /// Returns whether anybody may execute it.
    pub(crate) const fn is_executable(&self) -> bool {
        self.mode & EXECUTABLE != 0
    }

    /// Returns whether nothing of it has changed since it was looked at.
    pub(crate) const fn is_still(&self, earlier: &Self) -> bool {
        self.inode == earlier.inode && self.changed == earlier.changed && self.size == earlier.size
    }
}

/// The permissions that a tool may give a file that asks for these.
pub(crate) const fn permitted(mode: u32) -> u32 {
    (mode & PERMISSIONS) | OWNERS
}
