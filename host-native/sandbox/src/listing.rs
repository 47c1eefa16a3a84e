//! A folder's entries as a guest reads them: all at once when it begins, and then piece by piece.

use innerloop_workspace::{EntryKind, ListedEntry};

/// The entries of a folder, encoded as `fd_readdir` gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderListing {
    bytes: Vec<u8>,
    /// The offset of each entry in the bytes.
    begins: Vec<usize>,
}

impl FolderListing {
    /// Those of a folder with that number, in the order of their names. No guest can name a file
    /// whose name is not UTF-8: it is left out.
    pub(super) fn of(mut entries: Vec<ListedEntry>, folder: u64) -> Self {
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let mut listing = Self::default();
        for name in [".", ".."] {
            listing.push(name, EntryKind::Folder, folder);
        }
        for ListedEntry { name, kind, inode } in entries {
            if let Some(name) = name.to_str() {
                listing.push(name, kind, inode);
            }
        }
        listing
    }

    fn push(&mut self, name: &str, kind: EntryKind, inode: u64) {
        let Ok(length) = u32::try_from(name.len()) else { return };
        self.begins.push(self.bytes.len());
        let next = self.begins.len() as u64;
        self.bytes.extend_from_slice(&next.to_le_bytes());
        self.bytes.extend_from_slice(&inode.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&[file_type(kind), 0, 0, 0]);
        self.bytes.extend_from_slice(name.as_bytes());
    }

    /// The bytes that it takes.
    pub(super) const fn size(&self) -> usize {
        self.bytes.len() + self.begins.len() * size_of::<usize>()
    }

    /// The entries from the one with the number `cookie` on.
    pub(super) fn from(&self, cookie: u64) -> &[u8] {
        let begin = usize::try_from(cookie).ok().and_then(|cookie| self.begins.get(cookie));
        begin.and_then(|begin| self.bytes.get(*begin..)).unwrap_or_default()
    }
}

/// The kind as WASI numbers it.
pub(super) const fn file_type(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::Other => 0,
        EntryKind::Folder => 3,
        EntryKind::File => 4,
        EntryKind::Link => 7,
    }
}
