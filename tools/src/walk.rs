//! Going through the files below a folder, in the order of their paths, without those that git
//! ignores. Links are not followed, so a walk ends.

use crate::{
    files::{Entry, FileError, Files, Kind, sort},
    ignore::Rules,
    path::WorkspacePath,
};
use std::{ops::ControlFlow, rc::Rc, vec};

/// What a walk left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// Whether `.gitignore` files named something.
    pub(crate) ignored: bool,
    /// How many folders could not be listed.
    pub(crate) unreadable: u32,
}

/// A folder on the way, with the entries that are still to be visited.
struct Level {
    folder: WorkspacePath,
    entries: vec::IntoIter<Entry>,
    rules: Option<Rc<Rules>>,
}

/// Calls `visit` for each file below `folder` until it breaks.
///
/// # Errors
/// What listing `folder` itself gives.
pub(crate) fn walk(
    files: &impl Files,
    folder: &WorkspacePath,
    mut visit: impl FnMut(&WorkspacePath) -> ControlFlow<()>,
) -> Result<LeftOut, FileError> {
    let mut left_out = LeftOut::default();
    let mut levels = vec![enter(files, folder.clone(), rules_above(files, folder))?];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.next() else {
            levels.pop();
            continue;
        };
        if entry.name == ".git" || !matches!(entry.kind, Kind::File | Kind::Folder) {
            continue;
        }
        let path = level.folder.join(&entry.name);
        let is_folder = entry.kind == Kind::Folder;
        if level.rules.as_ref().is_some_and(|rules| rules.ignores(&path, is_folder)) {
            left_out.ignored = true;
        } else if is_folder {
            let rules = level.rules.clone();
            match enter(files, path, rules) {
                Ok(level) => levels.push(level),
                Err(_) => left_out.unreadable += 1,
            }
        } else if visit(&path).is_break() {
            break;
        }
    }
    Ok(left_out)
}

fn enter(
    files: &impl Files,
    folder: WorkspacePath,
    above: Option<Rc<Rules>>,
) -> Result<Level, FileError> {
    let mut entries = files.list(&folder)?;
    sort(&mut entries);
    let ignores = |entry: &Entry| entry.name == ".gitignore" && entry.kind == Kind::File;
    let rules = if entries.iter().any(ignores) { add_rules(files, &folder, above) } else { above };
    Ok(Level { folder, entries: entries.into_iter(), rules })
}

/// The rules of the folders above `folder`.
fn rules_above(files: &impl Files, folder: &WorkspacePath) -> Option<Rc<Rules>> {
    let mut rules = None;
    let mut above = WorkspacePath::root();
    for name in folder.names() {
        rules = add_rules(files, &above, rules);
        above = above.join(name);
    }
    rules
}

/// The rules of the `.gitignore` file of `folder` on top of those `above`; a file that is not
/// there or cannot be read adds none.
fn add_rules(
    files: &impl Files,
    folder: &WorkspacePath,
    above: Option<Rc<Rules>>,
) -> Option<Rc<Rules>> {
    match files.read(&folder.join(".gitignore")) {
        Ok(bytes) => Some(Rules::parse(folder.clone(), &String::from_utf8_lossy(&bytes), above)),
        Err(_) => above,
    }
}
