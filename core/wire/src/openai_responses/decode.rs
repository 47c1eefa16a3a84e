//! The decoder of responses: the events of a stream, or a whole response, become a reply. Whole
//! items count; the pieces before them are shown, and stand in where an item never comes whole.

use super::{
    super::{
        failure::{FailureKind, ModelCallError},
        lenient::{Error, ValueRef},
        piece::ReplyPiece,
        protocol::WireAccumulator,
        sink::PieceSink,
        stream_faults::DecodeFaults,
        surrogates::PendingSurrogate,
    },
    items::DecodedOutput,
    output_items::{ItemMention, SlotList},
    partial_items::DeltaKind,
    response::{ResponseEnd, ResponseObject, error_event},
};
use alloc::{borrow::Cow, string::String};
use core::mem;
use innerloop_types::{input::ResponseHead, message::Reply};

/// The events that bring pieces of a strand, or a whole part of it, by name.
const STRANDS: [(&str, DeltaKind); 6] = [
    ("output_text", DeltaKind::Text),
    ("reasoning_summary_text", DeltaKind::Summary),
    ("reasoning_text", DeltaKind::Thought),
    ("refusal", DeltaKind::Refusal),
    ("function_call_arguments", DeltaKind::Arguments),
    ("custom_tool_call_input", DeltaKind::Arguments),
];

/// The reply while it arrives.
#[derive(Debug, Default)]
pub(crate) struct ResponsesAccumulator {
    reply: Reply,
    slots: SlotList,
    /// The outcome of the response, once the terminal event has told it.
    ending: Option<ResponseEnd>,
    faults: DecodeFaults,
}

/// An event's fields.
struct ResponsesEvent<'a> {
    kind: Cow<'a, str>,
    is_error: bool,
    number: Option<u64>,
    /// The part of the item that a piece belongs to.
    part: u64,
    /// A piece of text.
    delta: ValueRef<'a>,
    /// A whole part.
    whole: ValueRef<'a>,
    item: ValueRef<'a>,
    response: ValueRef<'a>,
}

impl WireAccumulator for ResponsesAccumulator {
    fn on_event(&mut self, raw: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        let event = &ResponsesEvent::of(raw);
        if event.is_error {
            self.faults.report(|| error_event(head, raw));
            return;
        }
        let Some(kind) = event.kind.strip_prefix("response.") else { return };
        let (of, step) = kind.rsplit_once('.').unwrap_or(("", kind));
        let strand = STRANDS.iter().find(|(name, _)| *name == of).map(|(_, strand)| *strand);
        match (strand, of, step) {
            // A gateway that fails over begins anew, even behind a terminal event.
            (_, "", "created") => {
                self.begin(out);
                self.meta(&event.response());
            }
            // The first terminal event counts.
            _ if self.ending.is_some() => {}
            (Some(strand), _, "delta") => self.piece(strand, event, out),
            (Some(strand), _, "done") => self.part(strand, event, out),
            (_, "output_item", "added") => self.item(event, false, out),
            (_, "output_item", "done") => self.item(event, true, out),
            (_, "", "completed" | "incomplete" | "failed" | "cancelled") => {
                self.on_end(&event.response().ended(step), head, out);
            }
            (_, "", "done") => self.on_end(&event.response(), head, out),
            _ => {}
        }
    }

    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        _: &ResponseHead,
        _: &mut PieceSink,
    ) {
        self.faults.odd_data(text, error);
    }

    fn on_whole(&mut self, body: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) -> bool {
        let response = ResponseObject::of(body);
        let is_one = response.is_one();
        if is_one {
            self.on_end(&response, head, out);
        }
        is_one
    }

    fn cut(&mut self) {
        self.ending = Some(ResponseEnd::Incomplete(String::new()));
        self.faults = DecodeFaults::default();
    }

    fn is_whole(&self) -> bool {
        self.ending.is_some() || self.faults.reported.is_some()
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        let ending = match self.ending.take() {
            Some(ResponseEnd::Failed(failure)) => {
                self.faults.reported.get_or_insert(failure);
                None
            }
            ending => ending,
        };
        // Unreadable data costs nothing if each item came whole. Without an ending, that the stream
        // was cut says more.
        if ending.is_none() || self.slots.are_done() {
            self.faults.unreadable = None;
        }
        if let Some(failure) = self.faults.failure(ending.is_some()) {
            return Err(failure);
        }
        if self.slots.have_lost_a_call() {
            let message = "the stream holds a call of which not every piece could be read";
            return Err(ModelCallError::new(FailureKind::Protocol, message));
        }
        let documents = self.slots.documents();
        let output = DecodedOutput::of(&self.slots.items(&documents));
        let mut reply = mem::take(&mut self.reply);
        let ending = ending.unwrap_or_else(|| ResponseEnd::Unknown(String::new()));
        reply.finish = ending.finish(&output);
        reply.reason = ending.reason().filter(|reason| !reason.is_empty());
        reply.refusal = Some(output.refusal).filter(|refusal| !refusal.is_empty());
        reply.blocks = output.blocks;
        Ok(reply)
    }
}

