//! The forms in which a session is shown: what was said and done, as text, Markdown or JSON, and
//! its last exchange in brief.

use crate::{
    args::SessionFormat,
    call_summary::CallDescriber,
    style::{brief, harmless},
};
use innerloop_core::{
    Session,
    id::AgentId,
    json::to_string,
    message::{
        Block, LeftOutKind, MarkedText, Part, Reply, RewindReason, ToolResult, Turn, TurnKind,
        VisibleTurn, joined_text,
    },
};
use serde_json::json;
use std::fmt::Write as _;

/// The bounds of the last exchange: characters of the input and of a call, calls, and lines of the
/// reply.
const SAID: usize = 300;
const LINE: usize = 110;
const CALLS: usize = 5;
const LINES: usize = 20;

/// Returns the session in that form, with a line feed at its end.
pub(super) fn shown(session: &Session, form: SessionFormat) -> String {
    let turns = session.history(AgentId::ROOT).map(|history| history.turns()).unwrap_or_default();
    match form {
        SessionFormat::Text => text(turns, &CallDescriber::new(session.config())),
        SessionFormat::Markdown => markdown(session, turns),
        SessionFormat::Json => as_json(session, turns),
    }
}

/// Returns the user's last input and what came of it, in brief: the calls, and the end of the last
/// reply. It is harmless to a terminal.
pub(crate) fn last_exchange(session: &Session) -> String {
    let history = session.history(AgentId::ROOT);
    let seen: Vec<VisibleTurn<'_>> =
        history.into_iter().flat_map(|history| history.seen()).collect();
    let is_input = |said: &VisibleTurn<'_>| matches!(said, VisibleTurn::User(_));
    let first = seen.iter().rposition(is_input).unwrap_or_default();
    let words = CallDescriber::new(session.config());
    let (mut out, mut calls, mut reply) = (String::new(), Vec::new(), String::new());
    for said in seen.iter().skip(first) {
        match said {
            VisibleTurn::User(parts) => {
                let _ = writeln!(out, "> {}", brief(&parts_text(parts), SAID));
            }
            VisibleTurn::Assistant(said) => {
                let texts = said.blocks.iter().filter_map(|block| match block {
                    Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                        Some(text.trim())
                    }
                    _ => None,
                });
                reply = texts.collect::<Vec<_>>().join("\n\n");
                calls.extend(said.blocks.iter().filter_map(|block| match block {
                    Block::ToolCall(call) => Some(words.phrase(&call.name, &call.arguments)),
                    _ => None,
                }));
            }
            VisibleTurn::Steering(_) | VisibleTurn::System(_) | VisibleTurn::ToolResults(_) => {}
        }
    }
    let more = calls.len().saturating_sub(CALLS);
    if more > 0 {
        let _ = writeln!(out, "  … {more} other call{}", if more == 1 { "" } else { "s" });
    }
    for phrase in calls.iter().skip(more) {
        let _ = writeln!(out, "• {}", brief(&format!("{} {}", phrase.verb, phrase.rest), LINE));
    }
    let lines: Vec<&str> = reply.lines().collect();
    let more = lines.len().saturating_sub(LINES);
    if more > 0 {
        let _ = writeln!(out, "… {more} more lines");
    }
    let lines = lines.iter().skip(more);
    lines.for_each(|line| out.push_str(&format!("{}\n", harmless(line.trim_end()))));
    out
}

fn text(turns: &[Turn], words: &CallDescriber) -> String {
    let mut out = String::new();
    for turn in turns {
        match &turn.kind {
            TurnKind::User(parts) => said(&mut out, "> ", parts),
            TurnKind::Steering(parts) => said(&mut out, ">> ", parts),
            TurnKind::System(text) => said(&mut out, "! ", &[Part::text(text.clone())]),
            TurnKind::Assistant(reply) => reply_text(&mut out, reply, words),
            TurnKind::ToolResults(results) => {
                for result in results {
                    indented(&mut out, "    ", &result_text(result));
                }
                out.push('\n');
            }
            kind => out.push_str(&format!("~ {}\n\n", change(kind))),
        }
    }
    out
}

