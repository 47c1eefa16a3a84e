//! The repository that a folder belongs to, and where its files are. A `.git` that leads elsewhere
//! is followed only if what it leads to names the folder in turn: anybody can write a path into a
//! file, but not into somebody else's repository.

use super::plain_files::FolderHandle;
use innerloop_workspace::{
    EntryKind, Workspace,
    platform::{FileIdentity, identity},
};
use std::{ffi::OsStr, fs, path::Path};

impl GitFolders {
    /// Returns whether there are no files that its index could be compared with.
    pub(super) fn is_bare(&self) -> bool {
        // Only this one setting is read, and only to do less. Nothing that a configuration names is
        // opened or run.
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
    /// The folders of its files; `None` if they are not to be trusted, and only the root counts.
    pub(super) folders: Option<GitFolders>,
}

/// The folders in which a repository keeps its files.
#[derive(Clone)]
pub(super) struct GitFolders {
    /// `HEAD` and the index: a worktree has its own.
    pub(super) own: FolderHandle,
    /// The branches and objects, which worktrees share.
    pub(super) common: FolderHandle,
}

/// Returns the repository at the folder or above it. As in git, the search stops at another file
/// system and at folders of other users, who could put their instructions there.
pub(super) fn find(workspace: &Workspace) -> Option<GitRepository> {
    let here = at(FolderHandle::of(workspace));
    let owner = identity(&fs::symlink_metadata(workspace.root()).ok()?)?.owner;
    let device = workspace.stat(Path::new("")).ok()?.device;
    // The search ends at the first folder that differs, even if one above it is alike again: a
    // folder between the two belongs to somebody else.
    let above = || workspace.root().ancestors().skip(1);
    here.or_else(|| above().map_while(|path| alike(path, owner, device)).find_map(at))
}

/// Returns the folder at the path, if it has that owner and file system. The path has no links.
fn alike(path: &Path, owner: u32, device: u64) -> Option<FolderHandle> {
    let named = identity(&fs::symlink_metadata(path).ok()?)?;
    if named.owner != owner || named.device != device {
        return None;
    }
    // Between the look at the name and the opening another folder may have been put in its place,
    // so the two are compared.
    let place = FolderHandle::open(path)?;
    is_same(&place, "", named).then_some(place)
}

/// Returns whether the handle's file is the one that was looked at by its name.
fn is_same(place: &FolderHandle, below: &str, named: FileIdentity) -> bool {
    let found = place.stat(below);
    found.is_some_and(|found| (found.device, found.inode) == (named.device, named.inode))
}

fn at(root: FolderHandle) -> Option<GitRepository> {
    let folders = match root.stat(".git")?.kind {
        EntryKind::Folder => {
            let git = root.folder(".git")?;
            // An empty folder of this name is not a repository, and the search goes on above it, as
            // git's does.
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

/// Returns the folder of the branches and objects of a folder `.git`: itself, or the one that it
/// names, if that is in the same project.
fn common(root: &FolderHandle, git: &FolderHandle) -> Option<FolderHandle> {
    if git.stat("commondir").is_none() {
        return Some(git.clone());
    }
    let path = git.text("commondir")?;
    root.folder(root.followed(&format!(".git/{}", path.trim()))?)
}

/// Returns the folders of a worktree or a submodule, whose `.git` is a file with a path.
fn linked(root: &FolderHandle, path: &str) -> Option<GitFolders> {
    // On Windows such a path names another machine, and looking at it would already send a request
    // there.
    if path.starts_with("//") || path.starts_with('\\') {
        return None;
    }
    let top = root.path();
    let alone = |own: FolderHandle| GitFolders { own: own.clone(), common: own };
    let own = FolderHandle::open(&top.join(path))?;
    let place = own.path();
    // Inside of the project no proof is needed: whoever wrote the path has written the folder, too.
    // It is reached by the root's handle all the same.
    if let Ok(below) = place.strip_prefix(&top) {
        return root.folder(below).map(alone);
    }
    // The folder that is named back is compared by its identity, as two paths may lead to one
    // folder.
    let names = |path: &str, below: &str| {
        let named = fs::metadata(place.join(path.trim())).ok();
        named.and_then(|found| identity(&found)).is_some_and(|named| is_same(root, below, named))
    };
    // A worktree's folder names its `.git` in the file `gitdir`; a submodule's names its working
    // tree in its configuration. Either is the proof that the folder belongs here.
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
