//! The listing of a folder, with as many levels below it as are asked for. Folders come first, and
//! links are shown but not followed, so a listing always ends.

use crate::{
    failure_texts,
    files::{EntryKind, FileError, FolderEntry, WorkspaceFiles, sort},
    ignore::{IgnoreRuleSet, TOO_MANY_RULES},
    path::WorkspacePath,
    pattern::{PathPattern, settle},
    protected::is_version_system,
    walk::{rules_above, rules_of},
};
use innerloop_types::action::{HiddenFiles, ListStyle, Outcome, ToolError};
use std::{fmt::Write, rc::Rc};

/// The maximum number of entries that are listed.
const MAX_ENTRIES: u32 = 2000;

/// A request to list a folder.
pub(crate) struct ListQuery<'a> {
    pub(crate) within: &'a WorkspacePath,
    pub(crate) path: Option<&'a str>,
    pub(crate) depth: u32,
    pub(crate) ignore: &'a [String],
    pub(crate) hidden: HiddenFiles,
    pub(crate) style: ListStyle,
}

pub(crate) fn list(files: &impl WorkspaceFiles, query: &ListQuery<'_>) -> Result<Outcome, Outcome> {
    let folder = failure_texts::any_path(query.within, query.path)?;
    if query.depth == 0 {
        let message = "The depth is 0. Give at least 1.";
        return Err(failure_texts::error(ToolError::InvalidArguments, message));
    }
    let mut ignore = Vec::new();
    for text in query.ignore {
        ignore.push(PathPattern::parse(text)?);
    }
    settle(&mut ignore, files, &folder, query.hidden);
    let above = match query.hidden {
        HiddenFiles::Ignored => rules_above(files, &folder),
        HiddenFiles::Nothing => None,
    };
    let lister = ListRenderer { files, folder: &folder, ignore, query };
    let top = lister.enter(folder.clone(), above).map_err(|error| match error {
        FileError::NotFolder if files.stat(&folder).is_ok() => failure_texts::error(
            ToolError::WrongFileType,
            format!("{folder} is a file, not a folder. Read it instead."),
        ),
        error => failure_texts::failed(files, &folder, &error),
    })?;
    if top.entries.len() == 0 {
        let text = format!("The folder {folder} is empty.");
        return Ok(Outcome { count: Some(0), ..Outcome::text(text) });
    }
    Ok(lister.render(top))
}

/// The state of listing one folder.
struct ListRenderer<'a, F> {
    files: &'a F,
    folder: &'a WorkspacePath,
    ignore: Vec<PathPattern>,
    query: &'a ListQuery<'a>,
}

/// A folder that is being listed, with the entries still to be shown.
struct ListLevel {
    folder: WorkspacePath,
    entries: std::vec::IntoIter<FolderEntry>,
    rules: Option<Rc<IgnoreRuleSet>>,
}

impl<F: WorkspaceFiles> ListRenderer<'_, F> {
    /// Returns the entries, one a line, each folder followed by what it holds.
    fn render(&self, top: ListLevel) -> Outcome {
        let mut out = String::new();
        let mut count = 0;
        let mut unreadable = 0_u32;
        let mut capped_at_source = false;
        let mut too_many_rules = false;
        // A stack instead of recursion: folders may nest deeper than the stack of a WASI program or
        // a page allows.
        let mut levels = vec![top];
        while let Some(level) = levels.last_mut() {
            too_many_rules |= level.rules.as_ref().is_some_and(|rules| rules.is_cut);
            let Some(entry) = level.entries.next() else {
                levels.pop();
                continue;
            };
            if count == MAX_ENTRIES {
                capped_at_source = true;
                break;
            }
            count += 1;
            let path = level.folder.join(&entry.name);
            let rules = level.rules.clone();
            self.push(&path, &entry, &mut out);
            let deeper = u32::try_from(levels.len()).is_ok_and(|level| level < self.query.depth);
            if entry.kind == EntryKind::Folder && deeper {
                match self.enter(path, rules) {
                    Ok(level) => levels.push(level),
                    // A folder that cannot be read does not hide the others.
                    Err(_) => unreadable += 1,
                }
            }
        }
        // Writing to a string cannot fail.
        if unreadable > 0 {
            let _ = writeln!(out, "[{unreadable} folders could not be read.]");
        }
        if too_many_rules {
            let _ = writeln!(out, "{TOO_MANY_RULES}");
        }
        if capped_at_source {
            let _ =
                writeln!(out, "[Cut at {MAX_ENTRIES} entries. List a subfolder, or fewer levels.]");
        }
        out.truncate(out.trim_end_matches('\n').len());
        Outcome { capped_at_source, count: Some(count), ..Outcome::text(out) }
    }

    fn push(&self, path: &WorkspacePath, entry: &FolderEntry, out: &mut String) {
        let name = path.relative_to(self.folder);
        // Writing to a string cannot fail.
        let _ = match (self.query.style, entry.kind) {
            (ListStyle::Tag, EntryKind::Folder) => writeln!(out, "[DIR] {name}"),
            _ if entry.is_unnameable() => writeln!(out, "{name} (not UTF-8)"),
            (_, kind) => writeln!(out, "{name}{}", mark(kind)),
        };
    }

    /// Returns the entries of a folder, folders first, each kind by name, and without those of
    /// version systems.
    fn enter(
        &self,
        folder: WorkspacePath,
        above: Option<Rc<IgnoreRuleSet>>,
    ) -> Result<ListLevel, FileError> {
        let mut entries = self.files.list(&folder)?;
        let rules = rules_of(self.files, &folder, &entries, above, self.query.hidden);
        entries.retain(|entry| {
            !is_version_system(&entry.name) && !self.leaves_out(&folder, entry, &rules)
        });
        sort(&mut entries);
        let (mut sorted, others): (Vec<FolderEntry>, Vec<FolderEntry>) =
            entries.into_iter().partition(|entry| entry.kind == EntryKind::Folder);
        sorted.extend(others);
        Ok(ListLevel { folder, entries: sorted.into_iter(), rules })
    }

    fn leaves_out(
        &self,
        folder: &WorkspacePath,
        entry: &FolderEntry,
        rules: &Option<Rc<IgnoreRuleSet>>,
    ) -> bool {
        if self.ignore.is_empty() && rules.is_none() {
            return false;
        }
        let path = folder.join(&entry.name);
        let is_folder = entry.kind == EntryKind::Folder;
        rules.as_ref().is_some_and(|rules| rules.ignores(&path, is_folder))
            || self.ignore.iter().any(|pattern| pattern.matches(&path, self.folder))
    }
}

const fn mark(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "",
        EntryKind::Folder => "/",
        EntryKind::Link => " (link)",
        EntryKind::Other => " (device)",
    }
}
