//! A text while it arrives: what is surely text or thinking is shown at once, what may begin a
//! call is held back. The whole text is taken apart at its end, so no chunking changes the result.

use super::{
    found::{BEFORE, Parsed},
    harmony, pythonic,
    scan::{Balanced, Doc, balanced, find},
    tagged,
    think::{self, Tag},
    tokens::{self, DeepseekToken},
    walk::{self, Step, Walk},
    xtml,
};
use crate::{
    base::{steps, text::is_word},
    types::{model::TextFamily as Family, tool::ToolSpec},
    wire::piece::Piece,
};
use alloc::{string::String, vec::Vec};

/// Reads a text while it arrives.
#[derive(Clone, Debug)]
pub struct Scanner {
    family: Family,
    text: String,
    state: State,
    /// How far the text has been looked at.
    at: usize,
    /// How far it has been shown, or left out.
    shown: usize,
    /// How far it has been looked at for what can be shown.
    seen: usize,
    /// How long the text must be before it is looked at again.
    wait: usize,
    /// How many bytes may still be searched in vain.
    budget: usize,
    /// Whether anything was taken out of the text.
    taken: bool,
}

/// Where the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// In thinking, up to this tag.
    Thinking(&'static str),
    /// In a fence that holds no call.
    Fence,
    /// In the head of a message of Harmony.
    Head,
    /// In a message of Harmony: what its content is.
    Content(Channel),
    /// In a call; nothing more is shown before the end.
    Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    Text,
    Thinking,
    Call,
}

/// What begins a call.
const OPENINGS: [&str; 11] = [
    "<function=",
    "<function name=",
    "<invoke name=",
    "<minimax:tool_call>",
    "<｜DSML｜",
    "<|DSML|",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_section_begin|>",
    xtml::TOOLS,
    tokens::MISTRAL,
];

/// What begins a message of Harmony.
const MESSAGES: [&str; 3] = ["<|channel|>", "<|start|>", "<|message|>"];

impl Scanner {
    /// Nothing read yet.
    #[must_use]
    pub const fn new(family: Family) -> Self {
        Self {
            family,
            text: String::new(),
            state: State::Text,
            at: 0,
            shown: 0,
            seen: 0,
            wait: 0,
            budget: 65_536,
            taken: false,
        }
    }

    /// Takes more of the text, cut anywhere, and appends what can be shown of it to `out`.
    pub fn feed(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.text.push_str(text);
        self.budget = self.budget.saturating_add(text.len().saturating_mul(24));
        if self.text.len() < self.wait {
            return;
        }
        self.wait = 0;
        while self.wait == 0 && self.state != State::Held && self.at < self.text.len() {
            match self.state {
                State::Text => self.on_text(out),
                State::Thinking(close) => self.on_thinking(close, out),
                State::Fence => self.on_fence(out),
                State::Head => self.on_head(),
                State::Content(channel) => self.on_content(channel, out),
                State::Held => {}
            }
        }
    }

    /// The text has ended: takes the whole of it apart.
    #[must_use]
    pub fn finish(self, tools: &[ToolSpec]) -> Parsed {
        super::take_apart::parse(self.family, &self.text, tools)
    }

    /// Whether the text would be cut in a call if it ended here.
    pub(super) fn is_in_call(&self) -> bool {
        self.state == State::Held || self.wait > 0
    }

