//! The tags between which models think, in all their variants, and the models whose templates open
//! a pair in the prompt, so that only the closing tag comes. Tags that are quoted as code are text.

use super::{scan::SourceText, tagged};
use alloc::string::String;
use innerloop_types::{steps, text::listed};

/// An opening and a closing tag.
pub(super) type TagPair = (&'static str, &'static str);

/// The pairs of tags that stand around thinking.
pub(super) const TAGS: [TagPair; 17] = [
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
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
];

/// Inkling's tokens around thinking. The second one ends every message, so by itself it closes no
/// thinking, and the pair is not among [`TAGS`].
const INKLING: TagPair = ("<|content_thinking|>", tagged::INKLING.1);

/// A tag in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinkTag {
    /// True if the tag opens thinking, false if it closes it.
    pub(super) is_open: bool,
    /// The end of the tag.
    pub(super) end: usize,
    /// The tag and its other half.
    pub(super) pair: TagPair,
}

/// Returns the tag of thinking at `at`, unless it is quoted as code.
pub(super) fn tag_at(doc: &SourceText<'_>, at: usize) -> Option<ThinkTag> {
    // 0xe2 begins `◁`. All other places are spared the comparison with three dozen tags.
    if doc.is_quoted(at) || !matches!(doc.rest(at).as_bytes(), [b'<' | b'[' | 0xe2, ..]) {
        return None;
    }
    TAGS.into_iter()
        .find_map(|pair| {
            let tag = |token, is_open| Some(ThinkTag { is_open, end: doc.after(at, token)?, pair });
            tag(pair.0, true).or_else(|| tag(pair.1, false))
        })
        .or_else(|| Some(ThinkTag { is_open: true, end: doc.after(at, INKLING.0)?, pair: INKLING }))
}

/// Returns thinking without the tags that are nested in it, and how many opened in it.
pub(super) fn bare(text: &str, pair: TagPair) -> (String, usize) {
    let (open, close) = pair;
    let bare = text.replace(open, "");
    let opened = (text.len() - bare.len()) / open.len();
    (bare.replace(close, ""), opened)
}

/// Returns whether the template of a model of that name opens thinking, so that the text begins in
/// it.
pub(super) fn is_opened_for(name: &str) -> bool {
    const NAMES: &str =
        "glm-4.7|glm-5|kimi-k2.6|kimi-k3|qwen3.5|qwen3.8|thinking-2507|deepseek-r1|qwq";
    // A part of the name is enough: servers put owners before it and sizes behind it.
    let name = name.to_ascii_lowercase();
    listed(NAMES).any(|part| name.contains(part))
}

/// The pairs of which a template may have opened one before the text began: those of most models,
/// of Kimi K3 and of Mistral.
// By their positions in the table, so new pairs belong at its end.
pub(super) const BEGUN: [TagPair; 3] = [TAGS[0], TAGS[12], TAGS[13]];

/// Returns where the first tag from `from` on stands that closes what a template has opened.
pub(super) fn first_close(text: &str, from: usize) -> Option<(usize, TagPair)> {
    let rest = text.get(from..)?;
    rest.match_indices(['<', '[']).find_map(|(at, _)| {
        let here = rest.get(at..)?;
        let pair = BEGUN.into_iter().find(|(_, close)| here.starts_with(close))?;
        Some((from + at, pair))
    })
}

/// Returns whether a text goes on with the thinking that a template has opened; `None` while that
/// is unknown.
pub(super) fn is_begun(text: &str) -> Option<bool> {
    // Kimi K3 may answer at once, although its template has opened thinking.
    const ANSWER: &str = "<|open|>response<|sep|>";
    let text = text.trim_start();
    steps::count(ANSWER.len());
    match text.len() < ANSWER.len() && ANSWER.starts_with(text) {
        true => None,
        false => Some(!text.starts_with(ANSWER)),
    }
}
