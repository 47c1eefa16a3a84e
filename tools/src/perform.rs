//! One action in, one outcome out, and how failures are worded for the model.

use crate::{
    edit, explain,
    files::Files,
    glob,
    grep::{self, Query},
    list, patch, read, write,
};
use innerloop_core::action::{Action, Outcome, ToolError};

/// Carries out a file action. Every failure is an outcome too: its kind, and what to do.
///
/// [`Action::RunProgram`] is not a file action: hosts run programs themselves, and here it gives
/// [`ToolError::UnknownTool`].
pub fn perform(files: &mut impl Files, action: &Action) -> Outcome {
    let done = match action {
        Action::Read { path, offset, limit, numbering } => {
            read::read(files, path, *offset, *limit, *numbering)
        }
        Action::Write { path, content, only_new } => write::write(files, path, content, *only_new),
        Action::Edit { path, old, new, all } => edit::edit(files, path, old, new, *all),
        Action::List { path, depth } => list::list(files, path.as_deref(), *depth),
        Action::Glob { pattern, path } => glob::glob(files, pattern, path.as_deref()),
        Action::Grep { pattern, path, glob, ignore_case, mode, max_results } => {
            let query = Query {
                pattern,
                path: path.as_deref(),
                glob: glob.as_deref(),
                ignore_case: *ignore_case,
                mode: *mode,
                max_results: *max_results,
            };
            grep::grep(files, &query)
        }
        Action::Patch { patch, unread } => patch::patch(files, patch, unread),
        Action::RunProgram { program, .. } => Err(explain::error(
            ToolError::UnknownTool,
            format!("The program {program} cannot run here: only file tools can."),
        )),
    };
    done.unwrap_or_else(|failure| failure)
}
