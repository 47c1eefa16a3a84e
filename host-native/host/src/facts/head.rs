//! The branch that is checked out, and the commit that it points to, read from `HEAD`, from the
//! file of the branch and from `packed-refs`. What cannot be read for sure is unknown, never
//! guessed.

use super::repository::GitFolders;
use gix_hash::ObjectId;
use innerloop_workspace::EntryKind;
use std::io::{BufRead as _, BufReader, Read as _};

/// The largest number of bytes of `packed-refs` that are read.
const MOST_PACKED_BYTES: u64 = 32 * 1024 * 1024;

/// The branch and the commit that are checked out.
pub(super) struct GitHead {
    /// The name of the branch, as the model reads it.
    pub(super) branch: String,
    /// The commit that it points to.
    pub(super) tip: HeadCommit,
}

/// The commit that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadCommit {
    /// The id of the commit.
    At(ObjectId),
    /// The branch has no commit yet.
    Unborn,
    /// The commit can't be determined.
    Unknown,
}

/// Reads `HEAD` and the branch that it names.
pub(super) fn read(folders: &GitFolders) -> Option<GitHead> {
    let head = folders.own.text("HEAD")?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref:") else {
        let tip = tip(head);
        let short = head.get(..7).filter(|_| head.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let branch = short.map_or_else(String::new, |short| format!("(detached at {short})"));
        return Some(GitHead { branch, tip });
    };
    let name = name.trim();
    // In a repository with reftables `HEAD` is only a stub, and branches stand in binary tables
    // that are not read here.
    if folders.common.folder("reftable").is_some() || !is_valid(name) {
        return Some(GitHead { branch: String::new(), tip: HeadCommit::Unknown });
    }
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    Some(GitHead { branch, tip: resolve(folders, name) })
}

fn tip(hex: &str) -> HeadCommit {
    // Objects are read as SHA-1 everywhere in this module. An id of another length belongs to a
    // repository that is not supported.
    let short = hex.len() == 40;
    let id = ObjectId::from_hex(hex.as_bytes()).ok().filter(|_| short);
    id.map_or(HeadCommit::Unknown, HeadCommit::At)
}

/// Returns whether it is the name of a branch or the like, and a path that stays below `refs`.
fn is_valid(name: &str) -> bool {
    // The name comes from a file of the repository and becomes a path: without a part that begins
    // with a point there is no `..`, and without backslash and colon no other drive.
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.');
    let is_mark = |c: char| c.is_control() || "\\:?*[~^ ".contains(c);
    let is_path = name.split('/').all(is_part) && !name.contains(is_mark);
    name.starts_with("refs/") && name.len() <= 1_000 && is_path
}

fn resolve(folders: &GitFolders, name: &str) -> HeadCommit {
    match folders.common.text(name) {
        Some(text) => tip(text.trim()),
        // A branch that stands there as anything but a file, such as a link, is not looked up
        // elsewhere: git would read what is there.
        None if folders.common.stat(name).is_some_and(|found| found.kind != EntryKind::Folder) => {
            HeadCommit::Unknown
        }
        None => packed(folders, name).unwrap_or(HeadCommit::Unknown),
    }
}

/// Returns the branch's commit out of the file in which git has packed branches.
fn packed(folders: &GitFolders, name: &str) -> Option<HeadCommit> {
    let Some(found) = folders.common.stat("packed-refs") else { return Some(HeadCommit::Unborn) };
    if found.size > MOST_PACKED_BYTES {
        return None;
    }
    let file = folders.common.file("packed-refs")?;
    let mut lines = BufReader::new(file.take(MOST_PACKED_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        // Comments and the lines with `^` for peeled tags never match a name that begins with
        // `refs/`.
        let text = str::from_utf8(&line).unwrap_or_default().trim_end();
        if let Some((hex, _)) = text.split_once(' ').filter(|(_, found)| *found == name) {
            return Some(tip(hex));
        }
        line.clear();
    }
    Some(HeadCommit::Unborn)
}
