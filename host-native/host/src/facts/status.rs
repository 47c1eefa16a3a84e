//! The number of tracked files that differ from the last commit. Files are compared with the index
//! and the index with the commit's tree, as `git status` does, but without filters: programs that a
//! configuration names are never run.

use super::{
    budget::{ENTRIES, ScanBudget},
    head::HeadCommit,
    objects::ObjectStore,
    plain_files::FolderHandle,
    repository::GitFolders,
};
use gix_hash::{Kind as Hash, ObjectId, oid};
use gix_index::{
    Entry, State,
    entry::{Flags, Mode},
    extension::Tree,
};
use gix_object::{
    Kind, TreeRefIter,
    bstr::{BStr, BString, ByteSlice as _},
    compute_hash,
};
use innerloop_workspace::{EntryKind as Thing, PathStat};
use std::time::Duration;

/// The largest number of bytes of an index.
const MOST_INDEX_BYTES: u64 = 64 * 1024 * 1024;
/// The largest number of bytes of a file whose content is compared.
const MOST_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// The deepest folder of a tree that is looked at.
const DEPTH: usize = 128;

/// The index: the tracked files, and their state when they were last looked at.
pub(super) struct GitIndex {
    /// The entries as they were decoded.
    pub(super) state: State,
    /// The time at which it was written.
    written: Duration,
}

impl GitIndex {
    /// Reads the index; `None` if it is too large, broken, or has only a part of the entries.
    pub(super) fn read(folders: &GitFolders) -> Option<Self> {
        let empty = State::new(Hash::Sha1);
        let Some(found) = folders.own.stat("index") else {
            return Some(Self { state: empty, written: Duration::ZERO });
        };
        let bytes = folders.own.whole("index", MOST_INDEX_BYTES)?;
        let options = gix_index::decode::Options {
            thread_limit: Some(1),
            alloc_limit_bytes: usize::try_from(4 * MOST_INDEX_BYTES).ok(),
            ..Default::default()
        };
        let (state, _) = State::from_bytes(&bytes, empty.timestamp(), Hash::Sha1, options).ok()?;
        // A sparse index leaves out folders, and a split one has entries in another file. A count
        // over either would be wrong.
        let is_whole = !state.is_sparse() && state.link().is_none();
        let fits = u32::try_from(state.entries().len()).is_ok_and(|entries| entries <= ENTRIES);
        (is_whole && fits).then(|| Self { state, written: modified(found) })
    }

    /// Returns the paths of the tracked files that are UTF-8, from the repository's root on.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.state.entries().iter().filter_map(|entry| entry.path(&self.state).to_str().ok())
    }
}

/// Returns the number of tracked files that differ from the last commit; `None` if it can't be
/// determined, or not in time.
pub(super) fn count_modified(
    root: &FolderHandle,
    index: &GitIndex,
    tip: HeadCommit,
    objects: Option<&ObjectStore<'_>>,
    budget: &ScanBudget,
) -> Option<u32> {
    let state = &index.state;
    let mut staged =
        IndexComparison { state, budget, same: vec![false; state.entries().len()], gone: 0 };
    match tip {
        HeadCommit::Unborn => {}
        HeadCommit::Unknown => return None,
        HeadCommit::At(commit) => {
            let objects = objects?;
            let tree = objects.tree_of(&commit)?;
            staged.compare(objects, &tree, state.tree(), &mut BString::default(), DEPTH)?;
        }
    }
    let mut count = staged.gone;
    let has_filters = has_filters(root);
    for (entry, is_same) in state.entries().iter().zip(&staged.same) {
        // A file in conflict has several entries here, and was already counted once: the commit's
        // file has no entry without a conflict.
        if entry.stage_raw() != 0 {
            continue;
        }
        budget.take_entry()?;
        if !is_same || differs(root, index, entry, has_filters, budget)? {
            count += 1;
        }
    }
    Some(count)
}

/// The comparison of the index with a commit's tree.
struct IndexComparison<'a> {
    state: &'a State,
    budget: &'a ScanBudget,
    /// For each entry of the index, true if the commit has the same.
    same: Vec<bool>,
    /// The number of files of the commit that are not in the index, or in conflict there.
    gone: u32,
}

