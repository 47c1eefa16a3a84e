//! What is found in a text: calls at one place, and the whole text taken apart.

use crate::{base::steps, types::message::ToolCall};
use alloc::{string::String, vec::Vec};

/// A text taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What stands outside of calls and thinking.
    pub text: String,
    /// The thinking, without its tags.
    pub reasoning: String,
    /// The calls, in order. Their ids are empty where the format has none.
    pub calls: Vec<ToolCall>,
}

/// A stretch of the text that consists of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// Where it ends, in bytes.
    pub(super) end: usize,
    /// The calls in it. There are none if it looks like calls and names no tool.
    pub(super) calls: Vec<ToolCall>,
}

impl Region {
    /// Calls up to `end`; nothing if there are none.
    pub(super) fn new(end: usize, calls: Vec<ToolCall>) -> Option<Self> {
        if calls.is_empty() { None } else { Some(Self { end, calls }) }
    }
}

/// A call without an id.
pub(super) fn call(name: &str, arguments: impl Into<String>) -> ToolCall {
    ToolCall { id: String::new(), name: name.into(), arguments: arguments.into(), detail: None }
}

/// Puts a text together again from its parts.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    parsed: Parsed,
    /// Whether calls or thinking were taken out of the text.
    taken: bool,
    /// Whether tokens were left out that mean nothing.
    dropped: bool,
}

impl Assembly {
    /// Appends text.
    pub(super) fn text(&mut self, text: &str) {
        self.parsed.text.push_str(text);
    }

    /// Appends thinking.
    pub(super) fn thinking(&mut self, text: &str) {
        self.taken = true;
        steps::count(text.len());
        let text = text.trim();
        if !text.is_empty() {
            if !self.parsed.reasoning.is_empty() {
                self.parsed.reasoning.push('\n');
            }
            self.parsed.reasoning.push_str(text);
        }
    }

    /// Leaves out a token.
    pub(super) const fn drop_token(&mut self) {
        self.dropped = true;
    }

    /// Whether calls or thinking were taken out of the text.
    pub(super) const fn is_taken(&self) -> bool {
        self.taken
    }

    /// Whether there are calls.
    pub(super) const fn has_calls(&self) -> bool {
        !self.parsed.calls.is_empty()
    }

    /// All that was said and thought so far turns out to be this thinking.
    pub(super) fn all_thinking(&mut self, text: &str) {
        self.parsed = Parsed::default();
        self.thinking(text);
    }

    /// Appends calls.
    pub(super) fn calls(&mut self, calls: Vec<ToolCall>) {
        self.taken = true;
        self.parsed.calls.extend(calls);
    }

    /// The whole. White space around is dropped where anything was taken out; a text without
    /// calls and thinking is left as it is.
    pub(super) fn finish(mut self) -> Parsed {
        if !(self.taken || self.dropped) {
            return self.parsed;
        }
        steps::count(self.parsed.text.len());
        let mut text = self.parsed.text.trim();
        if !self.parsed.calls.is_empty() {
            text = without_remains(text);
        }
        if text.len() != self.parsed.text.len() {
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

/// What some models write before a list of calls in JSON, and nothing else.
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
