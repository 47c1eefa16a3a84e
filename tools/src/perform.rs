//! One action in, one outcome out, and how failures are worded for the model.

use crate::{
    edit, explain,
    files::Files,
    glob, grep, list, patch,
    read::{self, Lines},
    read_many, write,
};
use innerloop_core::action::{Action, Outcome, ToolError};

/// Carries out a file action. Every failure is an outcome too: its kind, and what to do.
///
/// [`Action::RunProgram`] is not a file action: hosts run programs themselves, and here it gives
/// [`ToolError::UnknownTool`].
pub fn perform(files: &mut impl Files, action: &Action) -> Outcome {
    let done = match action {
        &Action::Read { ref path, offset, limit, numbering, line_chars, notice } => {
            read::read(files, path, Lines { offset, limit, numbering, line_chars, notice })
        }
        Action::ViewImage { path } => read::view_image(files, path),
        Action::ReadMany { include, exclude, flat, hidden } => {
            read_many::read_many(files, include, exclude, *flat, *hidden)
        }
        Action::Write { path, content, only_new } => write::write(files, path, content, *only_new),
        Action::Edit { path, old, new, all } => edit::edit(files, path, old, new, *all),
        Action::List { path, depth, ignore, hidden, style } => {
            let (path, depth) = (path.as_deref(), *depth);
            list::list(files, &list::Query { path, depth, ignore, hidden: *hidden, style: *style })
        }
        Action::Glob { pattern, path, ignore_case, max_results, hidden } => {
            let query = glob::Query {
                pattern,
                path: path.as_deref(),
                ignore_case: *ignore_case,
                max_results: *max_results,
                hidden: *hidden,
            };
            glob::glob(files, &query)
        }
        Action::Grep(query) => grep::grep(files, query),
        Action::Patch { patch, unread } => patch::patch(files, patch, unread),
        Action::RunProgram { program, .. } => Err(explain::error(
            ToolError::UnknownTool,
            format!("The program {program} cannot run here: only file tools can."),
        )),
    };
    done.unwrap_or_else(|failure| failure)
}
