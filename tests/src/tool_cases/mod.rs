//! The table of cases for the built-in tools: the same cases run over files in memory, over a
//! directory, and in the sandbox, and must say and do the same everywhere.

mod case;
mod edit;
mod encodings;
mod glob;
mod grep;
mod list;
mod odd;
mod patch;
mod read;
mod read_many;
mod search;
mod write;

pub use case::Case;

use innerloop_core::action::{Outcome, Part};
use innerloop_tools::{DirectoryFiles, InMemoryFiles, WorkspaceFiles, WorkspacePath, perform};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

/// The files of a workspace: content by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

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
        odd::cases(),
        encodings::cases(),
    ]
    .concat()
}

/// Carries the case out in some place and compares all that is visible.
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
        _ => None,
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
    let mut files = InMemoryFiles::new();
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
    let outcome = perform(&mut DirectoryFiles::new(folder.path()), &case.action);
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