fn reply_text(out: &mut String, reply: &Reply, words: &CallDescriber) {
    for block in &reply.blocks {
        match block {
            Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                let _ = writeln!(out, "{}\n", text.trim_end());
            }
            Block::ToolCall(call) => {
                let phrase = words.phrase(&call.name, &call.arguments);
                let line = format!("• {} {}", phrase.verb, phrase.rest);
                let _ = writeln!(out, "{}", line.trim_end());
            }
            Block::Reasoning(_) | Block::Opaque(_) => {}
        }
    }
}

/// Returns what a turn without words has changed.
fn change(kind: &TurnKind) -> String {
    match kind {
        TurnKind::Rewound { at, why: RewindReason::Undo } => format!("undone: back to turn {at}"),
        TurnKind::Rewound { at, why: RewindReason::Redo } => format!("redone: on to turn {at}"),
        TurnKind::Rewound { at, why: RewindReason::Restore } => format!("restored: turn {at}"),
        TurnKind::Rewound { why: RewindReason::Clear, .. } => "cleared".to_owned(),
        TurnKind::LeftOut(left) if left.how == LeftOutKind::PutBack => "put back".to_owned(),
        TurnKind::LeftOut(left) => format!("left out: {}", left.why),
        TurnKind::Folded(fold) => {
            format!("folded: the turns before {}", fold.upto.max(fold.stub_before))
        }
        _ => String::new(),
    }
}

/// Writes what a person said, with a mark before its first line.
fn said(out: &mut String, mark: &str, parts: &[Part]) {
    let text = parts_text(parts);
    let rest = " ".repeat(mark.chars().count());
    for (index, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{}{line}", if index == 0 { mark } else { &rest });
    }
    out.push('\n');
}

fn indented(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "{}", format!("{indent}{line}").trim_end());
    }
}

fn result_text(result: &ToolResult) -> String {
    let text = parts_text(&result.parts);
    if result.is_error { format!("failed: {text}") } else { text }
}

/// Returns the texts of the parts, and a description of each other part.
fn parts_text(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text { text } => text.trim_end().to_owned(),
        Part::Image { media_type, .. } => format!("[a picture, {media_type}]"),
        Part::ImageUrl { url } => format!("[a picture, {url}]"),
        Part::File { name, .. } => format!("[a file, {name}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn markdown(session: &Session, turns: &[Turn]) -> String {
    let mut out =
        format!("# Session {}\n\nModel: {}\n", session.id().0, session.config().model.name);
    for turn in turns {
        match &turn.kind {
            TurnKind::User(parts) | TurnKind::Steering(parts) => {
                let _ = write!(out, "\n## User\n\n{}\n", parts_text(parts));
            }
            TurnKind::System(text) => {
                let _ = write!(out, "\n## Note to the model\n\n{}\n", text.trim_end());
            }
            TurnKind::Assistant(reply) => {
                out.push_str("\n## Assistant\n");
                for block in &reply.blocks {
                    match block {
                        Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                            let _ = write!(out, "\n{}\n", text.trim_end());
                        }
                        Block::ToolCall(call) => {
                            let _ = write!(out, "\n**{}**\n", call.name);
                            fenced(&mut out, "json", &call.arguments);
                        }
                        Block::Reasoning(_) | Block::Opaque(_) => {}
                    }
                }
            }
            TurnKind::ToolResults(results) => {
                for result in results {
                    let _ =
                        write!(out, "\n{}:\n", if result.is_error { "Failed" } else { "Result" });
                    fenced(&mut out, "", &parts_text(&result.parts));
                }
            }
            kind => out.push_str(&format!("\n*{}*\n", change(kind))),
        }
    }
    out
}

/// Writes a block of code. Its fence is longer than any in the text, which could end it otherwise.
fn fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(out, "\n{fence}{language}\n{}\n{fence}\n", text.trim_end());
}

fn as_json(session: &Session, turns: &[Turn]) -> String {
    let turns: Vec<serde_json::Value> =
        turns.iter().filter_map(|turn| serde_json::from_str(&to_string(turn)).ok()).collect();
    let model = &session.config().model.name;
    format!("{:#}\n", json!({"id": session.id().0, "model": model, "turns": turns}))
}

/// Returns the first words of an input, as a title for lists.
pub(crate) fn title(parts: &[Part]) -> String {
    brief(&joined_text(parts), 80)
}
