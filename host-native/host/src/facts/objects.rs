//! Commits and trees of a repository, for the newest subjects and for the comparison with the
//! index. The store must consist of plain files alone: one that borrows objects from another
//! repository is not read.

use super::{
    budget::ScanBudget, packs::PackStore, plain_files::FolderHandle, repository::GitFolders,
};
use gix_hash::{Kind as Hash, ObjectId, oid};
use gix_object::{CommitRef, Data, Kind, decode::loose_header};
use gix_zlib::{Inflate, Status};
use innerloop_workspace::EntryKind as Thing;
use std::collections::{BTreeSet, BinaryHeap};

/// The largest number of bytes of an object.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The largest number of bytes that the kind and the length of a loose object take.
const HEADER: usize = 64;
/// The number of commits that are shown.
const COMMITS: usize = 10;
/// The largest number of parents of a commit that are looked at.
const PARENTS: usize = 16;
/// The largest number of characters of a subject.
const SUBJECT: usize = 200;

/// The objects of a repository, loose and in packs.
pub(super) struct ObjectStore<'a> {
    folder: FolderHandle,
    packs: PackStore,
    budget: &'a ScanBudget,
}

impl<'a> ObjectStore<'a> {
    /// Opens the store; `None` if it is not made of plain files.
    pub(super) fn open(folders: &GitFolders, budget: &'a ScanBudget) -> Option<Self> {
        let folder = folders.common.folder("objects")?;
        // With alternates git reads objects from any path of the machine, which the repository's
        // author could choose.
        for elsewhere in ["info/alternates", "info/http-alternates"] {
            if folder.stat(elsewhere).is_some() {
                return None;
            }
        }
        // Behind a link named `info` alternates would not have been found above.
        if folder.stat("info").is_some_and(|found| found.kind != Thing::Folder) {
            return None;
        }
        let packs = PackStore::open(&folder, MOST_BYTES)?;
        Some(Self { folder, packs, budget })
    }

    /// Returns the object, if it is of that kind.
    pub(super) fn find<'b>(&self, id: &oid, kind: Kind, out: &'b mut Vec<u8>) -> Option<Data<'b>> {
        let found = match self.packs.find(id, out) {
            Some(found) => found,
            None => self.loose(id, out)?,
        };
        self.budget.take_bytes(out.len() as u64)?;
        (found == kind).then_some(Data { kind, object_hash: Hash::Sha1, data: out })
    }

    /// Returns the object that stands in a file of its own.
    fn loose(&self, id: &oid, out: &mut Vec<u8>) -> Option<Kind> {
        let hex = id.to_string();
        let (start, rest) = hex.split_at_checked(2)?;
        let bytes = self.folder.whole(format!("{start}/{rest}"), MOST_BYTES as u64)?;
        let (mut inflate, mut header) = (Inflate::default(), [0; HEADER]);
        let (status, read, written) = inflate.prefix(&bytes, &mut header).ok()?;
        let start = header.get(..written)?;
        let (kind, size, skipped) = loose_header(start).ok()?;
        let size = usize::try_from(size).ok().filter(|size| *size <= MOST_BYTES)?;
        let content = start.get(skipped..)?;
        // The declared size is the limit: a small file that inflates to more is broken or hostile,
        // and is given up there.
        let length = match status {
            _ if content.len() > size => return None,
            Status::StreamEnd => {
                out.clear();
                out.extend_from_slice(content);
                out.len()
            }
            _ => inflate.rest(bytes.get(read..)?, start, skipped, out, size).ok()?,
        };
        (length == size).then_some(kind)
    }

    /// Returns the tree of a commit.
    pub(super) fn tree_of(&self, commit: &oid) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        let found = self.find(commit, Kind::Commit, &mut buffer)?;
        Some(CommitRef::from_bytes(found.data, Hash::Sha1).ok()?.tree())
    }

    /// Returns the subjects of the newest commits, newest first. A history that goes on where
    /// nothing can be read, as that of a shallow clone does, ends there.
    pub(super) fn subjects(&self, tip: ObjectId) -> Vec<String> {
        let mut subjects = Vec::new();
        let mut seen = BTreeSet::from([tip]);
        // Ordered by time over all branches, as in `git log`: along first parents alone, the
        // commits of a merged branch would be missing.
        let mut next = BinaryHeap::new();
        next.extend(self.commit(tip));
        while let Some(commit) = next.pop() {
            subjects.push(commit.subject);
            if subjects.len() == COMMITS {
                break;
            }
            for parent in commit.parents {
                if seen.insert(parent) {
                    next.extend(self.commit(parent));
                }
            }
        }
        subjects
    }

    fn commit(&self, id: ObjectId) -> Option<Commit> {
        let mut buffer = Vec::new();
        let found = self.find(&id, Kind::Commit, &mut buffer)?;
        let commit = CommitRef::from_bytes(found.data, Hash::Sha1).ok()?;
        Some(Commit {
            time: commit.committer().map_or(0, |committer| committer.seconds()),
            subject: subject(commit.message),
            parents: commit.parents().take(PARENTS).collect(),
        })
    }
}

/// A commit; the newest is the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Commit {
    // The derived order compares fields as they are declared, so the time stays first.
    time: i64,
    subject: String,
    parents: Vec<ObjectId>,
}

/// Returns the first line of a message.
fn subject(message: &[u8]) -> String {
    let line = message.trim_ascii_start().split(|byte| matches!(byte, b'\n' | b'\r')).next();
    one_line(&String::from_utf8_lossy(line.unwrap_or_default()))
}

/// Returns the text as one short line. The words of a repository must not look like lines of the
/// prompt, nor hold characters that people do not see.
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).take(SUBJECT).collect()
}

/// Returns whether the character is a control character, ends a line, sets the direction, has no
/// width, or is a tag.
pub(super) fn is_hidden(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'
            ..='\u{202e}' | '\u{2060}'
            ..='\u{206f}' | '\u{feff}' | '\u{e0000}'
            ..='\u{e0fff}'
    );
    c.is_control() || is_mark
}
