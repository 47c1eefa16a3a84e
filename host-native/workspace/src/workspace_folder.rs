//! Which folder can be a workspace. Whole systems and home folders are not handed over by mistake.

use crate::platform::Errno;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The reason why a folder can't be the workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Nothing is there.
    #[error("there is no folder {}; create it or name another workspace", .0.display())]
    Missing(PathBuf),
    /// A file is there.
    #[error("{} is a file; name the folder to work in", .0.display())]
    File(PathBuf),
    /// It can't be opened or listed.
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
    /// The overlay that is kept in the folder is one of another folder.
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
    /// The overlay that is kept in the folder is not what was left there.
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
    /// A program was killed while it applied the overlay, and that could not be taken back.
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
    /// It is more than a project.
    #[error("{} is {why}: name a project's folder, or insist with --any-folder", path.display())]
    Unfit {
        /// The folder.
        path: PathBuf,
        /// The description of the folder, such as `a folder of the system`.
        why: &'static str,
    },
}

/// Folders of the system, with all that is below them.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr",
    "/Library", "/System",
];
/// The folders below them that are not part of the system.
const NOT_SYSTEM: &[&str] = &["/dev/shm", "/usr/local", "/usr/src"];
/// Folders that hold those of many users or programs, but for what is below them.
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

/// The folder's true path.
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

/// Refuses a folder that is more than a project; its path is a true one.
pub(super) fn check(root: &Path) -> Result<(), WorkspaceError> {
    let home = env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    match unfit(root, home.as_deref()) {
        Some(why) => Err(WorkspaceError::Unfit { path: root.to_owned(), why }),
        None => Ok(()),
    }
}

fn unfit(root: &Path, home: Option<&Path>) -> Option<&'static str> {
    let is_below = |all: &[&str]| all.iter().any(|folder| root.starts_with(folder));
    let is_one_of = |all: &[&str]| all.iter().any(|folder| root == Path::new(folder));
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

/// Returns why a folder could not be opened once it was found.
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
