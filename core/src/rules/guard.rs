//! Files are read before they are changed: what the model has not seen, it does not edit
//! or overwrite.

use crate::{
    base::path::resolved,
    types::action::{Action, Operation, Outcome, Patch, ToolError},
};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::{Error, FromJson, Map, Reader, ToJson, Writer};

/// The files that the model knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFiles {
    /// By path; one that is gone is not known any more.
    is_there: Map<bool>,
}

impl KnownFiles {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { is_there: Map::new() }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }

    /// The files' paths, without what does not matter in them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.is_there.iter().filter_map(|(path, is_there)| is_there.then_some(path))
    }

    fn set(&mut self, folder: &str, path: &str, is_there: bool) {
        self.is_there.insert(normal(folder, path), is_there);
    }

    fn contains(&self, folder: &str, path: &str) -> bool {
        self.is_there.get(&normal(folder, path)).is_some_and(|is_there| *is_there)
    }
}

/// Files that the model knows, by paths without what does not matter in them.
impl FromIterator<String> for KnownFiles {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        Self { is_there: paths.into_iter().map(|path| (path, true)).collect() }
    }
}

/// A list of the paths.
impl ToJson for KnownFiles {
    fn write(&self, writer: &mut Writer) {
        writer.array();
        for path in self.paths() {
            writer.element();
            writer.string(path);
        }
        writer.end_array();
    }
}

impl<'a> FromJson<'a> for KnownFiles {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = Vec::<String>::read(reader)?.into_iter().collect();
        Ok(())
    }
}

/// Notes which files the model knows once its action in `folder` has succeeded; `patch` is the
/// outline of its patch, if it is one.
pub fn learn(action: &Action, folder: &str, patch: Option<&Patch>, known: &mut KnownFiles) {
    match action {
        Action::Read { path, .. } | Action::Write { path, .. } | Action::Edit { path, .. } => {
            known.set(folder, path, true);
        }
        Action::Patch { .. } => {
            for affected in patch.into_iter().flat_map(Patch::paths) {
                known.set(folder, affected.path, affected.operation != Operation::Delete);
            }
        }
        _ => {}
    }
}

/// Checks a change of an agent that works in `folder` against the files that the model knows. A
/// file that is to be written and is not known may only be a new one: that is decided where the
/// files are. `patch` is the outline of the action's patch, if it is one.
///
/// # Errors
/// The outcome that the model reads instead.
pub fn check(
    action: &mut Action,
    folder: &str,
    patch: Option<&Patch>,
    known: &KnownFiles,
) -> Result<(), Outcome> {
    match action {
        Action::Edit { path, .. } if !known.contains(folder, path) => {
            let message = format!("Read {path} before you edit it.");
            Err(Outcome::error(ToolError::EditConflict, message))
        }
        Action::Write { path, only_new, .. } => {
            *only_new = !known.contains(folder, path);
            Ok(())
        }
        Action::Patch { unread, .. } => {
            if let Some(patch) = patch {
                *unread = unread_targets(patch, folder, known)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The files that a patch writes without their having been read.
fn unread_targets(patch: &Patch, folder: &str, known: &KnownFiles) -> Result<Vec<String>, Outcome> {
    let mut unread = Vec::new();
    let mut written: Map<()> = Map::new();
    for affected in patch.paths() {
        let path = normal(folder, affected.path);
        let is_known = known.contains(folder, affected.path) || written.contains_key(&path);
        match affected.operation {
            Operation::Add if !is_known => unread.push(path.clone()),
            Operation::Update | Operation::Delete if !is_known => {
                let message = format!("Read {} before you patch it.", affected.path);
                return Err(Outcome::error(ToolError::EditConflict, message));
            }
            _ => {}
        }
        written.insert(path, ());
    }
    Ok(unread)
}

/// A path without what does not matter in it: `/a//./b` and `a/b` are the same file. One that leads
/// out of the workspace is none.
fn normal(folder: &str, path: &str) -> String {
    resolved(folder, path).unwrap_or_default()
}
