//! The table of cases for the built-in tools: the same cases run over files in memory, over a
//! directory, and in the sandbox, and must say and do the same everywhere.

mod edit;
mod glob;
mod grep;
mod list;
mod patch;
mod read;
mod read_many;
mod search;
mod write;

use innerloop_core::action::{Action, Change, ChangeKind, Outcome, Part, ToolError};
use innerloop_tools::{Directory, Files, Memory, WorkspacePath, perform};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

/// The texts of changes are left out above this size.
const MAX_CHANGE_BYTES: usize = 256 << 10;

/// The files of a workspace: content by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

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

/// What an action did.
#[derive(Debug)]
pub struct Done {
    /// What it says.
    pub outcome: Outcome,
    /// The files afterwards.
    pub files: Tree,
}

/// All cases.
#[must_use]
pub fn cases() -> Vec<Case> {
    let files = [read::cases(), write::cases(), edit::cases(), patch::cases()];
    [
        files.concat(),
        list::cases(),
        glob::cases(),
        grep::cases(),
        search::cases(),
        read_many::cases(),
    ]
    .concat()
}

/// Carries the case out in some place and compares all that can be seen.
///
/// # Panics
/// If the outcome or the files afterwards are not as the case says.
pub fn check(case: &Case, carry_out: impl FnOnce(&Case) -> Done) {
    let Done { outcome, files } = carry_out(case);
    let name = case.name;
    assert_eq!(outcome.joined_text(), case.text, "{name}: the text");
    assert_eq!(outcome.error, case.error, "{name}: the error");
    assert_eq!(outcome.capped_at_source, case.capped, "{name}: capped_at_source");
    assert_eq!(outcome.changes, case.changes(), "{name}: the changes");
    let image = outcome.parts.iter().find_map(|part| match part {
        Part::Image { media_type, data } => Some((media_type.as_str(), data.as_str())),
        Part::Text { .. } => None,
    });
    assert_eq!(image, case.image, "{name}: the image");
    assert_eq!((outcome.exit, outcome.timed_out), (None, false), "{name}: no program ran");
    let mut expected: Tree = case.files.iter().cloned().collect();
    expected.extend(case.writes.iter().cloned());
    expected.retain(|path, _| !case.removes.contains(path));
    assert!(files == expected, "{name}: the files afterwards are {:?}", files.keys());
}

/// Carries the case out over files in memory.
///
/// # Panics
/// If the case's files cannot be written.
#[must_use]
pub fn in_memory(case: &Case) -> Done {
    let mut files = Memory::new();
    for (path, bytes) in &case.files {
        files.write(&WorkspacePath::parse(path).unwrap(), bytes.clone()).unwrap();
    }
    let outcome = perform(&mut files, &case.action);
    let files = files.iter().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect();
    Done { outcome, files }
}

/// Carries the case out over a directory of the system.
///
/// # Panics
/// If the case's files cannot be written.
#[must_use]
pub fn in_directory(case: &Case) -> Done {
    let folder = tempfile::tempdir().unwrap();
    lay_out(&case.files, folder.path());
    let outcome = perform(&mut Directory::new(folder.path()), &case.action);
    Done { outcome, files: read_back(folder.path()) }
}

/// Writes files below `folder`, each a second newer than the one before.
///
/// # Panics
/// If one cannot be written.
pub fn lay_out(files: &[(String, Vec<u8>)], folder: &Path) {
    for (age, (path, bytes)) in (1..).zip(files) {
        let place = folder.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, bytes).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + age);
        fs::File::options().write(true).open(&place).unwrap().set_modified(time).unwrap();
    }
}

/// All files below `folder`.
///
/// # Panics
/// If one cannot be read.
#[must_use]
pub fn read_back(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let place = entry.unwrap().path();
            if place.is_dir() {
                folders.push(place);
            } else {
                let path = place.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                tree.insert(path, fs::read(place).unwrap());
            }
        }
    }
    tree
}

impl Case {
    /// The changes that follow from the files before and after.
    fn changes(&self) -> Vec<Change> {
        let short = |bytes: &[u8]| match bytes.len() <= MAX_CHANGE_BYTES {
            true => String::from_utf8(bytes.to_vec()).ok(),
            false => None,
        };
        let change = |(path, bytes): &(String, Vec<u8>)| {
            let before = self.files.iter().find(|(other, _)| other == path);
            let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
            let before = before.and_then(|(_, bytes)| short(bytes));
            Change { path: path.clone(), kind, before, after: short(bytes) }
        };
        let gone = |path: &String| {
            let (_, bytes) = self.files.iter().find(|(other, _)| other == path).unwrap();
            let (kind, before) = (ChangeKind::Deleted, short(bytes));
            Change { path: path.clone(), kind, before, after: None }
        };
        self.writes.iter().map(change).chain(self.removes.iter().map(gone)).collect()
    }

    fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    fn says(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    fn fails(mut self, error: ToolError, text: impl Into<String>) -> Self {
        self.error = Some(error);
        self.says(text)
    }

    fn capped(mut self) -> Self {
        self.capped = true;
        self
    }

    fn writes(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.writes.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    fn removes(mut self, path: &str) -> Self {
        self.removes.push(path.to_owned());
        self
    }
}

/// A case without files that expects nothing yet.
fn case(name: &'static str, action: Value) -> Case {
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
