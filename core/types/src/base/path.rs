//! Paths of the workspace as text: resolving a path from an agent that works in some folder, and
//! showing a path relative to that folder. Folders are named relative to the workspace's root,
//! which is the empty text. Nothing here looks at the disk: the sandbox resolves links.

use alloc::{string::String, vec::Vec};
use innerloop_json::joined;

/// Resolves a path from an agent that works in `folder`, and returns it relative to the workspace's
/// root: a leading `/` means the root, `\` is read as `/`, and `.`, `..` and repeated slashes are
/// resolved. Returns `None` if the path climbs above the root.
#[must_use]
pub fn resolved(folder: &str, path: &str) -> Option<String> {
    // Models write paths of Windows, too. Reading `\` as a separator is also a safety rule: as part
    // of a name, `..\` would pass every check here and climb on a host that separates by it.
    let folder = if path.starts_with(['/', '\\']) { "" } else { folder };
    let mut names: Vec<&str> = Vec::new();
    for part in [folder, path] {
        for name in part.split(['/', '\\']) {
            match name {
                "" | "." => {}
                ".." => {
                    // A path that climbs above the root is refused, not clamped to it: `../secret`
                    // must not silently become another file, `secret`.
                    names.pop()?;
                }
                name => names.push(name),
            }
        }
    }
    Some(joined(&names, "/"))
}

/// Returns a path of the workspace relative to `folder`; `None` if it is not in that folder.
#[must_use]
pub fn seen<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    // The slash is part of the check: `texts` must not contain `textsx`.
    if folder.is_empty() || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
