//! The entries of folders: piece by piece for `fd_readdir`, and all at once with their attributes
//! for the shell. Both are in the order of names, so that equal folders give equal output.

use super::{GuestFiles, TreePath};
use crate::{errno, listing::FolderListing, wasi_error::CallError};
use innerloop_workspace::{EntryKind, PathStat};
use std::ffi::OsString;

impl GuestFiles {
    /// Returns at most `len` bytes of a folder's entries, from the one with the number `cookie` on.
    pub(crate) fn list(&mut self, fd: i32, cookie: u64, len: usize) -> Result<Vec<u8>, CallError> {
        let folder = self.folder(fd)?;
        let (tree, path) = (folder.tree, folder.path.clone().ok_or(errno::NOENT)?);
        // Listed once for each pass through the folder. wasmtime lists it again for each buffer,
        // which is quadratic, and entries that are removed meanwhile would shift the others.
        if cookie == 0 || folder.listing.is_none() {
            let before = folder.listing.take().map_or(0, |listing| listing.size());
            self.quota.give_back(before);
            let entries = self.tree(tree).list(&path)?;
            let inode = self.tree(tree).stat(&path)?.inode;
            // The tools, which alone write so, tell the model of names that it cannot use.
            let listing = FolderListing::of(entries, inode, self.writes_whole);
            if !self.quota.take_listing(listing.size()) {
                return Err(CallError::Errno(errno::NOMEM));
            }
            self.folder(fd)?.listing = Some(listing);
        }
        let listing = self.folder(fd)?.listing.as_ref();
        let rest = listing.map(|listing| listing.from(cookie)).unwrap_or_default();
        Ok(rest.get(..len).unwrap_or(rest).to_vec())
    }

    /// The entries of the folder at a path with their attributes, in the order of their names.
    pub(crate) fn entries(
        &mut self,
        fd: i32,
        path: &str,
    ) -> Result<Vec<(OsString, PathStat)>, CallError> {
        let TreePath { tree, path } = self.place(fd, path, true)?;
        if self.tree(tree).stat(&path)?.kind != EntryKind::Folder {
            return Err(CallError::Errno(errno::NOTDIR));
        }
        // Each entry is looked up in the open folder, not by its whole path from the root on.
        let folder = self.tree(tree).enter(&path)?;
        let mut names: Vec<OsString> = folder.list()?.into_iter().map(|named| named.name).collect();
        names.sort_unstable();
        // An entry that was removed since the folder was listed is left out.
        let all = names.into_iter().filter_map(|name| folder.stat(&name).ok().map(|at| (name, at)));
        Ok(all.collect())
    }
}
