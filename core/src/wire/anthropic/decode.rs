//! A response's bytes to a reply: the events of a stream, or a whole message.

use super::super::{
    body::{Bare, Body, Ended},
    failure::{Failure, FailureKind, of_body, of_value},
    piece::Piece,
};
use crate::{
    nouns::{
        config::WireKind,
        input::ResponseHead,
        message::{Block, Finish, Reasoning, Reply, ToolCall, Usage},
    },
    words::json::{Json, Object, without_lone_surrogates},
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Reads one response.
#[derive(Clone, Debug)]
pub struct Decoder {
    head: ResponseHead,
    body: Body,
    draft: Draft,
}

impl Decoder {
    /// For the response that begins with `head`.
    pub fn new(head: &ResponseHead) -> Self {
        let body = Body::new(head, Bare::Whole);
        Self { head: head.clone(), body, draft: Draft::default() }
    }

    /// Takes the next bytes of the body and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        let Self { head, body, draft } = self;
        body.feed(bytes, &mut |data| draft.on_data(data, head, out));
    }

    /// The whole reply.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        let Self { head, body, mut draft } = self;
        match body.finish(&mut |data| draft.on_data(data, &head, &mut Vec::new())) {
            Ended::Empty => Err(Failure::new(FailureKind::Protocol, "the response is empty")),
            Ended::Stream => draft.finish(),
            Ended::Whole(body) => whole(&head, &body),
        }
        .map_err(|failure| failure.with_head(&head))
    }
}

/// A body that is no stream: a message, or an error.
fn whole(head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Message<'_>>(text.trim()) {
        Ok(message) if head.is_success() && message.content.is_some() => {
            let mut draft = Draft { stopped: true, ..Draft::default() };
            for block in message.content.iter().flatten() {
                draft.start(None, block, &mut Vec::new());
            }
            draft.meta(message);
            draft.finish()
        }
        _ => Err(of_body(head, body)),
    }
}

/// The reply while it arrives.
#[derive(Clone, Debug, Default)]
struct Draft {
    /// The blocks with the provider's numbers, in the order of their starts.
    blocks: Vec<(Option<u32>, Building)>,
    reply: Reply,
    tokens: Tokens,
    /// The terminal marker has come.
    stopped: bool,
    failure: Option<Failure>,
    /// Data that could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

/// A block while it arrives.
#[derive(Clone, Debug)]
enum Building {
    Text(String),
    Reasoning(Reasoning),
    /// A call: the start's own input, and the pieces that take its place.
    Call {
        call: ToolCall,
        pieces: String,
    },
    Opaque {
        block: Object,
        pieces: String,
    },
}

impl Draft {
    fn on_data(&mut self, data: &[u8], head: &ResponseHead, out: &mut Vec<Piece>) {
        let text = String::from_utf8_lossy(data);
        match serde_json::from_str(&text) {
            Ok(event) => self.on_event(event, head, out),
            Err(error) => self.on_odd_data(&text, &error, head, out),
        }
    }

    /// Data that does not parse. Half a surrogate pair in a text costs one character; a lost
    /// piece of a call would change what the call does, so that it makes the reply unreadable.
    /// What is no object (`[DONE]` and the like) loses nothing.
    fn on_odd_data(
        &mut self,
        text: &str,
        error: &serde_json::Error,
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let mended = without_lone_surrogates(text);
        match serde_json::from_str::<Event<'_>>(&mended) {
            Ok(event) if event.delta.as_ref().is_none_or(|delta| delta.partial_json.is_none()) => {
                self.on_event(event, head, out);
            }
            _ if text.trim_start().starts_with('{') => {
                self.unreadable.get_or_insert_with(|| alloc::format!("{error}"));
            }
            _ => {}
        }
    }

