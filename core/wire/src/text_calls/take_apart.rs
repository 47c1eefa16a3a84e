//! The reading of a whole text in the format of its family: calls, thinking, and the text between
//! them. A streamed text ends here, too, so what a reply says does not depend on how it was cut
//! into pieces.

use super::{
    harmony,
    scan::{MOST_CALLS, SourceText},
    text_findings::ParsedText,
    text_walk,
};
use innerloop_types::{model::TextFamily as Family, tool::ToolSpec};

/// Takes a model's whole text apart. With `tools`, arguments without types are converted to those
/// in the tool's schema. Reading stops once there are more than 1,000 calls, with at least one too
/// many so that the caller notices.
#[must_use]
pub fn parse(family: Family, text: &str, tools: &[ToolSpec]) -> ParsedText {
    take_apart(TextFormat { family, in_thinking: false }, text, tools, MOST_CALLS)
}

/// The format of a model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextFormat {
    /// The family whose format the calls have.
    pub(super) family: Family,
    /// True if the text begins in thinking, which the model's template has opened.
    pub(super) in_thinking: bool,
}

/// Takes a whole text apart. Reading stops once there are more than `most_calls` calls.
pub(super) fn take_apart(
    format: TextFormat,
    text: &str,
    tools: &[ToolSpec],
    most_calls: usize,
) -> ParsedText {
    let mut doc = SourceText::new(text, tools).with_most_calls(most_calls);
    match format.family {
        // Harmony frames everything, thinking included, so its messages are read one after the
        // other, and `in_thinking` does not concern it.
        Family::Harmony => harmony::parse(&mut doc, 0, ParsedText::default()),
        family => text_walk::walk(family, format.in_thinking, &mut doc),
    }
}
