//! The listing of a folder for a guest: made when the guest begins to read it, then handed out
//! piece by piece. It does not change meanwhile, so that no entry comes twice or is missed.

use innerloop_workspace::{EntryKind, ListedEntry};

/// The entries of a folder, encoded as `fd_readdir` gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderListing {
    bytes: Vec<u8>,
    /// The offset of each entry in the bytes.
    begins: Vec<usize>,
}

impl FolderListing {
    /// The listing of a folder with this inode number, in the order of names; names that are not
    /// UTF-8 are in it only if `has_bytes`.
    pub(super) fn of(mut entries: Vec<ListedEntry>, folder: u64, has_bytes: bool) -> Self {
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let mut listing = Self::default();
        for name in [".", ".."] {
            listing.push(name.as_bytes(), EntryKind::Folder, folder);
        }
        // WASI's paths are UTF-8: a program could not name the others, and one such name must not
        // hide its neighbours.
        for ListedEntry { name, kind, inode } in entries {
            if has_bytes || name.to_str().is_some() {
                listing.push(name.as_encoded_bytes(), kind, inode);
            }
        }
        listing
    }

    fn push(&mut self, name: &[u8], kind: EntryKind, inode: u64) {
        // The layout of WASI's `dirent`: the cookie of the next entry, the inode, the length of the
        // name, the type, and the name without an end mark.
        let Ok(length) = u32::try_from(name.len()) else { return };
        self.begins.push(self.bytes.len());
        let next = self.begins.len() as u64;
        self.bytes.extend_from_slice(&next.to_le_bytes());
        self.bytes.extend_from_slice(&inode.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&[file_type(kind), 0, 0, 0]);
        self.bytes.extend_from_slice(name);
    }

    /// The bytes of memory that the listing takes.
    pub(super) const fn size(&self) -> usize {
        self.bytes.len() + self.begins.len() * size_of::<usize>()
    }

    /// The entries from the one with the number `cookie` on.
    pub(super) fn from(&self, cookie: u64) -> &[u8] {
        // A cookie is the guest's and may be any number; behind the last entry there is nothing.
        let begin = usize::try_from(cookie).ok().and_then(|cookie| self.begins.get(cookie));
        begin.and_then(|begin| self.bytes.get(*begin..)).unwrap_or_default()
    }
}

/// The number of a kind in WASI.
pub(super) const fn file_type(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::Other => 0,
        EntryKind::Folder => 3,
        EntryKind::File => 4,
        EntryKind::Link => 7,
    }
}
