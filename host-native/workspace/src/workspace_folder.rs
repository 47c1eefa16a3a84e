//! The choice of the workspace's folder: it must be a folder that can be listed, and not a home
//! folder or one of the system, which nobody hands over by mistake. All errors of opening a
//! workspace or an overlay are defined here.

use crate::platform::Errno;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The reason why a folder can't be the workspace, or why its overlay can't be taken up.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is no such folder.
    #[error("there is no folder {}; create it or name another workspace", .0.display())]
    Missing(PathBuf),
    /// The path names a file.
    #[error("{} is a file; name the folder to work in", .0.display())]
    File(PathBuf),
    /// The folder can't be opened or listed.
    #[error("can't open the workspace {}: {error}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// There is no place to keep the changes of an overlay.
    #[error("there is no place for an overlay of {}: {error}", path.display())]
    NoOverlay {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another program works on the overlay that is kept in this folder.
    #[error("another innerloop works on the changes in {}; wait for it or end it", .0.display())]
    Busy(PathBuf),
    /// The overlay that is kept in the folder was made for another workspace.
    #[error(
        "the changes in {} are not of this workspace but of the folder that was {}; name that one",
        folder.display(), root.display()
    )]
    OfAnother {
        /// The folder in which the overlay is kept.
        folder: PathBuf,
        /// The path that the overlay's workspace had when the overlay was saved.
        root: PathBuf,
    },
    /// The files of the overlay that is kept in the folder are damaged or missing.
    #[error(
        "the changes in {} can't be taken up, since {why}; put back what was there, or remove the \
         folder to give them up", folder.display()
    )]
    Damaged {
        /// The folder in which the overlay is kept.
        folder: PathBuf,
        /// The problem with the overlay.
        why: String,
    },
    /// A program was killed while it applied the overlay, and that could not be undone.
    #[error(
        "changes were applied in part, and that can't be taken back, since {path} could not be \
         changed: {error}; what was replaced stands in {}; see to {path} and try again",
        kept.display()
    )]
    HalfApplied {
        /// The path that could not be changed.
        path: String,
        /// The folder that holds the files that were replaced or removed.
        kept: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The folder is more than a project's.
    #[error("{} is {why}: name a project's folder, or insist with --any-folder", path.display())]
    Unfit {
        /// The folder.
        path: PathBuf,
        /// The description of the folder, such as `a folder of the system`.
        why: &'static str,
    },
}

/// Folders of the system, with everything below them.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr",
    "/Library", "/System",
];
/// Folders below those that hold the user's own files, and so may hold workspaces.
const NOT_SYSTEM: &[&str] = &["/dev/shm", "/usr/local", "/usr/src"];
/// Folders that many users or programs share. The folders below them may be workspaces.
const SHARED: &[&str] = &[
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/var",
    "/Applications",
    "/Users",
    "/Volumes",
];

/// Returns the folder's canonical path, if the folder exists and can be listed.
pub(super) fn find(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => WorkspaceError::Missing(path.to_path_buf()),
        io::ErrorKind::NotADirectory => WorkspaceError::File(path.to_path_buf()),
        _ => WorkspaceError::Unreadable { path: path.to_path_buf(), error },
    };
    let root = fs::canonicalize(path).map_err(unreadable)?;
    if !root.is_dir() {
        return Err(WorkspaceError::File(path.to_path_buf()));
    }
    fs::read_dir(&root).map_err(unreadable)?;
    Ok(root)
}

/// Refuses a folder that is more than a project's; its path is canonical.
pub(super) fn check(root: &Path) -> Result<(), WorkspaceError> {
    // Both paths are canonical, so that no link or `..` hides that they are the same folder.
    let home = env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    match unfit(root, home.as_deref()) {
        Some(why) => Err(WorkspaceError::Unfit { path: root.to_owned(), why }),
        None => Ok(()),
    }
}

fn unfit(root: &Path, home: Option<&Path>) -> Option<&'static str> {
    let is_below = |all: &[&str]| all.iter().any(|folder| root.starts_with(folder));
    let is_one_of = |all: &[&str]| all.iter().any(|folder| root == Path::new(folder));
    // `/usr/local` itself belongs to the system; only the folders below it may be projects.
    let is_system = is_below(SYSTEM) && (!is_below(NOT_SYSTEM) || is_one_of(NOT_SYSTEM));
    if root.parent().is_none() {
        Some("the whole file system")
    } else if home == Some(root) {
        Some("your home folder, with keys and the settings of other programs")
    } else if home.is_some_and(|home| home.starts_with(root)) {
        Some("a folder that holds your home folder")
    } else if is_system {
        Some("a folder of the system")
    } else if is_one_of(SHARED) {
        Some("a folder that many users or programs share")
    } else if super::guard::is_protected(root) {
        Some("inside a repository's own folder, or ours")
    } else {
        None
    }
}

/// Makes the error for a folder that was found but could not be opened.
pub(super) fn failed(path: &Path, error: Errno) -> WorkspaceError {
    WorkspaceError::Unreadable { path: path.to_path_buf(), error: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_and_homes_are_no_workspaces() {
        let home = Some(Path::new("/home/ann"));
        let unfit_for = |path: &str| unfit(Path::new(path), home);
        for path in ["/", "/home", "/home/ann", "/etc", "/etc/ssl", "/usr/lib", "/proc/1", "/tmp"] {
            assert!(unfit_for(path).is_some(), "{path}");
        }
        for path in ["/home/ann/project/.git", "/home/ann/.innerloop/x", "/usr/local"] {
            assert!(unfit_for(path).is_some(), "{path}");
        }
        for path in
            ["/home/ann/project", "/home/bob", "/tmp/x", "/usr/src/linux", "/work", "/var/www"]
        {
            assert_eq!(unfit_for(path), None, "{path}");
        }
        assert!(unfit(Path::new("/srv/homes"), Some(Path::new("/srv/homes/ann"))).is_some());
    }
}
