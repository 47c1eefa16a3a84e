//! The items of an output while they arrive, and the search for the one that an event is about.
//! Gateways change an item's id from event to event, and some leave out its number in the output.

use super::{
    super::{
        lenient::{JsonDocument, ValueRef},
        sink::PieceSink,
    },
    items::{ItemHead, OutputItem, asked, shown},
    partial_items::{DeltaKind, StreamedItem},
};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::mem;
use innerloop_json::{IntoList, PlaceMap};
use innerloop_types::{json::Json, steps};

/// The items, in the order of their first mention.
#[derive(Debug, Default)]
pub(super) struct SlotList {
    list: Vec<ItemSlot>,
    /// The position of the newest item of each key. A map, since an output may have very many
    /// items, and a search through the list for each event would cost their square.
    places: PlaceMap,
}

/// An item while it arrives.
#[derive(Debug, Default)]
pub(super) struct ItemSlot {
    number: Option<u64>,
    /// The position of the item among all, in the order of their first mention.
    place: usize,
    /// The item's kind and its call's id and tool, once they are known.
    kind: String,
    call_id: String,
    name: String,
    /// The item, as it was announced, or whole once it is done.
    item: Option<Json>,
    is_done: bool,
    /// True if people have seen something of it.
    pub(super) is_shown: bool,
    pub(super) streamed: StreamedItem,
}

/// An item as an event tells of it, when it begins or when it is done.
#[derive(Debug)]
pub(super) struct ItemMention<'a> {
    /// Its number in the output.
    pub(super) number: Option<u64>,
    /// Its JSON.
    pub(super) item: ValueRef<'a>,
    /// True if that is the whole item.
    pub(super) is_done: bool,
}

impl SlotList {
    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether there are items, and all of them are done.
    pub(super) fn are_done(&self) -> bool {
        !self.list.is_empty() && self.list.iter().all(|slot| slot.is_done)
    }

    /// Returns whether a call among them cannot be put together from what came of it.
    pub(super) fn have_lost_a_call(&self) -> bool {
        self.list.iter().any(ItemSlot::is_lost)
    }

