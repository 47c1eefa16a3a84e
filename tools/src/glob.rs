//! The search for files by the pattern of their path, the newest first. A host that walks folders
//! by itself takes [`GlobSearch`] and gives the same outcome.

use crate::{
    failure_texts,
    files::{FileError, WorkspaceFiles},
    ignore::TOO_MANY_RULES,
    path::WorkspacePath,
    pattern::{PathPattern, settle},
    walk::{LeftOut, walk},
};
use innerloop_json::{IntoList, joined};
use innerloop_types::action::{HiddenFiles, Outcome, ToolError};
use std::{cmp::Reverse, ops::ControlFlow};

/// The maximum number of files that are named.
const MAX_FILES: u32 = 1000;

/// The pattern to search for, and the folder to search.
#[derive(Debug)]
pub struct GlobQuery<'a> {
    /// The folder that the agent works in.
    pub within: &'a WorkspacePath,
    /// The pattern of paths.
    pub pattern: &'a str,
    /// The folder to search, otherwise that of the agent.
    pub path: Option<&'a str>,
    /// True if letters of any case match.
    pub ignore_case: bool,
    /// The maximum number of files that are named.
    pub max_results: Option<u32>,
    /// The files that are left out.
    pub hidden: HiddenFiles,
}

/// A search for files as the model asked for it.
#[derive(Debug)]
pub struct GlobSearch {
    /// The folder to search.
    pub folder: WorkspacePath,
    /// The maximum number of files that are named.
    pub most: usize,
    pattern: PathPattern,
}

/// A file that was found, in the order of the outcome: the newest first, and files of one age by
/// path.
pub type GlobMatch = (Reverse<u64>, WorkspacePath);

impl GlobSearch {
    /// Parses a search, and finds out what brackets in its pattern mean.
    ///
    /// The outcome for an argument that makes no sense.
    pub fn parse(files: &impl WorkspaceFiles, query: &GlobQuery<'_>) -> Result<Self, Outcome> {
        let folder = failure_texts::any_path(query.within, query.path)?;
        let most = usize::try_from(query.max_results.unwrap_or(MAX_FILES)).unwrap_or(usize::MAX);
        if most == 0 {
            let message = "The number of files is limited to 0. Allow at least 1.";
            return Err(failure_texts::error(ToolError::InvalidArguments, message));
        }
        let pattern = PathPattern::parse(query.pattern)?;
        let mut pattern = if query.ignore_case { pattern.ignoring_case() } else { pattern };
        settle([&mut pattern], files, &folder, query.hidden);
        Ok(Self { folder, most, pattern })
    }

    /// Returns whether a file below the folder is looked for.
    #[must_use]
    pub fn wants(&self, path: &WorkspacePath) -> bool {
        self.pattern.matches(path, &self.folder)
    }

    /// Returns the outcome of a search that found `total` files. `found` has the newest of them at
    /// least.
    #[must_use]
    pub fn outcome(&self, mut found: Vec<GlobMatch>, total: usize, left_out: LeftOut) -> Outcome {
        let unreadable = |before: &str| match left_out.unreadable {
            0 => String::new(),
            1 => format!("{before}[1 folder could not be read.]"),
            more => format!("{before}[{more} folders could not be read.]"),
        };
        if found.is_empty() {
            let aside =
                if left_out.ignored { " Files that .gitignore names are left out." } else { "" };
            let mut text = format!("No files found.{aside}{}", unreadable("\n"));
            if let Some(names) = left_out.names() {
                text.extend(["\n", &names]);
            }
            if left_out.too_many_rules {
                text.push('\n');
                text.push_str(TOO_MANY_RULES);
            }
            return Outcome { count: Some(0), ..Outcome::text(text) };
        }
        innerloop_json::sort(&mut found, Ord::cmp);
        let most = self.most;
        let mut lines: Vec<String> =
            found.into_iter().take(most).map(|(_, path)| path.to_string()).into_list();
        let capped_at_source = total > most;
        if capped_at_source {
            lines.push(format!("[Cut at the newest {most} of {total} files. Narrow the pattern.]"));
        }
        lines.extend(Some(unreadable("")).filter(|note| !note.is_empty()));
        lines.extend(left_out.names());
        lines.extend(left_out.too_many_rules.then(|| TOO_MANY_RULES.to_owned()));
        let count = u32::try_from(total).ok();
        Outcome { capped_at_source, count, ..Outcome::text(joined(&lines, "\n")) }
    }
}

pub(crate) fn glob(files: &impl WorkspaceFiles, query: &GlobQuery<'_>) -> Result<Outcome, Outcome> {
    let glob = GlobSearch::parse(files, query)?;
    let mut found = Vec::new();
    let left_out = walk(files, &glob.folder, query.hidden, &mut |path| {
        if glob.wants(path) {
            // Only for matches: each time that is asked for is a call out of the sandbox.
            let modified = files.stat(path).map_or(0, |stat| stat.modified);
            found.push((Reverse(modified), path.clone()));
        }
        ControlFlow::Continue(())
    })
    .map_err(|error| not_searched(files, &glob.folder, &error))?;
    let total = found.len();
    Ok(glob.outcome(found, total, left_out))
}

/// Returns the outcome for a folder that could not be searched.
#[must_use]
pub fn not_searched(
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
    error: &FileError,
) -> Outcome {
    if *error == FileError::NotFolder && files.stat(folder).is_ok() {
        return failure_texts::error(
            ToolError::WrongFileType,
            format!("{folder} is a file, not a folder. Name a folder to search."),
        );
    }
    failure_texts::failed(files, folder, error)
}