impl ResponsesAccumulator {
    /// Begins the response. A second beginning discards what came before.
    fn begin(&mut self, out: &mut PieceSink) {
        if self.ending.is_some() || !self.slots.is_empty() {
            out.push(ReplyPiece::Restart);
            // An error stands: only in Anthropic's protocol does a gateway begin anew behind one.
            let reported = self.faults.reported.take();
            *self = Self {
                faults: DecodeFaults { reported, ..DecodeFaults::default() },
                ..Self::default()
            };
        }
    }

    fn meta(&mut self, response: &ResponseObject<'_>) {
        let reply = &mut self.reply;
        reply.response_id = response.id.clone().or_else(|| reply.response_id.take());
        reply.model = response.model.clone().or_else(|| reply.model.take());
        reply.usage = response.usage.or(reply.usage);
    }

    /// Takes a piece of an item.
    fn piece(&mut self, strand: DeltaKind, event: &ResponsesEvent<'_>, out: &mut PieceSink) {
        if event.delta.is_null() {
            return;
        }
        let Some(slot) = self.slots.of_piece(event.number, out) else { return };
        let mut surrogate = PendingSurrogate::default();
        let joined = event.delta.joined(&mut surrogate);
        let is_exact = event.delta.is_string() && joined.is_whole && !surrogate.is_waiting();
        // A lone surrogate costs a text one character, but would change a call.
        slot.streamed.is_damaged |= strand == DeltaKind::Arguments && !is_exact;
        let piece = if is_exact { joined.text } else { event.delta.text().unwrap_or_default() };
        if let Some(text) = slot.streamed.part(strand, event.part, &piece, out) {
            text.push_str(&piece);
        }
        slot.show(strand, piece, out);
    }

    /// Takes a whole part of an item, in place of its pieces.
    fn part(&mut self, strand: DeltaKind, event: &ResponsesEvent<'_>, out: &mut PieceSink) {
        let Some(whole) = event.whole.text() else { return };
        let Some(slot) = self.slots.of_piece(event.number, out) else { return };
        if !slot.streamed.has(strand) {
            slot.show(strand, whole.clone(), out);
        }
        if strand == DeltaKind::Arguments {
            // The whole makes up for pieces that could not be read.
            (slot.streamed.is_damaged, slot.streamed.is_whole_call) = (false, true);
        }
        if let Some(text) = slot.streamed.part(strand, event.part, &whole, out) {
            *text = whole.into_owned();
        }
    }

    /// Takes an item as it is announced, or whole.
    fn item(&mut self, event: &ResponsesEvent<'_>, is_done: bool, out: &mut PieceSink) {
        if !event.item.is_null() {
            let mention = ItemMention { number: event.number, item: event.item, is_done };
            self.slots.take(&mention, out);
        }
    }

    /// Takes the response of the terminal event, or of a whole body.
    fn on_end(&mut self, response: &ResponseObject<'_>, head: &ResponseHead, out: &mut PieceSink) {
        self.meta(response);
        self.ending = Some(match response.ending(head) {
            ResponseEnd::Failed(failure) => {
                // The first error counts: a failed response mostly repeats the `error` event before
                // it.
                ResponseEnd::Failed(self.faults.reported.take().unwrap_or(failure))
            }
            ending => ending,
        });
        if self.slots.complete(response.output, out) {
            self.faults.unreadable = None;
        }
    }
}

impl<'a> ResponsesEvent<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 13] = [
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
        ];
        let [kind, number, delta, content, summary, read @ ..] = raw.fields(&NAMES);
        let [text, refusal, arguments, input, item, response, error, message] = read;
        let kind = kind.text().unwrap_or_default();
        // Some gateways leave the type out.
        let is_error =
            !error.is_null() || kind == "error" || (kind.is_empty() && !message.is_null());
        Self {
            kind,
            is_error,
            // `output_index` names the item: some gateways change `item_id` between two events of
            // one item.
            number: number.count(),
            part: content.or(summary).count().unwrap_or_default(),
            delta,
            whole: text.or(refusal).or(arguments).or(input),
            item,
            response,
        }
    }

    fn response(&self) -> ResponseObject<'a> {
        ResponseObject::of(self.response)
    }
}
