//! Commits and trees. The store must be made of plain files alone: one that borrows objects from
//! another repository is not read.

use super::{budget::Budget, plain, repository::Folders};
use gix_hash::{Kind as Hash, ObjectId, oid};
use gix_object::{CommitRef, Data, Find as _, Kind};
use gix_odb::store::init::Options;
use std::{
    collections::{BTreeSet, BinaryHeap},
    fs,
    path::PathBuf,
};

/// Most bytes of an object.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most packs and files beside them.
const MOST_PACKS: usize = 4_096;
/// How many commits are shown.
const COMMITS: usize = 10;
/// Most parents of a commit that are looked at.
const PARENTS: usize = 16;
/// Most characters of a subject.
const SUBJECT: usize = 200;

/// A repository's objects.
pub(super) struct Objects<'a> {
    folder: PathBuf,
    store: gix_odb::Handle,
    budget: &'a Budget,
}

impl<'a> Objects<'a> {
    /// Opens the store; `None` if it is not made of plain files.
    pub(super) fn open(folders: &Folders, budget: &'a Budget) -> Option<Self> {
        let folder = plain::folder(&folders.common, "objects")?;
        for elsewhere in ["info/alternates", "info/http-alternates"] {
            if plain::entry(&folder, elsewhere).is_some() {
                return None;
            }
        }
        // A link of this name would be no folder.
        if let Some((packs, found)) = plain::entry(&folder, "pack") {
            found.is_dir().then_some(())?;
            let files = fs::read_dir(packs).ok()?.take(MOST_PACKS + 1);
            let plain = files.filter(|file| {
                let kind = file.as_ref().ok().and_then(|file| file.file_type().ok());
                kind.is_some_and(|kind| kind.is_file())
            });
            let all = fs::read_dir(folder.join("pack")).ok()?.take(MOST_PACKS + 1).count();
            (plain.count() == all && all <= MOST_PACKS).then_some(())?;
        }
        if plain::entry(&folder, "info").is_some_and(|(_, found)| !found.is_dir()) {
            return None;
        }
        let options = Options { alloc_limit_bytes: Some(MOST_BYTES), ..Options::default() };
        let mut store = gix_odb::at_opts(&folder, Hash::Sha1, None, options).ok()?;
        store.refresh_never();
        Some(Self { folder, store, budget })
    }

    /// The object, if it is of that kind.
    pub(super) fn find<'b>(&self, id: &oid, kind: Kind, out: &'b mut Vec<u8>) -> Option<Data<'b>> {
        let hex = id.to_string();
        let (start, rest) = hex.split_at_checked(2)?;
        match fs::symlink_metadata(self.folder.join(start)) {
            Ok(found) if !found.is_dir() => return None,
            Ok(_) => match fs::symlink_metadata(self.folder.join(start).join(rest)) {
                Ok(found) if !found.is_file() || found.len() > MOST_BYTES as u64 => return None,
                _ => {}
            },
            Err(_) => {}
        }
        let found = self.store.try_find(id, out).ok()??;
        self.budget.take_bytes(found.data.len() as u64)?;
        (found.kind == kind).then_some(found)
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: &oid) -> Option<ObjectId> {
        let mut buffer = Vec::new();
        let found = self.find(commit, Kind::Commit, &mut buffer)?;
        Some(CommitRef::from_bytes(found.data, Hash::Sha1).ok()?.tree())
    }

    /// The subjects of the newest commits, newest first. A history that goes on where nothing can
    /// be read, as that of a shallow clone does, ends there.
    pub(super) fn subjects(&self, tip: ObjectId) -> Vec<String> {
        let mut subjects = Vec::new();
        let mut seen = BTreeSet::from([tip]);
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
    time: i64,
    subject: String,
    parents: Vec<ObjectId>,
}

/// The first line of a message.
fn subject(message: &[u8]) -> String {
    let line = message.trim_ascii_start().split(|byte| matches!(byte, b'\n' | b'\r')).next();
    one_line(&String::from_utf8_lossy(line.unwrap_or_default()))
}

/// The text as one short line: a repository's words must not look like lines of the prompt, nor
/// say what nobody sees who looks at them.
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).take(SUBJECT).collect()
}

/// Whether it is a control character, ends a line, sets the direction, or is a tag.
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
