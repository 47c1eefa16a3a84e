//! The project's instruction files, from the repository's root down to the workspace.

use super::plain;
use innerloop_core::{
    config::{ProfileKind, ProjectDoc},
    doc_names, doc_places,
};
use std::path::Path;

/// Most bytes of one file that are read: the prompt has no room for more.
const MOST_BYTES: u64 = 32 * 1024 + 1;

/// The files that the model family reads in `root` and in each folder down to `workspace`, under
/// their paths as seen from the workspace.
pub(super) fn find(root: &Path, workspace: &Path, family: ProfileKind) -> Vec<ProjectDoc> {
    let below = workspace.strip_prefix(root).ok().and_then(Path::to_str);
    let (root, below) = below.map_or((workspace, ""), |below| (root, below));
    let below = below.replace(std::path::MAIN_SEPARATOR, "/");
    let depth = below.split('/').filter(|name| !name.is_empty()).count();
    let names = doc_names(family);
    let shown = (0..=depth)
        .rev()
        .flat_map(|up| names.iter().map(move |name| format!("{}{name}", "../".repeat(up))));
    let places = doc_places(family, "", &below);
    let found = places.iter().zip(shown).filter_map(|(place, path)| {
        let bytes = plain::start(root, place, MOST_BYTES)?;
        Some(ProjectDoc { path, text: String::from_utf8_lossy(&bytes).into_owned() })
    });
    found.collect()
}
