//! Harmony, the format of gpt-oss: messages with a head and a content. The channel `analysis` is
//! thinking, `final` and what precedes calls is text, and a message with a recipient is a call.
//! `stream` shows messages by the same functions that read them here.

use super::{
    super::lenient::is_json,
    objects,
    scan::{BracketBalance, SourceText, balanced},
    text_findings::{ParsedText, call},
};
use alloc::string::String;
use innerloop_types::{steps, text::prefix};

/// The tokens that end a message's content.
pub(super) const ENDS: [&str; 5] =
    ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];

/// The tokens that begin the next message's head.
const STARTS: [&str; 2] = ["<|start|>", "<|channel|>"];

/// The token that ends a head.
pub(super) const MESSAGE: &str = "<|message|>";

/// The number of bytes within which a head ends.
const HEAD: usize = 256;

/// Returns whether messages begin at `at` where the family is not known.
pub(super) fn begins(doc: &mut SourceText<'_>, at: usize) -> bool {
    if doc.is_quoted(at) {
        return false;
    }
    // Where the family is only guessed, a token that the text mentions counts only if a message
    // follows.
    let is_head = doc.after_any(at, &STARTS).is_some();
    if is_head { doc.find(MESSAGE, at).is_some() } else { begins_bare(doc, at) }
}

/// Returns whether content begins at `at` whose head is missing: messages that have one follow.
pub(super) fn begins_bare(doc: &mut SourceText<'_>, at: usize) -> bool {
    doc.after(at, MESSAGE).is_some()
        && STARTS.into_iter().any(|start| doc.find(start, at).is_some())
}

/// Returns whether a text begins within a head that has a recipient, its first token having stood
/// in the prompt. `None` while that is unknown.
pub(super) fn begins_in_head(text: &str) -> Option<bool> {
    let near = prefix(text, HEAD);
    steps::count(near.len());
    let head = near.trim_start();
    if !head.starts_with("to=") {
        return if "to=".starts_with(head) { None } else { Some(false) };
    }
    begins_message(head)
}

/// Takes a text apart from `at` on and adds to what was found before it.
pub(super) fn parse(doc: &mut SourceText<'_>, mut at: usize, mut out: ParsedText) -> ParsedText {
    let begin = at;
    while let Some(message) = doc.find(MESSAGE, at).filter(|_| doc.has_room(&out.calls)) {
        let head = head_start(doc.between(at, message));
        let (before, head) = (doc.between(at, at + head), doc.between(at + head, message));
        push_line(&mut out.text, stray(before));
        at = take(doc, &MessageHead::of(head), message + MESSAGE.len(), &mut out);
    }
    // Without any message the text is not Harmony, and stays as it is.
    if at == begin {
        out.text.push_str(doc.rest(at));
        return out;
    }
    push_line(&mut out.text, stray(doc.rest(at)));
    out
}

/// Takes the content that begins at `from` as its head says, and returns where it ends.
fn take(
    doc: &mut SourceText<'_>,
    head: &MessageHead<'_>,
    from: usize,
    out: &mut ParsedText,
) -> usize {
    let content = head.content();
    let to = match content {
        ContentKind::Call | ContentKind::Foreign => call_end(doc, from),
        ContentKind::Text | ContentKind::Thinking => {
            let (ContentEnd::At(length, _) | ContentEnd::Open(length)) =
                content_end(doc.rest(from));
            Some(from + length)
        }
    };
    let said = doc.between(from, to.unwrap_or(doc.body().len()));
    match content {
        ContentKind::Text => push_line(&mut out.text, said),
        ContentKind::Thinking => push_line(&mut out.reasoning, said),
        ContentKind::Call => {
            let name = head.recipient.strip_prefix("functions.");
            // Recipients outside of `functions.` are gpt-oss's built-in tools, such as `python`,
            // unless a tool here has that name.
            let is_foreign = name.is_none() && doc.has_tools() && !doc.knows(head.recipient);
            let said = said.trim();
            // Arguments that end with the text and are not complete were cut.
            let is_cut = to.is_none() && !is_json(said);
            if is_cut || is_foreign {
                out.is_malformed = true;
            } else {
                let name = name.unwrap_or(head.recipient);
                out.calls.push(call(name, objects::arguments(said)));
            }
        }
        ContentKind::Foreign => {}
    }
    to.unwrap_or(doc.body().len())
}

/// Returns where a call's content ends: behind its JSON, whatever tokens that mentions, or else
/// before the next token; `None` if the text's end cuts it.
fn call_end(doc: &mut SourceText<'_>, from: usize) -> Option<usize> {
    let mut at = doc.skip_space(from);
    let rest = doc.rest(at);
    if rest.starts_with('{') {
        let found = balanced(rest);
        doc.spend(found.seen(rest));
        match found {
            BracketBalance::End(length) => at += length,
            BracketBalance::Open => return None,
            BracketBalance::Broken(_) => {}
        }
    }
    ENDS.into_iter().filter_map(|end| doc.find(end, at)).min()
}

