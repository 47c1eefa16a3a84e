//! The whole of a text, by its family.

use super::{
    harmony,
    scan::{MOST_CALLS, SourceText},
    text_findings::ParsedText,
    text_walk,
};
use innerloop_types::{model::TextFamily as Family, tool::ToolSpec};

/// Takes a model's whole text apart. With `tools`, arguments that come without types are turned
/// to what the tool's schema says. No more than 1,000 calls are read, and one that is too many.
#[must_use]
pub fn parse(family: Family, text: &str, tools: &[ToolSpec]) -> ParsedText {
    take_apart(TextFormat { family, in_thinking: false }, text, tools, MOST_CALLS)
}

/// The format of a model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextFormat {
    /// The family whose way of writing calls it follows.
    pub(super) family: Family,
    /// True if it begins in thinking, which the model's template has opened.
    pub(super) in_thinking: bool,
}

/// Takes a whole text apart, in which at most so many calls are read, and one too many.
pub(super) fn take_apart(
    format: TextFormat,
    text: &str,
    tools: &[ToolSpec],
    most_calls: usize,
) -> ParsedText {
    let mut doc = SourceText::new(text, tools).with_most_calls(most_calls);
    match format.family {
        Family::Harmony => harmony::parse(&mut doc, 0, ParsedText::default()),
        family => text_walk::walk(family, format.in_thinking, &mut doc),
    }
}
