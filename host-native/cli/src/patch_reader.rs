//! The reader of the patches in calls. It remembers the last ones, since the same patch is needed
//! to describe a call, to judge it, and to preview it for whoever allows it.

use innerloop_core::action::Patch;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// The number of patches that are kept: all calls of a reply are described before the first of
/// them is judged.
const KEPT: usize = 16;

/// The reader, which keeps the latest patches; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct PatchReader(Arc<Mutex<VecDeque<ReadPatch>>>);

/// A patch, and the text that it was read from.
type ReadPatch = (String, Arc<Patch>);

impl PatchReader {
    /// Reads the patch of a command line that does nothing but pass it to `apply_patch`, unchanged.
    pub(super) fn read_line(&self, command: &str) -> Option<Arc<Patch>> {
        let (first, _) = command.trim_start().split_once('\n').unwrap_or_default();
        let is_patching = ["apply_patch", "applypatch"].iter().any(|name| first.starts_with(name));
        // In a here-document without quotes the shell expands variables: the patch would be another
        // one than the text that is shown.
        let is_quoted = first.contains("<<'") || first.contains("<<\"");
        if is_patching && is_quoted { self.read(command) } else { None }
    }

    /// Reads a patch; returns none if the text is not one.
    pub(super) fn read(&self, text: &str) -> Option<Arc<Patch>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, patch)) = kept.iter().find(|(known, _)| known == text) {
            return Some(Arc::clone(patch));
        }
        let patch = Arc::new(Patch::parse(text).ok()?);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((text.to_owned(), Arc::clone(&patch)));
        Some(patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_read_once_and_the_oldest_is_forgotten() {
        let reader = PatchReader::default();
        let other = reader.clone();
        let text =
            |n: usize| format!("*** Begin Patch\n*** Add File: {n}.txt\n+x\n*** End Patch\n");
        let first = reader.read(&text(0)).unwrap();
        assert!(Arc::ptr_eq(&first, &other.read(&text(0)).unwrap()));
        assert!(reader.read("*** Begin Patch\n*** Add File: 0.txt").is_none());
        (1..=KEPT).for_each(|n| assert!(reader.read(&text(n)).is_some()));
        let again = reader.read(&text(0)).unwrap();
        assert!(!Arc::ptr_eq(&first, &again) && first == again);
    }
}
