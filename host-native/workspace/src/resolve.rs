//! Where a guest's path really leads. Links are followed here, name by name, and never by the
//! system: what comes out is a path without links, which the system then looks up as strictly as
//! it can. Should somebody put a link in its way meanwhile, the lookup fails.

use crate::platform::{Errno, Result};
use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// The most links that one path may lead through.
const MAX_LINKS: usize = 40;

/// Follows `path` from the folder `base`, itself real, and at or below the folder `top`. The last
/// part is followed, too, if `follow` is set or a slash comes after it. `link` tells where the link
/// at a real path leads, and nothing of what is no link.
///
/// # Errors
/// `PERM` if it leaves the folder `top`, `LOOP` if it leads through too many links.
pub(crate) fn resolve(
    (top, base): (&Path, &Path),
    path: &str,
    follow: bool,
    mut link: impl FnMut(&Path) -> Option<PathBuf>,
) -> Result<PathBuf> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    if path.starts_with('/') {
        return Err(Errno::PERM);
    }
    let mut real = base.to_path_buf();
    let mut links = 0;
    let mut rest = parts(Path::new(path));
    let follow_last = follow || path.ends_with('/') || path.ends_with("/.");
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if real == top || !real.pop() {
                return Err(Errno::PERM);
            }
            continue;
        }
        real.push(&part);
        if rest.is_empty() && !follow_last {
            break;
        }
        let Some(target) = link(&real) else { continue };
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        if target.is_absolute() {
            return Err(Errno::PERM);
        }
        real.pop();
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    Ok(real)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// Returns whether a link in the folder `folder` that leads to `target` stays inside the workspace,
/// whatever other links become: `..` only at its beginning, and not more often than
/// the folder is deep.
pub(crate) fn stays_inside(folder: &Path, target: &Path) -> bool {
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

/// `below` under `top`. Joining an empty path would append a slash.
pub fn at(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.into() } else { top.join(below) }
}