/// Returns where the head begins in a stretch between two messages.
fn head_start(text: &str) -> usize {
    steps::count(text.len());
    let start = text.match_indices("<|start|>").last().map(|(at, _)| at);
    let head = start.or_else(|| text.find("<|channel|>")).unwrap_or(text.len());
    // `<|start|>` may be missing before a recipient; then all of the stretch is the head.
    if start.is_none() && text.contains("to=") { 0 } else { head }
}

/// Returns the text between messages, without tokens.
fn stray(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = ENDS.iter().find_map(|end| text.strip_prefix(end)) {
        // This is the head of a message whose content never came.
        if STARTS.iter().any(|start| text.starts_with(start)) {
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

/// The head of a message, which stands before its content.
#[derive(Clone, Copy, Debug, Default)]
struct MessageHead<'a> {
    role: &'a str,
    channel: &'a str,
    recipient: &'a str,
}

impl<'a> MessageHead<'a> {
    fn of(text: &'a str) -> Self {
        let word = |text: &'a str| {
            let end = text.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(text.len());
            text.get(..end).unwrap_or_default()
        };
        let behind =
            |token: &str| text.split_once(token).map_or("", |(_, rest)| word(rest.trim_start()));
        let role = behind("<|start|>");
        Self {
            // The role may be missing, and then the recipient stands in its place.
            role: if role.starts_with("to=") { "assistant" } else { role },
            channel: behind("<|channel|>"),
            recipient: behind("to="),
        }
    }
}

/// The kind of a message's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentKind {
    Text,
    Thinking,
    Call,
    /// The words of another role, which the model repeats.
    Foreign,
}

/// Returns the kind of content that follows a head.
pub(super) fn content_of(head: &str) -> ContentKind {
    MessageHead::of(head).content()
}

/// The end of a message's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentEnd {
    /// The content ends there, before a token of that length that is dropped.
    At(usize, usize),
    /// The content goes on; that many bytes belong to it, whatever follows.
    Open(usize),
}

/// Returns where the content ends that `text` begins with. Tokens that it merely mentions do not
/// end it.
pub(super) fn content_end(text: &str) -> ContentEnd {
    let tokens = text.match_indices("<|").filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        Some((at, rest, ENDS.iter().find(|end| rest.starts_with(**end))?.len()))
    });
    for (at, rest, length) in tokens {
        let behind = rest.get(length..).unwrap_or_default();
        let starts = STARTS.iter().any(|start| rest.starts_with(start));
        // A token that begins a head ends the content only if a message follows. `<|end|>` always
        // ends it. `<|call|>` and `<|return|>` end the whole reply, so within one they count before
        // a head only.
        let ends = match starts {
            true => begins_message(behind),
            false if rest.starts_with("<|end|>") => Some(true),
            false => begins_head(behind),
        };
        match ends {
            Some(false) => {}
            Some(true) => {
                steps::count(at);
                // A token that begins the next head belongs to that head.
                return ContentEnd::At(at, if starts { 0 } else { length });
            }
            None => {
                steps::count(text.len());
                return ContentEnd::Open(at);
            }
        }
    }
    steps::count(text.len());
    ContentEnd::Open(text.len())
}

/// Returns whether a message's content begins soon, before anything that would end it; `None` while
/// that is unknown.
fn begins_message(behind: &str) -> Option<bool> {
    let near = prefix(behind, HEAD);
    steps::count(near.len());
    let head = near.split(MESSAGE).next().unwrap_or(near);
    let is_text = head.contains('\n') || ENDS[..3].iter().any(|end| head.contains(end));
    let is_open = head.len() == near.len() && near.len() < HEAD;
    match is_text {
        true => Some(false),
        false if is_open => None,
        false => Some(head.len() < near.len()),
    }
}

/// Returns whether the head of another message follows at once; `None` while that is unknown.
fn begins_head(behind: &str) -> Option<bool> {
    let next = behind.trim_start();
    steps::count(behind.len() - next.len());
    let is_part = STARTS.iter().any(|start| start.starts_with(next));
    if is_part { None } else { Some(STARTS.iter().any(|start| next.starts_with(start))) }
}

impl MessageHead<'_> {
    fn content(&self) -> ContentKind {
        match (self.role, self.recipient, self.channel) {
            ("" | "assistant", "" | "all" | "user" | "assistant", "analysis" | "thinking") => {
                ContentKind::Thinking
            }
            ("" | "assistant", "" | "all" | "user" | "assistant", _) => ContentKind::Text,
            ("" | "assistant", _, _) => ContentKind::Call,
            _ => ContentKind::Foreign,
        }
    }
}
