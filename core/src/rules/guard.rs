//! Files are read before they are changed (Spec §8): what the model has not seen, it does not edit
//! or overwrite.

use crate::nouns::action::{Action, Outcome, ToolError};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// The file that the model knows once the action has succeeded.
#[must_use]
pub fn path(action: &Action) -> Option<String> {
    match action {
        Action::Read { path, .. } | Action::Write { path, .. } | Action::Edit { path, .. } => {
            Some(normal(path))
        }
        _ => None,
    }
}

/// Checks a change against the files that the model knows. A file that is to be written and is
/// not known may only be a new one: that is decided where the files are.
///
/// # Errors
/// The outcome that the model reads instead.
pub fn check(action: &mut Action, known: &BTreeSet<String>) -> Result<(), Outcome> {
    match action {
        Action::Edit { path, .. } if !known.contains(&normal(path)) => {
            let message = format!("Read {path} before you edit it.");
            Err(Outcome::error(ToolError::EditConflict, message))
        }
        Action::Write { path, only_new, .. } => {
            *only_new = !known.contains(&normal(path));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A path without what does not matter in it: `/a//./b` and `a/b` are the same file.
fn normal(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}
