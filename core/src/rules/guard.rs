//! Files are read before they are changed: what the model has not seen, or not as it is by now, it
//! does not edit or overwrite.

use alloc::{format, string::String, vec::Vec};
use innerloop_json::{Error, FromJson, Map, Reader, ToJson, ValueKind, Writer, any_schema};
use innerloop_types::{
    action::{Action, FileOperation, Outcome, Patch, ToolError},
    path::resolved,
};

/// The files that the model knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFiles {
    /// Their digests by path, empty where only the file is known; none for one that is gone.
    digests: Map<Option<String>>,
}

impl KnownFiles {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { digests: Map::new() }
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files().next().is_none()
    }

    /// The files' paths, without what does not matter in them, and their digests.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.digests.iter().filter_map(|(path, digest)| Some((path, digest.as_deref()?)))
    }

    fn digest(&self, path: &str) -> Option<String> {
        self.digests.get(path).cloned().flatten()
    }
}

/// Files that the model knows, by paths without what does not matter in them.
impl FromIterator<String> for KnownFiles {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        let digests = paths.into_iter().map(|path| (path, Some(String::new()))).collect();
        Self { digests }
    }
}

/// The digests by path.
impl ToJson for KnownFiles {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        for (path, digest) in self.files() {
            writer.key(path);
            writer.string(digest);
        }
        writer.end_object();
    }
}

impl<'a> FromJson<'a> for KnownFiles {
    fn blank() -> Self {
        Self::new()
    }

    /// Snapshots of before have a list of the paths.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = match reader.kind()? {
            ValueKind::Array => Vec::<String>::read(reader)?.into_iter().collect(),
            _ => Self { digests: Map::read(reader)? },
        };
        Ok(())
    }
}

any_schema!(KnownFiles);

/// Notes which files the model knows once its action in `folder` has succeeded; `patch` is the
/// outline of its patch, if it is one, and `digests` is what the host says of its files.
pub fn learn(
    action: &Action,
    folder: &str,
    patch: Option<&Patch>,
    digests: &[String],
    known: &mut KnownFiles,
) {
    for (at, file) in action.files(patch).into_iter().enumerate() {
        let digest = digests.get(at).cloned().unwrap_or_default();
        let is_there = file.operation != FileOperation::Delete;
        known.digests.insert(normal(folder, file.path), is_there.then_some(digest));
    }
}

/// Returns what the model knows of the files that the action of an agent in `folder` names, nothing
/// where it names none. One that is to be written and is not known may only be a new one: that is
/// decided where the files are. `patch` is the outline of the action's patch, if it is one.
///
/// # Errors
/// The outcome that the model reads instead.
pub fn check(
    action: &Action,
    folder: &str,
    patch: Option<&Patch>,
    known: &KnownFiles,
) -> Result<Option<Vec<Option<String>>>, Outcome> {
    let mut named: Map<()> = Map::new();
    let mut digests = Vec::new();
    let verb = match action {
        Action::Read { .. } => return Ok(Some(digests)),
        Action::Edit { .. } => "edit",
        _ => "patch",
    };
    for file in action.files(patch) {
        let path = normal(folder, file.path);
        // What a patch has named before is as it left it.
        let is_first = named.insert(path.clone(), ()).is_none();
        let digest = if is_first { known.digest(&path) } else { Some(String::new()) };
        if digest.is_none() && file.operation != FileOperation::Add {
            let message = format!("Read {} before you {verb} it.", file.path);
            return Err(Outcome::error(ToolError::EditConflict, message));
        }
        digests.push(digest);
    }
    Ok(Some(digests).filter(|digests| !digests.is_empty()))
}

/// A path without what does not matter in it: `/a//./b` and `a/b` are the same file. One that leads
/// out of the workspace is none.
fn normal(folder: &str, path: &str) -> String {
    resolved(folder, path).unwrap_or_default()
}
