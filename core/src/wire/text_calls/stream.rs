//! A text while it arrives: what is surely text or thinking is shown at once, what may begin a
//! call is held back. The whole text is taken apart at its end, so no chunking changes the result.
//! Each byte is looked at a bounded number of times, however long it is held back.

use super::{
    found::{BEFORE, Parsed},
    gemma, harmony, minimax, pythonic,
    scan::{self, Balanced, Doc, Follower, find},
    tagged,
    think::{self, Pair},
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
    /// From where JSON is followed meanwhile, whose end is worth a look, too.
    json: Option<Json>,
    /// How far it has been searched for what ends the state.
    sought: usize,
    /// How many bytes may still be looked at.
    budget: usize,
    /// Where thinking was taken out of the text last.
    taken: Option<usize>,
    /// How many tags may still close thinking that is nested.
    opened: usize,
}

/// Where the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// In thinking, between these tags.
    Thinking(Pair),
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

/// JSON that has not ended: where it begins, and how far it was followed.
type Json = (usize, Follower);

/// What begins a call.
const OPENINGS: [&str; 15] = [
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
            json: None,
            sought: 0,
            budget: scan::AT_LEAST,
            taken: None,
            opened: 0,
        }
    }

    /// Takes more of the text, cut anywhere, and appends what can be shown of it to `out`.
    pub fn feed(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.text.push_str(text);
        self.budget = self.budget.saturating_add(scan::budget(text.len()));
        if self.text.len() < self.wait && !self.json_ends() {
            return;
        }
        (self.wait, self.json) = (0, None);
        while self.wait == 0 && self.state != State::Held && self.at < self.text.len() {
            match self.state {
                State::Text => self.on_text(out),
                State::Thinking(tags) => self.on_thinking(tags, out),
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
        self.state == State::Held || (self.wait > 0 && self.rest() != "]")
    }

    /// Looks at the same place again when there is more of it.
    const fn wait_for_byte(&mut self) {
        self.wait = self.text.len() + 1;
    }

    /// Looks at the same place again when what follows it has doubled, or if it is JSON, when
    /// that ends.
    fn wait_for_more(&mut self, json: Option<Json>) {
        let double = (self.text.len() - self.at).saturating_add(self.text.len());
        self.wait = if json.is_some() { usize::MAX } else { double };
        self.json = json;
    }

    /// Whether the JSON that is followed has ended.
    fn json_ends(&mut self) -> bool {
        self.json.as_mut().is_some_and(|(from, follower)| {
            let text = self.text.get(*from..).unwrap_or_default();
            follower.follow(text) != Balanced::Open
        })
    }

    /// Where `needle` stands, from here on. What was searched is not searched again.
    fn seek(&mut self, needle: &str) -> Option<usize> {
        let seen = self.text.floor_char_boundary(self.sought.saturating_sub(needle.len()));
        let from = seen.max(self.at);
        let found = find(self.text.get(from..).unwrap_or_default(), needle).map(|at| from + at);
        self.sought = found.unwrap_or(self.text.len());
        found
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
            Look::Wait(json) => self.wait_for_more(json),
            // A token is short, so that each byte of it may be looked at.
            Look::Part => self.wait_for_byte(),
            Look::Call => self.state = State::Held,
            Look::Drop(end) => self.skip_to(end),
            Look::Thinking(tag) => self.on_tag(tag, out),
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

    /// Thinking begins or ends here.
    fn on_tag(&mut self, tag: think::Tag, out: &mut Vec<Piece>) {
        let before = self.text.get(..self.at).unwrap_or_default();
        if tag.is_open {
            // Text before the first tag may be thinking that was begun in the prompt.
            self.opened += usize::from(self.taken.is_none() && !before.trim().is_empty());
            self.state = State::Thinking(tag.pair);
        } else if self.taken.is_some() && self.opened == 0 {
            self.at = tag.end;
            return self.show_text(tag.end, out);
        } else {
            self.opened -= usize::from(self.taken.is_some());
            let new = before.get(self.taken.unwrap_or_default()..).unwrap_or_default();
            steps::count(new.len());
            if self.taken.is_none() || !new.trim().is_empty() {
                steps::count(before.len());
                self.budget = self.budget.saturating_sub(before.len());
                out.push(Piece::Restart);
                show_thought(think::bare(before, tag.pair).0.trim(), out);
            }
        }
        self.take_to(tag.end);
    }

    fn on_thinking(&mut self, tags: Pair, out: &mut Vec<Piece>) {
        if let Some(to) = self.seek(tags.1) {
            self.show_thinking(to, Some(tags), out);
            self.take_to(to + tags.1.len());
            self.state = State::Text;
            return;
        }
        let rest = self.rest();
        // A call may follow although the thinking never ends.
        const CALLS: [&str; 3] = ["<tool_call>", "<function=", tokens::MISTRAL];
        let begins = |&(at, _): &(usize, &str)| {
            let rest = rest.get(at..).unwrap_or_default();
            CALLS.iter().any(|call| rest.starts_with(call))
        };
        let call = rest.match_indices(['<', '[']).find(begins).map(|(at, _)| at);
        steps::count(call.unwrap_or(rest.len()));
        let to = call.unwrap_or_else(|| {
            rest.len() - partial(rest, &[CALLS[0], CALLS[1], CALLS[2], tags.0, tags.1])
        });
        self.show_thinking(self.at + to, Some(tags), out);
        if self.at < self.text.len() {
            self.wait_for_byte();
        }
    }

    fn on_fence(&mut self, out: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = find(rest, "```").map(|at| at + 3);
        let to = end.unwrap_or(rest.len() - partial(rest, &["```"]));
        self.at += to;
        self.show_text(self.at, out);
        match end {
            Some(_) => self.state = State::Text,
            None if self.at < self.text.len() => self.wait_for_byte(),
            None => {}
        }
    }

    fn on_head(&mut self) {
        let Some(to) = self.seek("<|message|>") else {
            self.wait_for_byte();
            return;
        };
        let head = self.text.get(self.at..to).unwrap_or_default();
        steps::count(head.len());
        let channel = match harmony::content_of(head) {
            harmony::Content::Text => Channel::Text,
            harmony::Content::Thinking => Channel::Thinking,
            harmony::Content::Call | harmony::Content::Foreign => Channel::Call,
        };
        self.take_to(to + "<|message|>".len());
        self.state = State::Content(channel);
    }

    fn on_content(&mut self, channel: Channel, out: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = harmony::content_end(rest);
        let to = end.map_or_else(|| rest.len() - partial(rest, &harmony::ENDS), |(to, _)| to);
        let to = self.at + to;
        match channel {
            Channel::Text => {
                self.at = to;
                self.show_text(to, out);
            }
            Channel::Thinking => self.show_thinking(to, None, out),
            Channel::Call => self.skip_to(to),
        }
        match end {
            Some((_, length)) => {
                self.skip_to(to + length);
                self.state = State::Head;
            }
            None if self.at < self.text.len() => self.wait_for_byte(),
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
        let begun = if text.ends_with(BEFORE) { BEFORE.len() } else { partial(text, &[BEFORE]) };
        let text = text.get(..text.len() - begun).unwrap_or_default();
        let held = text.len();
        let text = text.trim_end();
        steps::count(held - text.len());
        if !text.is_empty() {
            self.shown += text.len();
            out.push(Piece::Text(text.into()));
        }
    }

    fn show_thinking(&mut self, to: usize, tags: Option<Pair>, out: &mut Vec<Piece>) {
        let thought = self.text.get(self.at..to).unwrap_or_default();
        steps::count(thought.len());
        match tags {
            Some(tags) => {
                let (thought, opened) = think::bare(thought, tags);
                self.opened += opened;
                show_thought(&thought, out);
            }
            None => show_thought(thought, out),
        }
        self.skip_to(to);
    }

    const fn skip_to(&mut self, end: usize) {
        (self.at, self.shown) = (end, end);
    }

    /// As [`Self::skip_to`], behind thinking.
    const fn take_to(&mut self, end: usize) {
        self.skip_to(end);
        self.taken = Some(end);
    }
}

fn show_thought(thought: &str, out: &mut Vec<Piece>) {
    if !thought.is_empty() {
        out.push(Piece::Reasoning(thought.into()));
    }
}

/// How many bytes at the end of `text` may begin one of the tokens.
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

/// No token is longer.
const LONGEST: usize = 32;

/// What is to be made of a place while the text goes on.
#[derive(Debug)]
enum Look {
    /// It is text up to there, whatever follows.
    Text(usize),
    /// More must come before it can be told: the end of the JSON, if it is that.
    Wait(Option<Json>),
    /// So must the rest of a token.
    Part,
    /// A call begins.
    Call,
    /// It is left out.
    Drop(usize),
    /// Thinking begins or ends.
    Thinking(think::Tag),
    /// A fence begins that holds no call.
    Fence(usize),
    /// A message of Harmony begins.
    Message,
}

fn look(family: Family, doc: &mut Doc<'_>, at: usize) -> Look {
    let rest = doc.rest(at);
    if rest.len() < LONGEST && !rest.starts_with('{') && is_part(rest) {
        return Look::Part;
    }
    if !walk::may_begin(rest) {
        return Look::Text(at + 1);
    }
    if let Some(tag) = think::tag_at(doc, at) {
        return Look::Thinking(tag);
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
    match walk.unfenced(doc, at) {
        Step::Calls(_) => Look::Call,
        Step::Drop(end) => Look::Drop(end),
        Step::Text(end) => grows(doc, at).map_or(Look::Text(end), Look::Wait),
        Step::Thinking(tag) => Look::Text(tag.end),
    }
}

/// Whether that is the beginning of a token.
fn is_part(rest: &str) -> bool {
    let is_part = |token: &str| {
        steps::count(1);
        token.len() > rest.len() && token.starts_with(rest)
    };
    let ends = |pairs: &[Pair]| pairs.iter().any(|(open, close)| is_part(open) || is_part(close));
    OPENINGS.into_iter().chain(MESSAGES).chain(["```"]).any(is_part)
        || walk::FRAMES.iter().any(|(token, _)| is_part(token))
        || [&tagged::TAGS[..], &tagged::PLAIN_TAGS, &gemma::TAGS, &think::TAGS]
            .into_iter()
            .any(ends)
}

/// Whether a token that opens calls stands at `at`, whole.
fn opens_call(doc: &Doc<'_>, at: usize) -> bool {
    if matches!(doc.rest(at).as_bytes(), [b'{' | b'`', ..]) {
        return false;
    }
    let is_deepseek = |token| matches!(token, DeepseekToken::CallsBegin | DeepseekToken::CallBegin);
    doc.after_any(at, &OPENINGS).is_some()
        || tagged::TAGS.iter().chain(&gemma::TAGS).any(|(open, _)| doc.after(at, open).is_some())
        || tokens::deepseek_token(doc, at).is_some_and(|(token, _)| is_deepseek(token))
}

fn look_at_fence(family: Family, doc: &mut Doc<'_>, at: usize, fence: tagged::Fence<'_>) -> Look {
    let from = doc.skip_space(fence.inner);
    let inner = doc.rest(from);
    let is_open = inner.is_empty() || inner.starts_with(['{', '[', '<']);
    let is_known = family == Family::FencedJson || tagged::is_language(fence.language);
    let line_is_open = fence.inner >= doc.body().len();
    if line_is_open {
        return Look::Wait(None);
    }
    if !(is_open && is_known) {
        return Look::Fence(fence.inner);
    }
    if tagged::fenced(doc, fence).is_some() {
        return Look::Call;
    }
    // A fence may stand in a string, so JSON is followed to its end.
    if inner.starts_with(['{', '[']) {
        let (found, follower) = follow(doc, from);
        match found {
            Balanced::Open => return Look::Wait(Some((from, follower))),
            Balanced::End(end) => {
                let behind = doc.skip_space(from + end);
                if "```".starts_with(doc.rest(behind)) {
                    return Look::Wait(None);
                }
            }
            Balanced::Broken(_) => {}
        }
    }
    match tagged::fence_end(doc, fence) {
        Some(end) if end > at => Look::Text(end),
        _ => Look::Wait(None),
    }
}

/// Follows the JSON that begins at `at`.
fn follow(doc: &Doc<'_>, at: usize) -> (Balanced, Follower) {
    let mut follower = Follower::default();
    let found = follower.follow(doc.rest(at));
    doc.spend(found.seen(doc.rest(at)));
    (found, follower)
}

/// Whether JSON or a list of calls begins that has not ended yet, or a token of which only a
/// part has come.
fn grows(doc: &Doc<'_>, at: usize) -> Option<Option<Json>> {
    let rest = doc.rest(at);
    let json = || {
        let (found, follower) = follow(doc, at);
        (found == Balanced::Open).then_some(Some((at, follower)))
    };
    match rest.chars().next() {
        Some('{') => json(),
        Some('[') => {
            let inner = rest.get(1..).unwrap_or_default();
            let fits = |c: char| is_word(c) || matches!(c, '.' | '-');
            let name = inner.trim_start();
            let behind = name.trim_start_matches(fits);
            doc.read(rest.len() - behind.len());
            let is_list = behind.len() < name.len() && behind.starts_with('(');
            let ends = || {
                let end = pythonic::closing(inner).map(|(end, _)| end);
                doc.spend(end.unwrap_or(inner.len()));
                end.is_some()
            };
            if behind.is_empty() || (is_list && !ends()) { Some(None) } else { json() }
        }
        Some('<') => {
            let inner = rest.get(1..).unwrap_or_default();
            let is_part = inner.starts_with(['|', '｜']) && rest.len() < 48 && !rest.contains('>');
            is_part.then_some(None)
        }
        _ => None,
    }
}