    /// Looks at the same place again when what follows it has doubled.
    fn wait_for_more(&mut self) {
        let held = self.text.len() - self.at;
        self.wait = self.text.len() + held.clamp(1, 4096);
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn on_text(&mut self, out: &mut Vec<Piece>) {
        let mut doc = Doc::new(&self.text, &[]).with_budget(self.budget);
        let Some(start) = walk::next_start(&doc, self.at) else {
            self.at = self.text.len();
            self.show_text(self.at, out);
            return;
        };
        let look = look(self.family, &mut doc, start);
        self.budget = doc.budget();
        if doc.is_spent() {
            self.state = State::Held;
        }
        self.at = start;
        self.show_text(start, out);
        match look {
            Look::Text(end) => {
                self.at = end;
                self.show_text(end, out);
            }
            Look::Wait => self.wait_for_more(),
            // A token is short, so that each byte of it may be looked at.
            Look::Part => self.wait = self.text.len() + 1,
            Look::Call => self.state = State::Held,
            Look::Drop(end) => self.skip_to(end),
            Look::Thinking(end, close) => {
                self.skip_to(end);
                self.state = State::Thinking(close);
            }
            Look::Unopened(end) if self.taken => {
                self.at = end;
                self.show_text(end, out);
            }
            Look::Unopened(end) => {
                out.push(Piece::Restart);
                let thinking = self.text.get(..start).unwrap_or_default().trim();
                if !thinking.is_empty() {
                    out.push(Piece::Reasoning(thinking.into()));
                }
                self.skip_to(end);
            }
            Look::Fence(end) => {
                self.at = end;
                self.state = State::Fence;
            }
            Look::Message => {
                self.skip_to(start);
                self.state = State::Head;
            }
        }
    }

    fn on_thinking(&mut self, close: &'static str, out: &mut Vec<Piece>) {
        let rest = self.rest();
        match find(rest, close) {
            Some(to) => {
                let end = self.at + to + close.len();
                self.show_thinking(self.at + to, out);
                self.skip_to(end);
                self.state = State::Text;
            }
            None => {
                // A call may follow although the thinking never ends.
                let calls = ["<tool_call>", "<function=", tokens::MISTRAL];
                let call = calls.into_iter().filter_map(|call| find(rest, call)).min();
                let held = calls.into_iter().chain([close]).map(|token| partial(rest, token));
                let to = call.unwrap_or(rest.len() - held.max().unwrap_or(0));
                self.show_thinking(self.at + to, out);
                if self.at < self.text.len() {
                    self.wait_for_more();
                }
            }
        }
    }

    fn on_fence(&mut self, out: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = find(rest, "```").map(|at| at + 3);
        let to = end.unwrap_or(rest.len() - partial(rest, "```"));
        self.at += to;
        self.show_text(self.at, out);
        match end {
            Some(_) => self.state = State::Text,
            None if self.at < self.text.len() => self.wait_for_more(),
            None => {}
        }
    }

    fn on_head(&mut self) {
        let rest = self.rest();
        let Some(length) = find(rest, "<|message|>") else {
            self.wait_for_more();
            return;
        };
        let channel = match harmony::content_of(rest.get(..length).unwrap_or_default()) {
            harmony::Content::Text => Channel::Text,
            harmony::Content::Thinking => Channel::Thinking,
            harmony::Content::Call | harmony::Content::Foreign => Channel::Call,
        };
        self.skip_to(self.at + length + "<|message|>".len());
        self.state = State::Content(channel);
    }

    fn on_content(&mut self, channel: Channel, out: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = harmony::content_end(rest);
        let partial = || harmony::ENDS.iter().map(|end| partial(rest, end)).max().unwrap_or(0);
        let to = end.map_or_else(|| rest.len() - partial(), |(to, _)| to);
        let to = self.at + to;
        match channel {
            Channel::Text => {
                self.at = to;
                self.show_text(to, out);
            }
            Channel::Thinking => self.show_thinking(to, out),
            Channel::Call => self.skip_to(to),
        }
        match end {
            Some((_, length)) => {
                self.skip_to(to + length);
                self.state = State::Head;
            }
            None if self.at < self.text.len() => self.wait_for_more(),
            None => {}
        }
    }

    /// Shows the text up to `to`, but for white space at its end and what may announce calls.
    fn show_text(&mut self, to: usize, out: &mut Vec<Piece>) {
        let from = self.seen.max(self.shown);
        let new = self.text.get(from..to).unwrap_or_default();
        let said = new.trim_end().len();
        steps::count(new.len() - said);
        self.seen = from.max(to);
        // White space alone is held back, however much of it comes.
        if said == 0 {
            return;
        }
        let text = self.text.get(self.shown..from + said).unwrap_or_default();
        let begun = if text.ends_with(BEFORE) { BEFORE.len() } else { partial(text, BEFORE) };
        let text = text.get(..text.len() - begun).unwrap_or_default();
        let held = text.len();
        let text = text.trim_end();
        steps::count(held - text.len());
        if !text.is_empty() {
            self.shown += text.len();
            out.push(Piece::Text(text.into()));
        }
    }

    fn show_thinking(&mut self, to: usize, out: &mut Vec<Piece>) {
        let thinking = self.text.get(self.at..to).unwrap_or_default();
        if !thinking.is_empty() {
            out.push(Piece::Reasoning(thinking.into()));
        }
        self.skip_to(to);
    }

    fn skip_to(&mut self, end: usize) {
        (self.at, self.shown) = (end, end);
        self.taken = true;
    }
}

/// How many bytes at the end of `text` may begin `token`.
fn partial(text: &str, token: &str) -> usize {
    let prefixes = token.char_indices().skip(1).map(|(at, _)| at);
    prefixes
        .filter(|&length| token.get(..length).is_some_and(|start| text.ends_with(start)))
        .max()
        .unwrap_or(0)
}

/// What is to be made of a place while the text goes on.
#[derive(Debug)]
enum Look {
    /// It is text up to there, whatever follows.
    Text(usize),
    /// More must come before it can be told.
    Wait,
    /// So must the rest of a token.
    Part,
    /// A call begins.
    Call,
    /// It is left out.
    Drop(usize),
    /// Thinking begins, up to that tag.
    Thinking(usize, &'static str),
    /// Thinking ends that never began.
    Unopened(usize),
    /// A fence begins that holds no call.
    Fence(usize),
    /// A message of Harmony begins.
    Message,
}

fn look(family: Family, doc: &mut Doc<'_>, at: usize) -> Look {
    let rest = doc.rest(at);
    let is_part = |token: &str| token.len() > rest.len() && token.starts_with(rest);
    let mut tokens = OPENINGS
        .iter()
        .chain(&MESSAGES)
        .chain(&xtml::FRAME)
        .copied()
        .chain(think::TAGS.iter().flat_map(|(open, close)| [*open, *close]))
        .chain(tagged::TAGS.iter().chain(&tagged::PLAIN_TAGS).map(|(open, _)| *open));
    if tokens.any(is_part) || (rest.starts_with('`') && rest.len() < 3 && "```".starts_with(rest)) {
        return Look::Part;
    }
    match think::tag_at(doc, at) {
        Some(Tag::Open { end, close }) => return Look::Thinking(end, close),
        Some(Tag::Close { end }) => return Look::Unopened(end),
        None => {}
    }
    if matches!(family, Family::Auto | Family::Harmony) && doc.after_any(at, &MESSAGES).is_some() {
        let is_content = doc.after(at, "<|message|>").is_some();
        let is_told = family == Family::Harmony || !is_content || harmony::is_harmony(doc.body());
        // Content without a head is only a message if another one follows.
        return if is_told { Look::Message } else { Look::Call };
    }
    if opens_call(doc, at) {
        return Look::Call;
    }
    if let Some(fence) = tagged::fence_at(doc, at) {
        return look_at_fence(family, doc, at, fence);
    }
    let mut walk = Walk { family, in_thought: false, is_data: false };
    match walk.step(doc, at) {
        Step::Calls(_) => Look::Call,
        Step::Drop(end) => Look::Drop(end),
        Step::Text(_) if may_grow(rest) => Look::Wait,
        Step::Text(end) => Look::Text(end),
        Step::Thinking(end, ..) | Step::Unclosed(end) | Step::Unopened(end) => Look::Text(end),
    }
}

/// Whether a token that opens calls stands at `at`, whole.
fn opens_call(doc: &Doc<'_>, at: usize) -> bool {
    let is_deepseek = |token| matches!(token, DeepseekToken::CallsBegin | DeepseekToken::CallBegin);
    doc.after_any(at, &OPENINGS).is_some()
        || tagged::TAGS.iter().any(|(open, _)| doc.after(at, open).is_some())
        || tokens::deepseek_token(doc, at).is_some_and(|(token, _)| is_deepseek(token))
}

fn look_at_fence(family: Family, doc: &mut Doc<'_>, at: usize, fence: tagged::Fence<'_>) -> Look {
    let inner = doc.rest(fence.inner).trim_start();
    let is_open = inner.is_empty() || inner.starts_with(['{', '[', '<']);
    let is_known = family == Family::FencedJson || tagged::is_language(fence.language);
    let line_is_open = fence.inner >= doc.body().len();
    if line_is_open {
        return Look::Wait;
    }
    if !(is_open && is_known) {
        return Look::Fence(fence.inner);
    }
    if tagged::fenced(doc, fence).is_some() {
        return Look::Call;
    }
    // A fence may stand in a string, so JSON is followed to its end.
    let is_open = inner.starts_with(['{', '['])
        && match balanced(inner) {
            Balanced::End(end) => {
                "```".starts_with(inner.get(end..).unwrap_or_default().trim_start())
            }
            Balanced::Open => true,
            Balanced::Broken(_) => false,
        };
    match tagged::fence_end(doc, fence) {
        _ if is_open => Look::Wait,
        Some(end) if end > at => Look::Text(end),
        _ => Look::Wait,
    }
}

/// Whether JSON or a list of calls begins that has not ended yet, or a token of which only a
/// part has come.
fn may_grow(rest: &str) -> bool {
    match rest.chars().next() {
        Some('{') => balanced(rest) == Balanced::Open,
        Some('[') => {
            let inner = rest.get(1..).unwrap_or_default();
            let fits = |c: char| is_word(c) || matches!(c, '.' | '-');
            let name = inner.trim_start();
            let behind = name.trim_start_matches(fits);
            let is_list = behind.len() < name.len() && behind.starts_with('(');
            behind.is_empty()
                || (is_list && pythonic::closing(inner).is_none())
                || balanced(rest) == Balanced::Open
        }
        Some('<') => {
            let inner = rest.get(1..).unwrap_or_default();
            inner.starts_with(['|', '｜']) && rest.len() < 48 && !rest.contains('>')
        }
        _ => false,
    }
}
