//! A block of a reply while it arrives: text, thinking, a call of ours, or a block that only the
//! provider understands. What comes out is what must go back in the next request.

use super::super::{
    lenient::{JsonDocument, ValueRef, is_json},
    piece::ReplyPiece,
    sink::PieceSink,
    surrogates::PendingSurrogate,
    writer::rewritten,
};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_json::{IntoList, Map, joined};
use innerloop_types::{
    json::Json,
    message::{Block, CallDetail, MarkedText, ReasoningBlock, ToolCall},
};

/// The fields that a delta adds to a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockDelta<'a> {
    text: ValueRef<'a>,
    thinking: ValueRef<'a>,
    signature: ValueRef<'a>,
    partial_json: ValueRef<'a>,
    citation: ValueRef<'a>,
    content: ValueRef<'a>,
    encrypted_content: ValueRef<'a>,
}

impl<'a> BlockDelta<'a> {
    /// Reads the fields of a delta, or of a block's start.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 7] = [
            "text",
            "thinking",
            "signature",
            "partial_json",
            "citation",
            "content",
            "encrypted_content",
        ];
        let [text, thinking, signature, partial_json, citation, content, encrypted_content] =
            raw.fields(&NAMES);
        Self { text, thinking, signature, partial_json, citation, content, encrypted_content }
    }
}

impl BlockDelta<'_> {
    /// Returns whether the delta is a piece of a call.
    pub(super) fn is_of_call(&self) -> bool {
        self.partial_json.has_text()
    }
}

/// A block while it arrives.
#[derive(Debug)]
pub(super) enum PartialBlock {
    /// Text and the sources that it cites, which go back with it.
    Text { text: String, citations: Vec<Json> },
    /// Thinking.
    Reasoning(ReasoningBlock),
    /// A call: the start's own input, and the pieces that take its place.
    Call { place: usize, call: ToolCall, pieces: String, form: Option<Json> },
    /// A block that is kept as it came, with the fields and the input that come behind.
    Opaque { block: Json, later: Map<String>, pieces: String },
}

impl PartialBlock {
    /// Begins the block at that place of the reply with its start, `raw`. A bare string stands for
    /// its text: some gateways send it so.
    pub(super) fn start(
        raw: ValueRef<'_>,
        place: usize,
        surrogate: &mut PendingSurrogate,
        out: &mut PieceSink,
    ) -> Option<Self> {
        if !raw.is_object() {
            let text = raw.joined(surrogate).text.into_owned();
            out.push(ReplyPiece::Text(text.clone()));
            return (!text.is_empty()).then(|| Self::Text { text, citations: Vec::new() });
        }
        const NAMES: [&str; 6] = ["type", "citations", "caller", "input", "id", "name"];
        let [kind, citations, caller, input, id, name] = raw.fields(&NAMES);
        let mut block = match kind.text().as_deref() {
            Some("text") => {
                let cited =
                    citations.items().take_while(|_| out.item()).filter_map(ValueRef::to_json);
                Self::Text { text: String::new(), citations: cited.into_list() }
            }
            Some("thinking") => Self::Reasoning(ReasoningBlock::default()),
            Some("tool_use") => {
                let owned = |raw: ValueRef<'_>| raw.text().unwrap_or_default().into_owned();
                // A call that the model's own program made must name its caller when it goes back.
                let caller = caller.field("type").text().filter(|caller| caller != "direct");
                let form = caller.and_then(|_| raw.to_json());
                // The input stays as it came, even where no string can hold it: an odd call gets an
                // error result instead of failing the reply.
                let arguments = input.some().map_or("{}", ValueRef::json).into();
                let call = ToolCall { id: owned(id), name: owned(name), arguments, detail: None };
                out.keep(raw.json().len());
                out.call(place, &call.id, &call.name, "");
                return Some(Self::Call { place, call, pieces: String::new(), form });
            }
            _ => {
                // Server tools and kinds that are newer than this code go back whole.
                out.keep(raw.json().len());
                let (block, later) = (raw.to_json()?, Map::new());
                return Some(Self::Opaque { block, later, pieces: String::new() });
            }
        };
        block.add(&BlockDelta::of(raw), surrogate, out);
        Some(block)
    }

    /// Begins the block of text or thinking that a delta belongs to for which no start has come.
    pub(super) fn of_delta(delta: &BlockDelta<'_>) -> Option<Self> {
        if delta.text.has_text() {
            return Some(Self::Text { text: String::new(), citations: Vec::new() });
        }
        // A piece of a call begins nothing: the call's name would be missing.
        let is_thought = delta.thinking.has_text() || delta.signature.has_text();
        is_thought.then(|| Self::Reasoning(ReasoningBlock::default()))
    }

