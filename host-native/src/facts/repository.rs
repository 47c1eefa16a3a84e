//! Which repository a folder belongs to, and where its files are. A `.git` that leads elsewhere is
//! followed only if what it leads to names the folder in turn: anybody can write a path, but not
//! into somebody else's repository.

use super::plain;
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

/// A repository with its files.
pub(super) struct Repository {
    /// The folder in which `.git` stands.
    pub(super) root: PathBuf,
    /// Where its files are; `None` if that is not to be trusted.
    pub(super) folders: Option<Folders>,
}

/// Where a repository keeps what.
#[derive(Clone)]
pub(super) struct Folders {
    /// `HEAD` and the index: a worktree has its own.
    pub(super) own: PathBuf,
    /// Branches and objects.
    pub(super) common: PathBuf,
}

/// The repository at the folder or above it; the path has no links. As git does, the search stops
/// at another file system and at folders of other users, who could put their instructions there.
pub(super) fn find(folder: &Path) -> Option<Repository> {
    let mut above = folder.ancestors().take_while(|above| is_alike(above, folder));
    above.find_map(at)
}

fn is_alike(above: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |path: &Path| {
        let found = fs::symlink_metadata(path).ok()?;
        Some((found.uid(), found.dev()))
    };
    above == folder || owner(above).is_some_and(|found| owner(folder) == Some(found))
}

fn at(root: &Path) -> Option<Repository> {
    let git = root.join(".git");
    let found = fs::symlink_metadata(&git).ok()?;
    let folders = if found.is_dir() {
        plain::text(&git, "HEAD")?;
        Some(Folders { own: git.clone(), common: git })
    } else if found.is_symlink() {
        None
    } else {
        linked(root, plain::text(root, ".git")?.strip_prefix("gitdir:")?.trim())
    };
    Some(Repository { root: root.to_owned(), folders })
}

/// The folders of a worktree or a submodule, whose `.git` is a file with a path.
fn linked(root: &Path, path: &str) -> Option<Folders> {
    // Looking at such a path would already talk to another machine.
    if path.starts_with("//") || path.starts_with('\\') {
        return None;
    }
    let own = root.join(path).canonicalize().ok()?;
    let folders = |common: &Path| Folders { own: own.clone(), common: common.to_owned() };
    let leads_to = |path: &str, place: &Path| {
        own.join(path.trim()).canonicalize().is_ok_and(|found| found == place)
    };
    let above = own.parent()?;
    if own.starts_with(root) {
        return Some(folders(&own));
    }
    if above.file_name() == Some(OsStr::new("worktrees")) {
        let back = plain::text(&own, "gitdir")?;
        return Some(folders(above.parent()?)).filter(|_| leads_to(&back, &root.join(".git")));
    }
    let config = plain::text(&own, "config")?;
    let setting = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "worktree").then(|| value.trim().trim_matches('"').to_owned())
    };
    let back = config.lines().find_map(setting)?;
    Some(folders(&own)).filter(|_| leads_to(&back, root))
}
