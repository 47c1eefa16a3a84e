//! The record of what has been shown of a text while it arrived. All of it together must be the
//! beginning of what the whole text says: `finish` shows the rest, or says that it is not, and
//! everything is shown anew. White space follows the rules of `text_findings::TextAssembly`.

use super::text_findings::ParsedText;
use crate::piece::ReplyPiece;
use alloc::{string::String, vec::Vec};
use innerloop_types::steps;

/// The output that has been shown.
#[derive(Debug)]
pub(super) struct ShownOutput {
    said: ShownText,
    thought: ShownText,
    /// True if something was left out before any text.
    begins_behind: bool,
}

/// Text of one kind: what is said, or what is thought.
#[derive(Debug)]
struct ShownText {
    text: String,
    /// Text to be shown before what follows: white space, as far as is known.
    held: String,
    /// True while a part goes on. The next part begins on a line of its own.
    is_open: bool,
}

impl ShownOutput {
    /// Creates a record of nothing.
    pub(super) const fn new() -> Self {
        Self { said: ShownText::new(), thought: ShownText::new(), begins_behind: false }
    }

    /// Shows text as it is, but without white space at its beginning if something was left out
    /// before it.
    pub(super) fn text(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        let is_behind = self.begins_behind && self.said.text.is_empty();
        self.said.held.push_str(if is_behind { text.trim_start() } else { text });
        // White space is held until something follows it, since it may have to be dropped.
        let piece = core::mem::take(&mut self.said.held);
        self.said.text.push_str(&piece);
        out.push(ReplyPiece::Text(piece));
    }

    /// Leaves something out behind `text`, which is shown before whatever follows.
    pub(super) fn leave_out(&mut self, text: &str) {
        let is_said = !(self.said.text.is_empty() && self.said.held.is_empty());
        if is_said || !text.trim_start().is_empty() {
            self.said.held.push_str(text);
        } else {
            // Nothing but white space stands before what is left out: it goes, and so does that
            // behind it.
            self.begins_behind = true;
        }
    }

    /// Shows text of a part, without the white space around the part.
    pub(super) fn line(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        out.extend(self.said.push(text).map(ReplyPiece::Text));
    }

    /// Ends the text's part, so that the next begins on a new line.
    pub(super) fn end_text(&mut self) {
        self.said.end();
    }

    /// Shows thinking, without the white space around it.
    pub(super) fn thought(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        out.extend(self.thought.push(text).map(ReplyPiece::Reasoning));
    }

    /// Ends the thinking, so that the next begins on a new line.
    pub(super) fn end_thought(&mut self) {
        self.thought.end();
    }

    /// Declares all that was shown void.
    pub(super) fn restart(&mut self, out: &mut Vec<ReplyPiece>) {
        *self = Self::new();
        out.push(ReplyPiece::Restart);
    }

    /// Shows what is missing of the whole. Returns false if what was shown is not its beginning.
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

    /// Takes more of a part and returns what can be shown.
    fn push(&mut self, text: &str) -> Option<String> {
        let mut text = text;
        if !self.is_open {
            text = text.trim_start();
            if text.is_empty() {
                return None;
            }
            // Parts are joined by a line feed when a text is taken apart, thinking and messages
            // alike.
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

    /// Ends the part and drops the white space at its end.
    fn end(&mut self) {
        self.is_open = false;
        self.held.clear();
    }
}
