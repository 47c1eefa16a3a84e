//! Harmony, the channels of gpt-oss: `analysis` is thinking, `final` and what precedes calls is
//! text, and a message with a recipient is a call.

use super::{
    found::{Parsed, call},
    objects,
    scan::{Doc, find},
};
use crate::base::steps;
use alloc::string::String;

/// The tokens that end a message's content.
pub(super) const ENDS: [&str; 5] =
    ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];

/// Whether a text has the tokens of this format.
pub(super) fn is_harmony(text: &str) -> bool {
    let has = |token| find(text, token).is_some();
    has("<|message|>") && (has("<|channel|>") || has("<|start|>"))
}

/// Takes a text apart.
pub(super) fn parse(doc: &mut Doc<'_>) -> Parsed {
    let mut out = Parsed::default();
    let mut at = 0;
    while let Some(message) = doc.find("<|message|>", at) {
        let head = head_start(doc.between(at, message));
        let (before, head) = (doc.between(at, at + head), doc.between(at + head, message));
        push_line(&mut out.text, stray(before));
        let from = message + "<|message|>".len();
        let to = ENDS.into_iter().filter_map(|end| doc.find(end, from)).min();
        let content = doc.between(from, to.unwrap_or(doc.body().len()));
        take(&mut out, &Head::of(head), content);
        at = to.unwrap_or(doc.body().len());
    }
    if at == 0 {
        out.text.push_str(doc.body());
        return out;
    }
    push_line(&mut out.text, stray(doc.rest(at)));
    out
}

/// Where the head begins that ends a stretch between two messages.
fn head_start(text: &str) -> usize {
    steps::count(text.len());
    let start = text.match_indices("<|start|>").last().map(|(at, _)| at);
    let head = start.or_else(|| text.find("<|channel|>")).unwrap_or(text.len());
    // Without a token before it, what stands there is a head if it names a recipient.
    if start.is_none() && text.contains("to=") { 0 } else { head }
}

/// What stands between messages, without the tokens.
fn stray(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = ENDS.iter().find_map(|end| text.strip_prefix(end)) {
        // The head of a message whose content never came.
        if text.starts_with("<|start|>") || text.starts_with("<|channel|>") {
            return "";
        }
        text = rest.trim_start();
    }
    text
}

fn push_line(to: &mut String, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if !to.is_empty() {
        to.push('\n');
    }
    to.push_str(text);
}

/// What stands before a message's content.
#[derive(Clone, Copy, Debug, Default)]
struct Head<'a> {
    role: &'a str,
    channel: &'a str,
    recipient: &'a str,
}

impl<'a> Head<'a> {
    fn of(text: &'a str) -> Self {
        let word = |text: &'a str| {
            let end = text.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(text.len());
            text.get(..end).unwrap_or_default()
        };
        let behind =
            |token: &str| text.split_once(token).map_or("", |(_, rest)| word(rest.trim_start()));
        let role = behind("<|start|>");
        Self {
            role: if role.starts_with("to=") { "assistant" } else { role },
            channel: behind("<|channel|>"),
            recipient: behind("to="),
        }
    }
}

/// What a message's content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    Thinking,
    Call,
    /// Words of others, which the model repeats.
    Foreign,
}

/// What follows a head.
pub(super) fn content_of(head: &str) -> Content {
    Head::of(head).content()
}

/// Where a message's content ends, and how long the token is that ends it and begins nothing.
pub(super) fn content_end(text: &str) -> Option<(usize, usize)> {
    let ends = |&(at, _): &(usize, &str)| {
        let rest = text.get(at..).unwrap_or_default();
        ENDS.iter().any(|end| rest.starts_with(end))
    };
    let found = text.match_indices("<|").find(ends).map(|(at, _)| at);
    steps::count(found.unwrap_or(text.len()));
    let at = found?;
    let rest = text.get(at..).unwrap_or_default();
    let closes = ["<|end|>", "<|call|>", "<|return|>"];
    let length = closes.iter().find(|end| rest.starts_with(**end)).map_or(0, |end| end.len());
    Some((at, length))
}

impl Head<'_> {
    fn content(&self) -> Content {
        match (self.role, self.recipient, self.channel) {
            ("" | "assistant", "" | "all" | "user" | "assistant", "analysis" | "thinking") => {
                Content::Thinking
            }
            ("" | "assistant", "" | "all" | "user" | "assistant", _) => Content::Text,
            ("" | "assistant", _, _) => Content::Call,
            _ => Content::Foreign,
        }
    }
}

fn take(out: &mut Parsed, head: &Head<'_>, content: &str) {
    match head.content() {
        Content::Text => push_line(&mut out.text, content),
        Content::Thinking => push_line(&mut out.reasoning, content),
        Content::Call => {
            let name = head.recipient.strip_prefix("functions.").unwrap_or(head.recipient);
            out.calls.push(call(name, objects::arguments(content)));
        }
        Content::Foreign => {}
    }
}
