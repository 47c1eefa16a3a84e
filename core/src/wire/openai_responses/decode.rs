//! A response's bytes to a reply: the events of a stream, or a whole response.

use super::{
    super::{
        failure::{Failure, FailureKind, of_body},
        piece::Piece,
    },
    fields::{Field, exact_text, fields, number, text, word},
    items::{Head, Item, Output, shown},
    response::{Ending, Response, error_event},
    streamed::{Strand, Streamed},
};
use crate::types::{config::WireKind, input::ResponseHead, message::Reply};
use alloc::{
    borrow::{Cow, ToOwned},
    format,
    string::String,
    vec::Vec,
};
use serde_json::value::RawValue;

/// A body that is no stream: a response, or an error.
pub(in super::super) fn whole(head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
    let text = String::from_utf8_lossy(body);
    let response = Response::of(text.trim().trim_start_matches('\u{feff}'));
    if !head.is_success() || !response.is_one() {
        return Err(of_body(head, body));
    }
    let mut draft = Draft::default();
    draft.on_end(response, head, &mut Vec::new());
    draft.finish()
}

/// The reply while it arrives.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Draft {
    reply: Reply,
    /// The items, in the order of their first mention.
    slots: Vec<Slot>,
    /// What the terminal event says became of the response.
    ending: Option<Ending>,
    failure: Option<Failure>,
    /// Data that could not be read: the reply may not be whole without it.
    unreadable: Option<String>,
}

/// An item while it arrives. Gateways change an item's id from event to event, so that only its
/// number in the output tells which item an event is about.
#[derive(Clone, Debug, Default)]
struct Slot {
    number: Option<u64>,
    /// The item's kind and its call's id, once they are known.
    kind: String,
    call_id: String,
    /// The item's JSON, as it was announced, or whole once it is done.
    raw: String,
    is_done: bool,
    /// People have seen something of it.
    is_shown: bool,
    streamed: Streamed,
}

/// An event's fields.
struct Event<'a> {
    kind: Cow<'a, str>,
    is_error: bool,
    number: Option<u64>,
    /// The part of the item that a piece belongs to.
    part: Field<'a>,
    /// A piece of text.
    delta: Field<'a>,
    /// A whole part.
    whole: Field<'a>,
    item: Field<'a>,
    response: Field<'a>,
}

impl Draft {
    pub(in super::super) fn on_data(
        &mut self,
        data: &[u8],
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        // The strict reading is the faster one, and nearly always enough.
        let data = match str::from_utf8(data) {
            Ok(data) => Cow::Borrowed(data),
            Err(_) => String::from_utf8_lossy(data),
        };
        match Event::of(&data) {
            Ok(event) if event.is_error => {
                self.failure.get_or_insert_with(|| error_event(head, &data));
            }
            Ok(event) => self.on_event(&event, head, out),
            Err(error) if data.trim_start().starts_with('{') => {
                self.unreadable.get_or_insert_with(|| format!("{error}"));
            }
            // What is no object (`[DONE]` and the like) loses nothing.
            Err(_) => {}
        }
    }

