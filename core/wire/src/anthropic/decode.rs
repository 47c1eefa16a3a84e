//! The decoder of responses: the events of a stream, or a whole message, become a reply.

use super::{
    super::{
        failure::{ModelCallError, of_value},
        finish::{FinishWords, finish_of, is_given, told},
        lenient::{Error, ValueRef},
        list_positions::PositionMap,
        piece::ReplyPiece,
        protocol::WireAccumulator,
        sink::PieceSink,
        stream_faults::DecodeFaults,
        surrogates::PendingSurrogate,
    },
    block::{BlockDelta, PartialBlock},
};
use alloc::{borrow::Cow, vec::Vec};
use core::mem;
use innerloop_json::IntoList;
use innerloop_types::{
    input::ResponseHead,
    message::{FinishReason, Reply, Usage},
};

/// The reply while it arrives.
#[derive(Debug, Default)]
pub(crate) struct AnthropicAccumulator {
    /// The blocks, in the order of their starts.
    blocks: Vec<BlockSlot>,
    /// The position of the newest block of each of the provider's numbers.
    places: PositionMap,
    /// The position of the newest block without a number.
    unnumbered: Option<usize>,
    reply: Reply,
    counts: AnthropicUsage,
    /// True if the terminal marker has come.
    stopped: bool,
    faults: DecodeFaults,
}

/// A block while it arrives.
#[derive(Debug)]
struct BlockSlot {
    block: PartialBlock,
    surrogate: PendingSurrogate,
    /// True if nothing more comes of the block.
    is_stopped: bool,
}

/// An event's fields.
struct AnthropicEvent<'a> {
    kind: Cow<'a, str>,
    index: Option<u64>,
    delta: ValueRef<'a>,
    content_block: ValueRef<'a>,
    message: ValueRef<'a>,
    usage: ValueRef<'a>,
    error: ValueRef<'a>,
}

impl<'a> AnthropicEvent<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 7] =
            ["type", "index", "delta", "content_block", "message", "usage", "error"];
        let [kind, index, delta, content_block, message, usage, error] = raw.fields(&NAMES);
        let (kind, index) = (kind.text().unwrap_or_default(), index.count());
        Self { kind, index, delta, content_block, message, usage, error }
    }
}

impl WireAccumulator for AnthropicAccumulator {
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        _: &ResponseHead,
        _: &mut PieceSink,
    ) {
        self.faults.odd_data(text, error);
    }

    fn on_whole(&mut self, body: ValueRef<'_>, _: &ResponseHead, out: &mut PieceSink) -> bool {
        self.stopped = !body.field("content").is_null();
        if self.stopped {
            self.message(body, out);
        }
        self.stopped
    }

    fn cut(&mut self) {
        (self.stopped, self.reply.finish) = (true, FinishReason::Length);
        self.faults = DecodeFaults::default();
    }

    fn on_event(&mut self, raw: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        let event = AnthropicEvent::of(raw);
        match &*event.kind {
            "content_block_delta" => self.on_delta(event.index, &BlockDelta::of(event.delta), out),
            "content_block_start" if !event.content_block.is_null() => {
                self.start(event.index, event.content_block, out);
            }
            "content_block_stop" => self.stop(event.index),
            "message_start" => {
                // A gateway that fails over begins anew in mid-stream: all that came before is
                // void, an error included.
                if !self.blocks.is_empty() {
                    out.push(ReplyPiece::Restart);
                }
                *self = Self::default();
                self.message(event.message, out);
            }
            "message_delta" => {
                self.stop_reason(event.delta);
                self.counts.update(event.usage);
            }
            "message_stop" => self.stopped = true,
            // Some gateways leave the type out.
            "error" | "" => {
                if let Some(error) = event.error.some() {
                    self.faults.report(|| of_value(head, error));
                }
            }
            _ => {}
        }
    }

    fn is_whole(&self) -> bool {
        // An error is not the end: a gateway that fails over may begin anew behind it.
        self.stopped
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        for slot in &mut self.blocks {
            if slot.surrogate.give_up() && !slot.block.end_with_surrogate() {
                self.faults.unreadable(SURROGATE_LOST);
            }
        }
        if let Some(failure) = self.faults.failure(self.stopped) {
            return Err(failure);
        }
        let mut reply = mem::take(&mut self.reply);
        reply.usage = self.counts.usage();
        let blocks = mem::take(&mut self.blocks);
        // A call that is not whole must not run, and the loop runs no call of a reply that ended by
        // `Length`.
        if blocks.iter().any(|slot| !slot.is_stopped && slot.block.is_cut()) {
            reply.finish = FinishReason::Length;
        }
        reply.blocks = blocks.into_iter().filter_map(|slot| slot.block.block()).into_list();
        Ok(reply)
    }
}