    /// Returns the items as far as they have come.
    pub(super) fn documents(&self) -> Vec<JsonDocument<'_>> {
        self.list.iter().map(ItemSlot::document).into_list()
    }

    /// Returns the items of these `documents`, with what was streamed of them.
    pub(super) fn items<'a>(&'a self, documents: &'a [JsonDocument<'a>]) -> Vec<OutputItem<'a>> {
        let items = self.list.iter().zip(documents);
        let item = |(slot, document): (&'a ItemSlot, &'a JsonDocument<'a>)| OutputItem {
            raw: document.root(),
            is_done: slot.is_done,
            streamed: &slot.streamed,
        };
        items.map(item).into_list()
    }

    /// Returns the item that a piece belongs to: the newest with that number, or the newest of all
    /// if the piece has none.
    pub(super) fn of_piece(
        &mut self,
        number: Option<u64>,
        out: &mut PieceSink,
    ) -> Option<&mut ItemSlot> {
        let at = self.newest(number);
        self.at(at, number, out)
    }

    /// Takes an item that begins or is done.
    pub(super) fn take(&mut self, mention: &ItemMention<'_>, out: &mut PieceSink) {
        let head = ItemHead::of(mention.item);
        let at = self.find(mention, &head);
        let Some(slot) = self.at(at, mention.number, out) else { return };
        // The whole item counts, and an announcement that comes late says less.
        if slot.is_done && !mention.is_done {
            return;
        }
        let is_ours = head.is_ours();
        let begins = is_ours && slot.kind.is_empty();
        slot.kind = head.kind.into_owned();
        slot.call_id = head.call_id.into_owned();
        slot.name = head.name.into_owned();
        // A call whose arguments were not streamed is shown whole, once it is done.
        let comes_whole =
            is_ours && mention.is_done && !slot.is_done && !slot.streamed.has(DeltaKind::Arguments);
        let asked = if comes_whole { asked(mention.item) } else { Cow::Borrowed("") };
        if begins || !asked.is_empty() {
            out.call(slot.place, &slot.call_id, &slot.name, &asked);
        }
        slot.take(mention.item, out);
        if mention.is_done {
            slot.done(mention.item, out);
        }
        let at = at.unwrap_or(self.list.len().saturating_sub(1));
        self.note(at);
    }

    /// Takes the output of the whole response: it stands in for items that never came whole or
    /// were never announced. Returns whether it has all of them.
    pub(super) fn complete(&mut self, output: ValueRef<'_>, out: &mut PieceSink) -> bool {
        self.sort();
        let slots = &mut self.list;
        let count = output.elements().count();
        // Some gateways list only some items here, or none: then the stream's stay.
        let has_all = count > 0 && count >= slots.len();
        let is_done = slots.iter().all(|slot| slot.is_done);
        if is_done && count <= slots.len() {
            return has_all;
        }
        // Of items without numbers nobody knows which these are: what people may have seen is not
        // shown again.
        let is_shown = slots.iter().any(|slot| slot.number.is_none() && slot.is_shown);
        let mut sorted = mem::take(slots).into_iter().peekable();
        let mut others = Vec::new();
        for (number, item) in (0..).zip(output.elements()) {
            while let Some(slot) = sorted.next_if(|slot| slot.number < Some(number)) {
                others.push(slot);
            }
            let mut slot = match sorted.next_if(|slot| slot.number == Some(number)) {
                Some(slot) => slot,
                None if !has_all => continue,
                None if !out.item() => break,
                None => ItemSlot { number: Some(number), is_shown, ..ItemSlot::default() },
            };
            if has_all || !slot.is_done {
                slot.take(item, out);
                slot.done(item, out);
            }
            slots.push(slot);
        }
        if !has_all {
            slots.extend(others.into_iter().chain(sorted));
            self.sort();
        }
        has_all
    }

    fn sort(&mut self) {
        steps::count(self.list.len());
        innerloop_json::sort(&mut self.list, |a, b| a.number.cmp(&b.number));
    }

    /// Returns the item that an event tells of: the one of the same kind and call, or else the
    /// newest that has begun and waits for such an item.
    fn find(&self, mention: &ItemMention<'_>, head: &ItemHead<'_>) -> Option<usize> {
        let &ItemMention { number, is_done, .. } = mention;
        let at = self.places.get(&same(number, &head.kind, &head.call_id));
        let fits = |slot: &ItemSlot| {
            // A message has no call's id: without a number, one that is done is another one.
            let is_other = slot.is_done && number.is_none() && head.call_id.is_empty();
            slot.kind == head.kind && slot.call_id == head.call_id && !is_other
        };
        if let Some(at) = at.filter(|&at| self.list.get(at).is_some_and(fits)) {
            return Some(at);
        }
        // Some gateways change even a call's id between its beginning and its end.
        let waits = |slot: &ItemSlot| {
            !slot.is_done && (slot.item.is_none() || (is_done && slot.kind == head.kind))
        };
        let waiting = self.places.get(&waiting(number, &head.kind));
        let both = [waiting, self.newest(number)].into_iter().flatten();
        both.filter(|&at| self.list.get(at).is_some_and(waits)).max()
    }

    /// Returns the newest item with that number, or of all.
    fn newest(&self, number: Option<u64>) -> Option<usize> {
        steps::count(1);
        match number {
            Some(number) => self.places.get(&format!("{number}")),
            None => self.list.len().checked_sub(1),
        }
    }

    /// Returns the item at a position, or else a new one with that number, if there is room.
    fn at(
        &mut self,
        at: Option<usize>,
        number: Option<u64>,
        out: &mut PieceSink,
    ) -> Option<&mut ItemSlot> {
        if let Some(at) = at {
            return self.list.get_mut(at);
        }
        if !out.item() {
            return None;
        }
        if let Some(number) = number {
            self.places.insert(format!("{number}"), self.list.len());
        }
        self.list.push(ItemSlot { number, place: self.list.len(), ..ItemSlot::default() });
        self.list.last_mut()
    }

    /// Notes the keys of the item at a position. Events with and without a number find it.
    fn note(&mut self, at: usize) {
        let Self { list, places } = self;
        let Some(slot) = list.get(at) else { return };
        for number in [slot.number, None] {
            places.insert(same(number, &slot.kind, &slot.call_id), at);
        }
        if !slot.is_done {
            places.insert(waiting(slot.number, &slot.kind), at);
        }
    }
}

/// Returns the key of items of that number, kind and call.
fn same(number: Option<u64>, kind: &str, call_id: &str) -> String {
    format!("{} {call_id}", waiting(number, kind))
}

/// Returns the key of items of that number and kind that wait for their end.
fn waiting(number: Option<u64>, kind: &str) -> String {
    let number = number.map_or(String::new(), |number| format!("{number}"));
    format!("{number} {kind}")
}

impl ItemSlot {
    /// Takes the item as an event has it.
    fn take(&mut self, item: ValueRef<'_>, out: &mut PieceSink) {
        self.item = item.to_json();
        out.keep(self.item.as_ref().map_or(0, |item| item.text().len()));
    }

    /// Notes that the item is whole, and shows what was not shown of it.
    fn done(&mut self, item: ValueRef<'_>, out: &mut PieceSink) {
        self.is_done = true;
        if !self.is_shown {
            let (strand, text) = shown(item);
            self.is_shown = strand.show(text.into(), out);
        }
    }

    /// Shows a piece of it to people, if it is something for them.
    pub(super) fn show(&mut self, strand: DeltaKind, piece: Cow<'_, str>, out: &mut PieceSink) {
        if strand == DeltaKind::Arguments && !self.kind.is_empty() {
            out.call(self.place, &self.call_id, &self.name, &piece);
        }
        self.is_shown |= strand.show(piece, out);
    }

    fn is_lost(&self) -> bool {
        let is_nameless = self.item.is_none() && self.streamed.has(DeltaKind::Arguments);
        !self.is_done && (self.streamed.is_damaged || is_nameless)
    }

    /// Returns the item, or the type of one that was streamed without any.
    fn document(&self) -> JsonDocument<'_> {
        let is_said = self.streamed.has(DeltaKind::Text) || self.streamed.has(DeltaKind::Refusal);
        let unnamed = if is_said { r#"{"type":"message"}"# } else { r#"{"type":"reasoning"}"# };
        JsonDocument::of(self.item.as_ref().map_or(unnamed, Json::text))
    }
}
