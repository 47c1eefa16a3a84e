//! The owner, identity and permissions of a file, in types that are the same on every system. What
//! a system does not tell is `None`.

/// The owner and the identity of a file, by the numbers of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The number of the user that it belongs to.
    pub owner: u32,
    /// The number of its file system.
    pub device: u64,
    /// Its inode number on that file system.
    pub inode: u64,
}

/// The permissions of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePermissions {
    /// The mode bits; `None` where the system has no modes.
    pub mode: Option<u32>,
    /// The number of its names (hard links); `None` where the system does not tell.
    pub links: Option<u64>,
    /// True if it belongs to this user, or the system does not tell.
    pub is_own: bool,
}
