//! Paths of the workspace as text: what one means to an agent that works in a folder, and how it is
//! seen from there. Folders are named from the workspace's root on, which is empty.

use alloc::{string::String, vec::Vec};
use innerloop_json::joined;

/// A path of an agent that works in `folder`, from the workspace's root on: a leading `/` means the
/// root, `\` is taken for `/`, and `.`, `..` and repeated slashes are resolved. `None` if it climbs
/// above the root.
#[must_use]
pub fn resolved(folder: &str, path: &str) -> Option<String> {
    let folder = if path.starts_with(['/', '\\']) { "" } else { folder };
    let mut names: Vec<&str> = Vec::new();
    for part in [folder, path] {
        for name in part.split(['/', '\\']) {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop()?;
                }
                name => names.push(name),
            }
        }
    }
    Some(joined(&names, "/"))
}

/// A path that is named from the root on as it is seen from `folder`; `None` if it is not in it.
#[must_use]
pub fn seen<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if folder.is_empty() || rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
