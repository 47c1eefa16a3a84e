//! Searching the files of a folder, or one file.

use crate::{
    encoding::looks_binary,
    failure_texts,
    file_type::FileType,
    files::{FileError, WorkspaceFiles},
    path::WorkspacePath,
    pattern::{PathPattern, settle},
    read,
    report::GrepReport,
    search::{LineMatcher, SmallMatcher},
    walk::{LeftOut, walk},
};
use innerloop_json::quoted;
use innerloop_types::action::{GrepQuery, Outcome, ToolError};
use std::ops::ControlFlow;

/// A search as the model asked for it.
#[derive(Debug)]
pub struct GrepSearch {
    /// The folder to search, or the file.
    pub path: WorkspacePath,
    glob: Option<PathPattern>,
    file_type: Option<FileType>,
}

impl GrepSearch {
    /// Reads all of it but the expression, and looks what brackets in the pattern of paths mean.
    ///
    /// # Errors
    /// The outcome where something in it makes no sense.
    pub fn parse(
        files: &impl WorkspaceFiles,
        within: &WorkspacePath,
        grep: &GrepQuery,
    ) -> Result<Self, Outcome> {
        let path = failure_texts::any_path(within, grep.path.as_deref())?;
        let mut glob = grep.glob.as_deref().map(PathPattern::parse).transpose()?;
        let file_type = grep.file_type.as_deref().map(FileType::named).transpose()?;
        if grep.max_results == Some(0) || grep.max_per_file == Some(0) {
            let message = "The number of results is limited to 0. Allow at least 1.";
            return Err(failure_texts::error(ToolError::InvalidArguments, message));
        }
        settle(glob.as_mut(), files, &path, grep.hidden);
        Ok(Self { path, glob, file_type })
    }

    /// Returns whether a file below the folder is to be searched.
    #[must_use]
    pub fn wants(&self, file: &WorkspacePath) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.matches(file, &self.path))
            && self.file_type.is_none_or(|wanted| wanted.has(file.name()))
    }
}

pub(crate) fn grep(
    files: &impl WorkspaceFiles,
    within: &WorkspacePath,
    grep: &GrepQuery,
) -> Result<Outcome, Outcome> {
    let search = GrepSearch::parse(files, within, grep)?;
    let path = &search.path;
    let matcher = small_matcher(grep)?;
    let mut report = GrepReport::new(grep);
    let searched = walk(files, path, grep.hidden, &mut |file| {
        if !search.wants(file) {
            return ControlFlow::Continue(());
        }
        match files.read(file) {
            Ok(bytes) if looks_binary(&bytes) => ControlFlow::Continue(()),
            Ok(bytes) => report.add_file(file, &bytes, &matcher),
            Err(_) => {
                report.unreadable += 1;
                ControlFlow::Continue(())
            }
        }
    });
    let left_out = match searched {
        Ok(left_out) => left_out,
        Err(FileError::NotFolder) => {
            grep_file(files, path, &matcher, &mut report)?;
            LeftOut::default()
        }
        Err(error) => return Err(failure_texts::failed(files, path, &error)),
    };
    Ok(report.finish(left_out))
}

/// Compiles the expression of a search.
///
/// # Errors
/// The outcome where it is not valid.
pub fn small_matcher(grep: &GrepQuery) -> Result<SmallMatcher, Outcome> {
    SmallMatcher::new(grep).map_err(|(pattern, why)| {
        failure_texts::error(
            ToolError::InvalidArguments,
            format!(
                "The regular expression {} is invalid: {why}. To search for . * + ? ( ) [ ] {{ }} \
                 | ^ $ \\ themselves, put a backslash before each.",
                quoted(&pattern),
            ),
        )
    })
}

/// Searches a file that the model named, whether or not git ignores it.
///
/// # Errors
/// The outcome where it cannot be read, or is no text.
pub fn grep_file(
    files: &impl WorkspaceFiles,
    path: &WorkspacePath,
    matcher: &impl LineMatcher,
    report: &mut GrepReport<'_>,
) -> Result<(), Outcome> {
    let bytes = files.read(path).map_err(|error| failure_texts::failed(files, path, &error))?;
    if looks_binary(&bytes) {
        return Err(read::binary(path, "it contains NUL bytes"));
    }
    // There is no next file.
    let _ = report.add_file(path, &bytes, matcher);
    Ok(())
}