impl IndexComparison<'_> {
    /// Compares the entries below `path`. The index knows the ids of its trees, except where
    /// something has changed since they were written.
    fn compare(
        &mut self,
        objects: &ObjectStore<'_>,
        tree: &oid,
        known: Option<&Tree>,
        path: &mut BString,
        depth: usize,
    ) -> Option<()> {
        // With equal ids the whole subtree is equal, and no object has to be read. This keeps a
        // large repository within the budget.
        if known.is_some_and(|known| known.num_entries.is_some() && known.id == tree) {
            let range = self.state.prefixed_entries_range(path.as_bstr()).unwrap_or_default();
            self.same.get_mut(range)?.fill(true);
            return Some(());
        }
        // Each level is a call of this function, so that a hostile tree could otherwise overflow
        // the stack.
        let depth = depth.checked_sub(1)?;
        let mut buffer = Vec::new();
        let found = objects.find(tree, Kind::Tree, &mut buffer)?;
        let length = path.len();
        for entry in TreeRefIter::from_bytes(found.data, Hash::Sha1) {
            let entry = entry.ok()?;
            self.budget.take_entry()?;
            path.extend_from_slice(entry.filename);
            if entry.mode.is_tree() {
                let children = known.map(|known| known.children.as_slice()).unwrap_or_default();
                let child = children.iter().find(|child| child.name[..] == entry.filename[..]);
                path.push(b'/');
                self.compare(objects, entry.oid, child, path, depth)?;
            } else {
                self.compare_file(path.as_bstr(), u32::from(entry.mode.value()), entry.oid);
            }
            path.truncate(length);
        }
        Some(())
    }

    fn compare_file(&mut self, path: &BStr, mode: u32, id: &oid) {
        let stage = gix_index::entry::Stage::Unconflicted;
        let at = self.state.entry_index_by_path_and_stage(path, stage);
        let entry = at.and_then(|at| Some((self.state.entries().get(at)?, self.same.get_mut(at)?)));
        match entry {
            None => self.gone = self.gone.saturating_add(1),
            Some((entry, same)) => *same = entry.id == id && entry.mode.bits() == mode,
        }
    }
}

/// Returns whether a tracked file differs from the index; `None` if that can't be determined in
/// time.
fn differs(
    root: &FolderHandle,
    index: &GitIndex,
    entry: &Entry,
    has_filters: bool,
    budget: &ScanBudget,
) -> Option<bool> {
    // The user has told git not to look at these files.
    let left_alone = Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
    if entry.mode == Mode::COMMIT || entry.flags.intersects(left_alone) {
        return Some(false);
    }
    let path = entry.path(&index.state).to_path().ok()?;
    let Some(found) = root.stat(path) else { return Some(true) };
    let expected = if entry.mode == Mode::SYMLINK { Thing::Link } else { Thing::File };
    if found.kind != expected {
        return Some(true);
    }
    let is_size = u64::from(entry.stat.size) == found.size;
    if is_size && is_unchanged(index, entry, found) {
        return Some(false);
    }
    // Git writes the size 0 where it could not be sure of the time, so that the content has to be
    // compared.
    if !is_size && entry.stat.size != 0 {
        return Some(true);
    }
    let bytes = if found.kind == Thing::Link {
        let target = root.link_target(path)?;
        <[u8]>::from_path(&target)?.to_owned()
    } else if found.size <= MOST_FILE_BYTES {
        budget.take_bytes(found.size)?;
        root.whole(path, MOST_FILE_BYTES)?
    } else {
        return None;
    };
    // Where filters may be at work, different bytes do not prove a change, so they do not count as
    // one.
    Some(!is_content(&entry.id, &bytes) && !has_filters)
}

/// Returns whether the file's time shows that nothing was written since the index was.
fn is_unchanged(index: &GitIndex, entry: &Entry, found: PathStat) -> bool {
    let (now, then) = (modified(found), entry.stat.mtime);
    // Some builds of git store whole seconds only.
    let is_time = u64::from(then.secs) == now.as_secs()
        && (then.nsecs == 0 || then.nsecs == now.subsec_nanos());
    // A file that was changed in the same tick as the index was written has the same time before
    // and after. As in git, only an earlier time is proof.
    is_time && now < index.written
}

/// Returns whether these bytes are the object, even if line ends were converted on the way.
fn is_content(id: &ObjectId, bytes: &[u8]) -> bool {
    let is = |bytes: &[u8]| compute_hash(Hash::Sha1, Kind::Blob, bytes).is_ok_and(|new| new == *id);
    is(bytes) || (bytes.find(b"\r\n").is_some() && is(&bytes.replace(b"\r\n", b"\n")))
}

/// Returns whether files of the folder may differ in form from those in the repository, in a way
/// that only a program could undo. Two such forms of the same length are taken for equal.
fn has_filters(root: &FolderHandle) -> bool {
    let text = root.start(".gitattributes", 64 * 1024).unwrap_or_default();
    text.find(b"filter=").is_some()
}

const fn modified(found: PathStat) -> Duration {
    Duration::from_nanos(found.modified)
}
