//! Which repository a folder belongs to, and where its files are. A `.git` that leads elsewhere is
//! followed only if what it leads to names the folder in turn: anybody can write a path, but not
//! into somebody else's repository.

use super::plain_files::FolderHandle;
use innerloop_workspace::{
    EntryKind, Workspace,
    platform::{FileIdentity, identity},
};
use std::{ffi::OsStr, fs, path::Path};

impl GitFolders {
    /// Returns whether there are no files that its index could be compared with.
    pub(super) fn is_bare(&self) -> bool {
        let config = self.own.text("config").unwrap_or_default();
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == "bare").then(|| value.trim() == "true")
        };
        config.lines().find_map(setting).unwrap_or_default()
    }
}

/// A repository with its files.
pub(super) struct GitRepository {
    /// The folder in which `.git` stands.
    pub(super) root: FolderHandle,
    /// The folders of its files; `None` if they are not to be trusted.
    pub(super) folders: Option<GitFolders>,
}

/// The folders in which a repository keeps its files.
#[derive(Clone)]
pub(super) struct GitFolders {
    /// `HEAD` and the index: a worktree has its own.
    pub(super) own: FolderHandle,
    /// Branches and objects.
    pub(super) common: FolderHandle,
}

/// The repository at the folder or above it. As git does, the search stops at another file system
/// and at folders of other users, who could put their instructions there.
pub(super) fn find(workspace: &Workspace) -> Option<GitRepository> {
    let here = at(FolderHandle::of(workspace));
    let owner = identity(&fs::symlink_metadata(workspace.root()).ok()?)?.owner;
    let device = workspace.stat(Path::new("")).ok()?.device;
    let above = || workspace.root().ancestors().skip(1);
    here.or_else(|| above().map_while(|path| alike(path, owner, device)).find_map(at))
}

/// The folder at the path, if it is of that user and file system. The path has no links.
fn alike(path: &Path, owner: u32, device: u64) -> Option<FolderHandle> {
    let named = identity(&fs::symlink_metadata(path).ok()?)?;
    if named.owner != owner || named.device != device {
        return None;
    }
    let place = FolderHandle::open(path)?;
    is_same(&place, "", named).then_some(place)
}

/// Returns whether what was looked at by a name of the system is what stands there by the handle.
fn is_same(place: &FolderHandle, below: &str, named: FileIdentity) -> bool {
    let found = place.stat(below);
    found.is_some_and(|found| (found.device, found.inode) == (named.device, named.inode))
}

fn at(root: FolderHandle) -> Option<GitRepository> {
    let folders = match root.stat(".git")?.kind {
        EntryKind::Folder => {
            let git = root.folder(".git")?;
            git.text("HEAD")?;
            common(&root, &git).map(|common| GitFolders { own: git, common })
        }
        EntryKind::Link => None,
        EntryKind::File | EntryKind::Other => {
            linked(&root, root.text(".git")?.strip_prefix("gitdir:")?.trim())
        }
    };
    Some(GitRepository { root, folders })
}

/// Returns where the branches and objects of a folder `.git` are: there, or where it says, if that
/// is in the same project.
fn common(root: &FolderHandle, git: &FolderHandle) -> Option<FolderHandle> {
    if git.stat("commondir").is_none() {
        return Some(git.clone());
    }
    let path = git.text("commondir")?;
    root.folder(root.followed(&format!(".git/{}", path.trim()))?)
}

/// The folders of a worktree or a submodule, whose `.git` is a file with a path.
fn linked(root: &FolderHandle, path: &str) -> Option<GitFolders> {
    // Looking at such a path would already talk to another machine.
    if path.starts_with("//") || path.starts_with('\\') {
        return None;
    }
    let top = root.path();
    let alone = |own: FolderHandle| GitFolders { own: own.clone(), common: own };
    let own = FolderHandle::open(&top.join(path))?;
    let place = own.path();
    if let Ok(below) = place.strip_prefix(&top) {
        return root.folder(below).map(alone);
    }
    let names = |path: &str, below: &str| {
        let named = fs::metadata(place.join(path.trim())).ok();
        named.and_then(|found| identity(&found)).is_some_and(|named| is_same(root, below, named))
    };
    let above = place.parent()?;
    if above.file_name() == Some(OsStr::new("worktrees")) {
        let common = FolderHandle::open(above.parent()?)?;
        let own = common.folder(place.strip_prefix(common.path()).ok()?)?;
        let back = own.text("gitdir")?;
        return names(&back, ".git").then_some(GitFolders { own, common });
    }
    let config = own.text("config")?;
    let setting = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "worktree").then(|| value.trim().trim_matches('"').to_owned())
    };
    let back = config.lines().find_map(setting)?;
    names(&back, "").then(|| alone(own))
}
