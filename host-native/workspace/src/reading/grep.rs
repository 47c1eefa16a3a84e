//! The search of the files in a folder, in two passes. First, threads find which files have
//! matches, in any order. Then those files are read again in the order of their paths and reported
//! by the tools' own functions, until the limit is reached. So the answer does not depend on which
//! thread was faster.

use super::{
    expression::SearchExpression,
    files::{WorkspaceReader, fault, fill},
    ignored::rules_above,
    walk::{FileVisitor, FolderWalk, VisitedFile, walk},
};
use innerloop_tools::{
    FileError, WorkspaceFiles, WorkspacePath,
    parts::{
        GrepReport, GrepSearch, LeftOut, LineMatcher, MAX_RESULTS, failed, grep_file, hits,
        looks_binary, small_matcher,
    },
};
use innerloop_types::action::{GrepMode, GrepQuery, Outcome};
use std::{
    cmp::Ordering,
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering as Memory},
    },
};

/// Carries out a search.
///
/// # Errors
/// The outcome where it can't be.
pub(super) fn grep(
    reader: &WorkspaceReader,
    within: &WorkspacePath,
    grep: &GrepQuery,
) -> Result<Outcome, Outcome> {
    let search = GrepSearch::parse(reader, within, grep)?;
    // Parsed even if it is not used: an error in an expression reads the same everywhere.
    let small = small_matcher(grep)?;
    match SearchExpression::of(grep, reader.stop()) {
        Some(fast) => look(reader, grep, &search, &fast),
        None => look(reader, grep, &search, &small),
    }
}

fn look(
    reader: &WorkspaceReader,
    grep: &GrepQuery,
    search: &GrepSearch,
    matcher: &(impl LineMatcher + Sync),
) -> Result<Outcome, Outcome> {
    let path = &search.path;
    let mut report = GrepReport::new(grep);
    let horizon = SearchHorizon::new(grep);
    let seen = reader.real(path).and_then(|real| {
        let walking = FolderWalk {
            workspace: reader.workspace(),
            folder: path,
            real: &real,
            hidden: grep.hidden,
            above: rules_above(reader, path, grep.hidden),
            stop: reader.stop(),
        };
        // More matches of one file than are shown need not be counted.
        let most = match grep.mode {
            GrepMode::Content => horizon.most.min(u64::from(grep.max_per_file.unwrap_or(u32::MAX))),
            GrepMode::FilesWithMatches | GrepMode::Count => 1,
        };
        walk(&walking, || GrepVisitor {
            reader,
            search,
            matcher,
            most,
            horizon: &horizon,
            buffer: Vec::new(),
            unreadable: Vec::new(),
        })
    });
    let (lookers, left_out) = match seen {
        Ok(seen) => seen,
        Err(FileError::NotFolder) => {
            grep_file(reader, path, matcher, &mut report)?;
            return Ok(report.finish(LeftOut::default()));
        }
        Err(error) => return Err(failed(reader, path, &error)),
    };
    let mut unreadable: Vec<OrderedPath> = lookers.into_iter().flat_map(|l| l.unreadable).collect();
    for place in horizon.into_places() {
        match reader.read(&place.0) {
            Ok(bytes) if looks_binary(&bytes) => {}
            Ok(bytes) => {
                if report.add_file(&place.0, &bytes, matcher).is_break() {
                    // Which files after the last one were visited was chance.
                    unreadable.retain(|other| *other < place);
                    break;
                }
            }
            Err(_) => unreadable.push(place),
        }
    }
    report.unreadable = u32::try_from(unreadable.len()).unwrap_or(u32::MAX);
    Ok(report.finish(left_out))
}

/// A path in the order in which files are reported, name by name: the files of a folder come where
/// the folder would. Compared as texts, `a-b` would come before `a/b`.
#[derive(Debug, PartialEq, Eq)]
struct OrderedPath(WorkspacePath);

impl Ord for OrderedPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.names().cmp(other.0.names())
    }
}

