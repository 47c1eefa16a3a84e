//! The pieces of an item that come before the item itself comes whole.

use super::super::{list_positions::PositionMap, piece::ReplyPiece, sink::PieceSink};
use alloc::{borrow::Cow, string::String, vec::Vec};
use innerloop_json::joined;

/// The kind of content that a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaKind {
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

impl DeltaKind {
    /// Shows a piece to people, if it is something for them. Returns whether it is. Other pieces
    /// only count as kept.
    pub(super) fn show(self, piece: Cow<'_, str>, out: &mut PieceSink) -> bool {
        let piece = match self {
            _ if piece.is_empty() => return false,
            Self::Text => ReplyPiece::Text(piece.into_owned()),
            Self::Summary | Self::Thought => ReplyPiece::Reasoning(piece.into_owned()),
            Self::Refusal | Self::Arguments => {
                out.keep(piece.len());
                return false;
            }
        };
        out.push(piece);
        true
    }
}

/// The pieces of one item, joined by strand and part.
#[derive(Debug, Default)]
pub(super) struct StreamedItem {
    /// The parts of each strand, in the order of the enum.
    strands: [StreamedParts; 5],
    /// True if a piece of a call could not be read.
    pub(super) is_damaged: bool,
    /// True if all of a call's arguments have come.
    pub(super) is_whole_call: bool,
}

/// The parts of a strand, in the order of their first mention.
#[derive(Debug, Default)]
struct StreamedParts {
    texts: Vec<String>,
    /// The position of the part of each number.
    places: PositionMap,
    has_text: bool,
}

impl StreamedItem {
    /// Returns the text of a part, to which `more` is to be added; nothing if there is no room for
    /// the part.
    pub(super) fn part(
        &mut self,
        strand: DeltaKind,
        number: u64,
        more: &str,
        out: &mut PieceSink,
    ) -> Option<&mut String> {
        let parts = self.strands.get_mut(strand as usize)?;
        parts.has_text |= !more.is_empty();
        let at = parts.places.get(number).unwrap_or(parts.texts.len());
        if at == parts.texts.len() && out.item() {
            parts.places.set(number, at);
            parts.texts.push(String::new());
        }
        parts.texts.get_mut(at)
    }

    /// Returns all parts of a strand, joined.
    pub(super) fn joined(&self, strand: DeltaKind) -> String {
        self.strands.get(strand as usize).map(|parts| joined(&parts.texts, "")).unwrap_or_default()
    }

    /// Returns whether anything came of a strand.
    pub(super) fn has(&self, strand: DeltaKind) -> bool {
        self.strands.get(strand as usize).is_some_and(|parts| parts.has_text)
    }
}
