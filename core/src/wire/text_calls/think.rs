//! The tags between which models think, in all their variants.

use super::scan::Doc;

/// Opening and closing tags.
pub(super) const TAGS: [(&str, &str); 12] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<scratch_pad>", "</scratch_pad>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// A tag in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// Thinking begins behind `end`, and goes on to `close`.
    Open {
        /// Where the tag ends.
        end: usize,
        /// The tag that closes it.
        close: &'static str,
    },
    /// Thinking has ended.
    Close {
        /// Where the tag ends.
        end: usize,
    },
}

/// The tag at `at`. A tag that is quoted as code does not count.
pub(super) fn tag_at(doc: &Doc<'_>, at: usize) -> Option<Tag> {
    if doc.between(0, at).ends_with('`') {
        return None;
    }
    TAGS.iter().find_map(|(open, close)| {
        let opened = doc.after(at, open).map(|end| Tag::Open { end, close });
        opened.or_else(|| doc.after(at, close).map(|end| Tag::Close { end }))
    })
}
