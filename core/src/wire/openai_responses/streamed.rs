//! What comes of an item in pieces, before the item itself comes whole.

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

/// The pieces of one item, joined by strand and part.
#[derive(Clone, Debug, Default)]
pub(super) struct Streamed {
    parts: Vec<Part>,
    /// A piece of a call could not be read.
    pub(super) is_damaged: bool,
}

#[derive(Clone, Debug)]
struct Part {
    strand: Strand,
    number: u64,
    text: String,
}

impl Streamed {
    /// Takes a piece.
    pub(super) fn push(&mut self, strand: Strand, number: u64, piece: &str) {
        self.write(strand, number, |text| text.push_str(piece));
    }

    /// Takes a whole part in place of its pieces.
    pub(super) fn set(&mut self, strand: Strand, number: u64, whole: Cow<'_, str>) {
        self.write(strand, number, |text| *text = whole.into_owned());
    }

    /// All parts of a strand.
    pub(super) fn joined(&self, strand: Strand) -> String {
        self.of(strand).collect()
    }

    /// Whether anything came of a strand.
    pub(super) fn has(&self, strand: Strand) -> bool {
        self.of(strand).any(|text| !text.is_empty())
    }

    fn of(&self, strand: Strand) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(move |part| part.strand == strand).map(|part| part.text.as_str())
    }

    fn write(&mut self, strand: Strand, number: u64, write: impl FnOnce(&mut String)) {
        let is_it = |part: &&mut Part| part.strand == strand && part.number == number;
        if let Some(part) = self.parts.iter_mut().rev().find(is_it) {
            write(&mut part.text);
            return;
        }
        let mut text = String::new();
        write(&mut text);
        self.parts.push(Part { strand, number, text });
    }
}
