//! The guard of files: a model may edit or overwrite only what it has read, and only as long as the
//! file has not changed since. The core says what the model knows; the tools compare it with the
//! files and refuse (`docs/decisions.md#read-before-write`).

use alloc::{format, string::String, vec::Vec};
use innerloop_json::{Error, FromJson, Map, Reader, ToJson, ValueKind, Writer, any_schema};
use innerloop_types::{
    action::{Action, FileOperation, Outcome, Patch, ToolError},
    path::resolved,
};

/// The files that the model knows, by their paths from the workspace's root on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFiles {
    /// The digests by path: an empty text if any content counts as known, `None` for a file that is
    /// gone.
    digests: Map<Option<String>>,
}

impl KnownFiles {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { digests: Map::new() }
    }

    /// Returns whether no file is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files().next().is_none()
    }

    /// Iterates over the files' normalised paths and their digests.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.digests.iter().filter_map(|(path, digest)| Some((path, digest.as_deref()?)))
    }

    fn digest(&self, path: &str) -> Option<String> {
        self.digests.get(path).cloned().flatten()
    }
}

/// Collects files by their normalised paths; any content of them counts as known.
impl FromIterator<String> for KnownFiles {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        let digests = paths.into_iter().map(|path| (path, Some(String::new()))).collect();
        Self { digests }
    }
}

/// Writes an object of the digests by path.
impl ToJson for KnownFiles {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        // Files that are gone are left out: to a session that is restored they are unknown, which
        // comes to the same.
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

    /// Reads an object of digests, or the list of paths that older snapshots have.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = match reader.kind()? {
            ValueKind::Array => Vec::<String>::read(reader)?.into_iter().collect(),
            _ => Self { digests: Map::read(reader)? },
        };
        Ok(())
    }
}

any_schema!(KnownFiles);

/// Notes which files the model knows after its action in `folder` has succeeded; `patch` is the
/// outline of its patch, if it has one, and `digests` are the host's, in the order of the action's
/// files.
pub fn learn(
    action: &Action,
    folder: &str,
    patch: Option<&Patch>,
    digests: &[String],
    known: &mut KnownFiles,
) {
    for (at, file) in action.files(patch).into_iter().enumerate() {
        // A host that gives no digests still has the rule that a file must have been read: its
        // content is then not compared.
        let digest = digests.get(at).cloned().unwrap_or_default();
        let is_there = file.operation != FileOperation::Delete;
        known.digests.insert(normal(folder, file.path), is_there.then_some(digest));
    }
}

/// Returns the model's knowledge of the files that an action names, in their order, as
/// [`ToolRun::known`](innerloop_types::tool::ToolRun::known) has it; `None` if it names none.
/// `patch` is the outline of the action's patch, if it has one.
///
/// # Errors
/// The outcome that the model reads instead, if a file must be read first.
pub fn check(
    action: &Action,
    folder: &str,
    patch: Option<&Patch>,
    known: &KnownFiles,
) -> Result<Option<Vec<Option<String>>>, Outcome> {
    let mut named: Map<()> = Map::new();
    let mut digests = Vec::new();
    let verb = match action {
        // Nothing must be known for a read. The empty list still asks the host for the file's
        // digest, which is what the model knows from then on.
        Action::Read { .. } => return Ok(Some(digests)),
        Action::Edit { .. } => "edit",
        // Of the others only those that change files name any below.
        _ => "patch",
    };
    for file in action.files(patch) {
        let path = normal(folder, file.path);
        // A file that the patch has named before is as the patch left it, so any content is right.
        let is_first = named.insert(path.clone(), ()).is_none();
        let digest = if is_first { known.digest(&path) } else { Some(String::new()) };
        // An unknown file may still be created. Whether it is there already is decided where the
        // files are, in the same step that writes it.
        if digest.is_none() && file.operation != FileOperation::Add {
            let message = format!("Read {} before you {verb} it.", file.path);
            return Err(Outcome::error(ToolError::EditConflict, message));
        }
        digests.push(digest);
    }
    Ok(Some(digests).filter(|digests| !digests.is_empty()))
}

/// Normalises a path: `/a//./b` and `a/b` are the same file.
fn normal(folder: &str, path: &str) -> String {
    // A path that leads out of the workspace becomes the empty one, which no file has; the tools
    // refuse such a call.
    resolved(folder, path).unwrap_or_default()
}
