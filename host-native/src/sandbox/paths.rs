//! Where a guest's path really leads, and which places a guest may not change. wasmtime keeps
//! guests inside the workspace; what is decided here protects places within it.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs,
    path::{Component, Path, PathBuf},
};

/// Folders that a guest may read but not change, at any depth and in any case.
pub(super) const PROTECTED: [&str; 2] = [".git", ".innerloop"];

/// The most links that one path may lead through.
const MAX_LINKS: usize = 40;

/// A path of a guest, with the links in it followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Real {
    /// Where it leads, relative to the workspace; the last part may not exist.
    pub(super) path: PathBuf,
    /// Whether it leads to or through a protected folder.
    pub(super) protected: bool,
}

/// Why a path leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Astray {
    /// It leaves the workspace.
    Outside,
    /// It leads through too many links.
    Loop,
}

/// Follows `path` from the folder `base`, itself real and relative to `root`. The last part is
/// followed, too, if `follow` is set or a slash comes after it.
pub(super) fn resolve(root: &Path, base: &Path, path: &str, follow: bool) -> Result<Real, Astray> {
    let mut real = base.to_path_buf();
    let mut protected = is_protected(base);
    let mut links = 0;
    let mut rest = parts(Path::new(path));
    let follow_last = follow || path.ends_with('/') || path.ends_with("/.");
    if path.starts_with('/') {
        return Err(Astray::Outside);
    }
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if !real.pop() {
                return Err(Astray::Outside);
            }
            continue;
        }
        protected |= is_protected_name(&part);
        real.push(&part);
        if rest.is_empty() && !follow_last {
            break;
        }
        let Ok(target) = fs::read_link(root.join(&real)) else { continue };
        links += 1;
        if links > MAX_LINKS {
            return Err(Astray::Loop);
        }
        if target.is_absolute() {
            return Err(Astray::Outside);
        }
        real.pop();
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    Ok(Real { path: real, protected })
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// Whether a part of the path is a protected folder.
pub(super) fn is_protected(path: &Path) -> bool {
    path.iter().any(is_protected_name)
}

/// Compares as the most lenient file system does: in any case, without trailing dots and spaces,
/// without what follows a colon, and by the short name that Windows gives.
fn is_protected_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let visible: String = name.chars().filter(|&c| !is_ignorable(c)).collect();
    let stem = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    PROTECTED.contains(&stem) || stem == "git~1" || stem == "innerl~1"
}

/// Characters that HFS+ leaves out when it compares names.
const fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether a link in the folder `folder` that leads to `target` stays inside the workspace,
/// whatever other links become: `..` only at its beginning, and not more often than
/// the folder is deep.
pub(super) fn stays_inside(folder: &Path, target: &Path) -> bool {
    let mut ups = 0;
    let mut named = false;
    for part in target.components() {
        match part {
            Component::ParentDir if named => return false,
            Component::ParentDir => ups += 1,
            Component::Normal(_) => named = true,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    ups <= folder.iter().count()
}

/// Whether all links in and below `from` would still stay inside after a move to `to`. A tree
/// that is too large to search does not count as safe.
pub(super) fn links_stay_inside(root: &Path, from: &Path, to: &Path) -> bool {
    if from.iter().count() <= to.iter().count() {
        return true;
    }
    tree(&root.join(from)).is_some_and(|all| {
        all.iter().all(|below| {
            let Ok(target) = fs::read_link(root.join(at(from, below))) else { return true };
            stays_inside(at(to, below).parent().unwrap_or(Path::new("")), &target)
        })
    })
}

/// Most entries of a tree that are looked at.
const MAX_TREE: usize = 10_000;

/// Everything at and below `top` except folders, as paths below it; `None` if there is too much.
/// For a file, that is one empty path.
pub(super) fn tree(top: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(below) = open.pop() {
        let here = at(top, &below);
        match fs::symlink_metadata(&here) {
            Ok(meta) if meta.is_dir() => {
                let entries = fs::read_dir(&here).into_iter().flatten().flatten();
                open.extend(entries.map(|entry| below.join(entry.file_name())));
            }
            Ok(_) => found.push(below),
            Err(_) => {}
        }
        seen += 1;
        if seen + open.len() > MAX_TREE {
            return None;
        }
    }
    Some(found)
}

/// `below` under `top`. Joining an empty path would append a slash, which follows a link.
pub(super) fn at(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.into() } else { top.join(below) }
}
