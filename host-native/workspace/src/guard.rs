//! The guard of what must not change in a workspace: the folders of version systems, since the
//! user's next command runs the hooks and programs that their settings name, and our own folder. A
//! git repository is whatever git takes for one, under any name. Callers hold the workspace's lock
//! for changes, so that nobody adds the last missing part of a repository between check and change.

use super::{
    file_stat::EntryKind,
    layer::WorkspaceLayer,
    resolve::{at, stays_inside},
};
use crate::platform::{Errno, Result};
use innerloop_tools::VERSION_SYSTEMS;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Our own folder. Like those of version systems it can be read but not changed, at any depth and
/// in any case.
const OWN_FOLDER: &str = ".innerloop";
/// The number of characters of a name that Windows keeps in a short name (`INNERL~1`).
const SHORT_NAME: usize = 6;

/// The entries that make a folder a repository: `HEAD`, and either its own objects and branches, or
/// a file that says where those are.
const HEAD: &str = "HEAD";
const OWN: [&str; 2] = ["objects", "refs"];
const ELSEWHERE: &str = "commondir";

/// The maximum number of entries of a folder that is moved at once.
const MAX_TREE: usize = 100_000;

impl WorkspaceLayer {
    /// Refuses a change of the entry at the path with `PERM`, if that is protected.
    pub(super) fn check_change(&self, path: &Path) -> Result<()> {
        if is_protected(path) {
            return Err(Errno::PERM);
        }
        // Everything in a repository is refused, not its hooks alone: its settings name programs,
        // too.
        let above = path.ancestors().skip(1);
        if above.into_iter().any(|folder| self.is_repository(folder, None)) {
            return Err(Errno::PERM);
        }
        Ok(())
    }

    /// Refuses an entry that is created at the path or moved there, if that would be protected.
    pub(super) fn check_entry(&self, path: &Path) -> Result<()> {
        self.check_change(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        match part(path) {
            Some(part) if self.is_repository(folder, Some(part)) => Err(Errno::PERM),
            _ => Ok(()),
        }
    }

    /// Undoes what has just been put at the path, and fails with `PERM`, if that completed a
    /// repository after all: another process may have added the other parts meanwhile.
    pub(super) fn check_again(
        &self,
        path: &Path,
        undo: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new(""));
        // The look at the files themselves also finds names that only the file system takes for
        // that of a part, by rules of its own that `part` does not know.
        if self.is_repository(folder, None) {
            undo(self)?;
            return Err(Errno::PERM);
        }
        Ok(())
    }

    /// Returns everything that a move of `from` to `to` takes along, as paths below it; for a file
    /// that is one empty path. Refuses a move of a folder that holds a protected one, and one that
    /// would lead a link out of the workspace.
    pub(super) fn check_move(&self, from: &Path, to: &Path) -> Result<Vec<(PathBuf, EntryKind)>> {
        self.check_change(from)?;
        self.check_entry(to)?;
        if from == to {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut open = vec![(PathBuf::new(), self.stat(from)?.kind)];
        while let Some((below, kind)) = open.pop() {
            let here = at(from, &below);
            match kind {
                EntryKind::Link => self.check_moved_link(&here, &at(to, &below))?,
                EntryKind::Folder if self.is_repository(&here, None) => return Err(Errno::PERM),
                EntryKind::Folder => {
                    for entry in self.list(&here)? {
                        if is_protected_name(&entry.name) {
                            return Err(Errno::PERM);
                        }
                        open.push((below.join(entry.name), entry.kind));
                    }
                }
                EntryKind::File | EntryKind::Other => {}
            }
            found.push((below, kind));
            if found.len() + open.len() > MAX_TREE {
                // A move checks the whole tree under the lock. Told that the target is on another
                // file system, programs such as `mv` copy the files one by one instead.
                return Err(Errno::XDEV);
            }
        }
        Ok(found)
    }

    fn check_moved_link(&self, from: &Path, to: &Path) -> Result<()> {
        // `../x` stays inside two folders down, and leads out when it is moved to the top.
        let target = self.link_target(from)?;
        let folder = to.parent().unwrap_or(Path::new(""));
        if stays_inside(folder, &target) { Ok(()) } else { Err(Errno::PERM) }
    }

    /// Returns whether git would take the folder for a repository, if it also had the part `with`.
    fn is_repository(&self, folder: &Path, with: Option<&str>) -> bool {
        // Git needs no folder `.git`: a command within a bare repository obeys its `config`.
        let has = |part: &str| with == Some(part) || self.stat(&folder.join(part)).is_ok();
        has(HEAD) && (has(ELSEWHERE) || OWN.into_iter().all(has))
    }
}

/// Returns the part of a repository that the path would be by its name.
fn part(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    [HEAD, ELSEWHERE].into_iter().chain(OWN).find(|part| name.eq_ignore_ascii_case(part))
}

/// Returns whether any name in the path is that of a protected folder.
pub(crate) fn is_protected(path: &Path) -> bool {
    path.iter().any(is_protected_name)
}

/// Returns whether a name is that of a protected folder on any file system.
fn is_protected_name(name: &OsStr) -> bool {
    // The workspace may lie on a file system of another system, or be copied to one. So names are
    // compared as the most lenient do: in any case and without characters that HFS+ ignores; as
    // NTFS does, without trailing dots and spaces, without a stream's name behind a colon, and by
    // the short name that Windows makes up.
    let name = name.to_string_lossy().to_lowercase();
    let visible: String = name.chars().filter(|&c| !is_ignorable(c)).collect();
    let stem = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    VERSION_SYSTEMS.into_iter().chain([OWN_FOLDER]).any(|name| {
        let short: String = name.trim_start_matches('.').chars().take(SHORT_NAME).collect();
        stem == name || stem.strip_suffix("~1") == Some(&short)
    })
}

/// Characters that some file systems leave out when they compare names.
const fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}
