//! The resolution of a guest's path to a real path, which contains no links. Links are followed
//! here, name by name, and never by the system, which then looks the real path up as strictly as it
//! can: if somebody puts a link in its way meanwhile, that lookup fails, and leads nowhere else.

use crate::platform::{Errno, Result};
use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// The maximum number of links that one path may lead through, as on Linux.
const MAX_LINKS: usize = 40;

/// Follows `path` from the folder `base`, which is a real path at or below the folder `top`. If the
/// last name is a link, it is followed only if `follow` is set or a slash comes after it. `link`
/// returns the target of the link at a real path, and `None` for anything else.
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
    // `parts` drops `.` and slashes at the end, by which POSIX asks for the target of a link.
    let follow_last = follow || path.ends_with('/') || path.ends_with("/.");
    while let Some(part) = rest.pop_front() {
        // `..` goes up from where the links before it have led, as in the kernel, and not from the
        // name before it in the text.
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
        // The workspace is a guest's `/`, but an absolute target means the machine's.
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

/// Returns whether a link in the folder `folder` that leads to `target` stays inside the workspace:
/// `..` stands only at its beginning, and not more often than the folder is deep.
pub(crate) fn stays_inside(folder: &Path, target: &Path) -> bool {
    // A name before a `..` may become a link later, from whose target the `..` would go up. Other
    // programs follow the link then, without the checks of `resolve`.
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

/// Returns the path `below` under `top`, where either may be empty.
pub fn at(top: &Path, below: &Path) -> PathBuf {
    // Joining an empty path would append a slash.
    if below.as_os_str().is_empty() { top.into() } else { top.join(below) }
}
