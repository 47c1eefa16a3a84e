//! A block of a reply while it arrives: text, thinking, a call of ours, or what only the provider
//! understands.

use super::super::{
    lenient::{Fields, text},
    piece::Piece,
    surrogates::Half,
};
use crate::{
    base::json::{Json, Object},
    types::message::{Block, CallDetail, MarkedText, Reasoning, ToolCall},
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a delta adds to a block.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    citation: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
}

impl<'a> Delta<'a> {
    /// What an object's fields add.
    pub(super) fn of(fields: &Fields<'a>) -> Self {
        Self {
            text: fields.raw("text"),
            thinking: fields.raw("thinking"),
            signature: fields.raw("signature"),
            partial_json: fields.raw("partial_json"),
            citation: fields.raw("citation"),
            content: fields.raw("content"),
            encrypted_content: fields.raw("encrypted_content"),
        }
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
    Call { call: ToolCall, pieces: String, form: Option<Box<Object>> },
    /// A block that is kept as it came.
    Opaque { block: Object, pieces: String },
}

impl Building {
    /// The block that begins with `raw`. A bare string stands for its text: some gateways send
    /// it so.
    pub(super) fn start(raw: &RawValue, half: &mut Half, out: &mut Vec<Piece>) -> Option<Self> {
        let Ok(start) = Fields::parse(raw.get()) else {
            let text = half.join(raw).text.into_owned();
            out.push(Piece::Text(text.clone()));
            return (!text.is_empty()).then(|| Self::Text { text, citations: Vec::new() });
        };
        let owned = |name: &str| start.text(name).map(Cow::into_owned).unwrap_or_default();
        Some(match &*start.text("type").unwrap_or_default() {
            "text" => {
                let cited = start.items("citations").into_iter().filter_map(json);
                let mut block = Self::Text { text: String::new(), citations: cited.collect() };
                block.add(&Delta::of(&start), half, out);
                block
            }
            "thinking" => {
                let mut block = Self::Reasoning(Reasoning::default());
                block.add(&Delta::of(&start), half, out);
                block
            }
            "tool_use" => {
                // What a program of the model called goes back with the program's name.
                let caller = start.object("caller").and_then(|caller| caller.text("type"));
                let form = caller.filter(|caller| caller != "direct");
                let form = form.and_then(|_| serde_json::from_str(raw.get()).ok()).map(Box::new);
                // The input stays as it came, even where no string can hold it.
                let arguments = start.raw("input").map_or("{}", RawValue::get).into();
                let call =
                    ToolCall { id: owned("id"), name: owned("name"), arguments, detail: None };
                Self::Call { call, pieces: String::new(), form }
            }
            _ => {
                let block = serde_json::from_str(raw.get()).unwrap_or_default();
                Self::Opaque { block, pieces: String::new() }
            }
        })
    }

    /// Takes what a delta adds. Returns whether nothing of a call was lost.
    pub(super) fn add<'a>(
        &mut self,
        delta: &Delta<'a>,
        half: &mut Half,
        out: &mut Vec<Piece>,
    ) -> bool {
        let mut piece = |raw: Option<&'a RawValue>| raw.map(|raw| half.join(raw));
        match self {
            Self::Text { text, citations } => {
                if let Some(piece) = piece(delta.text).filter(|piece| !piece.text.is_empty()) {
                    text.push_str(&piece.text);
                    out.push(Piece::Text(piece.text.into_owned()));
                }
                citations.extend(delta.citation.and_then(json));
                true
            }
            Self::Reasoning(reasoning) => {
                // A signature comes whole, once or again.
                let signature = delta.signature.and_then(text).filter(|text| !text.is_empty());
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
                    if let Some(value) = raw.and_then(json) {
                        block.set(name, value);
                    }
                }
                let Some(piece) = piece(delta.partial_json) else { return true };
                pieces.push_str(&piece.text);
                piece.is_whole
            }
        }
    }

    /// Half a character is left over at the end. Returns whether the block can do without.
    pub(super) fn end_with_half(&mut self) -> bool {
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
                let input = Json::parse(call.arguments.as_str()).ok();
                if let Some((mut form, input)) = form.zip(input) {
                    form.set("input", input);
                    let item = Some(form.to_json());
                    call.detail = Some(Box::new(CallDetail { item, ..CallDetail::default() }));
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

fn json(raw: &RawValue) -> Option<Json> {
    Json::parse(raw.get()).ok()
}