impl AnthropicAccumulator {
    fn message(&mut self, message: ValueRef<'_>, out: &mut PieceSink) {
        let [id, model, usage, content] = message.fields(&["id", "model", "usage", "content"]);
        self.reply.response_id = id.text().map(Cow::into_owned);
        self.reply.model = model.text().map(Cow::into_owned);
        self.stop_reason(message);
        self.counts.update(usage);
        for (number, block) in (0..).zip(content.items()) {
            if out.is_full() {
                return;
            }
            self.start(Some(number), block, out);
            self.stop(Some(number));
        }
    }

    /// Takes the reason why the reply ended, where a message or a delta has it. With programmatic
    /// calls the start of a message may have it already.
    fn stop_reason(&mut self, said: ValueRef<'_>) {
        let [details, reason] = said.fields(&["stop_details", "stop_reason"]);
        if details.is_object() {
            self.reply.refusal = details.field("explanation").text().map(Cow::into_owned);
        }
        if let Some(reason) = reason.text().filter(|reason| is_given(reason)) {
            self.reply.finish = finish_of(&reason, REASONS);
            self.reply.reason = told(self.reply.finish, &reason, None);
        }
    }

    fn start(&mut self, number: Option<u64>, raw: ValueRef<'_>, out: &mut PieceSink) {
        let mut surrogate = PendingSurrogate::default();
        if !out.item() {
            return;
        }
        if let Some(block) = PartialBlock::start(raw, self.blocks.len(), &mut surrogate, out) {
            self.put(number, block, surrogate);
        }
    }

    /// Appends a block. A number that is used again means the newest block from now on.
    fn put(&mut self, number: Option<u64>, block: PartialBlock, surrogate: PendingSurrogate) {
        let place = self.blocks.len();
        match number {
            Some(number) => self.places.set(number, place),
            None => self.unnumbered = Some(place),
        }
        self.blocks.push(BlockSlot { block, surrogate, is_stopped: false });
    }

    /// Returns the block that an event is about.
    fn block(&mut self, number: Option<u64>) -> Option<&mut BlockSlot> {
        let place = match number {
            Some(number) => self.places.get(number),
            None => self.unnumbered,
        };
        self.blocks.get_mut(place?)
    }

    fn stop(&mut self, number: Option<u64>) {
        if let Some(slot) = self.block(number) {
            slot.is_stopped = true;
        }
    }

    fn on_delta(&mut self, number: Option<u64>, delta: &BlockDelta<'_>, out: &mut PieceSink) {
        let is_known = self.block(number).is_some_and(|slot| slot.block.takes(delta));
        // Some gateways leave the start of a block out.
        let may_begin = !is_known && (number.is_some() || self.blocks.is_empty());
        let begun = if may_begin { PartialBlock::of_delta(delta) } else { None };
        if let Some(block) = begun.filter(|_| out.item()) {
            self.put(number, block, PendingSurrogate::default());
        }
        let Some(slot) = self.block(number) else {
            if delta.is_of_call() {
                self.faults.unreadable(NO_START);
            }
            return;
        };
        if !slot.block.add(delta, &mut slot.surrogate, out) {
            self.faults.unreadable(SURROGATE_LOST);
        }
    }
}

/// The provider's words for the reasons why a reply ended.
const REASONS: &FinishWords = &[
    (FinishReason::Stop, "end_turn|stop_sequence"),
    (FinishReason::ToolCalls, "tool_use"),
    (FinishReason::Length, "max_tokens"),
    (FinishReason::Pause, "pause_turn|compaction"),
    (FinishReason::Refusal, "refusal"),
    (FinishReason::ContextWindow, "model_context_window_exceeded"),
];

/// The message about a call that lost a surrogate.
const SURROGATE_LOST: &str = "half of a surrogate pair is missing";

/// The message about a piece of a call that never began.
const NO_START: &str = "a piece of a call without the call's beginning";

/// Token counts so far. They are totals, so that later ones replace earlier ones; an event may
/// repeat only some.
#[derive(Clone, Copy, Debug, Default)]
struct AnthropicUsage {
    input: Option<u64>,
    cache_write: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl AnthropicUsage {
    fn update(&mut self, usage: ValueRef<'_>) {
        let details = usage.field("output_tokens_details");
        for (count, newer) in [
            (&mut self.input, usage.count_of("input_tokens")),
            (&mut self.cache_write, usage.count_of("cache_creation_input_tokens")),
            (&mut self.cache_read, usage.count_of("cache_read_input_tokens")),
            (&mut self.output, usage.count_of("output_tokens")),
            (&mut self.thinking, details.count_of("thinking_tokens")),
        ] {
            *count = newer.or(*count);
        }
    }

    fn usage(self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let cache_read = self.cache_read.unwrap_or_default();
        let cache_write = self.cache_write.unwrap_or_default();
        // `input_tokens` counts neither what came from the cache nor what was written to it.
        let uncached = self.input.unwrap_or_default();
        Some(Usage {
            input_total: uncached.saturating_add(cache_read).saturating_add(cache_write),
            output_total: self.output.unwrap_or_default(),
            cache_read,
            cache_write,
            reasoning: self.thinking.unwrap_or_default(),
        })
    }
}
