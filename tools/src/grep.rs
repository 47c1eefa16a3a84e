//! The search for lines in the files of a folder, or in one file. A host that reads files by itself
//! takes the same parts, with a walk and a matcher of its own, and reports what this search would.

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

/// A search as the model asked for it, except for its expression.
#[derive(Debug)]
pub struct GrepSearch {
    /// The folder to search, or the file.
    pub path: WorkspacePath,
    glob: Option<PathPattern>,
    file_type: Option<FileType>,
}

impl GrepSearch {
    /// Parses everything but the expression, and finds out what brackets in the pattern of paths
    /// mean.
    ///
    /// The outcome for an argument that makes no sense.
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
            // Binary files below a folder are nothing to report; one that the model named is.
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
        // The path is a file. To ask for its kind beforehand would be one more call out of the
        // sandbox.
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
/// The outcome for an expression that is not valid.
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
/// The outcome for a file that cannot be read or is not text.
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
    // The answer says whether to go on with the next file, and there is none.
    let _ = report.add_file(path, &bytes, matcher);
    Ok(())
}