    fn on_event(&mut self, event: Event<'_>, head: &ResponseHead, out: &mut Vec<Piece>) {
        match &*event.kind {
            "message_start" => {
                // A gateway that fails over begins anew in mid-stream.
                if !self.blocks.is_empty() {
                    out.push(Piece::Restart);
                }
                *self = Self::default();
                if let Some(message) = event.message {
                    self.meta(message);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(event.index, block, out);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index, delta, out);
                }
            }
            "message_delta" => {
                if let Some(delta) = event.delta {
                    self.stop_reason(delta.stop_reason.as_ref(), delta.stop_details.as_ref());
                }
                self.tokens.update(event.usage);
            }
            "message_stop" => self.stopped = true,
            // Some gateways leave the type out.
            "error" | "" if event.error.is_some() => {
                self.failure = event.error.map(|error| of_value(head, &error));
            }
            _ => {}
        }
    }

    fn meta(&mut self, message: Message<'_>) {
        self.reply.response_id = message.id.map(Cow::into_owned);
        self.reply.model = message.model.map(Cow::into_owned);
        let reason = message.stop_reason.map(Text);
        self.stop_reason(reason.as_ref(), message.stop_details.as_ref());
        self.tokens.update(message.usage);
    }

    fn stop_reason(&mut self, reason: Option<&Text<'_>>, details: Option<&StopDetails>) {
        if let Some(details) = details {
            self.reply.refusal.clone_from(&details.explanation);
        }
        let Some(Text(reason)) = reason else { return };
        self.reply.finish = match &**reason {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            "max_tokens" => Finish::Length,
            "pause_turn" | "compaction" => Finish::Pause,
            "refusal" => Finish::Refusal,
            "model_context_window_exceeded" => Finish::ContextWindow,
            _ => Finish::Unknown,
        };
    }

    fn start(&mut self, index: Option<u32>, raw: &RawValue, out: &mut Vec<Piece>) {
        let mended = without_lone_surrogates(raw.get());
        let Ok(start) = serde_json::from_str::<BlockStart<'_>>(&mended) else { return };
        let owned = |text: Option<Text<'_>>| text.map(|Text(text)| text.into_owned());
        let block = match &*start.kind {
            "text" => {
                let text = owned(start.text).unwrap_or_default();
                if !text.is_empty() {
                    out.push(Piece::Text(text.clone()));
                }
                Building::Text(text)
            }
            "thinking" => Building::Reasoning(Reasoning {
                text: owned(start.thinking).unwrap_or_default(),
                signature: owned(start.signature).filter(|signature| !signature.is_empty()),
                item: None,
            }),
            "tool_use" => Building::Call {
                call: ToolCall {
                    id: owned(start.id).unwrap_or_default(),
                    name: owned(start.name).unwrap_or_default(),
                    arguments: match start.input.map(RawValue::get) {
                        None | Some("null") => String::from("{}"),
                        Some(input) => String::from(input),
                    },
                    detail: None,
                },
                pieces: String::new(),
            },
            _ => Building::Opaque {
                block: serde_json::from_str(raw.get()).unwrap_or_default(),
                pieces: String::new(),
            },
        };
        self.blocks.push((index, block));
    }

    fn delta(&mut self, index: Option<u32>, delta: Delta<'_>, out: &mut Vec<Piece>) {
        let mut newest_first = self.blocks.iter_mut().rev();
        let Some((_, block)) = newest_first.find(|(number, _)| *number == index) else { return };
        match block {
            Building::Text(text) => {
                if let Some(Text(piece)) = delta.text {
                    text.push_str(&piece);
                    out.push(Piece::Text(piece.into_owned()));
                }
            }
            Building::Reasoning(reasoning) => {
                if let Some(Text(signature)) = delta.signature {
                    let signature = signature.into_owned();
                    reasoning.signature = Some(signature).filter(|text| !text.is_empty());
                }
                if let Some(Text(piece)) = delta.thinking {
                    reasoning.text.push_str(&piece);
                    out.push(Piece::Reasoning(piece.into_owned()));
                }
            }
            Building::Call { pieces, .. } => {
                pieces.push_str(delta.partial_json.as_ref().map_or("", |Text(piece)| piece));
            }
            Building::Opaque { block, pieces } => {
                pieces.push_str(delta.partial_json.as_ref().map_or("", |Text(piece)| piece));
                for (name, value) in
                    [("content", delta.content), ("encrypted_content", delta.encrypted_content)]
                {
                    if let Some(value) = value.and_then(|raw| Json::parse(raw.get()).ok()) {
                        block.set(name, value);
                    }
                }
            }
        }
    }

    fn finish(self) -> Result<Reply, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
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
        reply.usage = self.tokens.usage();
        reply.blocks = self.blocks.into_iter().filter_map(|(_, block)| block.block()).collect();
        // A reply is kept as long as the session: what it does not need goes back.
        reply.blocks.shrink_to_fit();
        Ok(reply)
    }
}

impl Building {
    /// The whole block, or nothing for an empty one.
    fn block(self) -> Option<Block> {
        match self {
            Self::Text(text) => (!text.is_empty()).then_some(Block::Text(text)),
            Self::Reasoning(reasoning) => Some(Block::Reasoning(reasoning)),
            Self::Call { mut call, pieces } => {
                if !pieces.trim().is_empty() {
                    call.arguments = pieces;
                }
                Some(Block::ToolCall(call))
            }
            Self::Opaque { mut block, pieces } => {
                if let Ok(input) = Json::parse(pieces) {
                    block.set("input", input);
                }
                Some(Block::Opaque(block.to_json()))
            }
        }
    }
}

/// Token counts as they come: totals, of which later events may repeat only some.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
}

impl Tokens {
    fn update(&mut self, newer: Option<Self>) {
        let Some(newer) = newer else { return };
        let older = *self;
        *self = Self {
            input_tokens: newer.input_tokens.or(older.input_tokens),
            cache_creation_input_tokens: newer
                .cache_creation_input_tokens
                .or(older.cache_creation_input_tokens),
            cache_read_input_tokens: newer
                .cache_read_input_tokens
                .or(older.cache_read_input_tokens),
            output_tokens: newer.output_tokens.or(older.output_tokens),
            output_tokens_details: newer.output_tokens_details.or(older.output_tokens_details),
        };
    }

    fn usage(self) -> Option<Usage> {
        if self.input_tokens.is_none() && self.output_tokens.is_none() {
            return None;
        }
        let cache_read = self.cache_read_input_tokens.unwrap_or_default();
        let cache_write = self.cache_creation_input_tokens.unwrap_or_default();
        let uncached = self.input_tokens.unwrap_or_default();
        let details = self.output_tokens_details.unwrap_or_default();
        Some(Usage {
            input_total: uncached.saturating_add(cache_read).saturating_add(cache_write),
            output_total: self.output_tokens.unwrap_or_default(),
            cache_read,
            cache_write,
            reasoning: details.thinking_tokens.unwrap_or_default(),
        })
    }
}

/// Text that borrows from the data where it has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: Option<u32>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    stop_details: Option<StopDetails>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct StopDetails {
    #[serde(default)]
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
    #[serde(default)]
    stop_details: Option<StopDetails>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    encrypted_content: Option<&'a RawValue>,
}
