//! Reading at full speed: `read`, `read_many`, `list`, `glob` and `grep` over the workspace's
//! handle, in the host itself and not in the sandbox. The tools' own functions are used where they
//! are fast enough. Invariant: the answers are those of the sandbox to the letter, nothing is
//! changed, and nothing is read that a guest could not read.

mod expression;
mod files;
mod glob;
mod grep;
mod ignored;
mod page;
mod stop;
mod translate;
mod walk;

pub use stop::StopFlag;

use crate::Workspace;
use files::WorkspaceReader;
use innerloop_tools::{
    parts::{GlobQuery, ReadOptions, folder},
    perform_known,
};
use innerloop_types::action::{Action, Outcome};

/// Returns whether an action does nothing but read.
pub const fn only_reads(action: &Action) -> bool {
    matches!(
        action,
        Action::Read { .. }
            | Action::ViewImage { .. }
            | Action::ReadMany { .. }
            | Action::List { .. }
            | Action::Glob { .. }
            | Action::Grep(_)
    )
}

/// Carries out an action that only reads, for an agent that works in the folder `within`. It blocks
/// until it is done or stopped; the outcome of a stopped one means nothing.
pub fn perform(
    workspace: &Workspace,
    within: &str,
    action: &Action,
    known: Option<&[Option<String>]>,
    stop: &StopFlag,
) -> Outcome {
    let mut reader = WorkspaceReader::new(workspace.clone(), stop.clone());
    fast(&reader, within, action, known)
        .unwrap_or_else(|| perform_known(&mut reader, within, action, known))
}

/// Carries out an action that has a faster way here; `None` leaves it to the tools' own functions.
fn fast(
    reader: &WorkspaceReader,
    within: &str,
    action: &Action,
    known: Option<&[Option<String>]>,
) -> Option<Outcome> {
    let within = &match folder(within) {
        Ok(within) => within,
        Err(outcome) => return Some(outcome),
    };
    let done = match action {
        Action::Grep(query) => grep::grep(reader, within, query),
        Action::Glob { pattern, path, ignore_case, max_results, hidden } => {
            let query = GlobQuery {
                within,
                pattern,
                path: path.as_deref(),
                ignore_case: *ignore_case,
                max_results: *max_results,
                hidden: *hidden,
            };
            glob::glob(reader, &query)
        }
        &Action::Read { ref path, offset, limit, numbering, line_chars, notice } => {
            let lines = ReadOptions { offset, limit, numbering, line_chars, notice };
            // The digest is for tools that change a file only if it is as it was read. No tool
            // changes a file of that size.
            let digests = if known.is_some() { vec![String::new()] } else { Vec::new() };
            let read = page::read(reader, within, path, lines)?;
            read.map(|outcome| Outcome { digests, ..outcome })
        }
        _ => return None,
    };
    Some(done.unwrap_or_else(|failure| failure))
}
