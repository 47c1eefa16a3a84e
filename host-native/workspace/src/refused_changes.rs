//! The log of changes that the system refused for a reason that no other call can fix: a disk that
//! is full or broken, a folder that cannot be written to. The model reads that its call has failed;
//! whoever started the run has to know it, too. A change that succeeds later is forgotten.

use crate::platform::Errno;
use innerloop_tools::is_draft;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The maximum number of paths that are noted.
const MOST: usize = 1_000;

/// The changes that were refused and have not succeeded since.
#[derive(Debug, Default)]
pub(super) struct RefusalLog(Mutex<BTreeMap<PathBuf, Errno>>);

/// The changes that the system refused, as they are reported.
#[derive(Debug)]
pub struct RefusedChanges {
    /// The first path, with `/` between names.
    pub path: String,
    /// The error of the system.
    pub error: io::Error,
    /// The number of other paths.
    pub others: usize,
}

impl RefusalLog {
    /// Notes the result of a change at a path; `is_closed` returns whether the folder around it
    /// cannot be written to.
    pub(super) fn note<T>(
        &self,
        path: &Path,
        done: &Result<T, Errno>,
        is_closed: impl FnOnce() -> bool,
    ) {
        let mut all = self.all();
        // A draft has a new name each time, so its folder is noted in its place.
        let draft = draft_in(path);
        let path = draft.unwrap_or(path);
        match done {
            // Creating or removing a draft succeeds on a full disk, too. Only a draft that has
            // taken its place has overcome the refusal.
            Ok(_) if draft.is_some() => {}
            Ok(_) => drop(all.remove(path)),
            // That something is denied may also be our own rules' doing, or concern one file, which
            // the model can deal with.
            Err(error)
                if all.len() < MOST && (is_final(*error) || is_denied(*error) && is_closed()) =>
            {
                all.insert(path.to_owned(), *error);
            }
            Err(_) => {}
        }
    }

    /// Notes that the entry at a path was moved: if it was a draft, it has taken its place.
    pub(super) fn note_moved(&self, from: &Path) {
        if let Some(folder) = draft_in(from) {
            self.all().remove(folder);
        }
    }

    /// Returns the refused changes, if there are any.
    pub(super) fn told(&self) -> Option<RefusedChanges> {
        let all = self.all();
        let (path, error) = all.first_key_value()?;
        let path = super::change::shown(path);
        let path = if path.is_empty() { ".".to_owned() } else { path };
        Some(RefusedChanges { path, error: (*error).into(), others: all.len() - 1 })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Errno>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the folder of a path that names a draft, which is to take another file's place there.
fn draft_in(path: &Path) -> Option<&Path> {
    path.parent().filter(|_| path.file_name().and_then(OsStr::to_str).is_some_and(is_draft))
}

/// Returns whether it is the disk itself that refuses.
fn is_final(error: Errno) -> bool {
    [Errno::NOSPC, Errno::DQUOT, Errno::ROFS, Errno::IO].contains(&error)
}

fn is_denied(error: Errno) -> bool {
    [Errno::ACCESS, Errno::PERM].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_call_can_help_is_told_until_it_is_done_after_all() {
        let refusals = RefusalLog::default();
        let note = |path: &str, done: Result<(), Errno>, is_closed: bool| {
            refusals.note(Path::new(path), &done, || is_closed);
        };
        note("gone", Err(Errno::NOENT), true);
        note("locked", Err(Errno::ACCESS), false);
        assert!(refusals.told().is_none());
        note("b/c", Err(Errno::NOSPC), false);
        note("d", Err(Errno::ACCESS), true);
        note("e", Err(Errno::ROFS), false);
        let RefusedChanges { path, error, others } = refusals.told().unwrap();
        assert_eq!((path.as_str(), others), ("b/c", 2));
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        note("b/c", Ok(()), false);
        assert_eq!(refusals.told().unwrap().path, "d");
    }

    #[test]
    fn a_draft_that_is_removed_was_refused_all_the_same() {
        let refusals = RefusalLog::default();
        let draft = Path::new(".innerloop-0.tmp");
        refusals.note(draft, &Err::<(), _>(Errno::NOSPC), || false);
        refusals.note(draft, &Ok(()), || false);
        assert_eq!(refusals.told().unwrap().path, ".");
        refusals.note_moved(Path::new("other"));
        assert!(refusals.told().is_some());
        refusals.note_moved(draft);
        assert!(refusals.told().is_none());
    }
}
