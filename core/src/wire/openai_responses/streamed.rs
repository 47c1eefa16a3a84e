//! What comes of an item in pieces, before the item itself comes whole.

use super::super::{piece::Piece, places::Places};
use alloc::{borrow::Cow, string::String, vec::Vec};

/// What a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strand {
    /// A message's text.
    Text,
    /// A message's refusal.
    Refusal,
    /// A summary of thinking.
    Summary,
    /// Thinking itself.
    Thought,
    /// A call's arguments or input.
    Arguments,
}

impl Strand {
    /// Shows a piece to people, if it is something for them. Returns whether it is.
    pub(super) fn show(self, piece: Cow<'_, str>, out: &mut Vec<Piece>) -> bool {
        let piece = match self {
            _ if piece.is_empty() => return false,
            Self::Text => Piece::Text(piece.into_owned()),
            Self::Summary | Self::Thought => Piece::Reasoning(piece.into_owned()),
            Self::Refusal | Self::Arguments => return false,
        };
        out.push(piece);
        true
    }
}

/// The pieces of one item, joined by strand and part.
#[derive(Clone, Debug, Default)]
pub(super) struct Streamed {
    /// The parts of each strand, in the order of the enum.
    strands: [Parts; 5],
    /// A piece of a call could not be read.
    pub(super) is_damaged: bool,
}

/// The parts of a strand, in the order of their first mention.
#[derive(Clone, Debug, Default)]
struct Parts {
    texts: Vec<String>,
    /// Where the part of each number stands.
    places: Places,
    has_text: bool,
}

impl Streamed {
    /// Takes a piece.
    pub(super) fn push(&mut self, strand: Strand, number: u64, piece: &str) {
        let Some(parts) = self.strands.get_mut(strand as usize) else { return };
        parts.has_text |= !piece.is_empty();
        if let Some(text) = parts.part(number) {
            text.push_str(piece);
        }
    }

    /// Takes a whole part in place of its pieces.
    pub(super) fn set(&mut self, strand: Strand, number: u64, whole: Cow<'_, str>) {
        let Some(parts) = self.strands.get_mut(strand as usize) else { return };
        parts.has_text |= !whole.is_empty();
        if let Some(text) = parts.part(number) {
            *text = whole.into_owned();
        }
    }

    /// All parts of a strand.
    pub(super) fn joined(&self, strand: Strand) -> String {
        self.strands.get(strand as usize).map(|parts| parts.texts.concat()).unwrap_or_default()
    }

    /// Whether anything came of a strand.
    pub(super) fn has(&self, strand: Strand) -> bool {
        self.strands.get(strand as usize).is_some_and(|parts| parts.has_text)
    }
}

impl Parts {
    fn part(&mut self, number: u64) -> Option<&mut String> {
        let at = self.places.get(number).unwrap_or(self.texts.len());
        if at == self.texts.len() {
            self.places.set(number, at);
            self.texts.push(String::new());
        }
        self.texts.get_mut(at)
    }
}
