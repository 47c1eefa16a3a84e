//! The search for files by a pattern of their paths, the newest first. Each thread keeps the newest
//! files that it has found, as many as can be named, and counts the others.

use super::{
    files::WorkspaceReader,
    ignored::rules_above,
    walk::{FileVisitor, FolderWalk, VisitedFile, walk},
};
use innerloop_tools::{
    FileError, WorkspacePath,
    parts::{GlobMatch, GlobQuery, GlobSearch, LeftOut, not_searched},
};
use innerloop_types::action::Outcome;
use std::cmp::Reverse;

/// The number of files that are kept beyond those that can be named, before the oldest are dropped.
// Finding the oldest takes a pass over all that are kept, which is not made for each new file.
const SLACK: usize = 4096;

/// Carries out a search for files.
///
/// # Errors
/// The outcome where it can't be.
pub(super) fn glob(reader: &WorkspaceReader, query: &GlobQuery<'_>) -> Result<Outcome, Outcome> {
    let glob = GlobSearch::parse(reader, query)?;
    let folder = &glob.folder;
    let failed = |error: FileError| not_searched(reader, folder, &error);
    let real = reader.real(folder).map_err(failed)?;
    let search = FolderWalk {
        workspace: reader.workspace(),
        folder,
        real: &real,
        hidden: query.hidden,
        above: rules_above(reader, folder, query.hidden),
        stop: reader.stop(),
    };
    let ends = ends_of(query);
    let visitor = || GlobVisitor { glob: &glob, ends, found: Vec::new(), total: 0, unreadable: 0 };
    let (finders, left_out) = walk(&search, visitor).map_err(failed)?;
    let (mut found, mut total, mut unreadable) = (Vec::new(), 0, 0);
    for finder in finders {
        found.extend(finder.found);
        total += finder.total;
        unreadable += finder.unreadable;
    }
    Ok(glob.outcome(found, total, LeftOut { unreadable, ..left_out }))
}

/// Returns a text with which the name of each file ends that the pattern matches.
fn ends_of<'a>(query: &GlobQuery<'a>) -> &'a str {
    const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
    // A pattern with `!` may match the files that its rest does not.
    if query.ignore_case || query.pattern.contains('!') {
        return "";
    }
    let ends = query.pattern.rsplit(SPECIAL).next().unwrap_or_default();
    ends.rsplit('/').next().unwrap_or_default()
}

/// A thread's part of the search.
struct GlobVisitor<'a> {
    glob: &'a GlobSearch,
    ends: &'a str,
    found: Vec<GlobMatch>,
    total: usize,
    unreadable: u32,
}

impl FileVisitor for GlobVisitor<'_> {
    const IN_ORDER: bool = false;

    fn may_want(&self, name: &str) -> bool {
        self.ends.is_empty() || name.ends_with(self.ends)
    }

    fn file(&mut self, file: VisitedFile<'_>) {
        if !self.glob.wants(&file.path) {
            return;
        }
        self.total += 1;
        // Only files that match are looked up: each look takes a system call.
        let modified = file.folder.stat(file.name()).map_or(0, |found| found.modified);
        self.found.push((Reverse(modified), file.path));
        if self.found.len() >= self.glob.most.saturating_add(SLACK) {
            self.found.select_nth_unstable(self.glob.most);
            self.found.truncate(self.glob.most);
        }
    }

    fn unreadable(&mut self, _: WorkspacePath) {
        self.unreadable = self.unreadable.saturating_add(1);
    }

    fn is_past(&mut self, _: &WorkspacePath) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail at once")]

    use super::*;
    use innerloop_tools::{InMemoryFiles, WorkspaceFiles};
    use innerloop_types::action::HiddenFiles;

    /// Random patterns and paths: no file is wanted whose name does not end so.
    #[test]
    fn the_end_of_a_name_rules_out_no_file_that_is_wanted() {
        const PIECES: &[&str] = &[
            "a", "b", "/", "*", "**", "?", "[ab]", "[!a]", ".", "{a,b}", "{b/,.c}", "!", "\\",
            ".c", "**/", "./",
        ];
        let mut state = 13_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        let (mut wanted, mut ruled_out) = (0, 0);
        let within = &WorkspacePath::root();
        let mut files = InMemoryFiles::new();
        for name in ["[ab]", "a/[!a].c"] {
            files.write(&WorkspacePath::parse(name).unwrap(), Vec::new()).unwrap();
        }
        for _ in 0..40_000 {
            let pattern: String =
                (0..=random(5)).filter_map(|_| PIECES.get(random(PIECES.len()))).copied().collect();
            let hidden = HiddenFiles::Nothing;
            let (path, ignore_case, max_results) = (None, random(4) == 0, None);
            let query =
                GlobQuery { within, pattern: &pattern, path, ignore_case, max_results, hidden };
            let Ok(glob) = GlobSearch::parse(&files, &query) else { continue };
            let finder = GlobVisitor {
                glob: &glob,
                ends: ends_of(&query),
                found: vec![],
                total: 0,
                unreadable: 0,
            };
            for _ in 0..8 {
                let text: String = (0..=random(4))
                    .filter_map(|_| ["a", "b", "/", ".", "{", "a.c", "B"].get(random(7)))
                    .copied()
                    .collect();
                let Ok(file) = WorkspacePath::parse(&text) else { continue };
                let may = finder.may_want(file.name());
                assert!(may || !glob.wants(&file), "{pattern:?} {text:?}");
                wanted += usize::from(glob.wants(&file));
                ruled_out += usize::from(!may);
            }
        }
        assert!(wanted > 10_000 && ruled_out > 10_000, "{wanted} {ruled_out}");
    }
}
