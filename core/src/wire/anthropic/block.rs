//! A block of a reply while it arrives: text, thinking, a call of ours, or what only the provider
//! understands.

use super::super::{
    lenient::{Document, Raw},
    piece::Piece,
    surrogates::PendingSurrogate,
    writer::Fields,
};
use crate::{
    base::json::Json,
    types::message::{Block, CallDetail, MarkedText, Reasoning, ToolCall},
};
use alloc::{boxed::Box, string::String, vec::Vec};

/// What a delta adds to a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delta<'a> {
    text: Raw<'a>,
    thinking: Raw<'a>,
    signature: Raw<'a>,
    partial_json: Raw<'a>,
    citation: Raw<'a>,
    content: Raw<'a>,
    encrypted_content: Raw<'a>,
}

impl<'a> Delta<'a> {
    /// What an object's fields add.
    pub(super) fn of(raw: Raw<'a>) -> Self {
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

/// A block while it arrives.
#[derive(Clone, Debug)]
pub(super) enum Building {
    /// Text and the sources that it cites, which go back with it.
    Text { text: String, citations: Vec<Json> },
    /// Thinking.
    Reasoning(Reasoning),
    /// A call: the start's own input, and the pieces that take its place.
    Call { call: ToolCall, pieces: String, form: Option<Box<Fields>> },
    /// A block that is kept as it came.
    Opaque { block: Fields, pieces: String },
}

impl Building {
    /// The block that begins with `raw`. A bare string stands for its text: some gateways send
    /// it so.
    pub(super) fn start(
        raw: Raw<'_>,
        surrogate: &mut PendingSurrogate,
        out: &mut Vec<Piece>,
    ) -> Option<Self> {
        if !raw.is_object() {
            let text = raw.joined(surrogate).text.into_owned();
            out.push(Piece::Text(text.clone()));
            return (!text.is_empty()).then(|| Self::Text { text, citations: Vec::new() });
        }
        const NAMES: [&str; 6] = ["type", "citations", "caller", "input", "id", "name"];
        let [kind, citations, caller, input, id, name] = raw.fields(&NAMES);
        let mut block = match kind.text().as_deref() {
            Some("text") => {
                let cited = citations.items().filter_map(Raw::to_json);
                Self::Text { text: String::new(), citations: cited.collect() }
            }
            Some("thinking") => Self::Reasoning(Reasoning::default()),
            Some("tool_use") => {
                let owned = |raw: Raw<'_>| raw.text().unwrap_or_default().into_owned();
                // What a program of the model called goes back with the program's name.
                let caller = caller.field("type").text().filter(|caller| caller != "direct");
                let form = caller.map(|_| Box::new(Fields::of(raw)));
                // The input stays as it came, even where no string can hold it.
                let arguments = input.some().map_or("{}", Raw::json).into();
                let call = ToolCall { id: owned(id), name: owned(name), arguments, detail: None };
                return Some(Self::Call { call, pieces: String::new(), form });
            }
            _ => return Some(Self::Opaque { block: Fields::of(raw), pieces: String::new() }),
        };
        block.add(&Delta::of(raw), surrogate, out);
        Some(block)
    }

    /// Takes what a delta adds. Returns whether nothing of a call was lost.
    pub(super) fn add<'a>(
        &mut self,
        delta: &Delta<'a>,
        surrogate: &mut PendingSurrogate,
        out: &mut Vec<Piece>,
    ) -> bool {
        let mut piece = |raw: Raw<'a>| raw.some().map(|raw| raw.joined(surrogate));
        match self {
            Self::Text { text, citations } => {
                if let Some(piece) = piece(delta.text).filter(|piece| !piece.text.is_empty()) {
                    text.push_str(&piece.text);
                    out.push(Piece::Text(piece.text.into_owned()));
                }
                citations.extend(delta.citation.some().and_then(Raw::to_json));
                true
            }
            Self::Reasoning(reasoning) => {
                // A signature comes whole, once or again.
                let signature = delta.signature.text().filter(|text| !text.is_empty());
                if let Some(signature) = signature {
                    reasoning.signature = Some(signature.into_owned());
                }
                if let Some(piece) = piece(delta.thinking).filter(|piece| !piece.text.is_empty()) {
                    reasoning.text.push_str(&piece.text);
                    out.push(Piece::Reasoning(piece.text.into_owned()));
                }
                true
            }
            Self::Call { pieces, .. } => {
                let Some(piece) = piece(delta.partial_json) else { return true };
                pieces.push_str(&piece.text);
                piece.is_whole
            }
            Self::Opaque { block, pieces } => {
                for (name, raw) in
                    [("content", delta.content), ("encrypted_content", delta.encrypted_content)]
                {
                    if !raw.is_null() {
                        block.set(name).raw(raw.json());
                    }
                }
                let Some(piece) = piece(delta.partial_json) else { return true };
                pieces.push_str(&piece.text);
                piece.is_whole
            }
        }
    }

    /// A surrogate waits at the end in vain. Returns whether the block can do without it.
    pub(super) fn end_with_surrogate(&mut self) -> bool {
        match self {
            Self::Text { text, .. } | Self::Reasoning(Reasoning { text, .. }) => {
                text.push(char::REPLACEMENT_CHARACTER);
                true
            }
            Self::Call { .. } | Self::Opaque { .. } => false,
        }
    }

    /// The whole block, or nothing for an empty one.
    pub(super) fn block(self) -> Option<Block> {
        match self {
            Self::Text { text, .. } if text.is_empty() => None,
            Self::Text { text, citations } if citations.is_empty() => Some(Block::Text(text)),
            Self::Text { text, citations } => {
                let all: Vec<&str> = citations.iter().map(Json::text).collect();
                let mark = alloc::format!("[{}]", all.join(","));
                Some(Block::MarkedText(MarkedText { text, mark }))
            }
            Self::Reasoning(reasoning) => Some(Block::Reasoning(reasoning)),
            Self::Call { mut call, pieces, form } => {
                if !pieces.trim().is_empty() {
                    call.arguments = pieces;
                }
                let item = form.and_then(|form| with_input(*form, &call.arguments));
                if item.is_some() {
                    call.detail = Some(Box::new(CallDetail { item, ..CallDetail::default() }));
                }
                Some(Block::ToolCall(call))
            }
            // Pieces that are no JSON are lost; the block goes back as it began.
            Self::Opaque { block, pieces } => {
                let whole = with_input(block.clone(), &pieces);
                whole.or_else(|| block.to_json()).map(Block::Opaque)
            }
        }
    }
}

/// A block with that input, if it is JSON.
fn with_input(mut block: Fields, input: &str) -> Option<Json> {
    block.set("input").raw(Document::parse(input).ok()?.root().json());
    block.to_json()
}
