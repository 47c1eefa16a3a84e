//! What must not change in a workspace, by whomever the agent lets act: the folders of version
//! systems, whose settings and hooks are programs that the user's next command runs, and our own.
//! A repository of git is what git takes for one, under whatever name. Who looks here holds the
//! workspace's lock for changes, so that nobody adds the last missing piece meanwhile.

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
/// The number of characters of a name that Windows keeps in a short one.
const SHORT_NAME: usize = 6;

/// The entries that make a folder a repository: `HEAD`, and either its own objects and branches, or
/// a file that says where those are.
const HEAD: &str = "HEAD";
const OWN: [&str; 2] = ["objects", "refs"];
const ELSEWHERE: &str = "commondir";

/// Most entries of a folder that is moved.
const MAX_TREE: usize = 100_000;

impl WorkspaceLayer {
    /// Refuses a change of what stands at the path.
    pub(super) fn check_change(&self, path: &Path) -> Result<()> {
        if is_protected(path) {
            return Err(Errno::PERM);
        }
        let above = path.ancestors().skip(1);
        if above.into_iter().any(|folder| self.is_repository(folder, None)) {
            return Err(Errno::PERM);
        }
        Ok(())
    }

    /// Refuses an entry at the path, be it new or moved there.
    pub(super) fn check_entry(&self, path: &Path) -> Result<()> {
        self.check_change(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        match part(path) {
            Some(part) if self.is_repository(folder, Some(part)) => Err(Errno::PERM),
            _ => Ok(()),
        }
    }

    /// Takes back what has just been put at the path if that made a repository after all: another
    /// process may have put the other parts there meanwhile.
    pub(super) fn check_again(
        &self,
        path: &Path,
        undo: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new(""));
        // The file system may know the name as that of a part, also where `part` does not.
        if self.is_repository(folder, None) {
            undo(self)?;
            return Err(Errno::PERM);
        }
        Ok(())
    }

    /// Returns what a move of `from` to `to` takes along, as paths below it; for a file that is one
    /// empty path. Refuses one that would move a protected folder, or lead a link out of the
    /// workspace.
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
                // Whoever moves the folder can still do it piece by piece.
                return Err(Errno::XDEV);
            }
        }
        Ok(found)
    }

    fn check_moved_link(&self, from: &Path, to: &Path) -> Result<()> {
        let target = self.link_target(from)?;
        let folder = to.parent().unwrap_or(Path::new(""));
        if stays_inside(folder, &target) { Ok(()) } else { Err(Errno::PERM) }
    }

    /// Returns whether git would take the folder for a repository, once it has this part, too.
    fn is_repository(&self, folder: &Path, with: Option<&str>) -> bool {
        let has = |part: &str| with == Some(part) || self.stat(&folder.join(part)).is_ok();
        has(HEAD) && (has(ELSEWHERE) || OWN.into_iter().all(has))
    }
}

/// Which part of a repository the path would be by its name.
fn part(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    [HEAD, ELSEWHERE].into_iter().chain(OWN).find(|part| name.eq_ignore_ascii_case(part))
}

/// Returns whether a part of the path is a protected folder.
pub(crate) fn is_protected(path: &Path) -> bool {
    path.iter().any(is_protected_name)
}

/// Compares as the most lenient file system does: in any case, without trailing dots and spaces,
/// without what follows a colon, and by the short name that Windows gives.
fn is_protected_name(name: &OsStr) -> bool {
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
