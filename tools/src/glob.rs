//! Finding files by the pattern of their path.

use crate::{
    explain,
    files::{FileError, Files},
    path::WorkspacePath,
    pattern::Pattern,
    walk::walk,
};
use innerloop_core::action::{Hidden, Outcome, ToolError};
use std::{cmp::Reverse, ops::ControlFlow};

/// How many files are named at most.
const MAX_FILES: u32 = 1000;

/// What to search for, and where.
pub(crate) struct Query<'a> {
    pub(crate) within: &'a WorkspacePath,
    pub(crate) pattern: &'a str,
    pub(crate) path: Option<&'a str>,
    pub(crate) ignore_case: bool,
    pub(crate) max_results: Option<u32>,
    pub(crate) hidden: Hidden,
}

pub(crate) fn glob(files: &impl Files, query: &Query<'_>) -> Result<Outcome, Outcome> {
    let folder = explain::any_path(query.within, query.path)?;
    let most = usize::try_from(query.max_results.unwrap_or(MAX_FILES)).unwrap_or(usize::MAX);
    if most == 0 {
        let message = "The number of files is limited to 0. Allow at least 1.";
        return Err(explain::error(ToolError::InvalidArguments, message));
    }
    let pattern = Pattern::parse(query.pattern)?;
    let pattern = if query.ignore_case { pattern.ignoring_case() } else { pattern };
    let mut found = Vec::new();
    let left_out = walk(files, &folder, query.hidden, &mut |path| {
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
        let text = format!("No files found.{aside}");
        return Ok(Outcome { count: Some(0), ..Outcome::text(text) });
    }
    innerloop_json::sort(&mut found, Ord::cmp);
    let total = found.len();
    let mut lines: Vec<String> =
        found.into_iter().take(most).map(|(_, path)| path.to_string()).collect();
    let capped_at_source = total > most;
    if capped_at_source {
        lines.push(format!("[Cut at the newest {most} of {total} files. Narrow the pattern.]"));
    }
    let count = u32::try_from(total).ok();
    Ok(Outcome { capped_at_source, count, ..Outcome::text(lines.join("\n")) })
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
