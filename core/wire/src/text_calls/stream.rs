//! A scanner for a text while it arrives: what is surely text or thinking is shown at once, and
//! what may begin a call is held back. At its end the whole text is taken apart, so chunking never
//! changes the result. Each byte is inspected a bounded number of times, however long it is held
//! back.

use super::{
    harmony::{self, ContentEnd},
    place_check::{LookResult, PendingJson, look},
    scan::{self, BracketBalance, MOST_CALLS, SourceText, find},
    shown_text::ShownOutput,
    take_apart::{self, TextFormat},
    text_findings::{BEFORE, ParsedText},
    text_walk,
    think::{self, BEGUN, TagPair},
    tokens,
};
use crate::piece::ReplyPiece;
use alloc::{string::String, vec::Vec};
use innerloop_types::{message::FinishReason, model::TextFamily as Family, steps, tool::ToolSpec};

/// A scanner that shows a text while it arrives, and takes it apart at its end.
#[derive(Debug)]
pub struct TextScanner {
    format: TextFormat,
    text: String,
    state: ScannerState,
    /// The position up to which it is known what the text is.
    at: usize,
    /// The position up to which it has been shown, or left out.
    shown: usize,
    /// The position up to which trailing white space has been looked for.
    seen: usize,
    /// The length that the text must have before it is looked at again.
    wait: usize,
    /// JSON that is followed meanwhile: where it ends, the text is looked at again, too.
    json: Option<PendingJson>,
    /// The position up to which it has been searched for what ends the state.
    sought: usize,
    /// The number of bytes that may still be inspected in vain.
    budget: usize,
    /// The position behind the thinking that was taken out of the text last.
    taken: Option<usize>,
    /// The number of tags that may still close thinking that is nested.
    opened: usize,
    /// The output that has been shown.
    shown_so_far: ShownOutput,
}

/// The state that the text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScannerState {
    Text,
    /// In thinking, which the model's template has opened.
    Begun,
    /// In thinking, between these tags.
    Thinking(TagPair),
    /// In a fence that holds no call.
    Fence,
    /// In the head of a message of Harmony.
    Head,
    /// In a message of Harmony: what its content is.
    Content(ContentChannel),
    /// In a call; nothing more is shown before the end.
    Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentChannel {
    Text,
    Thinking,
}

impl TextScanner {
    /// Creates a scanner that has read nothing yet.
    #[must_use]
    pub const fn new(family: Family) -> Self {
        Self {
            format: TextFormat { family, in_thinking: false },
            text: String::new(),
            state: ScannerState::Text,
            at: 0,
            shown: 0,
            seen: 0,
            wait: 0,
            json: None,
            sought: 0,
            budget: scan::AT_LEAST,
            taken: None,
            opened: 0,
            shown_so_far: ShownOutput::new(),
        }
    }

    /// Sets that the text begins in thinking, since the model's template has opened it.
    #[must_use]
    pub const fn in_thinking(mut self) -> Self {
        self.format.in_thinking = true;
        self.state = ScannerState::Begun;
        self
    }

    /// Takes more of the text, cut anywhere, and appends what can be shown of it to `out`.
    pub fn feed(&mut self, text: &str, out: &mut Vec<ReplyPiece>) {
        self.text.push_str(text);
        self.budget = self.budget.saturating_add(scan::budget(text.len()));
        // A place is looked at again only when enough has come to change the answer: reading a long
        // call anew for each piece would be quadratic.
        if self.text.len() < self.wait && !self.json_ends() {
            return;
        }
        (self.wait, self.json) = (0, None);
        while self.wait == 0 && self.state != ScannerState::Held && self.at < self.text.len() {
            match self.state {
                ScannerState::Text => self.on_text(out),
                ScannerState::Begun => self.on_begun(out),
                ScannerState::Thinking(tags) => self.on_thinking(tags, out),
                ScannerState::Fence => self.on_fence(out),
                ScannerState::Head => self.on_head(),
                ScannerState::Content(channel) => self.on_content(channel, out),
                ScannerState::Held => {}
            }
        }
    }

    /// Ends the text: takes all of it apart and appends to `out` what has not been shown, so that
    /// the shown pieces together are what the result says.
    #[must_use]
    pub fn finish(self, tools: &[ToolSpec], out: &mut Vec<ReplyPiece>) -> ParsedText {
        let parsed = take_apart::take_apart(self.format, &self.text, tools, MOST_CALLS);
        let mut rest = Vec::new();
        if !self.finish_shown(&parsed, &mut rest) {
            out.push(ReplyPiece::Restart);
            ShownOutput::new().finish(&parsed, &mut rest);
        }
        out.append(&mut rest);
        parsed
    }

