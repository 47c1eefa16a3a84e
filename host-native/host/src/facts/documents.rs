//! Instruction files of the project: those from the repository's root down to the workspace, and
//! tracked ones below it, with what they import. A link counts as the file that it leads to, if
//! that is a file of the repository. If two names lead to one file, the first counts.

use super::{objects::is_hidden, plain_files::FolderHandle};
use innerloop_core::{
    config::{MAX_NESTED_DOCS, ProfileKind, ProjectDoc},
    doc_names, doc_places, instructed_folder, with_imports,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// The largest number of bytes of one file that are read: the prompt has no room for more.
const MOST_BYTES: u64 = 32 * 1024 + 1;

/// Returns the files that the model family reads in `root` and in each folder down to `workspace`,
/// under their paths as seen from the workspace.
pub(super) fn find(
    root: &FolderHandle,
    workspace: &FolderHandle,
    family: ProfileKind,
) -> Vec<ProjectDoc> {
    let (root, below) = below(root, workspace).map_or((workspace, String::new()), |it| (root, it));
    let depth = below.split('/').filter(|name| !name.is_empty()).count();
    let names = doc_names(family);
    // The farthest folder comes first: `doc_places` has the same order, and the two are zipped.
    let shown = (0..=depth)
        .rev()
        .flat_map(|up| names.iter().map(move |name| format!("{}{name}", "../".repeat(up))));
    let places = doc_places(family, "", &below);
    let mut seen = BTreeSet::new();
    let found = places.iter().zip(shown).filter_map(|(place, path)| {
        // Files of the workspace are read through the workspace, which may be an overlay. Those
        // above it can only be read through the root.
        let direct = if path.starts_with("../") { (root, &**place) } else { (workspace, &*path) };
        let (real, text) = read_one(direct, (root, place))?;
        let text = imported(root, place, text);
        seen.insert(real).then_some(ProjectDoc { path, text, private: false })
    });
    found.collect()
}

/// The rule for which files below the workspace the model family reads when it works there.
pub(super) struct InstructionFilter {
    /// The workspace as seen from the repository's root, with a `/` behind it unless it is the root
    /// itself.
    below: Option<String>,
    family: ProfileKind,
}

impl InstructionFilter {
    pub(super) fn new(root: &FolderHandle, workspace: &FolderHandle, family: ProfileKind) -> Self {
        let below = below(root, workspace);
        let below = below.map(|it| if it.is_empty() { it } else { format!("{it}/") });
        Self { below, family }
    }

    /// Returns the instruction files among the paths of a repository, as seen from the workspace.
    pub(super) fn among<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<String> {
        let Some(below) = &self.below else { return Vec::new() };
        let paths = paths.filter_map(|path| path.strip_prefix(below.as_str()));
        let is_nested = |path: &&str| {
            instructed_folder(self.family, path).is_some_and(|folder| !folder.is_empty())
        };
        // The path stands in a line of the prompt: one with a line break would be read as a line of
        // its own.
        let paths = paths.filter(|path| !path.contains(is_hidden));
        paths.filter(is_nested).take(MAX_NESTED_DOCS).map(str::to_owned).collect()
    }
}

/// Returns these files of the workspace, without those that are gone.
pub(super) fn read(
    root: &FolderHandle,
    workspace: &FolderHandle,
    paths: &[String],
) -> Vec<ProjectDoc> {
    let (root, below) = below(root, workspace).map_or((workspace, String::new()), |it| (root, it));
    let mut seen = BTreeSet::new();
    let found = paths.iter().filter_map(|path| {
        let place = if below.is_empty() { path.clone() } else { format!("{below}/{path}") };
        let (real, text) = read_one((workspace, path), (root, &place))?;
        let text = imported(root, &place, text);
        seen.insert(real).then(|| ProjectDoc { path: path.clone(), text, private: false })
    });
    found.collect()
}

/// Returns the text of the document at a place, with what it imports from the repository put into
/// it.
fn imported(root: &FolderHandle, place: &str, text: String) -> String {
    // Nothing below `.git` is a document: its configuration may hold passwords of remotes. Case
    // does not count, since some file systems ignore it.
    let is_git = |path: &str| path.split('/').any(|name| name.eq_ignore_ascii_case(".git"));
    with_imports(place, text, &mut |path| {
        let found = (!is_git(path)).then(|| read_one((root, path), (root, path)))?;
        // A file with a zero byte is not text.
        found.map(|(_, text)| text).filter(|text| !text.contains('\0'))
    })
}

/// Returns the text of the file at a place, and where that file really is in the repository: right
/// there, or behind links that stay inside. A link into `.git` leads to no document.
fn read_one(
    (folder, path): (&FolderHandle, &str),
    (root, place): (&FolderHandle, &str),
) -> Option<(PathBuf, String)> {
    if let Some(text) = text(folder, Path::new(path)) {
        return Some((PathBuf::from(place), text));
    }
    // Only what could not be opened directly is followed. Opened directly, nothing on the way can
    // have been a link.
    let real = root.followed(place)?;
    let is_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
    if real == Path::new(place) || real.iter().any(is_git) {
        return None;
    }
    let text = text(root, &real)?;
    Some((real, text))
}

/// Returns the path of the workspace from the root that it is in, with `/` between names.
fn below(root: &FolderHandle, workspace: &FolderHandle) -> Option<String> {
    let (root, workspace) = (root.path(), workspace.path());
    let below = workspace.strip_prefix(root).ok()?.to_str()?;
    Some(below.replace(std::path::MAIN_SEPARATOR, "/"))
}

fn text(base: &FolderHandle, path: &Path) -> Option<String> {
    let bytes = base.start(path, MOST_BYTES)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
