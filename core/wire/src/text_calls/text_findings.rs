//! What is found in a text: calls at one place, and the whole text taken apart.

use super::scan::SourceText;
use alloc::{string::String, vec::Vec};
use innerloop_types::{message::ToolCall, steps};

/// A text taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedText {
    /// The text outside of calls and thinking.
    pub text: String,
    /// The thinking, without its tags.
    pub reasoning: String,
    /// The calls, in order. Their ids are empty where the format has none.
    pub calls: Vec<ToolCall>,
    /// True if a call begins in it that cannot be read: it is cut, or malformed.
    pub is_malformed: bool,
}

/// A stretch of the text that consists of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallRegion {
    /// The end of the stretch, in bytes.
    pub(super) end: usize,
    /// The calls in it.
    pub(super) calls: Vec<ToolCall>,
    /// True if calls are meant, though they may name no tool.
    pub(super) is_meant: bool,
}

impl CallRegion {
    /// Calls up to `end`; nothing if there are none.
    pub(super) fn new(end: usize, calls: Vec<ToolCall>) -> Option<Self> {
        if calls.is_empty() { None } else { Some(Self { end, calls, is_meant: true }) }
    }

    /// The rest of the text, in which a call begins that never ends.
    pub(super) fn cut(doc: &SourceText<'_>) -> Self {
        Self { end: doc.body().len(), calls: Vec::new(), is_meant: true }
    }
}

/// A call without an id.
pub(super) fn call(name: &str, arguments: impl Into<String>) -> ToolCall {
    ToolCall { id: String::new(), name: name.into(), arguments: arguments.into(), detail: None }
}

/// Puts a text together again from its parts.
#[derive(Debug, Default)]
pub(super) struct TextAssembly {
    parsed: ParsedText,
    /// True if calls or thinking were taken out of the text.
    taken: bool,
    /// True if tokens were left out that mean nothing.
    dropped: bool,
    /// True if either was done before anything but white space.
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

    /// Appends thinking that the text's end cuts. White space at its end stays: more was to come.
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

    /// Keeps the white space at the end of the text, which is not the family's.
    pub(super) fn keep_space(&mut self) {
        self.kept = self.parsed.text.len();
    }

    /// Notes that what is left out stands at the beginning, if nothing was said before it.
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

    /// All that was said and thought so far turns out to be this thinking.
    pub(super) fn all_thinking(&mut self, text: &str) {
        (self.parsed, self.kept) = (ParsedText::default(), 0);
        self.thinking(text);
    }

    /// Appends calls.
    pub(super) fn calls(&mut self, calls: Vec<ToolCall>) {
        self.taken = true;
        self.begin_behind();
        self.parsed.calls.extend(calls);
    }

    /// The whole. White space at its end is dropped where anything was taken out, and at its
    /// beginning where that stood there; a text without calls and thinking is left as it is.
    pub(super) fn finish(mut self) -> ParsedText {
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
        if !self.parsed.calls.is_empty() {
            text = without_remains(text);
        }
        if text.len() == said.saturating_sub(from) && self.kept > said {
            text = part(self.kept);
        }
        if text.len() != whole.len() {
            self.parsed.text = text.into();
        }
        self.parsed
    }
}

/// The tokens with which families end a turn; some servers let them through.
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

/// The word that some models write before a list of calls in JSON, and nothing else.
pub(super) const BEFORE: &str = "functools";

/// The text without what only frames calls: tokens that end the turn, and the brackets of a list
/// if nothing else is left.
fn without_remains(mut text: &str) -> &str {
    while let Some(rest) = ENDS.iter().chain([&BEFORE]).find_map(|end| text.strip_suffix(end)) {
        text = rest.trim_end();
    }
    let is_frame = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',' | ';' | '}');
    if text.chars().all(is_frame) { "" } else { text }
}
