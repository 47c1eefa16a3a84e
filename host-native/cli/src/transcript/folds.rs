//! The line about a fold: how many turns were summed up or left out, and the tokens it saved.

use crate::number_format::{counted, grouped};
use innerloop_core::message::FoldKind;

/// Returns a line such as `(42 turns were summed up: 180,000 tokens became 62,000)`.
pub(super) fn line(kind: FoldKind, turns: usize, before: u64, after: u64) -> String {
    let turns = counted(turns as u64, "turn");
    let what = match kind {
        FoldKind::Stub => "old results were left out".to_owned(),
        FoldKind::Archive => format!("{turns} were stored and left out"),
        FoldKind::Summary => format!("{turns} were summed up"),
        FoldKind::Truncate => format!("{turns} were left out"),
    };
    format!("({what}: {} tokens became {})", grouped(before), grouped(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_fold_has_its_own_words() {
        let lines = [FoldKind::Stub, FoldKind::Archive, FoldKind::Summary, FoldKind::Truncate]
            .map(|kind| line(kind, 42, 180_000, 62_000));
        let want = [
            "(old results were left out: 180,000 tokens became 62,000)",
            "(42 turns were stored and left out: 180,000 tokens became 62,000)",
            "(42 turns were summed up: 180,000 tokens became 62,000)",
            "(42 turns were left out: 180,000 tokens became 62,000)",
        ];
        assert_eq!(lines, want);
    }
}
