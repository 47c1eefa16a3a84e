//! The view: what the model sees of the log. A rewind leads back to what it saw when the log was
//! shorter; a fold puts a text in the place of turns, and a line in the place of results
//! (`docs/decisions.md#the-view`); parts that a provider refuses are described in words. All of it
//! follows from the log, which only grows, so that snapshots hold no view.

use super::{elided_results::stubbed, unsent};
use alloc::{borrow::Cow, string::String, vec, vec::Vec};
use core::ops::Range;
use innerloop_json::sort;
use innerloop_types::message::{
    HistoryFold, LeftOut, LeftOutKind, Part, PartPlace, Turn, TurnKind, VisibleTurn,
};

/// The turns of the log that are seen, where that is not the log itself.
#[derive(Clone, Debug, Default)]
pub(super) struct HistoryView {
    items: Vec<ViewItem>,
    /// The position of the newest fold in the log: what a provider counted before it includes turns
    /// that are gone by now.
    folded: Option<usize>,
    /// The number of items that the newest fold has shortened, or left of what it folded.
    settled: usize,
    /// The parts that are described in words, in order, each with the turn that says so.
    left_out: Vec<(PartPlace, usize)>,
    /// Replies before that place of the log are seen without what only their maker understands.
    unsigned: usize,
}

/// A turn that is seen.
#[derive(Clone, Copy, Debug)]
struct ViewItem {
    /// Its place in the log; that of a fold stands for its text.
    at: usize,
    /// True if its results are shown in one line each.
    is_stub: bool,
}

impl HistoryView {
    /// Returns the view of a log.
    pub(super) fn of(turns: &[Turn]) -> Self {
        let mut view = Self::default();
        for at in path(turns).into_iter().flatten() {
            match turns.get(at).map(|turn| &turn.kind) {
                Some(TurnKind::Folded(fold)) => view.fold(at, fold, turns),
                Some(TurnKind::LeftOut(left)) => view.leave_out(at, left),
                _ => view.push(at),
            }
        }
        view
    }

    /// Adds the turn at that place of the log.
    pub(super) fn push(&mut self, at: usize) {
        self.items.push(ViewItem { at, is_stub: false });
    }

    /// Returns the number of turns that are seen.
    pub(super) const fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of turns that no fold has shortened.
    pub(super) const fn unfolded(&self) -> usize {
        self.items.len().saturating_sub(self.settled)
    }

    /// Returns the place in the log of what is seen at a place of the view.
    pub(super) fn at(&self, place: usize) -> Option<usize> {
        self.items.get(place).map(|item| item.at)
    }

