//! Writing whole files, and what an outcome says about a change.

use crate::{
    explain,
    files::{FileError, Files},
    path::WorkspacePath,
};
use innerloop_core::action::{Change, ChangeKind, Outcome};

/// The largest text that a change includes, 256 KiB.
pub const MAX_CHANGE_BYTES: usize = 256 << 10;

pub(crate) fn write(
    files: &mut impl Files,
    within: &WorkspacePath,
    path: &str,
    content: &str,
) -> Result<Outcome, Outcome> {
    let path = explain::writable_path(within, path)?;
    let before = match files.read(&path) {
        Ok(bytes) => Before::Bytes(bytes.into_owned()),
        Err(FileError::NotFound) => Before::Absent,
        Err(FileError::TooLarge) => Before::TooLarge,
        Err(error) => return Err(explain::failed(files, &path, &error)),
    };
    replace_content(files, &path, &before, content)
}

/// What was at a path before a write.
#[derive(Default)]
pub(crate) enum Before {
    /// Nothing.
    #[default]
    Absent,
    /// A file with this content.
    Bytes(Vec<u8>),
    /// A file that is too large to read, or for a change to include.
    TooLarge,
}

impl Before {
    /// A file with this content, as far as a change includes it.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.len() > MAX_CHANGE_BYTES { Self::TooLarge } else { Self::Bytes(bytes.to_vec()) }
    }
}

/// Writes `content` and reports how many bytes were written, and the change.
pub(crate) fn replace_content(
    files: &mut impl Files,
    path: &WorkspacePath,
    before: &Before,
    content: &str,
) -> Result<Outcome, Outcome> {
    if matches!(before, Before::Bytes(bytes) if bytes == content.as_bytes()) {
        return Ok(Outcome::text(format!("{path} has this content already. Nothing changed.")));
    }
    let change = store(files, path, before, content.to_owned())?;
    let size = content.len();
    let unit = if size == 1 { "byte" } else { "bytes" };
    let how = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified | ChangeKind::Deleted => "overwritten",
    };
    let message = format!("Wrote {size} {unit} to {path} ({how}).");
    Ok(Outcome { changes: vec![change], ..Outcome::text(message) })
}

/// Writes `content` and says what changed.
pub(crate) fn store(
    files: &mut impl Files,
    path: &WorkspacePath,
    before: &Before,
    content: String,
) -> Result<Change, Outcome> {
    let after = (content.len() <= MAX_CHANGE_BYTES).then(|| content.clone());
    let (kind, before) = match before {
        Before::Absent => (ChangeKind::Created, None),
        Before::Bytes(bytes) => (ChangeKind::Modified, change_text(bytes)),
        Before::TooLarge => (ChangeKind::Modified, None),
    };
    files
        .write(path, content.into_bytes())
        .map_err(|error| explain::failed(files, path, &error))?;
    Ok(Change { path: path.as_str().to_owned(), kind, before, after })
}

/// Removes a file and says so.
pub(crate) fn remove(
    files: &mut impl Files,
    path: &WorkspacePath,
    before: &Before,
) -> Result<Change, Outcome> {
    files.remove(path).map_err(|error| explain::failed(files, path, &error))?;
    let before = match before {
        Before::Bytes(bytes) => change_text(bytes),
        Before::Absent | Before::TooLarge => None,
    };
    Ok(Change { path: path.as_str().to_owned(), kind: ChangeKind::Deleted, before, after: None })
}

/// The content of a file as a change includes it: none if it is too long or no text.
#[must_use]
pub fn change_text(bytes: &[u8]) -> Option<String> {
    if bytes.len() > MAX_CHANGE_BYTES {
        return None;
    }
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}
