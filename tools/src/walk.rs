//! The walk through the files below a folder, in the order of their paths, if wanted without those
//! that git ignores. Links are not followed, so a walk always ends. Searches, patterns and readings
//! of many files all go this way, so they agree on which files there are.

use crate::{
    files::{EntryKind, FileError, FolderEntry, HAS_BYTES, WorkspaceFiles, sort},
    ignore::IgnoreRuleSet,
    path::WorkspacePath,
    protected::is_version_system,
};
use innerloop_types::action::HiddenFiles;
use std::{ops::ControlFlow, rc::Rc, vec};

/// The report of what a walk left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut {
    /// True if `.gitignore` files named something.
    pub ignored: bool,
    /// True if `.gitignore` files have more rules than are obeyed.
    pub too_many_rules: bool,
    /// The number of folders that could not be listed.
    pub unreadable: u32,
    /// The number of names that are not UTF-8.
    pub unnameable: u32,
}

impl LeftOut {
    /// Returns what is said of names that are not UTF-8, if there are any.
    pub(crate) fn names(self) -> Option<String> {
        let said = |of: &str| format!("[{} {of} not UTF-8, left out.]", self.unnameable);
        match self.unnameable {
            _ if !HAS_BYTES => None,
            0 => None,
            1 => Some(said("name that is")),
            _ => Some(said("names that are")),
        }
    }
}

/// A folder that is being visited, with the entries still to come.
struct WalkLevel {
    folder: WorkspacePath,
    entries: vec::IntoIter<FolderEntry>,
    rules: Option<Rc<IgnoreRuleSet>>,
}

/// Calls `visit` for each file below `folder` until it breaks.
///
/// The failure to list `folder` itself. Folders below it that cannot be listed are only counted.
pub(crate) fn walk(
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
    hidden: HiddenFiles,
    visit: &mut dyn FnMut(&WorkspacePath) -> ControlFlow<()>,
) -> Result<LeftOut, FileError> {
    let mut left_out = LeftOut::default();
    let above = if hidden == HiddenFiles::Ignored { rules_above(files, folder) } else { None };
    // A stack instead of recursion: how deep folders nest is not ours to say.
    let mut levels = vec![enter(files, folder.clone(), above, hidden)?];
    while let Some(level) = levels.last_mut() {
        left_out.too_many_rules |= level.rules.as_ref().is_some_and(|rules| rules.is_cut);
        let Some(entry) = level.entries.next() else {
            levels.pop();
            continue;
        };
        left_out.unnameable += u32::from(entry.is_unnameable());
        if is_version_system(&entry.name)
            || !matches!(entry.kind, EntryKind::File | EntryKind::Folder)
        {
            continue;
        }
        let path = level.folder.join(&entry.name);
        let is_folder = entry.kind == EntryKind::Folder;
        if level.rules.as_ref().is_some_and(|rules| rules.ignores(&path, is_folder)) {
            left_out.ignored = true;
        } else if is_folder {
            let rules = level.rules.clone();
            match enter(files, path, rules, hidden) {
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
    files: &impl WorkspaceFiles,
    folder: WorkspacePath,
    above: Option<Rc<IgnoreRuleSet>>,
    hidden: HiddenFiles,
) -> Result<WalkLevel, FileError> {
    let mut entries = files.list(&folder)?;
    // Systems list folders in orders of their own, and the model must read the same everywhere.
    sort(&mut entries);
    let rules = rules_of(files, &folder, &entries, above, hidden);
    Ok(WalkLevel { folder, entries: entries.into_iter(), rules })
}

/// Returns the rules for the entries of `folder`, on top of those from `above`.
pub(crate) fn rules_of(
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
    entries: &[FolderEntry],
    above: Option<Rc<IgnoreRuleSet>>,
    hidden: HiddenFiles,
) -> Option<Rc<IgnoreRuleSet>> {
    // The list of entries answers whether there is a file of rules; to try to read it would cost a
    // call out of the sandbox for each folder.
    let ignores = |entry: &FolderEntry| entry.name == ".gitignore" && entry.kind == EntryKind::File;
    if hidden == HiddenFiles::Ignored && entries.iter().any(ignores) {
        add_rules(files, folder, above)
    } else {
        above
    }
}

/// Returns the rules of the folders above `folder`, which hold for a search that begins there, too.
pub(crate) fn rules_above(
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
) -> Option<Rc<IgnoreRuleSet>> {
    let mut rules = None;
    let mut above = WorkspacePath::root();
    for name in folder.names() {
        rules = add_rules(files, &above, rules);
        above = above.join(name);
    }
    rules
}

/// Returns the rules of the `.gitignore` file of `folder` on top of those from `above`. A file that
/// does not exist or cannot be read adds none.
fn add_rules(
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
    above: Option<Rc<IgnoreRuleSet>>,
) -> Option<Rc<IgnoreRuleSet>> {
    match files.read(&folder.join(".gitignore")) {
        Ok(bytes) => {
            Some(IgnoreRuleSet::parse(folder.clone(), &String::from_utf8_lossy(&bytes), above))
        }
        Err(_) => above,
    }
}
