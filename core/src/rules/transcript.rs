//! Turns as text: for a model that sums them up, and for a host that stores them. Thinking is left
//! out, and long results are cut in the middle.

use alloc::{format, string::String};
use innerloop_json::{IntoList, joined};
use innerloop_types::{
    message::{Part, Reply, ToolCall, ToolResult, VisibleTurn},
    text::{nth_char, nth_char_back},
};

/// The limits on the length of a transcript, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptLimit {
    /// The limit on the whole transcript.
    pub chars: usize,
    /// The limit on the arguments, or on one result, of a call.
    pub result_chars: usize,
}

/// Returns the turns as text, without the model's thinking. If that is too long, results are
/// shortened further, and then the oldest text is left out.
#[must_use]
pub fn transcript<'a>(
    turns: impl Iterator<Item = VisibleTurn<'a>> + Clone,
    room: TranscriptLimit,
) -> String {
    let mut text = written(turns.clone(), room.result_chars);
    // Bytes, as a cheap bound: at worst, results of text beyond ASCII are shortened a little early.
    if text.len() > room.chars {
        text = written(turns, room.result_chars.min(200));
    }
    let start = nth_char_back(&text, room.chars);
    if start > 0 {
        let left_out = text.get(..start).unwrap_or_default().chars().count();
        let rest = text.get(start..).unwrap_or_default();
        text = format!("[The oldest {left_out} characters are left out.]\n{rest}");
    }
    text
}

fn written<'a>(turns: impl Iterator<Item = VisibleTurn<'a>>, result_chars: usize) -> String {
    let mut out = String::new();
    let mut last = None;
    for turn in turns {
        match turn {
            VisibleTurn::User(parts) => push(&mut out, "User", &text_of(&parts)),
            VisibleTurn::Steering(parts) => push(&mut out, "User, in between", &text_of(&parts)),
            VisibleTurn::System(text) => push(&mut out, "System", text),
            VisibleTurn::Assistant(reply) => {
                push_reply(&mut out, &reply, result_chars);
                last = Some(reply);
            }
            VisibleTurn::ToolResults(results) => {
                for result in &*results {
                    let is_its = |call: &&ToolCall| call.id == result.call_id;
                    let call = last.as_ref().and_then(|reply| reply.tool_calls().find(is_its));
                    let name = call.map_or("a tool", |call| &call.name);
                    push_result(&mut out, name, result, result_chars);
                }
            }
        }
    }
    out
}

fn push(out: &mut String, who: &str, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        out.push_str(&format!("[{who}]\n{text}\n\n"));
    }
}

fn push_reply(out: &mut String, reply: &Reply, max_chars: usize) {
    push(out, "Assistant", &reply.text());
    for call in reply.tool_calls() {
        push_cut(out, &format!("Assistant calls {}", call.name), &call.arguments, max_chars);
    }
}

fn push_result(out: &mut String, name: &str, result: &ToolResult, max_chars: usize) {
    let who = if result.is_error { "Error of" } else { "Result of" };
    push_cut(out, &format!("{who} {name}"), &text_of(&result.parts), max_chars);
}

/// Adds a text, its middle left out if it has more than `max` characters.
fn push_cut(out: &mut String, who: &str, text: &str, max: usize) {
    let (head, tail) = (nth_char(text, max / 2), nth_char_back(text, max - max / 2));
    match (text.get(..head), text.get(head..tail), text.get(tail..)) {
        (Some(head), Some(gap), Some(tail)) if !gap.is_empty() => {
            let gap = gap.chars().count();
            push(out, who, &format!("{head}\n[{gap} characters are left out]\n{tail}"));
        }
        _ => push(out, who, text),
    }
}

/// Returns the text of the parts; a part that is not text is named.
fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { .. } | Part::ImageUrl { .. } => String::from("[a picture]"),
        Part::File { name, .. } => format!("[the file {name}]"),
    });
    joined(&texts.into_list(), "\n")
}