    /// Returns what is seen at a place of the view.
    pub(super) fn said<'a>(&self, place: usize, turns: &'a [Turn]) -> Option<VisibleTurn<'a>> {
        let ViewItem { at, is_stub } = *self.items.get(place)?;
        match &turns.get(at)?.kind {
            TurnKind::Folded(fold) => fold.text.as_deref().map(told),
            TurnKind::ToolResults(results) if is_stub => {
                let calls = at.checked_sub(1).and_then(|before| turns.get(before));
                Some(VisibleTurn::ToolResults(Cow::Owned(stubbed(calls, results))))
            }
            kind => Some(self.without_refused(at, kind.said()?, turns)),
        }
    }

    /// Returns what a turn says, with words in the place of parts that were refused.
    fn without_refused<'a>(
        &self,
        at: usize,
        said: VisibleTurn<'a>,
        turns: &[Turn],
    ) -> VisibleTurn<'a> {
        let said = if at < self.unsigned { said.unsigned() } else { said };
        // The list is kept in order for this search, which every turn goes through that is read
        // from the view.
        let from = self.left_out.partition_point(|(it, _)| place(it.turn) < at);
        let rest = self.left_out.get(from..).unwrap_or_default();
        let count = rest.partition_point(|(it, _)| place(it.turn) == at);
        let refused = rest.get(..count).unwrap_or_default();
        if refused.is_empty() {
            return said;
        }
        let told = |parts: &[Part], result: Option<u32>| -> Vec<Part> {
            let mut parts = parts.to_vec();
            for (it, by) in refused.iter().filter(|(it, _)| it.result == result) {
                // Replaced and never removed: other entries of the log name parts by their places.
                if let (Some(part), Some(turn)) = (parts.get_mut(place(it.part)), turns.get(*by)) {
                    *part = unsent::in_words(part, turn);
                }
            }
            parts
        };
        match said {
            VisibleTurn::User(parts) => VisibleTurn::User(told(&parts, None).into()),
            VisibleTurn::Steering(parts) => VisibleTurn::Steering(told(&parts, None).into()),
            VisibleTurn::ToolResults(results) => {
                let mut results = results.into_owned();
                for (result, nth) in results.iter_mut().zip(0..) {
                    result.parts = told(&result.parts, Some(nth));
                }
                VisibleTurn::ToolResults(results.into())
            }
            said => said,
        }
    }

    /// Returns whether what is seen at a place of the view was said since the newest fold.
    pub(super) fn is_new(&self, place: usize) -> bool {
        // Without a fold this compares with none, which is less than any place: everything is new.
        self.items.get(place).map(|item| item.at) > self.folded
    }

    fn leave_out(&mut self, at: usize, left: &LeftOut) {
        // An entry without parts stands for the signatures of the replies before it.
        if left.parts.is_empty() {
            self.unsigned = at;
        }
        // A part that was left out before is named anew, or put back.
        self.left_out.retain(|(it, _)| !left.parts.contains(it));
        if left.how != LeftOutKind::PutBack {
            self.left_out.extend(left.parts.iter().map(|&it| (it, at)));
            sort(&mut self.left_out, Ord::cmp);
        }
    }

    fn fold(&mut self, at: usize, fold: &HistoryFold, turns: &[Turn]) {
        self.folded = Some(at);
        // The text of an earlier fold goes with the turns that it stands for, though its entry in
        // the log comes behind them.
        let is_before = |item: &ViewItem| match turns.get(item.at).map(|turn| &turn.kind) {
            Some(TurnKind::Folded(older)) => older.upto <= fold.upto,
            _ => item.at < place(fold.upto),
        };
        let is_pinned = |at: usize| fold.pin.iter().any(|&pinned| place(pinned) == at);
        let first = self.items.iter().position(|item| !is_before(item));
        let behind = self.items.split_off(first.unwrap_or(self.items.len()));
        self.items.retain(|item| is_pinned(item.at));
        if fold.text.is_some() {
            // Before a reply that stays: providers want a conversation to begin with the user.
            let is_input = |item: &ViewItem| {
                matches!(turns.get(item.at).map(|turn| &turn.kind), Some(TurnKind::User(_)))
            };
            let first = self.items.iter().position(|item| !is_input(item));
            let first = first.unwrap_or(self.items.len());
            self.items.insert(first, ViewItem { at, is_stub: false });
        }
        self.items.extend(behind);
        let stub_before = place(fold.stub_before);
        for item in &mut self.items {
            item.is_stub |= item.at < stub_before && !is_pinned(item.at);
        }
        let border = place(fold.upto).max(stub_before);
        let is_settled = |item: &&ViewItem| item.at < border || item.at == at;
        self.settled = self.items.iter().filter(is_settled).count();
    }
}

/// Returns the parts of the log that count, oldest first: a rewind skips the turns from where it
/// leads up to itself.
pub(super) fn path(turns: &[Turn]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut end = turns.len();
    loop {
        // From the newest rewind backwards: another rewind within the part that is skipped does not
        // count any more.
        let newest = turns.iter().enumerate().take(end).rev().find_map(|(rewound, turn)| {
            let TurnKind::Rewound { at, .. } = turn.kind else { return None };
            Some((rewound, place(at)))
        });
        let Some((rewound, at)) = newest else { break };
        parts.push(rewound + 1..end);
        end = at.min(rewound);
    }
    parts.push(0..end);
    parts.reverse();
    parts
}

fn told(text: &str) -> VisibleTurn<'_> {
    VisibleTurn::Steering(Cow::Owned(vec![Part::text(String::from(text))]))
}

/// Returns a place in the log as an index.
pub(super) fn place(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
