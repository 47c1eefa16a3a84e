//! The findings in a text: the calls at one place, and the whole text taken apart into text,
//! thinking and calls. `TextAssembly` decides which white space and which leftover tokens stay.

use super::scan::SourceText;
use alloc::{string::String, vec::Vec};
use innerloop_types::{message::ToolCall, steps};

/// A model's text, taken apart into text, thinking and calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedText {
    /// The text outside of calls and thinking.
    pub text: String,
    /// The thinking, without its tags.
    pub reasoning: String,
    /// The calls, in order. Their ids are empty where the format has none.
    pub calls: Vec<ToolCall>,
    /// True if a call begins in it that cannot be read, because it is cut or malformed.
    pub is_malformed: bool,
}

/// A stretch of the text that consists of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallRegion {
    /// The end of the stretch, in bytes.
    pub(super) end: usize,
    /// The calls in it.
    pub(super) calls: Vec<ToolCall>,
    /// True if the model meant calls, though they may name no tool.
    pub(super) is_meant: bool,
}

impl CallRegion {
    /// Creates a region of calls up to `end`; `None` if there are none.
    pub(super) fn new(end: usize, calls: Vec<ToolCall>) -> Option<Self> {
        if calls.is_empty() { None } else { Some(Self { end, calls, is_meant: true }) }
    }

    /// Creates a region for the rest of the text, in which a call begins that never ends.
    pub(super) fn cut(doc: &SourceText<'_>) -> Self {
        Self { end: doc.body().len(), calls: Vec::new(), is_meant: true }
    }
}

/// Creates a call without an id.
pub(super) fn call(name: &str, arguments: impl Into<String>) -> ToolCall {
    ToolCall { id: String::new(), name: name.into(), arguments: arguments.into(), detail: None }
}

/// The parts of a text as they are put together again.
#[derive(Debug, Default)]
pub(super) struct TextAssembly {
    parsed: ParsedText,
    /// True if calls or thinking were taken out of the text.
    taken: bool,
    /// True if tokens were left out that mean nothing.
    dropped: bool,
    /// True if either happened before any text but white space.
    begins_behind: bool,
    /// The length of the text that is kept, its white space included.
    kept: usize,
}

impl TextAssembly {
    /// Appends text.
    pub(super) fn text(&mut self, text: &str) {
        self.parsed.text.push_str(text);
    }

    /// Appends thinking.
    pub(super) fn thinking(&mut self, text: &str) {
        self.taken = true;
        self.begin_behind();
        steps::count(text.len());
        let text = text.trim();
        if !text.is_empty() {
            if !self.parsed.reasoning.is_empty() {
                self.parsed.reasoning.push('\n');
            }
            self.parsed.reasoning.push_str(text);
        }
    }

    /// Appends thinking that the text's end cuts. White space at its end stays, since more was to
    /// come.
    pub(super) fn cut_thinking(&mut self, text: &str) {
        self.thinking(text);
        if !text.trim_start().is_empty() {
            let said = text.trim_end().len();
            self.parsed.reasoning.push_str(text.get(said..).unwrap_or_default());
        }
    }

    /// Leaves out a token.
    pub(super) fn drop_token(&mut self) {
        self.dropped = true;
        self.begin_behind();
    }

    /// Notes that a call cannot be read.
    pub(super) const fn malformed(&mut self) {
        self.parsed.is_malformed = true;
    }

    /// Keeps the white space at the end of the text so far, which is not part of the family's
    /// format.
    pub(super) fn keep_space(&mut self) {
        self.kept = self.parsed.text.len();
    }

    /// Notes that something is left out at the beginning, if no text stands before it.
    fn begin_behind(&mut self) {
        if !self.begins_behind {
            let said = self.parsed.text.trim_start();
            steps::count(self.parsed.text.len() - said.len());
            self.begins_behind = said.is_empty();
        }
    }

    /// Returns whether calls or thinking were taken out of the text.
    pub(super) const fn is_taken(&self) -> bool {
        self.taken
    }

    /// Returns whether there is room for more calls.
    pub(super) const fn has_room(&self, doc: &SourceText<'_>) -> bool {
        doc.has_room(self.parsed.calls.as_slice())
    }

    /// Returns whether there are calls.
    pub(super) const fn has_calls(&self) -> bool {
        !self.parsed.calls.is_empty()
    }

    /// Replaces all that was said and thought so far by this thinking.
    pub(super) fn all_thinking(&mut self, text: &str) {
        // A closing tag without an opening one: the prompt had opened thinking, and all of it was
        // that.
        (self.parsed, self.kept) = (ParsedText::default(), 0);
        self.thinking(text);
    }

    /// Appends calls.
    pub(super) fn calls(&mut self, calls: Vec<ToolCall>) {
        self.taken = true;
        self.begin_behind();
        self.parsed.calls.extend(calls);
    }

    /// Returns the whole. White space at the end is dropped if anything was taken out, and at the
    /// beginning if that stood there.
    pub(super) fn finish(mut self) -> ParsedText {
        // A text without findings stays as it is, to the byte: a reply whose text has not changed
        // keeps its blocks.
        if !(self.taken || self.dropped) {
            return self.parsed;
        }
        steps::count(self.parsed.text.len());
        let whole = self.parsed.text.as_str();
        let said = whole.trim_end().len();
        let space = whole.len() - whole.trim_start().len();
        let from = if self.begins_behind || said == 0 { space } else { 0 };
        let part = |to: usize| whole.get(from..to).unwrap_or_default();
        let mut text = part(said);
        // Only where there are calls: a plain text may be about these tokens.
        if !self.parsed.calls.is_empty() {
            text = without_remains(text);
        }
        // White space that is not the format's stays, unless leftovers before it were cut off.
        if text.len() == said.saturating_sub(from) && self.kept > said {
            text = part(self.kept);
        }
        if text.len() != whole.len() {
            self.parsed.text = text.into();
        }
        self.parsed
    }
}

/// The tokens that end a turn in some families, and that some servers let through.
const ENDS: [&str; 9] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<|endoftext|>",
    "<|observation|>",
    "<|user|>",
    "</s>",
];

/// The word that some models write before a list of calls in JSON.
pub(super) const BEFORE: &str = "functools";

/// Returns the text without what only frames calls: tokens that end the turn, and the brackets of a
/// list if nothing else is left.
fn without_remains(mut text: &str) -> &str {
    while let Some(rest) = ENDS.iter().chain([&BEFORE]).find_map(|end| text.strip_suffix(end)) {
        text = rest.trim_end();
    }
    let is_frame = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',' | ';' | '}');
    if text.chars().all(is_frame) { "" } else { text }
}