    fn on_event(&mut self, event: &Event<'_>, head: &ResponseHead, out: &mut Vec<Piece>) {
        use Strand::{Arguments, Refusal, Summary, Text, Thought};
        match &*event.kind {
            "response.output_text.delta" => self.piece(Text, event, out),
            "response.reasoning_summary_text.delta" => self.piece(Summary, event, out),
            "response.reasoning_text.delta" => self.piece(Thought, event, out),
            "response.refusal.delta" => self.piece(Refusal, event, out),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.piece(Arguments, event, out);
            }
            "response.output_text.done" => self.part(Text, event, out),
            "response.reasoning_summary_text.done" => self.part(Summary, event, out),
            "response.reasoning_text.done" => self.part(Thought, event, out),
            "response.refusal.done" => self.part(Refusal, event, out),
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                self.part(Arguments, event, out);
            }
            "response.output_item.added" => self.item(event, false, out),
            "response.output_item.done" => self.item(event, true, out),
            "response.created" => {
                self.begin(out);
                self.meta(&event.response());
            }
            "response.completed" => self.on_end(event.response().ended("completed"), head, out),
            "response.incomplete" => self.on_end(event.response().ended("incomplete"), head, out),
            "response.failed" => self.on_end(event.response().ended("failed"), head, out),
            "response.cancelled" => self.on_end(event.response().ended("cancelled"), head, out),
            "response.done" => self.on_end(event.response(), head, out),
            _ => {}
        }
    }

    /// The response begins. A second beginning makes void what came before.
    fn begin(&mut self, out: &mut Vec<Piece>) {
        if self.ending.is_some() || !self.slots.is_empty() {
            out.push(Piece::Restart);
            *self = Self { failure: self.failure.take(), ..Self::default() };
        }
    }

    fn meta(&mut self, response: &Response<'_>) {
        let reply = &mut self.reply;
        reply.response_id = response.id.clone().or_else(|| reply.response_id.take());
        reply.model = response.model.clone().or_else(|| reply.model.take());
        reply.usage = response.usage.or(reply.usage);
    }

    /// A piece of an item.
    fn piece(&mut self, strand: Strand, event: &Event<'_>, out: &mut Vec<Piece>) {
        if event.delta.is_none() {
            return;
        }
        let Some(slot) = self.slot(event.number) else { return };
        let piece = exact_text(event.delta).unwrap_or_else(|| {
            // Half a surrogate pair costs a text one character, but would change a call.
            slot.streamed.is_damaged |= strand == Strand::Arguments;
            word(event.delta)
        });
        slot.streamed.push(strand, number(event.part).unwrap_or_default(), &piece);
        slot.is_shown |= show(strand, piece, out);
    }

    /// A whole part of an item, in place of its pieces.
    fn part(&mut self, strand: Strand, event: &Event<'_>, out: &mut Vec<Piece>) {
        let Some(whole) = text(event.whole) else { return };
        let Some(slot) = self.slot(event.number) else { return };
        if !slot.streamed.has(strand) {
            slot.is_shown |= show(strand, whole.clone(), out);
        }
        slot.streamed.is_damaged &= strand != Strand::Arguments;
        slot.streamed.set(strand, number(event.part).unwrap_or_default(), whole);
    }

    /// The newest item with that number; the newest of all where an event has none.
    fn slot(&mut self, number: Option<u64>) -> Option<&mut Slot> {
        let is_it = |slot: &Slot| number.is_none() || slot.number == number;
        let at = self.slots.iter().rposition(is_it);
        self.at(at, number)
    }

    /// The item there, or else a new one with that number.
    fn at(&mut self, at: Option<usize>, number: Option<u64>) -> Option<&mut Slot> {
        if let Some(at) = at {
            return self.slots.get_mut(at);
        }
        self.slots.push(Slot { number, ..Slot::default() });
        self.slots.last_mut()
    }

    /// An item as it is announced, or whole.
    fn item(&mut self, event: &Event<'_>, is_done: bool, out: &mut Vec<Piece>) {
        let Some(raw) = event.item.map(RawValue::get) else { return };
        let head = Head::of(raw);
        let here = |slot: &Slot| event.number.is_none() || slot.number == event.number;
        let same = |slot: &Slot| here(slot) && slot.kind == head.kind;
        // A call's id is the best sign, but some gateways change even that; a message has none,
        // so that without a number one that is done is another.
        let is_other =
            |slot: &Slot| slot.is_done && event.number.is_none() && head.call_id.is_empty();
        let is_same_call =
            |slot: &Slot| same(slot) && slot.call_id == head.call_id && !is_other(slot);
        let is_awaited = |slot: &Slot| match is_done {
            true => !slot.is_done && (same(slot) || (here(slot) && slot.raw.is_empty())),
            false => here(slot) && slot.raw.is_empty(),
        };
        let at = self.slots.iter().rposition(is_same_call);
        let at = at.or_else(|| self.slots.iter().rposition(is_awaited));
        let Some(slot) = self.at(at, event.number) else { return };
        if slot.is_done && !is_done {
            return;
        }
        slot.kind = head.kind.into_owned();
        slot.call_id = head.call_id.into_owned();
        slot.raw = raw.to_owned();
        if is_done {
            slot.done(out);
        }
    }

    /// The terminal event, or a whole body.
    fn on_end(&mut self, response: Response<'_>, head: &ResponseHead, out: &mut Vec<Piece>) {
        self.meta(&response);
        self.ending = Some(match response.ending(head) {
            Ending::Failed(failure) => Ending::Failed(self.failure.take().unwrap_or(failure)),
            ending => ending,
        });
        self.slots.sort_by_key(|slot| slot.number);
        let output = response.output.unwrap_or_default();
        let has_all = !output.is_empty() && output.len() >= self.slots.len();
        if has_all {
            self.unreadable = None;
        }
        if self.slots.iter().all(|slot| slot.is_done) && output.len() <= self.slots.len() {
            return;
        }
        // Some items never came whole, or were never announced: the response's own stand in.
        let is_shown = self.slots.iter().any(|slot| slot.number.is_none() && slot.is_shown);
        let mut slots = core::mem::take(&mut self.slots);
        for (at, raw) in output.into_iter().enumerate() {
            let number = u64::try_from(at).ok();
            let found = slots.iter().position(|slot| slot.number == number);
            let mut slot = match found {
                Some(at) => slots.remove(at),
                None if has_all => Slot { number, is_shown, ..Slot::default() },
                None => continue,
            };
            if has_all || !slot.is_done {
                slot.raw = raw.get().to_owned();
                slot.done(out);
            }
            self.slots.push(slot);
        }
        if !has_all {
            self.slots.append(&mut slots);
            self.slots.sort_by_key(|slot| slot.number);
        }
    }

    /// Whether the terminal marker has come: nothing that follows counts.
    pub(in super::super) const fn is_whole(&self) -> bool {
        self.ending.is_some()
    }

    pub(in super::super) fn finish(self) -> Result<Reply, Failure> {
        let protocol = |message: &str| Err(Failure::new(FailureKind::Protocol, message));
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let Some(ending) = self.ending else {
            return protocol("the stream ended before the reply was whole");
        };
        if let Ending::Failed(failure) = ending {
            return Err(failure);
        }
        let is_whole = !self.slots.is_empty() && self.slots.iter().all(|slot| slot.is_done);
        if let Some(error) = self.unreadable.filter(|_| !is_whole) {
            return protocol(&format!("the stream holds what is not JSON: {error}"));
        }
        if self.slots.iter().any(Slot::is_lost) {
            return protocol("the stream holds a call of which not every piece could be read");
        }
        let items: Vec<Item<'_>> = self.slots.iter().map(Slot::item).collect();
        let output = Output::of(&items);
        let mut reply = self.reply;
        reply.wire = Some(WireKind::OpenaiResponses);
        reply.finish = ending.finish(&output);
        reply.refusal = Some(output.refusal).filter(|refusal| !refusal.is_empty());
        reply.blocks = output.blocks;
        // A reply is kept as long as the session: what it does not need goes back.
        reply.blocks.shrink_to_fit();
        Ok(reply)
    }
}

