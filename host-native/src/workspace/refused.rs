//! Changes that the system refused, for a reason that no other call can do anything about: a disk
//! that is full or broken, a folder that nothing can be written to. The model reads that its call
//! has failed; whoever has started the run has to know it, too.

use crate::platform::Errno;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Most paths that are noted.
const MOST: usize = 1_000;

/// What was refused and has not been done since.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<BTreeMap<PathBuf, Errno>>);

/// Changes that the system refused.
#[derive(Debug)]
pub struct Refused {
    /// The first path, with `/` between names.
    pub path: String,
    /// Why.
    pub error: io::Error,
    /// How many other paths there are.
    pub others: usize,
}

impl Refusals {
    /// Notes what came of a change at a path; `is_closed` says whether nothing can be written to
    /// the folder that it stands in.
    pub(super) fn note<T>(
        &self,
        path: &Path,
        done: &Result<T, Errno>,
        is_closed: impl FnOnce() -> bool,
    ) {
        let mut all = self.all();
        match done {
            Ok(_) => drop(all.remove(path)),
            Err(error)
                if all.len() < MOST && (is_final(*error) || is_denied(*error) && is_closed()) =>
            {
                all.insert(path.to_owned(), *error);
            }
            Err(_) => {}
        }
    }

    /// What was refused, if anything was.
    pub(super) fn told(&self) -> Option<Refused> {
        let all = self.all();
        let (path, error) = all.first_key_value()?;
        let path = super::change::shown(path);
        Some(Refused { path, error: (*error).into(), others: all.len() - 1 })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Errno>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the disk itself refuses.
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
        let refusals = Refusals::default();
        let note = |path: &str, done: Result<(), Errno>, is_closed: bool| {
            refusals.note(Path::new(path), &done, || is_closed);
        };
        note("gone", Err(Errno::NOENT), true);
        note("locked", Err(Errno::ACCESS), false);
        assert!(refusals.told().is_none());
        note("b/c", Err(Errno::NOSPC), false);
        note("d", Err(Errno::ACCESS), true);
        note("e", Err(Errno::ROFS), false);
        let Refused { path, error, others } = refusals.told().unwrap();
        assert_eq!((path.as_str(), others), ("b/c", 2));
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        note("b/c", Ok(()), false);
        assert_eq!(refusals.told().unwrap().path, "d");
    }
}
