//! Files are read before they are changed: what the model has not seen, it does not edit
//! or overwrite.

use crate::types::action::{Action, Operation, Outcome, Patch, ToolError};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// Notes which files the model knows once the action has succeeded; `patch` is the outline of its
/// patch, if it is one.
pub fn learn(action: &Action, patch: Option<&Patch>, known: &mut BTreeSet<String>) {
    match action {
        Action::Read { path, .. } | Action::Write { path, .. } | Action::Edit { path, .. } => {
            known.insert(normal(path));
        }
        Action::Patch { .. } => {
            for affected in patch.into_iter().flat_map(Patch::paths) {
                let path = normal(affected.path);
                match affected.operation {
                    Operation::Add | Operation::Update => known.insert(path),
                    Operation::Delete => known.remove(&path),
                };
            }
        }
        _ => {}
    }
}

/// Checks a change against the files that the model knows. A file that is to be written and is
/// not known may only be a new one: that is decided where the files are. `patch` is the outline of
/// the action's patch, if it is one.
///
/// # Errors
/// The outcome that the model reads instead.
pub fn check(
    action: &mut Action,
    patch: Option<&Patch>,
    known: &BTreeSet<String>,
) -> Result<(), Outcome> {
    match action {
        Action::Edit { path, .. } if !known.contains(&normal(path)) => {
            let message = format!("Read {path} before you edit it.");
            Err(Outcome::error(ToolError::EditConflict, message))
        }
        Action::Write { path, only_new, .. } => {
            *only_new = !known.contains(&normal(path));
            Ok(())
        }
        Action::Patch { unread, .. } => {
            if let Some(patch) = patch {
                *unread = unread_targets(patch, known)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The files that a patch writes without their having been read.
fn unread_targets(patch: &Patch, known: &BTreeSet<String>) -> Result<Vec<String>, Outcome> {
    let mut unread = Vec::new();
    let mut written = BTreeSet::new();
    for affected in patch.paths() {
        let path = normal(affected.path);
        let is_known = known.contains(&path) || written.contains(&path);
        match affected.operation {
            Operation::Add if !is_known => unread.push(path.clone()),
            Operation::Update | Operation::Delete if !is_known => {
                let message = format!("Read {} before you patch it.", affected.path);
                return Err(Outcome::error(ToolError::EditConflict, message));
            }
            _ => {}
        }
        written.insert(path);
    }
    Ok(unread)
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
