//! What has been shown of a text, so that all of it together is what the whole text says.

use super::text_findings::ParsedText;
use crate::piece::ReplyPiece;
use alloc::{string::String, vec::Vec};
use innerloop_types::steps;

/// The output that has been shown.
#[derive(Clone, Debug)]
pub(super) struct ShownOutput {
    said: ShownText,
    thought: ShownText,
    /// True if something was left out before any text.
    begins_behind: bool,
}

/// Text of one kind.
#[derive(Clone, Debug)]
struct ShownText {
    text: String,
    /// The text before the next that is shown: white space, as far as is known.
    held: String,
    /// True if a part goes on; the next begins on a line of its own.
    is_open: bool,
}

impl ShownOutput {
    /// Nothing yet.
    pub(super) const fn new() -> Self {
        Self { said: ShownText::new(), thought: ShownText::new(), begins_behind: false }
    }

    /// Shows text as it is, without the white space at its beginning behind what is left out.
    pub(super) fn text(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        let is_behind = self.begins_behind && self.said.text.is_empty();
        self.said.held.push_str(if is_behind { text.trim_start() } else { text });
        let piece = core::mem::take(&mut self.said.held);
        self.said.text.push_str(&piece);
        out.push(ReplyPiece::Text(piece));
    }

    /// Something is left out behind `text`, which is shown before what follows.
    pub(super) fn leave_out(&mut self, text: &str) {
        let is_said = !(self.said.text.is_empty() && self.said.held.is_empty());
        if is_said || !text.trim_start().is_empty() {
            self.said.held.push_str(text);
        } else {
            self.begins_behind = true;
        }
    }

    /// Shows text of a part without the white space around that.
    pub(super) fn line(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        out.extend(self.said.push(text).map(ReplyPiece::Text));
    }

    /// The text's part has ended.
    pub(super) fn end_text(&mut self) {
        self.said.end();
    }

    /// Shows thinking without the white space around it.
    pub(super) fn thought(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        out.extend(self.thought.push(text).map(ReplyPiece::Reasoning));
    }

    /// The thinking has ended.
    pub(super) fn end_thought(&mut self) {
        self.thought.end();
    }

    /// All that was shown is void.
    pub(super) fn restart(&mut self, out: &mut Vec<ReplyPiece>) {
        *self = Self::new();
        out.push(ReplyPiece::Restart);
    }

    /// Shows what is missing of the whole. Returns whether all that was shown is a part of it.
    pub(super) fn finish(self, whole: &ParsedText, out: &mut Vec<ReplyPiece>) -> bool {
        let reasoning = whole.reasoning.strip_prefix(self.thought.text.as_str());
        let text = whole.text.strip_prefix(self.said.text.as_str());
        let (Some(reasoning), Some(text)) = (reasoning, text) else { return false };
        steps::count(self.thought.text.len() + self.said.text.len());
        out.extend(
            Some(reasoning).filter(|it| !it.is_empty()).map(|it| ReplyPiece::Reasoning(it.into())),
        );
        out.extend(Some(text).filter(|it| !it.is_empty()).map(|it| ReplyPiece::Text(it.into())));
        true
    }
}

impl ShownText {
    const fn new() -> Self {
        Self { text: String::new(), held: String::new(), is_open: false }
    }

    /// Takes more of a part; gives what can be shown.
    fn push(&mut self, text: &str) -> Option<String> {
        let mut text = text;
        if !self.is_open {
            text = text.trim_start();
            if text.is_empty() {
                return None;
            }
            self.held = String::from(if self.text.is_empty() { "" } else { "\n" });
            self.is_open = true;
        }
        let said = text.trim_end();
        if said.is_empty() {
            self.held.push_str(text);
            return None;
        }
        let piece = core::mem::take(&mut self.held) + said;
        self.held.push_str(text.get(said.len()..).unwrap_or_default());
        self.text.push_str(&piece);
        Some(piece)
    }

    /// The part has ended, and white space at its end is dropped.
    fn end(&mut self) {
        self.is_open = false;
        self.held.clear();
    }
}
