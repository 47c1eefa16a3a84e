//! What any provider demands of a request, and that a request only adds to the one before.

use super::read::{self, Call, Said};
use innerloop_core::config::WireKind;
use serde_json::{Value, value::RawValue};
use std::collections::{BTreeMap, BTreeSet};

/// What Anthropic's requests mark the end of what is to be kept with.
pub const MARKER: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// The fields by which a request may differ from the one before all the same: for once it may
/// forbid tools, which Ollama does by showing none.
const MAY_DIFFER: [(WireKind, &str); 5] = [
    (WireKind::OpenaiResponses, "tool_choice"),
    (WireKind::OpenaiChat, "tool_choice"),
    (WireKind::Anthropic, "tool_choice"),
    (WireKind::Gemini, "toolConfig"),
    (WireKind::Ollama, "tools"),
];

/// The fields that no request may lack.
const DEMANDED: [(WireKind, &[&str]); 5] = [
    (WireKind::OpenaiResponses, &["model", "input", "stream"]),
    (WireKind::OpenaiChat, &["model", "messages", "stream"]),
    (WireKind::Anthropic, &["model", "messages", "max_tokens", "stream"]),
    (WireKind::Gemini, &["contents", "generationConfig"]),
    (WireKind::Ollama, &["model", "messages", "stream", "options"]),
];

/// What every provider demands of a body.
///
/// # Errors
/// What it would refuse.
pub fn check(wire: WireKind, body: &Value, is_paused: bool) -> Result<(), String> {
    for field in DEMANDED.iter().find(|(kind, _)| *kind == wire).map_or(&[][..], |(_, all)| all) {
        require(!body[field].is_null(), || format!("the field {field} is missing"))?;
    }
    let turns = body[read::turns(wire)].as_array().ok_or("no turns")?;
    require(!turns.is_empty(), || "no turn".into())?;
    if matches!(wire, WireKind::Anthropic | WireKind::Gemini) {
        let roles = ["user", if wire == WireKind::Gemini { "model" } else { "assistant" }];
        for (index, turn) in turns.iter().enumerate() {
            let is_next = turn["role"] == roles[index % 2];
            require(is_next, || format!("turn {index} is not of the {}", roles[index % 2]))?;
        }
    }
    let said = read::said(wire, body);
    check_calls(wire, &said)?;
    let is_empty = |said: &&Said| match said {
        Said::User(text, images) => text.trim().is_empty() && *images == 0,
        Said::Text(text) => text.is_empty(),
        _ => false,
    };
    require(!said.iter().any(|one| is_empty(&one)), || "something says nothing".into())?;
    let tail: Vec<&Said> = said.iter().rev().take_while(|one| one.is_models()).collect();
    // What a provider's own tools did may come last: the model goes on from there.
    let is_users = tail.is_empty() || tail.iter().any(|one| matches!(one, Said::Other(_)));
    require(is_users || is_paused, || "the last word is the model's own".into())
}

/// Every call is answered once, in call order, before anything else is said; ids are those that
/// the provider takes, and occur once.
fn check_calls(wire: WireKind, said: &[Said]) -> Result<(), String> {
    let mut open: Vec<&Call> = Vec::new();
    let mut answered = 0;
    let mut ids = BTreeSet::new();
    for one in said {
        match one {
            Said::Call(call) => {
                require(answered == 0, || format!("{} is called between results", call.id))?;
                let is_new = call.id.is_empty() || ids.insert(&call.id);
                require(is_new, || format!("the id {:?} occurs twice", call.id))?;
                require(is_id(wire, &call.id), || format!("the id {:?}", call.id))?;
                open.push(call);
            }
            Said::Result(answer) => {
                let call = open.get(answered).ok_or("a result without a call")?;
                let is_its =
                    call.id == answer.id && (answer.name.is_empty() || answer.name == call.name);
                require(is_its, || format!("{answer:?} answers {call:?}"))?;
                answered += 1;
            }
            _ => {}
        }
        let is_more = matches!(one, Said::Call(_) | Said::Result(_));
        if answered == open.len() {
            open.clear();
            answered = 0;
        } else {
            // Text behind a call belongs to the same reply.
            require(is_more || (answered == 0 && one.is_models()), || {
                format!("{one:?} stands between calls and their results")
            })?;
        }
    }
    require(open.is_empty(), || format!("the calls {open:?} dangle"))
}

/// Whether the provider takes that id of a call.
fn is_id(wire: WireKind, id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match wire {
        WireKind::Anthropic => (1..=64).contains(&id.len()) && id.chars().all(fits),
        WireKind::OpenaiResponses => (1..=64).contains(&id.len()),
        WireKind::OpenaiChat => !id.is_empty(),
        _ => true,
    }
}

/// How requests name their limits of a reply.
const LIMITS: [&str; 7] = [
    "budget_tokens",
    "maxOutputTokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "num_predict",
    "thinkingBudget",
];

/// That a request begins with the one before: what was said then is the same, byte for byte,
/// cache markers aside, and so is all that stands beside it but for the limits of the reply.
///
/// # Errors
/// What differs.
pub fn extends(wire: WireKind, before: &str, after: &str) -> Result<(), String> {
    let plain = |body: &str| without_limits(&body.replace(MARKER, ""));
    let (before, after) = (plain(before), plain(after));
    let (mut old, mut new) = (fields(&before)?, fields(&after)?);
    for (kind, field) in MAY_DIFFER {
        if kind == wire {
            old.remove(field);
            new.remove(field);
        }
    }
    let turns = read::turns(wire);
    let (Some(old_turns), Some(new_turns)) = (old.remove(turns), new.remove(turns)) else {
        return Err("no turns".into());
    };
    let stem = old_turns.get().trim_end_matches([']', '}']);
    require(new_turns.get().starts_with(stem), || {
        format!("what was said before is rewritten: {}\nbefore: {stem}", new_turns.get())
    })?;
    let texts = |fields: &BTreeMap<&str, &RawValue>| -> Vec<String> {
        fields.iter().map(|(name, value)| format!("{name}: {value}")).collect()
    };
    let (old, new) = (texts(&old), texts(&new));
    require(old == new, || format!("the head is rewritten: {new:?}\nbefore: {old:?}"))
}

/// A body with no number for how long the reply and its thinking may be: a prompt holds neither.
fn without_limits(body: &str) -> String {
    let mut out = body.to_owned();
    for name in LIMITS {
        let name = format!("\"{name}\":");
        let mut pieces = out.split(&name);
        let mut plain = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let rest = piece.trim_start_matches(|letter: char| letter.is_ascii_digit());
            plain.extend([&name, "0", rest]);
        }
        out = plain;
    }
    out
}

fn fields(body: &str) -> Result<BTreeMap<&str, &RawValue>, String> {
    serde_json::from_str(body).map_err(|error| error.to_string())
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
