//! The files of undone steps, for hosts that read and write files themselves. As with `docs`, the
//! host gets a list of the files to read, and asks again with their texts. Only the answer that
//! misses none counts as carried out: until then all changes are kept.

use crate::{
    file_undo::{FileSteps, UndoneFile},
    firewall::SessionFirewall,
};
use alloc::{string::String, vec::Vec};
use innerloop_json::{Map, ToJson};

/// The files whose changes are undone, as far as texts are known.
#[derive(Debug, Default, ToJson)]
pub(super) struct UndoneAnswer {
    /// The files in the order in which they were first changed; none while texts are missing.
    files: Vec<UndoneFile>,
    /// The files whose texts are to be known first.
    missing: Vec<String>,
}

/// Returns the actions that undo the files of undone steps, and forgets their changes, or the files
/// to read first.
pub(super) fn undone(
    steps: &mut FileSteps,
    firewall: &SessionFirewall,
    texts: &Map<Option<String>>,
) -> UndoneAnswer {
    let mut missing = Vec::new();
    let files = steps.undone(firewall, &mut |path| match texts.get(path) {
        Some(text) => text.as_ref().map(|text| text.as_bytes().to_vec()),
        None => {
            missing.push(path.into());
            None
        }
    });
    if !missing.is_empty() {
        return UndoneAnswer { files: Vec::new(), missing };
    }
    steps.settle();
    UndoneAnswer { files, missing }
}
