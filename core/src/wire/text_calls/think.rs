//! The tags between which models think, in all their variants.

use super::scan::Doc;
use alloc::string::String;

/// An opening and a closing tag.
pub(super) type Pair = (&'static str, &'static str);

/// Opening and closing tags.
pub(super) const TAGS: [Pair; 15] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<think:opensource>", "</think:opensource>"),
    ("<|channel>thought", "<channel|>"),
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
pub(super) struct Tag {
    /// Whether thinking begins; else it has ended.
    pub(super) is_open: bool,
    /// Where the tag ends.
    pub(super) end: usize,
    /// The tag and its other half.
    pub(super) pair: Pair,
}

/// The tag at `at`. A tag that is quoted as code does not count.
pub(super) fn tag_at(doc: &Doc<'_>, at: usize) -> Option<Tag> {
    if doc.is_quoted(at) || !matches!(doc.rest(at).as_bytes(), [b'<' | b'[' | 0xe2, ..]) {
        return None;
    }
    TAGS.into_iter().find_map(|pair| {
        let tag = |token, is_open| Some(Tag { is_open, end: doc.after(at, token)?, pair });
        tag(pair.0, true).or_else(|| tag(pair.1, false))
    })
}

/// Thinking without the tags that are nested in it, and how many opened in it.
pub(super) fn bare(text: &str, pair: Pair) -> (String, usize) {
    let (open, close) = pair;
    let bare = text.replace(open, "");
    let opened = (text.len() - bare.len()) / open.len();
    (bare.replace(close, ""), opened)
}
