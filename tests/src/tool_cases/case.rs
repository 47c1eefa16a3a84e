//! One case of the table, and how it is written down.

use innerloop_core::action::{Action, ChangeKind, ReportedChange, ToolError};
use serde_json::Value;

/// The texts of changes are left out above this size.
const MAX_CHANGE_BYTES: usize = 256 << 10;

/// An action on some files, and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case shows; cases of a row of the feature table begin with its id.
    pub name: &'static str,
    /// The files, oldest first.
    pub files: Vec<(String, Vec<u8>)>,
    /// What is done.
    pub action: Action,
    /// All that the outcome says in words.
    pub text: String,
    /// The kind of failure.
    pub error: Option<ToolError>,
    /// Whether the outcome says that a part of it was dropped.
    pub capped: bool,
    /// The image's media type and its bytes in base64.
    pub image: Option<(&'static str, &'static str)>,
    /// The files that are new or different afterwards.
    pub writes: Vec<(String, Vec<u8>)>,
    /// The files that are gone afterwards.
    pub removes: Vec<String>,
}

impl Case {
    /// The changes that follow from the files before and after.
    pub(super) fn changes(&self) -> Vec<ReportedChange> {
        let short = |bytes: &[u8]| match bytes.len() <= MAX_CHANGE_BYTES {
            true => String::from_utf8(bytes.to_vec()).ok(),
            false => None,
        };
        let change = |(path, bytes): &(String, Vec<u8>)| {
            let before = self.files.iter().find(|(other, _)| other == path);
            let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
            let before = before.and_then(|(_, bytes)| short(bytes));
            ReportedChange { path: path.clone(), kind, before, after: short(bytes) }
        };
        let gone = |path: &String| {
            let (_, bytes) = self.files.iter().find(|(other, _)| other == path).unwrap();
            let (kind, before) = (ChangeKind::Deleted, short(bytes));
            ReportedChange { path: path.clone(), kind, before, after: None }
        };
        self.writes.iter().map(change).chain(self.removes.iter().map(gone)).collect()
    }

    pub(super) fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    pub(super) fn says(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn fails(mut self, error: ToolError, text: impl Into<String>) -> Self {
        self.error = Some(error);
        self.says(text)
    }

    pub(super) fn capped(mut self) -> Self {
        self.capped = true;
        self
    }

    pub(super) fn writes(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.writes.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    pub(super) fn removes(mut self, path: &str) -> Self {
        self.removes.push(path.to_owned());
        self
    }
}

/// A case without files that expects nothing yet.
pub(super) fn case(name: &'static str, action: Value) -> Case {
    Case {
        name,
        files: Vec::new(),
        action: serde_json::from_value(action).unwrap_or_else(|error| panic!("{name}: {error}")),
        text: String::new(),
        error: None,
        capped: false,
        image: None,
        writes: Vec::new(),
        removes: Vec::new(),
    }
}
