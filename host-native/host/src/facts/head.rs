//! What is checked out: the branch, and the commit that it stands at.

use super::repository::GitFolders;
use gix_hash::ObjectId;
use innerloop_workspace::EntryKind;
use std::io::{BufRead as _, BufReader, Read as _};

/// Most bytes of `packed-refs` that are read.
const MOST_PACKED_BYTES: u64 = 32 * 1024 * 1024;

/// The branch and the commit that are checked out.
pub(super) struct GitHead {
    /// The branch as it is shown.
    pub(super) branch: String,
    /// The commit.
    pub(super) tip: HeadCommit,
}

/// The commit that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadCommit {
    /// It is this one.
    At(ObjectId),
    /// The branch has none yet.
    Unborn,
    /// It cannot be told.
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
    if folders.common.folder("reftable").is_some() || !is_valid(name) {
        return Some(GitHead { branch: String::new(), tip: HeadCommit::Unknown });
    }
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    Some(GitHead { branch, tip: resolve(folders, name) })
}

fn tip(hex: &str) -> HeadCommit {
    let short = hex.len() == 40;
    let id = ObjectId::from_hex(hex.as_bytes()).ok().filter(|_| short);
    id.map_or(HeadCommit::Unknown, HeadCommit::At)
}

/// Returns whether it is the name of a branch or the like, and a path that stays where it should.
fn is_valid(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.');
    let is_mark = |c: char| c.is_control() || "\\:?*[~^ ".contains(c);
    let is_path = name.split('/').all(is_part) && !name.contains(is_mark);
    name.starts_with("refs/") && name.len() <= 1_000 && is_path
}

fn resolve(folders: &GitFolders, name: &str) -> HeadCommit {
    match folders.common.text(name) {
        Some(text) => tip(text.trim()),
        // A branch that is there as anything but a file is not to be trusted.
        None if folders.common.stat(name).is_some_and(|found| found.kind != EntryKind::Folder) => {
            HeadCommit::Unknown
        }
        None => packed(folders, name).unwrap_or(HeadCommit::Unknown),
    }
}

/// The branch among those that git has packed into one file.
fn packed(folders: &GitFolders, name: &str) -> Option<HeadCommit> {
    let Some(found) = folders.common.stat("packed-refs") else { return Some(HeadCommit::Unborn) };
    if found.size > MOST_PACKED_BYTES {
        return None;
    }
    let file = folders.common.file("packed-refs")?;
    let mut lines = BufReader::new(file.take(MOST_PACKED_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        let text = str::from_utf8(&line).unwrap_or_default().trim_end();
        if let Some((hex, _)) = text.split_once(' ').filter(|(_, found)| *found == name) {
            return Some(tip(hex));
        }
        line.clear();
    }
    Some(HeadCommit::Unborn)
}
