//! The items of an output while they arrive, and which of them an event is about. Gateways change
//! an item's id from event to event, and some leave its number in the output out.

use super::{
    super::{
        lenient::{Document, Raw},
        piece::Piece,
    },
    items::{Head, Item, shown},
    streamed::{Strand, Streamed},
};
use crate::base::json::Json;
use alloc::{string::String, vec::Vec};
use core::mem;

/// How many items back an event may reach, so that a stream of very many items costs no more than
/// its length.
const REACH: usize = 256;

/// The items, in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Vec<Slot>);

/// An item while it arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    number: Option<u64>,
    /// The item's kind and its call's id, once they are known.
    kind: String,
    call_id: String,
    /// The item, as it was announced, or whole once it is done.
    item: Option<Json>,
    is_done: bool,
    /// People have seen something of it.
    pub(super) is_shown: bool,
    pub(super) streamed: Streamed,
}

/// An item as an event tells of it, when it begins or when it is done.
#[derive(Debug)]
pub(super) struct Mention<'a> {
    /// Its place in the output.
    pub(super) number: Option<u64>,
    /// Its JSON.
    pub(super) item: Raw<'a>,
    /// Whether that is the whole item.
    pub(super) is_done: bool,
}

/// How well an item fits one that an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It has begun and waits for such an item.
    Awaited,
    /// It has the same place, kind and call.
    Same,
}

impl Slots {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there are items, and all of them are done.
    pub(super) fn are_done(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|slot| slot.is_done)
    }

    /// Whether a call among them cannot be put together from what came of it.
    pub(super) fn have_lost_a_call(&self) -> bool {
        self.0.iter().any(Slot::is_lost)
    }

    /// The items as far as they have come.
    pub(super) fn documents(&self) -> Vec<Document<'_>> {
        self.0.iter().map(Slot::document).collect()
    }

    /// The items of these `documents`, with what was streamed of them.
    pub(super) fn items<'a>(&'a self, documents: &'a [Document<'a>]) -> Vec<Item<'a>> {
        let items = self.0.iter().zip(documents);
        let item = |(slot, document): (&'a Slot, &'a Document<'a>)| Item {
            raw: document.root(),
            is_done: slot.is_done,
            streamed: &slot.streamed,
        };
        items.map(item).collect()
    }

    /// The item that a piece belongs to: the newest with that number, or the newest of all if the
    /// piece has none.
    pub(super) fn of_piece(&mut self, number: Option<u64>) -> Option<&mut Slot> {
        let at = self.newest(|slot| slot.is_at(number).then_some(()));
        self.at(at, number)
    }

    /// Takes an item that begins or is done.
    pub(super) fn take(&mut self, mention: &Mention<'_>, out: &mut Vec<Piece>) {
        let head = Head::of(mention.item);
        let at = self.newest(|slot| slot.fit(mention, &head));
        let Some(slot) = self.at(at, mention.number) else { return };
        if slot.is_done && !mention.is_done {
            return;
        }
        slot.kind = head.kind.into_owned();
        slot.call_id = head.call_id.into_owned();
        slot.item = mention.item.to_json();
        if mention.is_done {
            slot.done(mention.item, out);
        }
    }

    /// Takes the output of the whole response: it stands in for items that never came whole or
    /// were never announced. Returns whether it has all of them.
    pub(super) fn complete(&mut self, output: Raw<'_>, out: &mut Vec<Piece>) -> bool {
        self.sort();
        let count = output.elements().count();
        let has_all = count > 0 && count >= self.0.len();
        let is_done = self.0.iter().all(|slot| slot.is_done);
        if is_done && count <= self.0.len() {
            return has_all;
        }
        let is_shown = self.0.iter().any(|slot| slot.number.is_none() && slot.is_shown);
        let mut sorted = mem::take(&mut self.0).into_iter().peekable();
        let mut others = Vec::new();
        for (number, item) in (0..).zip(output.elements()) {
            while let Some(slot) = sorted.next_if(|slot| slot.number < Some(number)) {
                others.push(slot);
            }
            let mut slot = match sorted.next_if(|slot| slot.number == Some(number)) {
                Some(slot) => slot,
                None if has_all => Slot { number: Some(number), is_shown, ..Slot::default() },
                None => continue,
            };
            if has_all || !slot.is_done {
                slot.item = item.to_json();
                slot.done(item, out);
            }
            self.0.push(slot);
        }
        if !has_all {
            self.0.extend(others.into_iter().chain(sorted));
            self.sort();
        }
        has_all
    }

    fn sort(&mut self) {
        innerloop_json::sort(&mut self.0, |a, b| a.number.cmp(&b.number));
    }

    /// The newest of the items that fit best.
    fn newest<F: Ord>(&self, fit: impl Fn(&Slot) -> Option<F>) -> Option<usize> {
        let first = self.0.len().saturating_sub(REACH);
        let fitting = self.0.iter().enumerate().skip(first);
        let fitting = fitting.filter_map(|(at, slot)| Some((fit(slot)?, at)));
        fitting.max().map(|(_, at)| at)
    }

    /// The item there, or else a new one with that number.
    fn at(&mut self, at: Option<usize>, number: Option<u64>) -> Option<&mut Slot> {
        if let Some(at) = at {
            return self.0.get_mut(at);
        }
        self.0.push(Slot { number, ..Slot::default() });
        self.0.last_mut()
    }
}

impl Slot {
    /// Whether an event with that number may be about the item.
    fn is_at(&self, number: Option<u64>) -> bool {
        number.is_none() || self.number == number
    }

    /// How well the item fits one with that `head`.
    fn fit(&self, mention: &Mention<'_>, head: &Head<'_>) -> Option<Fit> {
        if !self.is_at(mention.number) {
            return None;
        }
        let is_alike = self.kind == head.kind;
        // A message has no id of its own: without a number, one that is done is another one.
        let is_other = self.is_done && mention.number.is_none() && head.call_id.is_empty();
        if is_alike && self.call_id == head.call_id && !is_other {
            return Some(Fit::Same);
        }
        // Some gateways change even a call's id between its beginning and its end.
        let is_awaited = self.item.is_none() || (mention.is_done && is_alike);
        (is_awaited && !self.is_done).then_some(Fit::Awaited)
    }

    /// The item is whole: what was not shown of it is shown now.
    fn done(&mut self, item: Raw<'_>, out: &mut Vec<Piece>) {
        self.is_done = true;
        if !self.is_shown {
            let (strand, text) = shown(item);
            self.is_shown = strand.show(text.into(), out);
        }
    }

    fn is_lost(&self) -> bool {
        let is_nameless = self.item.is_none() && self.streamed.has(Strand::Arguments);
        !self.is_done && (self.streamed.is_damaged || is_nameless)
    }

    /// The item, or what was streamed without one.
    fn document(&self) -> Document<'_> {
        let is_said = self.streamed.has(Strand::Text) || self.streamed.has(Strand::Refusal);
        let unnamed = if is_said { r#"{"type":"message"}"# } else { r#"{"type":"reasoning"}"# };
        Document::of(self.item.as_ref().map_or(unnamed, Json::text))
    }
}
