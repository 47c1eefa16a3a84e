//! Reading at full speed: `read`, `read_many`, `list`, `glob` and `grep` over the workspace's
//! handle, by the tools' own functions where they are fast enough. No guest runs, so nothing is
//! changed; what can be read is what a guest could read.

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

/// Carries out an action that only reads, for an agent that works in a folder of the workspace.
/// It takes as long as it takes, unless it is stopped: then nobody wants its outcome.
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

/// Returns what is carried out here, and not by the tools' own functions.
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
            // A file of that size is never changed by a tool, so it has no digest either.
            let digests = if known.is_some() { vec![String::new()] } else { Vec::new() };
            let read = page::read(reader, within, path, lines)?;
            read.map(|outcome| Outcome { digests, ..outcome })
        }
        _ => return None,
    };
    Some(done.unwrap_or_else(|failure| failure))
}
