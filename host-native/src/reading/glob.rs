//! Finding files by the pattern of their path. Each thread keeps the newest that it has found.

use super::{
    files::Reader,
    ignored::rules_above,
    walk::{Visited, Visitor, Walk, walk},
};
use innerloop_core::action::Outcome;
use innerloop_tools::{
    FileError, WorkspacePath,
    parts::{Found, Glob, LeftOut, Query, not_searched},
};
use std::cmp::Reverse;

/// So many more than are named are kept before the oldest are dropped.
const SLACK: usize = 4096;

/// Carries out a search for files.
///
/// # Errors
/// The outcome where it can't be.
pub(super) fn glob(reader: &Reader, query: &Query<'_>) -> Result<Outcome, Outcome> {
    let glob = Glob::parse(query)?;
    let folder = &glob.folder;
    let failed = |error: FileError| not_searched(reader, folder, &error);
    let real = reader.real(folder).map_err(failed)?;
    let search = Walk {
        workspace: reader.workspace(),
        folder,
        real: &real,
        hidden: query.hidden,
        above: rules_above(reader, folder, query.hidden),
        stop: reader.stop(),
    };
    let visitor = || Finder { glob: &glob, found: Vec::new(), total: 0, unreadable: 0 };
    let (finders, left_out) = walk(&search, visitor).map_err(failed)?;
    let (mut found, mut total, mut unreadable) = (Vec::new(), 0, 0);
    for finder in finders {
        found.extend(finder.found);
        total += finder.total;
        unreadable += finder.unreadable;
    }
    Ok(glob.outcome(found, total, LeftOut { unreadable, ..left_out }))
}

/// A thread's part of the search.
struct Finder<'a> {
    glob: &'a Glob,
    found: Vec<Found>,
    total: usize,
    unreadable: u32,
}

impl Visitor for Finder<'_> {
    fn file(&mut self, file: Visited<'_>) {
        if !self.glob.wants(&file.path) {
            return;
        }
        self.total += 1;
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
