//! One action in, one outcome out, and how failures are worded for the model.

use crate::{
    edit, explain,
    files::Files,
    glob, grep, list, patch,
    read::{self, Lines},
    read_many, write,
};
use innerloop_core::action::{Action, Outcome, ToolError};

/// Carries out a file action of an agent that works in the workspace's root.
pub fn perform(files: &mut impl Files, action: &Action) -> Outcome {
    perform_in(files, "", action)
}

/// Carries out a file action of an agent that works in `folder`: the action's paths begin there and
/// stay there, and what is said of it names them as seen from there. Its changes are named from the
/// workspace's root on. Every failure is an outcome too: its kind, and what to do.
///
/// [`Action::RunProgram`] is not a file action: hosts run programs themselves, and here it gives
/// [`ToolError::UnknownTool`].
pub fn perform_in(files: &mut impl Files, folder: &str, action: &Action) -> Outcome {
    attempt(files, folder, action).unwrap_or_else(|failure| failure)
}

fn attempt(files: &mut impl Files, folder: &str, action: &Action) -> Result<Outcome, Outcome> {
    let within = &explain::folder(folder)?;
    match action {
        &Action::Read { ref path, offset, limit, numbering, line_chars, notice } => {
            read::read(files, within, path, Lines { offset, limit, numbering, line_chars, notice })
        }
        Action::ViewImage { path } => read::view_image(files, within, path),
        Action::ReadMany { include, exclude, flat, hidden } => {
            read_many::read_many(files, within, include, exclude, *flat, *hidden)
        }
        Action::Write { path, content, only_new } => {
            write::write(files, within, path, content, *only_new)
        }
        Action::Edit { path, old, new, all } => edit::edit(files, within, path, old, new, *all),
        Action::List { path, depth, ignore, hidden, style } => {
            let (path, depth) = (path.as_deref(), *depth);
            let (hidden, style) = (*hidden, *style);
            list::list(files, &list::Query { within, path, depth, ignore, hidden, style })
        }
        Action::Glob { pattern, path, ignore_case, max_results, hidden } => {
            let query = glob::Query {
                within,
                pattern,
                path: path.as_deref(),
                ignore_case: *ignore_case,
                max_results: *max_results,
                hidden: *hidden,
            };
            glob::glob(files, &query)
        }
        Action::Grep(query) => grep::grep(files, within, query),
        Action::Patch { patch, unread } => patch::patch(files, within, patch, unread),
        Action::RunProgram { program, .. } => Err(explain::error(
            ToolError::UnknownTool,
            format!("The program {program} cannot run here: only file tools can."),
        )),
    }
}
