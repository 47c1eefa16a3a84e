//! The unpacking of a tar into a folder that nobody else writes to. Folders and files are made
//! first and links last, each where nothing exists yet, so that no path leads through a link. A
//! link's `..` stand only at its start, and there are no more of them than the link is deep. So
//! nobody who follows a link leaves the folder.

use super::{
    error::InstallError,
    members::{self, TarMember, TarMemberKind},
};
use innerloop_workspace::platform::{OpenOptionsExt as _, symlink};
use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Read},
    mem,
    ops::ControlFlow,
    path::{Component, Path, PathBuf},
};

struct ArchiveUnpacker<'a> {
    what: &'a str,
    into: &'a Path,
    most: u64,
    /// The number of bytes that may still be written.
    left: u64,
    /// The folders that were made, by their paths in `into`.
    folders: BTreeSet<PathBuf>,
    hard_links: Vec<(PathBuf, PathBuf)>,
    symlinks: Vec<(PathBuf, PathBuf)>,
}

/// Unpacks a tar into an empty folder. An error leaves a part of it there.
pub(super) fn unpack(
    tar: &mut dyn Read,
    what: &str,
    into: &Path,
    most: u64,
) -> Result<(), InstallError> {
    let mut unpacking = ArchiveUnpacker {
        what,
        into,
        most,
        left: most,
        folders: BTreeSet::new(),
        hard_links: vec![],
        symlinks: vec![],
    };
    members::each(tar, what, |member, content| {
        unpacking.take(member, content).map(ControlFlow::Continue)
    })?;
    unpacking.link()
}

impl ArchiveUnpacker<'_> {
    fn take(&mut self, member: TarMember, content: &mut dyn Read) -> Result<(), InstallError> {
        let TarMember { path, kind } = member;
        let place = inside(&path).ok_or_else(|| self.hostile(&path, "leads out of the folder"))?;
        if let TarMemberKind::Folder = kind {
            return self.folder(&place);
        }
        let parent = place.parent().ok_or_else(|| self.hostile(&path, "has no name"))?;
        self.folder(parent)?;
        match kind {
            TarMemberKind::File { length, is_program } => {
                self.file(&place, content, length, is_program)
            }
            TarMemberKind::Symlink(target) => {
                if !stays(&place, &target) {
                    return Err(self.hostile(&path, "is a link that leads out of the folder"));
                }
                self.charge(&place)?;
                // Links are made at the end, so that no later member is written through one.
                self.charge(&target)?;
                self.symlinks.push((place, target));
                Ok(())
            }
            TarMemberKind::HardLink(target) => {
                let outside = || self.hostile(&path, "is a link that leads out of the folder");
                let target = inside(&target).ok_or_else(outside)?;
                self.charge(&place)?;
                self.charge(&target)?;
                self.hard_links.push((place, target));
                Ok(())
            }
            TarMemberKind::Folder | TarMemberKind::Other => {
                Err(self.hostile(&path, "is neither a plain file, a folder nor a link"))
            }
        }
    }

    /// Makes a folder and its parents.
    fn folder(&mut self, place: &Path) -> Result<(), InstallError> {
        // Only folders that were made here are passed through: `create_dir` fails on anything else.
        let mut path = PathBuf::new();
        for step in place.components() {
            path.push(step);
            if self.folders.contains(&path) {
                continue;
            }
            self.charge(&path)?;
            let made = fs::create_dir(self.into.join(&path));
            made.map_err(|error| self.unmade(&path, error))?;
            self.folders.insert(path.clone());
            if u64::try_from(self.folders.len()).is_ok_and(|count| count > members::MOST) {
                return Err(self.hostile(place, "is in one folder too many"));
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        place: &Path,
        content: &mut dyn Read,
        length: u64,
        is_program: bool,
    ) -> Result<(), InstallError> {
        // Charged by the stated length, which also bounds what is written. Only the bit for
        // programs is taken over: no setuid, and nobody else may write.
        self.spend(length)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(if is_program { 0o755 } else { 0o644 });
        let file = options.open(self.into.join(place));
        let mut file = file.map_err(|error| self.unmade(place, error))?;
        let written = io::copy(&mut content.take(length), &mut file);
        let written = written.map_err(InstallError::file(self.into.join(place)))?;
        if written < length {
            let why = "it ends too early".to_owned();
            return Err(InstallError::Damaged { what: self.what.to_owned(), why });
        }
        Ok(())
    }

    /// Makes the links, after everything else.
    fn link(mut self) -> Result<(), InstallError> {
        for (place, target) in mem::take(&mut self.hard_links) {
            let from = self.into.join(&target);
            // Hard links come before the symbolic ones, so that their targets are what they seem.
            if !fs::symlink_metadata(&from).is_ok_and(|found| found.is_file()) {
                return Err(
                    self.hostile(&place, "is a link to something that is not one of its files")
                );
            }
            let linked = fs::hard_link(from, self.into.join(&place));
            linked.map_err(|error| self.unmade(&place, error))?;
        }
        for (place, target) in mem::take(&mut self.symlinks) {
            let linked = symlink(target, self.into.join(&place));
            linked.map_err(|error| self.unmade(&place, error))?;
        }
        Ok(())
    }

    /// Charges the bytes of a name.
    fn charge(&mut self, name: &Path) -> Result<(), InstallError> {
        // Names are kept in memory until the end, and a tar could consist of nothing else.
        self.spend(u64::try_from(name.as_os_str().len()).unwrap_or(u64::MAX))
    }

    fn spend(&mut self, bytes: u64) -> Result<(), InstallError> {
        let too_large = || InstallError::TooLarge { what: self.what.to_owned(), most: self.most };
        self.left = self.left.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }

    fn unmade(&self, place: &Path, error: io::Error) -> InstallError {
        match error.kind() {
            io::ErrorKind::AlreadyExists => self.hostile(place, "stands there twice"),
            _ => InstallError::File { path: self.into.join(place), error },
        }
    }

    fn hostile(&self, member: &Path, why: &'static str) -> InstallError {
        // The path is the attacker's: it is cut here, and printed with escapes.
        let member = String::from_utf8_lossy(member.as_os_str().as_encoded_bytes());
        let member = member.chars().take(200).collect();
        InstallError::Hostile { what: self.what.to_owned(), member, why }
    }
}

/// A path without `.`; `None` if it is absolute or has `..`.
fn inside(path: &Path) -> Option<PathBuf> {
    let steps = path.components().filter(|step| *step != Component::CurDir);
    steps.map(|step| matches!(step, Component::Normal(_)).then_some(step)).collect()
}

/// Returns whether a link at `place` that leads to `target` stays inside.
fn stays(place: &Path, target: &Path) -> bool {
    // After a name, `..` could lead out through another link with that name.
    let mut up = 0;
    let mut is_down = false;
    for step in target.components() {
        match step {
            Component::Normal(_) => is_down = true,
            Component::ParentDir if !is_down => up += 1,
            Component::CurDir => {}
            _ => return false,
        }
    }
    up < place.components().count()
}
