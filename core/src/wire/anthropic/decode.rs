//! A response's bytes to a reply: the events of a stream, or a whole message.

use super::{
    super::{
        failure::{Failure, FailureKind, of_body, of_value},
        lenient::Fields,
        piece::Piece,
        surrogates::Half,
    },
    block::{Building, Delta},
};
use crate::types::{
    input::ResponseHead,
    message::{Finish, Reply, Usage},
    model::WireKind,
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A body that is no stream: a message, or an error.
pub(in super::super) fn whole(head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
    let text = String::from_utf8_lossy(body);
    match Fields::parse(text.trim_start_matches('\u{feff}').trim()) {
        Ok(message) if head.is_success() && message.raw("content").is_some() => {
            let mut draft = Draft { stopped: true, ..Draft::default() };
            draft.message(&message, &mut Vec::new());
            draft.finish()
        }
        _ => Err(of_body(head, body)),
    }
}

/// The reply while it arrives.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Draft {
    /// The blocks, in the order of their starts.
    blocks: Vec<Slot>,
    reply: Reply,
    counts: Counts,
    /// The terminal marker has come.
    stopped: bool,
    failure: Option<Failure>,
    /// Data that could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

/// An event that adds to a block, in the agreed form.
#[derive(Deserialize)]
struct DeltaEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

/// A block with the provider's number for it.
#[derive(Clone, Debug)]
struct Slot {
    number: Option<u64>,
    block: Building,
    half: Half,
}

impl Draft {
    pub(in super::super) fn on_data(
        &mut self,
        data: &[u8],
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let text = String::from_utf8_lossy(data);
        // Nearly all events are deltas, and nearly all of them are of the agreed form.
        if let Ok(DeltaEvent { kind, index, delta }) = serde_json::from_str(&text)
            && kind == "content_block_delta"
        {
            return self.on_delta(Some(index), &delta, out);
        }
        match Fields::parse(&text) {
            Ok(event) => self.on_event(&event, head, out),
            // What is no object (`[DONE]` and the like) loses nothing.
            Err(error) if text.trim_start().starts_with('{') => {
                self.unreadable.get_or_insert_with(|| alloc::format!("{error}"));
            }
            Err(_) => {}
        }
    }

    fn on_event(&mut self, event: &Fields<'_>, head: &ResponseHead, out: &mut Vec<Piece>) {
        match &*event.text("type").unwrap_or_default() {
            "content_block_delta" => {
                let delta = event.object("delta").unwrap_or_default();
                self.on_delta(event.count("index"), &Delta::of(&delta), out);
            }
            "content_block_start" => {
                if let Some(block) = event.raw("content_block") {
                    self.start(event.count("index"), block, out);
                }
            }
            "message_start" => {
                // A gateway that fails over begins anew in mid-stream.
                if !self.blocks.is_empty() {
                    out.push(Piece::Restart);
                }
                *self = Self::default();
                self.message(&event.object("message").unwrap_or_default(), out);
            }
            "message_delta" => {
                self.stop_reason(&event.object("delta").unwrap_or_default());
                self.counts.update(&event.object("usage").unwrap_or_default());
            }
            "message_stop" => self.stopped = true,
            // Some gateways leave the type out.
            "error" | "" => {
                let error = event.raw("error").and_then(|raw| serde_json::from_str(raw.get()).ok());
                self.failure = error.map(|error| of_value(head, &error)).or(self.failure.take());
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &Fields<'_>, out: &mut Vec<Piece>) {
        let owned = |name: &str| message.text(name).map(Cow::into_owned);
        self.reply.response_id = owned("id");
        self.reply.model = owned("model");
        self.stop_reason(message);
        self.counts.update(&message.object("usage").unwrap_or_default());
        for (number, block) in (0..).zip(message.items("content")) {
            self.start(Some(number), block, out);
        }
    }

    fn stop_reason(&mut self, said: &Fields<'_>) {
        if let Some(details) = said.object("stop_details") {
            self.reply.refusal = details.text("explanation").map(Cow::into_owned);
        }
        self.reply.finish = match &*said.text("stop_reason").unwrap_or_default() {
            "" => return,
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" => Finish::Length,
            "pause_turn" | "compaction" => Finish::Pause,
            "refusal" => Finish::Refusal,
            "model_context_window_exceeded" => Finish::ContextWindow,
            _ => Finish::Unknown,
        };
    }

    fn start(&mut self, number: Option<u64>, raw: &RawValue, out: &mut Vec<Piece>) {
        let mut half = Half::default();
        if let Some(block) = Building::start(raw, &mut half, out) {
            self.blocks.push(Slot { number, block, half });
        }
    }

    fn on_delta(&mut self, number: Option<u64>, delta: &Delta<'_>, out: &mut Vec<Piece>) {
        let mut newest_first = self.blocks.iter_mut().rev();
        let Some(slot) = newest_first.find(|slot| slot.number == number) else { return };
        if !slot.block.add(delta, &mut slot.half, out) {
            self.unreadable.get_or_insert_with(half_lost);
        }
    }

    /// Whether the terminal marker has come: nothing that follows counts.
    pub(in super::super) const fn is_whole(&self) -> bool {
        self.stopped
    }

    pub(in super::super) fn finish(mut self) -> Result<Reply, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        for slot in &mut self.blocks {
            if slot.half.give_up() && !slot.block.end_with_half() {
                self.unreadable.get_or_insert_with(half_lost);
            }
        }
        if !self.stopped || self.unreadable.is_some() {
            let message = match self.unreadable {
                Some(error) => alloc::format!("the stream holds what is not JSON: {error}"),
                None => String::from("the stream ended before the reply was whole"),
            };
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        let mut reply = self.reply;
        reply.wire = Some(WireKind::Anthropic);
        reply.usage = self.counts.usage();
        reply.blocks = self.blocks.into_iter().filter_map(|slot| slot.block.block()).collect();
        // A reply is kept as long as the session: what it does not need goes back.
        reply.blocks.shrink_to_fit();
        Ok(reply)
    }
}

/// What to say of a call that lost half a character.
fn half_lost() -> String {
    String::from("half of a surrogate pair is missing")
}

/// Token counts so far: totals, of which later events may repeat only some.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    input: Option<u64>,
    cache_write: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    fn update(&mut self, usage: &Fields<'_>) {
        let details = usage.object("output_tokens_details").unwrap_or_default();
        *self = Self {
            input: usage.count("input_tokens").or(self.input),
            cache_write: usage.count("cache_creation_input_tokens").or(self.cache_write),
            cache_read: usage.count("cache_read_input_tokens").or(self.cache_read),
            output: usage.count("output_tokens").or(self.output),
            thinking: details.count("thinking_tokens").or(self.thinking),
        };
    }

    fn usage(self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let cache_read = self.cache_read.unwrap_or_default();
        let cache_write = self.cache_write.unwrap_or_default();
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