impl PartialOrd for OrderedPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The horizon of a search: the path behind which no result can be reported any more, since enough
/// were found before it.
struct SearchHorizon {
    /// The number of results that are reported, and one more, which shows that there are others.
    most: u64,
    hits: Mutex<HitCounts>,
    /// True if that many were found.
    is_full: AtomicBool,
}

#[derive(Default)]
struct HitCounts {
    /// The minimum number of results of each file.
    files: BTreeMap<OrderedPath, u64>,
    total: u64,
}

impl SearchHorizon {
    fn new(grep: &GrepQuery) -> Self {
        let told = u64::from(grep.max_results.unwrap_or(MAX_RESULTS));
        let most = told.saturating_add(u64::from(grep.offset)).saturating_add(1);
        Self { most, hits: Mutex::default(), is_full: AtomicBool::new(false) }
    }

    fn hits(&self) -> MutexGuard<'_, HitCounts> {
        self.hits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file with so many results, and drops the last files as long as those before suffice.
    fn add(&self, path: WorkspacePath, results: u64) {
        let mut hits = self.hits();
        hits.files.insert(OrderedPath(path), results);
        hits.total = hits.total.saturating_add(results);
        while let Some(last) = hits.files.last_entry() {
            let of_last = *last.get();
            let without = hits.total.saturating_sub(of_last);
            if without < self.most {
                break;
            }
            hits.files.pop_last();
            hits.total = without;
        }
        // It never becomes false again. Whoever sees it late looks at a few files in vain, so that
        // it needs no stronger ordering.
        if hits.total >= self.most {
            self.is_full.store(true, Memory::Relaxed);
        }
    }

    /// Returns whether enough was found before the path.
    fn is_before(&self, path: &WorkspacePath) -> bool {
        // Asked for each file by each thread, so the lock is not taken before it can matter.
        if !self.is_full.load(Memory::Relaxed) {
            return false;
        }
        let hits = self.hits();
        hits.files.last_key_value().is_some_and(|(last, _)| last.0.names().lt(path.names()))
    }

    fn into_places(self) -> impl Iterator<Item = OrderedPath> {
        let hits = self.hits.into_inner().unwrap_or_else(PoisonError::into_inner);
        hits.files.into_keys()
    }
}

/// A thread's part of the search.
struct GrepVisitor<'a, M> {
    reader: &'a WorkspaceReader,
    search: &'a GrepSearch,
    matcher: &'a M,
    /// The maximum number of results that count in one file.
    most: u64,
    horizon: &'a SearchHorizon,
    buffer: Vec<u8>,
    unreadable: Vec<OrderedPath>,
}

impl<M: LineMatcher + Sync> GrepVisitor<'_, M> {
    /// Returns the number of results in the file, up to the number that counts.
    fn results(&mut self, file: &VisitedFile<'_>) -> Result<u64, FileError> {
        let (mut open, found) = file.folder.file(file.name()).map_err(fault)?;
        let mut is_text = true;
        let filled = fill(&mut open, found.size, &mut self.buffer, |bytes| {
            is_text = !looks_binary(bytes);
            is_text && !self.reader.stop().is_set()
        })?;
        let bytes = self.buffer.get(..filled).unwrap_or_default();
        if !is_text {
            return Ok(0);
        }
        Ok(hits(self.matcher, &self.matcher.searched(bytes), self.most))
    }
}

impl<M: LineMatcher + Sync> FileVisitor for GrepVisitor<'_, M> {
    const IN_ORDER: bool = true;

    fn may_want(&self, _: &str) -> bool {
        true
    }

    fn file(&mut self, file: VisitedFile<'_>) {
        if !self.search.wants(&file.path) {
            return;
        }
        match self.results(&file) {
            Ok(0) => {}
            Ok(results) => self.horizon.add(file.path, results),
            Err(_) => self.unreadable.push(OrderedPath(file.path)),
        }
    }

    fn unreadable(&mut self, path: WorkspacePath) {
        self.unreadable.push(OrderedPath(path));
    }

    fn is_past(&mut self, path: &WorkspacePath) -> bool {
        self.horizon.is_before(path)
    }
}