impl Slot {
    /// The item is whole: what was not shown of it is shown now.
    fn done(&mut self, out: &mut Vec<Piece>) {
        self.is_done = true;
        if !self.is_shown {
            let (strand, text) = shown(&self.raw);
            self.is_shown = show(strand, text.into(), out);
        }
    }

    /// Whether a call cannot be put together from what came of it.
    fn is_lost(&self) -> bool {
        let is_nameless = self.raw.is_empty() && self.streamed.has(Strand::Arguments);
        !self.is_done && (self.streamed.is_damaged || is_nameless)
    }

    fn item(&self) -> Item<'_> {
        let is_said = self.streamed.has(Strand::Text) || self.streamed.has(Strand::Refusal);
        let raw = match self.raw.as_str() {
            "" if is_said => r#"{"type":"message"}"#,
            "" => r#"{"type":"reasoning"}"#,
            raw => raw,
        };
        Item { raw, is_done: self.is_done, streamed: &self.streamed }
    }
}

/// Shows a piece to people, if it is something for them.
fn show(strand: Strand, piece: Cow<'_, str>, out: &mut Vec<Piece>) -> bool {
    let piece = match strand {
        _ if piece.is_empty() => return false,
        Strand::Text => Piece::Text(piece.into_owned()),
        Strand::Summary | Strand::Thought => Piece::Reasoning(piece.into_owned()),
        Strand::Refusal | Strand::Arguments => return false,
    };
    out.push(piece);
    true
}

impl<'a> Event<'a> {
    fn of(data: &'a str) -> Result<Self, serde_json::Error> {
        let read = fields(
            data,
            [
                "type",
                "output_index",
                "delta",
                "content_index",
                "summary_index",
                "text",
                "refusal",
                "arguments",
                "input",
                "item",
                "response",
                "error",
                "message",
            ],
        )?;
        let [kind, number_in_output, delta, content, summary, read @ ..] = read;
        let [text, refusal, arguments, input, item, response, error, message] = read;
        let kind = word(kind);
        // Some gateways leave the type out.
        let is_error = error.is_some() || kind == "error" || (kind.is_empty() && message.is_some());
        Ok(Self {
            kind,
            is_error,
            number: number(number_in_output),
            part: content.or(summary),
            delta,
            whole: text.or(refusal).or(arguments).or(input),
            item,
            response,
        })
    }

    fn response(&self) -> Response<'a> {
        self.response.map(|response| Response::of(response.get())).unwrap_or_default()
    }
}
