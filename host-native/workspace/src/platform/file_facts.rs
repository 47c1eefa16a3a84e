//! What a system says of files, in words of ours.

/// The owner and the identity of a file, by the numbers of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The number of the user that it belongs to.
    pub owner: u32,
    /// The number of its file system.
    pub device: u64,
    /// Its number on that file system.
    pub inode: u64,
}

/// The permissions of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePermissions {
    /// As bits of a mode; none where the system has no modes.
    pub mode: Option<u32>,
    /// The number of its names; `None` where that is not told.
    pub links: Option<u64>,
    /// True if it is this user's; yes where the system does not tell.
    pub is_own: bool,
}
