//! The openings and closings of calls in all families, for places where no format could be read.
//! They tell a call that the text's end cuts from a malformed one, and both from text that only
//! mentions a tag.

use super::{
    gemma, minimax, plamo,
    scan::SourceText,
    tagged,
    tokens::{self, DeepseekToken},
    xtml,
};
use innerloop_types::text::is_word;

/// The texts that open calls, whatever follows.
pub(super) const OPENINGS: [&str; 17] = [
    "<function=",
    "<function name=",
    "<invoke name=",
    "<minimax:tool_call>",
    "<steptml:invoke name=",
    "<tool_call:",
    "<tool_calls:",
    minimax::SPACE,
    "<｜DSML｜",
    "<|DSML|",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_section_begin|>",
    xtml::TOOLS,
    tokens::MISTRAL,
    plamo::REQUESTS[0],
    plamo::REQUEST[0],
];

/// The texts that close a call. One of them stands behind every call that is not cut.
// Mostly beginnings or ends of tags, so that one entry covers plurals, suffixes and prefixes.
const CLOSINGS: [&str; 14] = [
    "</tool",
    "</function",
    "</longcat",
    "</TOOLCALL",
    "<|/tool_call|>",
    "invoke>",
    "<tool_call|>",
    "<end_function_call>",
    "end｜>",
    "end|>",
    "<|close|>call<|sep|>",
    "<|tools_suffix|>",
    tagged::INKLING.1,
    plamo::REQUEST[1],
];

/// Returns the position behind what opens calls at `at` in any family.
pub(super) fn opening(doc: &SourceText<'_>, at: usize) -> Option<usize> {
    // These two open no tag. They are frequent in code, so they are spared the comparisons.
    if matches!(doc.rest(at).as_bytes(), [b'{' | b'`', ..]) {
        return None;
    }
    let of_pair = || {
        let mut pairs = tagged::TAGS.iter().chain(&gemma::TAGS);
        pairs.find_map(|(open, _)| doc.after(at, open))
    };
    let of_deepseek = || match tokens::deepseek_token(doc, at)? {
        (DeepseekToken::CallsBegin | DeepseekToken::CallBegin, end) => Some(end),
        _ => None,
    };
    doc.after_any(at, &OPENINGS).or_else(of_pair).or_else(of_deepseek)
}

/// Returns the position behind what opens a call at `at`, if what follows looks like a call and not
/// like prose about one.
pub(super) fn begins(doc: &SourceText<'_>, at: usize) -> Option<usize> {
    let behind = opening(doc, at).filter(|_| !doc.is_quoted(at))?;
    // Special tokens are never prose. Tags of letters may be, so a bracket or a name must follow
    // them.
    let is_tag = doc.rest(at).as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    if !is_tag {
        return Some(behind);
    }
    // The prompt lists the tools between these, and models repeat the list.
    if doc.after_any(at, &["<tools>", "<tool>"]).is_some() {
        return None;
    }
    let inner = doc.rest(doc.skip_space(behind));
    if inner.is_empty() || inner.starts_with(['{', '[', '<', '`']) {
        return Some(behind);
    }
    // A name counts only directly behind the tag, and not if it is the first of several words.
    let fits = |c: char| is_word(c) || matches!(c, '.' | '-' | '"');
    let name = doc.rest(behind);
    let end = doc.near(behind, &['>', '<', '\n', ' ']).map_or(name.len(), |end| end - behind);
    let is_name = name.get(..end).is_some_and(|name| !name.is_empty() && name.chars().all(fits));
    let goes_on = name.get(end..).is_some_and(|rest| !rest.starts_with(' '));
    (is_name && goes_on).then_some(behind)
}

/// Returns whether nothing behind `at` closes a call.
pub(super) fn is_cut(doc: &mut SourceText<'_>, at: usize) -> bool {
    // A spent budget finds no closing either, which proves nothing.
    CLOSINGS.into_iter().all(|closing| doc.find(closing, at).is_none()) && !doc.is_spent()
}