    /// Returns whether the delta fits a block of this kind.
    pub(super) fn takes(&self, delta: &BlockDelta<'_>) -> bool {
        match self {
            Self::Text { .. } => !delta.thinking.has_text(),
            Self::Reasoning(_) => !delta.text.has_text(),
            Self::Call { .. } => !delta.text.has_text() && !delta.thinking.has_text(),
            Self::Opaque { .. } => true,
        }
    }

    /// Takes what a delta adds. Returns whether nothing of a call was lost.
    pub(super) fn add<'a>(
        &mut self,
        delta: &BlockDelta<'a>,
        surrogate: &mut PendingSurrogate,
        out: &mut PieceSink,
    ) -> bool {
        let mut piece = |raw: ValueRef<'a>| raw.some().map(|raw| raw.joined(surrogate));
        match self {
            Self::Text { text, citations } => {
                if let Some(piece) = piece(delta.text).filter(|piece| !piece.text.is_empty()) {
                    text.push_str(&piece.text);
                    out.push(ReplyPiece::Text(piece.text.into_owned()));
                }
                if let Some(citation) = delta.citation.some().filter(|_| out.item()) {
                    out.keep(citation.json().len());
                    citations.extend(citation.to_json());
                }
                true
            }
            Self::Reasoning(reasoning) => {
                // A signature comes whole: a second one replaces the first.
                let signature = delta.signature.text().filter(|text| !text.is_empty());
                if let Some(signature) = signature {
                    out.keep(signature.len());
                    reasoning.signature = Some(signature.into_owned());
                }
                if let Some(piece) = piece(delta.thinking).filter(|piece| !piece.text.is_empty()) {
                    reasoning.text.push_str(&piece.text);
                    out.push(ReplyPiece::Reasoning(piece.text.into_owned()));
                }
                true
            }
            Self::Call { place, call, pieces, .. } => {
                let Some(piece) = piece(delta.partial_json) else { return true };
                out.keep(piece.text.len());
                out.call(*place, &call.id, &call.name, &piece.text);
                pieces.push_str(&piece.text);
                piece.is_whole
            }
            Self::Opaque { later, pieces, .. } => {
                for (name, raw) in
                    [("content", delta.content), ("encrypted_content", delta.encrypted_content)]
                {
                    if !raw.is_null() {
                        out.keep(raw.json().len());
                        later.insert(name.into(), raw.json().into());
                    }
                }
                let Some(piece) = piece(delta.partial_json) else { return true };
                out.keep(piece.text.len());
                pieces.push_str(&piece.text);
                piece.is_whole
            }
        }
    }

    /// Ends the block with half of a surrogate pair. Returns whether the block can do without the
    /// other half.
    pub(super) fn end_with_surrogate(&mut self) -> bool {
        match self {
            Self::Text { text, .. } | Self::Reasoning(ReasoningBlock { text, .. }) => {
                text.push(char::REPLACEMENT_CHARACTER);
                true
            }
            Self::Call { .. } | Self::Opaque { .. } => false,
        }
    }

    /// Returns whether the block is a call that lacks something if nothing more comes: the pieces
    /// of its input, unless its start had the input.
    pub(super) fn is_cut(&self) -> bool {
        let Self::Call { call, pieces, .. } = self else { return false };
        // A start's `{}` only stands for the pieces to come.
        if pieces.is_empty() { call.arguments == "{}" } else { !is_json(pieces) }
    }

    /// Returns the whole block; nothing for an empty one.
    pub(super) fn block(self) -> Option<Block> {
        match self {
            Self::Text { text, .. } if text.is_empty() => None,
            Self::Text { text, citations } if citations.is_empty() => Some(Block::Text(text)),
            Self::Text { text, citations } => {
                let all: Vec<&str> = citations.iter().map(Json::text).into_list();
                let mark = alloc::format!("[{}]", joined(&all, ","));
                Some(Block::MarkedText(MarkedText { text, mark }))
            }
            Self::Reasoning(reasoning) => Some(Block::Reasoning(reasoning)),
            Self::Call { mut call, pieces, form, .. } => {
                // Calls without arguments have pieces that are empty: the start's input stands.
                if !pieces.trim().is_empty() {
                    call.arguments = pieces;
                }
                let form = form.filter(|_| is_json(&call.arguments));
                let item = form.and_then(|form| with_input(&form, Map::new(), &call.arguments));
                if item.is_some() {
                    call.detail = Some(Box::new(CallDetail { item, ..CallDetail::default() }));
                }
                Some(Block::ToolCall(call))
            }
            // Pieces that are not JSON are dropped, so that the block can still go back.
            Self::Opaque { block, later, pieces } => {
                Some(Block::Opaque(with_input(&block, later, &pieces)?))
            }
        }
    }
}

/// Returns a block with these fields, and with that input if it is JSON.
fn with_input(block: &Json, mut fields: Map<String>, input: &str) -> Option<Json> {
    if is_json(input) {
        fields.insert("input".into(), input.into());
    }
    rewritten(JsonDocument::of(block.text()).root(), &|_, _| true, fields)
}
