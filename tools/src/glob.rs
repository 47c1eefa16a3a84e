//! Finding files by the pattern of their path.

use crate::{
    explain,
    files::{FileError, Files},
    path::WorkspacePath,
    pattern::Pattern,
    walk::walk,
};
use innerloop_core::action::{Outcome, ToolError};
use std::{cmp::Reverse, ops::ControlFlow};

/// How many files are named at most.
const MAX_FILES: usize = 1000;

pub(crate) fn glob(
    files: &impl Files,
    pattern: &str,
    path: Option<&str>,
) -> Result<Outcome, Outcome> {
    let folder = explain::any_path(path)?;
    let pattern = Pattern::parse(pattern)?;
    let mut found = Vec::new();
    let left_out = walk(files, &folder, |path| {
        if pattern.matches(path, &folder) {
            let modified = files.stat(path).map_or(0, |stat| stat.modified);
            found.push((Reverse(modified), path.clone()));
        }
        ControlFlow::Continue(())
    })
    .map_err(|error| not_listed(files, &folder, &error))?;
    if found.is_empty() {
        let aside =
            if left_out.ignored { " Files that .gitignore names are left out." } else { "" };
        return Ok(Outcome::text(format!("No files found.{aside}")));
    }
    found.sort_unstable();
    let total = found.len();
    let mut lines: Vec<String> =
        found.into_iter().take(MAX_FILES).map(|(_, path)| path.to_string()).collect();
    let capped_at_source = total > MAX_FILES;
    if capped_at_source {
        lines
            .push(format!("[Cut at the newest {MAX_FILES} of {total} files. Narrow the pattern.]"));
    }
    Ok(Outcome { capped_at_source, ..Outcome::text(lines.join("\n")) })
}

/// Why a folder could not be searched.
fn not_listed(files: &impl Files, folder: &WorkspacePath, error: &FileError) -> Outcome {
    if *error == FileError::NotFolder && files.stat(folder).is_ok() {
        return explain::error(
            ToolError::WrongFileType,
            format!("{folder} is a file, not a folder. Name a folder to search."),
        );
    }
    explain::failed(files, folder, error)
}
