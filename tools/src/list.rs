//! Listing folders.

use crate::{
    explain,
    files::{Entry, FileError, Files, Kind, sort},
    path::WorkspacePath,
};
use innerloop_core::action::{Outcome, ToolError};
use std::fmt::Write;

/// How many entries are listed at most.
const MAX_ENTRIES: usize = 2000;

pub(crate) fn list(files: &impl Files, path: Option<&str>, depth: u32) -> Result<Outcome, Outcome> {
    let folder = explain::any_path(path)?;
    if depth == 0 {
        let message = "The depth is 0. Give at least 1.";
        return Err(explain::error(ToolError::InvalidArguments, message));
    }
    let top = sorted(files, &folder).map_err(|error| match error {
        FileError::NotFolder if files.stat(&folder).is_ok() => explain::error(
            ToolError::WrongFileType,
            format!("{folder} is a file, not a folder. Read it instead."),
        ),
        error => explain::failed(files, &folder, &error),
    })?;
    if top.len() == 0 {
        return Ok(Outcome::text(format!("The folder {folder} is empty.")));
    }
    Ok(render(files, &folder, top, depth))
}

/// The entries, one a line, each folder followed by what stands in it.
fn render(
    files: &impl Files,
    folder: &WorkspacePath,
    top: std::vec::IntoIter<Entry>,
    depth: u32,
) -> Outcome {
    let mut out = String::new();
    let mut count = 0;
    let mut unreadable = 0_u32;
    let mut capped_at_source = false;
    let mut levels = vec![(folder.clone(), top)];
    while let Some((above, entries)) = levels.last_mut() {
        let Some(entry) = entries.next() else {
            levels.pop();
            continue;
        };
        if count == MAX_ENTRIES {
            capped_at_source = true;
            break;
        }
        count += 1;
        let path = above.join(&entry.name);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}{}", path.relative_to(folder), mark(entry.kind));
        if entry.kind == Kind::Folder && u32::try_from(levels.len()).is_ok_and(|l| l < depth) {
            match sorted(files, &path) {
                Ok(entries) => levels.push((path, entries)),
                Err(_) => unreadable += 1,
            }
        }
    }
    if unreadable > 0 {
        let _ = writeln!(out, "[{unreadable} folders could not be read.]");
    }
    if capped_at_source {
        let _ = writeln!(out, "[Cut at {MAX_ENTRIES} entries. List a subfolder, or fewer levels.]");
    }
    out.truncate(out.trim_end_matches('\n').len());
    Outcome { capped_at_source, ..Outcome::text(out) }
}

/// The entries of a folder, folders first, each by name; without `.git`.
fn sorted(
    files: &impl Files,
    folder: &WorkspacePath,
) -> Result<std::vec::IntoIter<Entry>, FileError> {
    let mut entries = files.list(folder)?;
    entries.retain(|entry| entry.name != ".git");
    sort(&mut entries);
    let (mut sorted, others): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.kind == Kind::Folder);
    sorted.extend(others);
    Ok(sorted.into_iter())
}

const fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "",
        Kind::Folder => "/",
        Kind::Link => " (link)",
        Kind::Other => " (device)",
    }
}