    /// Returns whether nothing has come yet.
    pub(super) const fn is_fresh(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns what `text` says, taken apart as a whole with at most so many calls. It is the text
    /// that was fed, or that of a reply which came at once.
    pub(super) fn told(
        &self,
        text: &str,
        finish: FinishReason,
        tools: &[ToolSpec],
        most_calls: usize,
    ) -> ParsedText {
        let format = self.format;
        let parsed = take_apart::take_apart(format, text, tools, most_calls);
        let is_all_thinking = format.in_thinking
            // A reply that the limit cut may well have stopped while it was thinking.
            && finish != FinishReason::Length
            && parsed.calls.is_empty()
            && parsed.text.is_empty()
            && think::first_close(text, 0).is_none();
        // The model was done without closing any thinking: the template opened none, or the
        // endpoint took it out. So this is the answer.
        match is_all_thinking {
            true => {
                let format = TextFormat { in_thinking: false, ..format };
                take_apart::take_apart(format, text, tools, most_calls)
            }
            false => parsed,
        }
    }

    /// Appends what has not been shown of `parsed` to `out`. Returns false if what has been shown
    /// is not the beginning of it.
    pub(super) fn finish_shown(self, parsed: &ParsedText, out: &mut Vec<ReplyPiece>) -> bool {
        self.shown_so_far.finish(parsed, out)
    }

    /// Returns whether the text would be cut within a call if it ended here.
    pub(super) fn is_in_call(&self) -> bool {
        // A text may well end with `]`: it is held back only because MiniMax's token begins with
        // it.
        self.state == ScannerState::Held || (self.wait > 0 && self.rest() != "]")
    }

    /// Looks at the same place again when there is more of it.
    const fn wait_for_byte(&mut self) {
        self.wait = self.text.len() + 1;
    }

    /// Looks at the same place again when what follows it has doubled, or if it is JSON, when
    /// that ends.
    fn wait_for_more(&mut self, json: Option<PendingJson>) {
        // Doubling keeps the sum of all looks linear in the text's length.
        let double = (self.text.len() - self.at).saturating_add(self.text.len());
        self.wait = if json.is_some() { usize::MAX } else { double };
        self.json = json;
    }

    /// Returns whether the JSON that is followed has ended.
    fn json_ends(&mut self) -> bool {
        self.json.as_mut().is_some_and(|(from, follower)| {
            let text = self.text.get(*from..).unwrap_or_default();
            follower.follow(text) != BracketBalance::Open
        })
    }

    /// Returns where `needle` stands from here on. Text that was searched before is not searched
    /// again.
    fn seek(&mut self, needle: &str) -> Option<usize> {
        // One length of the needle is searched twice, since it may have been cut between two
        // pieces.
        let seen = self.text.floor_char_boundary(self.sought.saturating_sub(needle.len()));
        let from = seen.max(self.at);
        let found = find(self.text.get(from..).unwrap_or_default(), needle).map(|at| from + at);
        self.sought = found.unwrap_or(self.text.len());
        found
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn on_text(&mut self, out: &mut Vec<ReplyPiece>) {
        if self.at == 0 && matches!(self.format.family, Family::Auto | Family::Harmony) {
            match harmony::begins_in_head(&self.text) {
                Some(true) => return self.state = ScannerState::Head,
                Some(false) => {}
                None => return self.wait_for_more(None),
            }
        }
        // Without the tools more looks like a call than is one. That only holds text back; the end
        // decides with them.
        let mut doc = SourceText::new(&self.text, &[]).with_budget(self.budget);
        let Some(start) = text_walk::next_start(self.format.family, &doc, self.at) else {
            self.at = self.text.len();
            self.show_text(self.at, out);
            return;
        };
        let look = look(self.format.family, &mut doc, start);
        self.budget = doc.budget();
        // Nothing more can be told apart, so the rest is shown at the end.
        if doc.is_spent() {
            self.state = ScannerState::Held;
        }
        self.at = start;
        self.show_text(start, out);
        match look {
            LookResult::Text(end) => {
                self.at = end;
                self.show_text(end, out);
            }
            LookResult::Wait(json) => self.wait_for_more(json),
            // A token is short, so it may be looked at for each of its bytes.
            LookResult::Part => self.wait_for_byte(),
            LookResult::Call => self.state = ScannerState::Held,
            LookResult::Drop(end) => self.skip_to(end),
            LookResult::Thinking(tag) => self.on_tag(tag, out),
            LookResult::Fence(end) => {
                self.at = end;
                self.state = ScannerState::Fence;
            }
            LookResult::Message => {
                self.skip_to(start);
                self.state = ScannerState::Head;
            }
        }
    }

    /// Begins or ends thinking at a tag. The cases are those of `text_walk::walk`.
    fn on_tag(&mut self, tag: think::ThinkTag, out: &mut Vec<ReplyPiece>) {
        let before = self.text.get(..self.at).unwrap_or_default();
        if tag.is_open {
            // Text before the first tag may be thinking that was begun in the prompt.
            self.opened += usize::from(self.taken.is_none() && !before.trim().is_empty());
            self.state = ScannerState::Thinking(tag.pair);
        // Nothing is open that it could close: the text only mentions the tag.
        } else if self.taken.is_some() && self.opened == 0 {
            self.at = tag.end;
            return self.show_text(tag.end, out);
        } else {
            self.opened -= usize::from(self.taken.is_some());
            let new = before.get(self.taken.unwrap_or_default()..).unwrap_or_default();
            steps::count(new.len());
            // All that stands before it was thinking. Some of that has been shown as text, so
            // everything is shown anew.
            if self.taken.is_none() || !new.trim().is_empty() {
                steps::count(before.len());
                self.budget = self.budget.saturating_sub(before.len());
                self.shown_so_far.restart(out);
                self.shown_so_far.thought(&think::bare(before, tag.pair).0, out);
            }
        }
        self.take_to(tag.end);
    }

    /// Reads thinking that the template has opened, up to a tag that can close it.
    fn on_begun(&mut self, out: &mut Vec<ReplyPiece>) {
        match think::is_begun(&self.text).filter(|_| self.at == 0) {
            Some(false) => return self.state = ScannerState::Text,
            None if self.at == 0 => return self.wait_for_byte(),
            _ => {}
        }
        // Several tags may close it, so `seek`, which takes one needle, does not do here.
        let from = self.text.floor_char_boundary(self.sought.saturating_sub(LONGEST));
        let found = think::first_close(&self.text, from.max(self.at));
        steps::count(self.text.len() - from.max(self.at));
        self.sought = self.text.len();
        if let Some((to, pair)) = found {
            return self.end_thinking(to, pair, out);
        }
        let ends = BEGUN.map(|(_, close)| close);
        let opens = BEGUN.map(|(open, _)| open);
        self.go_on_thinking(&[opens, ends].concat(), BEGUN[0], out);
    }

    fn end_thinking(&mut self, to: usize, tags: TagPair, out: &mut Vec<ReplyPiece>) {
        self.show_thinking(to, Some(tags), out);
        self.take_to(to + tags.1.len());
        self.state = ScannerState::Text;
    }

    fn on_thinking(&mut self, tags: TagPair, out: &mut Vec<ReplyPiece>) {
        match self.seek(tags.1) {
            Some(to) => self.end_thinking(to, tags, out),
            None => self.go_on_thinking(&[tags.0, tags.1], tags, out),
        }
    }

    /// Shows thinking that has not ended, except for what may begin one of the tags.
    fn go_on_thinking(&mut self, ends: &[&str], tags: TagPair, out: &mut Vec<ReplyPiece>) {
        // Calls count in thinking that is never closed. From the first one on nothing is shown,
        // since only the text's end tells whether it will be closed.
        const CALLS: [&str; 4] = ["<tool_call>", "<function=", tokens::MISTRAL, "<|tools_prefix|>"];
        let rest = self.rest();
        let begins = |&(at, _): &(usize, &str)| {
            let rest = rest.get(at..).unwrap_or_default();
            CALLS.iter().any(|call| rest.starts_with(call))
        };
        let call = rest.match_indices(['<', '[']).find(begins).map(|(at, _)| at);
        steps::count(call.unwrap_or(rest.len()));
        let part = |tokens: &[&str]| partial(rest, tokens);
        let to = call.unwrap_or_else(|| rest.len() - part(ends).max(part(&CALLS)));
        self.show_thinking(self.at + to, Some(tags), out);
        if self.at < self.text.len() {
            self.wait_for_byte();
        }
    }

    fn on_fence(&mut self, out: &mut Vec<ReplyPiece>) {
        let rest = self.rest();
        let end = find(rest, "```").map(|at| at + 3);
        let to = end.unwrap_or(rest.len() - partial(rest, &["```"]));
        self.at += to;
        self.show_text(self.at, out);
        match end {
            Some(_) => self.state = ScannerState::Text,
            None if self.at < self.text.len() => self.wait_for_byte(),
            None => {}
        }
    }

    fn on_head(&mut self) {
        let Some(to) = self.seek(harmony::MESSAGE) else {
            self.wait_for_byte();
            return;
        };
        let head = self.text.get(self.at..to).unwrap_or_default();
        steps::count(head.len());
        self.state = match harmony::content_of(head) {
            harmony::ContentKind::Text => ScannerState::Content(ContentChannel::Text),
            harmony::ContentKind::Thinking => ScannerState::Content(ContentChannel::Thinking),
            // Held to the end: what a call's JSON mentions must not be taken for the next message.
            harmony::ContentKind::Call | harmony::ContentKind::Foreign => ScannerState::Held,
        };
        self.shown_so_far.end_text();
        self.take_to(to + harmony::MESSAGE.len());
    }

    fn on_content(&mut self, channel: ContentChannel, out: &mut Vec<ReplyPiece>) {
        let rest = self.rest();
        let end = harmony::content_end(rest);
        let to = match end {
            ContentEnd::At(to, _) => to,
            ContentEnd::Open(to) if to < rest.len() => to,
            ContentEnd::Open(to) => to - partial(rest, &harmony::ENDS),
        };
        let to = self.at + to;
        match channel {
            ContentChannel::Text => {
                let said = self.text.get(self.at..to).unwrap_or_default();
                steps::count(said.len());
                self.shown_so_far.line(said, out);
                self.skip_to(to);
            }
            ContentChannel::Thinking => self.show_thinking(to, None, out),
        }
        match end {
            ContentEnd::At(_, length) => {
                self.take_to(to + length);
                self.state = ScannerState::Head;
            }
            ContentEnd::Open(_) if self.at < self.text.len() => self.wait_for_more(None),
            ContentEnd::Open(_) => {}
        }
    }

    /// Shows the text up to `to`, except for white space at its end and a word that may announce
    /// calls.
    fn show_text(&mut self, to: usize, out: &mut Vec<ReplyPiece>) {
        // Only what is new is trimmed: white space that is held back would be gone through for each
        // piece.
        let from = self.seen.max(self.shown);
        let new = self.text.get(from..to).unwrap_or_default();
        let said = new.trim_end().len();
        steps::count(new.len() - said);
        self.seen = from.max(to);
        // White space alone is held back, since it is dropped before a call.
        if said == 0 {
            return;
        }
        let text = self.text.get(self.shown..from + said).unwrap_or_default();
        // The word is left out before calls, so it waits for what follows, even if only a part has
        // come.
        let begun = if text.ends_with(BEFORE) { BEFORE.len() } else { partial(text, &[BEFORE]) };
        let text = text.get(..text.len() - begun).unwrap_or_default();
        let held = text.len();
        let text = text.trim_end();
        steps::count(held - text.len());
        if !text.is_empty() {
            self.shown += text.len();
            self.shown_so_far.text(text, out);
        }
    }

    fn show_thinking(&mut self, to: usize, tags: Option<TagPair>, out: &mut Vec<ReplyPiece>) {
        let thought = self.text.get(self.at..to).unwrap_or_default();
        steps::count(thought.len());
        match tags {
            Some(tags) => {
                let (thought, opened) = think::bare(thought, tags);
                self.opened += opened;
                self.shown_so_far.thought(&thought, out);
            }
            None => self.shown_so_far.thought(thought, out),
        }
        (self.at, self.shown) = (to, to);
    }

    /// Goes on at `end`. Text before it that has not been shown yet comes before whatever is shown
    /// next.
    fn skip_to(&mut self, end: usize) {
        let held = self.text.get(self.shown..self.at).unwrap_or_default();
        self.shown_so_far.leave_out(held);
        (self.at, self.shown) = (end, end);
    }

    /// As [`Self::skip_to`], behind thinking.
    fn take_to(&mut self, end: usize) {
        self.skip_to(end);
        self.shown_so_far.end_thought();
        self.taken = Some(end);
    }
}

/// The length that no tag which closes opened thinking exceeds, in bytes.
const LONGEST: usize = 32;

/// Returns how many bytes at the end of `text` may begin one of the tokens.
fn partial(text: &str, tokens: &[&str]) -> usize {
    let most = tokens.iter().map(|token| token.len()).max().unwrap_or_default();
    let from = text.floor_char_boundary(text.len().saturating_sub(most));
    let tail = text.get(from..).unwrap_or_default();
    steps::count(tail.len());
    let is_part = |&(at, _): &(usize, char)| {
        let part = tail.get(at..).unwrap_or_default();
        tokens.iter().any(|token| token.len() > part.len() && token.starts_with(part))
    };
    tail.char_indices().find(is_part).map_or(0, |(at, _)| tail.len() - at)
}
