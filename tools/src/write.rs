//! The writing of whole files, and the changes that outcomes report. Edits and patches store their
//! files here, too, so that encodings and the size of a reported change are handled in one place.

use crate::{
    encoding::TextEncoding,
    failure_texts,
    files::{FileError, WorkspaceFiles},
    path::WorkspacePath,
    unmask::{MaskResolver, append_unknown},
};
use innerloop_types::action::{ChangeKind, Outcome, ReportedChange, ToolError};
use std::borrow::Cow;

/// The largest text that a change includes, 256 KiB.
pub const MAX_CHANGE_BYTES: usize = 256 << 10;

pub(crate) fn write(
    files: &mut impl WorkspaceFiles,
    within: &WorkspacePath,
    path: &str,
    content: &str,
    salt: Option<u64>,
) -> Result<Outcome, Outcome> {
    let path = failure_texts::writable_path(within, path)?;
    let before = match files.read(&path) {
        Ok(bytes) => PreviousContent::Bytes(bytes.into_owned()),
        Err(FileError::NotFound) => PreviousContent::Absent,
        // To overwrite a file it need not be read; its change then lacks the old text.
        Err(FileError::TooLarge) => PreviousContent::TooLarge,
        Err(error) => return Err(failure_texts::failed(files, &path, &error)),
    };
    replace_content(files, &path, &before, content, salt)
}

/// The content at a path before a write.
#[derive(Default)]
pub(crate) enum PreviousContent {
    /// No file.
    #[default]
    Absent,
    /// A file with this content.
    Bytes(Vec<u8>),
    /// A file that is too large to read, or too large for a change to include.
    TooLarge,
}

impl PreviousContent {
    /// Returns a file with this content, as far as a change includes it.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.len() > MAX_CHANGE_BYTES { Self::TooLarge } else { Self::Bytes(bytes.to_vec()) }
    }
}

/// A text that is to be a file's content.
pub(crate) struct FileContent {
    pub(crate) text: String,
    pub(crate) encoding: TextEncoding,
}

impl FileContent {
    /// Returns a text in the encoding of what it takes the place of.
    pub(crate) fn after(before: &PreviousContent, text: String) -> Self {
        let encoding = match before {
            PreviousContent::Bytes(bytes) => TextEncoding::of(bytes),
            PreviousContent::Absent | PreviousContent::TooLarge => TextEncoding::Utf8,
        };
        Self { text, encoding }
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, Outcome> {
        self.encoding.encode(&self.text).map_err(|letter| {
            let message = format!(
                "{path} was not written: {letter} (U+{:04X}) has no place in {}, the encoding of \
                 the file. Use other characters, or ask the user whether it may become UTF-8.",
                u32::from(letter),
                self.encoding.name()
            );
            failure_texts::error(ToolError::InvalidArguments, message)
        })
    }
}

/// Writes `content` and reports how many bytes were written, and the change.
pub(crate) fn replace_content(
    files: &mut impl WorkspaceFiles,
    path: &WorkspacePath,
    before: &PreviousContent,
    content: &str,
    salt: Option<u64>,
) -> Result<Outcome, Outcome> {
    let old: &[u8] = if let PreviousContent::Bytes(bytes) = before { bytes } else { &[] };
    let masks = MaskResolver::new(salt, old, &mut [content].into_iter());
    let content = FileContent::after(before, masks.text(content).into_owned());
    let bytes = content.bytes(path)?;
    // Not written, so that the file keeps its time and no change is reported.
    if matches!(before, PreviousContent::Bytes(before) if **before == *bytes) {
        return Ok(Outcome::text(format!("{path} has this content already. Nothing changed.")));
    }
    let size = bytes.len();
    let (change, _) = store(files, (path, None), before, content)?;
    let unit = if size == 1 { "byte" } else { "bytes" };
    let how = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified | ChangeKind::Deleted => "overwritten",
    };
    let mut message = format!("Wrote {size} {unit} to {path} ({how}).");
    append_unknown(masks.unknown(), &mut message);
    Ok(Outcome { changes: vec![change], ..Outcome::text(message) })
}

/// Writes `content`, moving the file at `from` if there is one. Returns the change, and whether
/// `from` is gone by that.
pub(crate) fn store(
    files: &mut impl WorkspaceFiles,
    (path, from): (&WorkspacePath, Option<&WorkspacePath>),
    before: &PreviousContent,
    content: FileContent,
) -> Result<(ReportedChange, bool), Outcome> {
    // Hosts restore files from the texts of changes, so a text that is not the file's bytes is left
    // out.
    let is_told = content.encoding == TextEncoding::Utf8 && content.text.len() <= MAX_CHANGE_BYTES;
    let after = is_told.then(|| content.text.clone());
    let bytes = match content.bytes(path)? {
        Cow::Owned(bytes) => bytes,
        Cow::Borrowed(_) => content.text.into_bytes(),
    };
    let (kind, before) = match before {
        PreviousContent::Absent => (ChangeKind::Created, None),
        PreviousContent::Bytes(bytes) => (ChangeKind::Modified, change_text(bytes)),
        PreviousContent::TooLarge => (ChangeKind::Modified, None),
    };
    let written = match from {
        Some(from) => files.move_to(from, path, bytes),
        None => files.write(path, bytes).map(|()| false),
    };
    let is_gone = written.map_err(|error| failure_texts::failed(files, path, &error))?;
    Ok((ReportedChange { path: path.as_str().to_owned(), kind, before, after }, is_gone))
}

/// Removes a file and returns the change.
pub(crate) fn remove(
    files: &mut impl WorkspaceFiles,
    path: &WorkspacePath,
    before: &PreviousContent,
) -> Result<ReportedChange, Outcome> {
    files.remove(path).map_err(|error| failure_texts::failed(files, path, &error))?;
    Ok(removed(path, before))
}

/// Returns the change of a file that is removed.
pub(crate) fn removed(path: &WorkspacePath, before: &PreviousContent) -> ReportedChange {
    let before = match before {
        PreviousContent::Bytes(bytes) => change_text(bytes),
        PreviousContent::Absent | PreviousContent::TooLarge => None,
    };
    ReportedChange {
        path: path.as_str().to_owned(),
        kind: ChangeKind::Deleted,
        before,
        after: None,
    }
}

/// Returns the content of a file as a change includes it; `None` if it is too long or not UTF-8.
#[must_use]
pub fn change_text(bytes: &[u8]) -> Option<String> {
    if bytes.len() > MAX_CHANGE_BYTES {
        return None;
    }
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}
