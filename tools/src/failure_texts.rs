//! Failures in words for the model: what is wrong, and what to do next. All tools word the failures
//! of files and paths here, so that the model reads the same of each.

use crate::{
    files::{EntryKind, FileError, WorkspaceFiles, sort},
    path::{PathError, WorkspacePath},
    protected::version_system,
};
use innerloop_json::{IntoList, joined};
use innerloop_types::action::{Outcome, ToolError};

/// The maximum number of entries of a folder that are compared with a missing name.
const MAX_COMPARED: usize = 1000;
/// The maximum number of similar names that are given.
const MAX_SUGGESTED: usize = 3;
/// The maximum number of characters of a name that are compared: the edit distance takes time in
/// the product of both lengths.
const MAX_NAME_CHARS: usize = 64;

pub(crate) fn error(kind: ToolError, message: impl Into<String>) -> Outcome {
    Outcome::error(kind, message)
}

/// Parses the folder of an agent.
///
/// The outcome for a text that is not a path inside the workspace.
pub fn folder(text: &str) -> Result<WorkspacePath, Outcome> {
    WorkspacePath::folder(text).map_err(|error| bad_path(text, error))
}

/// Parses the path of a file that the model named, seen from `folder`.
///
/// The outcome for a text that is not the path of a file inside the folder.
pub fn file_path(folder: &WorkspacePath, text: &str) -> Result<WorkspacePath, Outcome> {
    folder.file_at(text).map_err(|error| bad_path(text, error))
}

/// Parses the path of a file that the model wants to change.
pub(crate) fn writable_path(folder: &WorkspacePath, text: &str) -> Result<WorkspacePath, Outcome> {
    let path = file_path(folder, text)?;
    // Hooks and settings in there run on the user's machine with the next command of the version
    // system, outside of any sandbox.
    if let Some(system) = path.names().find_map(version_system) {
        return Err(error(
            ToolError::PermissionDenied,
            format!("{path} is protected: files of {system} are not changed by tools."),
        ));
    }
    Ok(path)
}

/// Parses the path of a file or folder that the model named, seen from `folder`; no text means that
/// folder.
pub(crate) fn any_path(
    folder: &WorkspacePath,
    text: Option<&str>,
) -> Result<WorkspacePath, Outcome> {
    let text = text.unwrap_or_default();
    folder.at(text).map_err(|error| bad_path(text, error))
}

fn bad_path(text: &str, cause: PathError) -> Outcome {
    match cause {
        PathError::Outside | PathError::Astray => {
            error(ToolError::PermissionDenied, format!("{text} {cause}"))
        }
        PathError::Folder => error(ToolError::WrongFileType, format!("{text} {cause}")),
        PathError::Empty | PathError::Nul | PathError::TooLong => {
            error(ToolError::InvalidArguments, cause.to_string())
        }
    }
}

/// Returns the outcome of an operation on `path` that failed.
#[must_use]
pub fn failed(files: &impl WorkspaceFiles, path: &WorkspacePath, cause: &FileError) -> Outcome {
    match cause {
        FileError::NotFound | FileError::NotFolder => missing(files, path, cause),
        FileError::Denied => error(
            ToolError::PermissionDenied,
            format!("Permission denied: {path}. Work on another file, or ask the user."),
        ),
        FileError::IsFolder => error(
            ToolError::WrongFileType,
            format!("{path} is a folder. Name a file, or list the folder."),
        ),
        FileError::NotRegular => {
            error(ToolError::WrongFileType, format!("{path} is neither a file nor a folder."))
        }
        FileError::TooLarge => error(
            ToolError::TooLarge,
            format!("{path} is larger than 64 MiB, which is more than this tool handles."),
        ),
        FileError::Full => error(
            ToolError::Limit,
            format!("{path} was not written: no space is left. Remove files, or ask the user."),
        ),
        FileError::Io(words) => error(ToolError::Io, format!("{path}: {words}.")),
    }
}

/// Returns the outcome that names the first part of `path` that does not exist, and entries with a
/// similar name.
fn missing(files: &impl WorkspaceFiles, path: &WorkspacePath, cause: &FileError) -> Outcome {
    // From the agent's folder down: what stands above it is not the agent's to know.
    let mut above = path.seen_from();
    for name in path.names().skip(above.names().count()) {
        let here = above.join(name);
        let last = here == *path;
        match files.stat(&here) {
            Ok(found) if found.kind == EntryKind::Folder => above = here,
            Ok(_) if !last || *cause == FileError::NotFolder => {
                return error(ToolError::WrongFileType, format!("{here} is a file, not a folder."));
            }
            Ok(_) => break,
            Err(_) => {
                let what = if last { "file or folder" } else { "folder" };
                let similar = similar_names(files, &above, name);
                let hint = hint(&above, &similar);
                return error(ToolError::NotFound, format!("No such {what}: {here}. {hint}"));
            }
        }
    }
    error(ToolError::NotFound, format!("No such file or folder: {path}."))
}

fn hint(above: &WorkspacePath, similar: &[String]) -> String {
    if similar.is_empty() {
        return format!("List {above} to see what is there.");
    }
    let paths: Vec<String> = similar.iter().map(|name| above.join(name).to_string()).into_list();
    format!("Did you mean {}?", joined(&paths, " or "))
}

/// Returns up to three entries of `folder` whose names are close to `name`, the closest first.
fn similar_names(files: &impl WorkspaceFiles, folder: &WorkspacePath, name: &str) -> Vec<String> {
    let Ok(mut entries) = files.list(folder) else { return Vec::new() };
    sort(&mut entries);
    let wanted = letters(name);
    let mut close: Vec<(usize, String)> = entries
        .into_iter()
        .filter(|entry| !entry.is_unnameable())
        .take(MAX_COMPARED)
        .filter_map(|entry| {
            let distance = difference(&wanted, &letters(&entry.name));
            (distance <= 1 + wanted.len() / 5).then_some((distance, entry.name))
        })
        .into_list();
    let mut closest = Vec::new();
    // Three are wanted, so they are picked one by one: a sort of this type would take up room in
    // the page's module.
    while closest.len() < MAX_SUGGESTED {
        let next = (0..close.len()).min_by_key(|at| close.get(*at).map(|(distance, _)| *distance));
        let Some(at) = next else { break };
        closest.push(close.remove(at).1);
    }
    closest
}

fn letters(name: &str) -> Vec<char> {
    name.chars().take(MAX_NAME_CHARS).map(|c| c.to_ascii_lowercase()).into_list()
}

/// Returns how much two names differ. Another extension and swapped letters count as one letter,
/// since those are the usual slips.
fn difference(a: &[char], b: &[char]) -> usize {
    if stem(a) == stem(b) || same_letters(a, b) { 1 } else { distance(a, b) }
}

/// Returns the name without its last extension.
fn stem(name: &[char]) -> &[char] {
    // The dot of `.env` does not begin an extension.
    let end = name.iter().rposition(|c| *c == '.').filter(|at| *at > 0);
    name.get(..end.unwrap_or(name.len())).unwrap_or(name)
}

/// Returns whether only the order of the letters differs.
fn same_letters(a: &[char], b: &[char]) -> bool {
    let count = |name: &[char], letter: &char| name.iter().filter(|c| *c == letter).count();
    a.len() == b.len() && a.iter().all(|letter| count(a, letter) == count(b, letter))
}

/// Returns the edit distance: the number of characters to insert, delete or change to turn `a` into
/// `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).into_list();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b) {
            let changed = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = changed.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}
