//! What the logs hold that every runtime replays (`cargo xtask corpus`).

use innerloop_core::{
    event::EventKind,
    input::{HttpInput, Input},
    json::from_str,
    log,
    message::FoldKind,
    output::{Ask, Effect, OutputBatch},
};
use innerloop_tests::{
    corpus::{self, Log},
    wires::WIRES,
};
use serde_json::Value;
use std::{collections::BTreeSet, str};

/// What a log may hold.
const WANTED: [&str; 10] = [
    "agent_started",
    "an approval",
    "a question",
    "a retry",
    "a base64 chunk",
    "a cut character",
    "a stub",
    "a summary",
    "a snapshot",
    "calls side by side",
];

/// Which of the wanted things a log holds.
fn held(log: &Log) -> BTreeSet<&'static str> {
    let mut held = BTreeSet::new();
    let replayed = log::replay(&log.text).unwrap_or_else(|error| panic!("{}: {error}", log.name));
    for outputs in &replayed.outputs {
        held.extend(events(outputs));
        held.extend(effects(outputs));
    }
    let chunks: Vec<Vec<u8>> = log.text.lines().filter_map(chunk).collect();
    if chunks.iter().any(|chunk| str::from_utf8(chunk).is_err()) {
        held.insert("a base64 chunk");
    }
    // The end of a piece is the beginning of a character whose rest is the next one's beginning.
    let is_cut = |pair: &[Vec<u8>]| {
        let begins = str::from_utf8(&pair[0]).is_err_and(|error| error.error_len().is_none());
        begins && pair[1].first().is_some_and(|byte| byte & 0xc0 == 0x80)
    };
    if chunks.windows(2).any(is_cut) {
        held.insert("a cut character");
    }
    if log.text.contains("\n{\"snapshot\":") {
        held.insert("a snapshot");
    }
    held
}

fn events(outputs: &OutputBatch) -> impl Iterator<Item = &'static str> {
    outputs.events().filter_map(|event| match &event.kind {
        EventKind::AgentStarted { .. } => Some("agent_started"),
        EventKind::Retry { .. } => Some("a retry"),
        EventKind::Compacted { kind: FoldKind::Stub, .. } => Some("a stub"),
        EventKind::Compacted { kind: FoldKind::Summary, .. } => Some("a summary"),
        _ => None,
    })
}

fn effects(outputs: &OutputBatch) -> impl Iterator<Item = &'static str> {
    let runs = outputs.effects().filter(|effect| matches!(effect, Effect::RunTool { .. })).count();
    let asks = outputs.effects().filter_map(|effect| match effect {
        Effect::Ask { ask: Ask::Approval { .. }, .. } => Some("an approval"),
        Effect::Ask { ask: Ask::Question { .. }, .. } => Some("a question"),
        _ => None,
    });
    asks.chain((runs > 1).then_some("calls side by side"))
}

/// The piece of a response that a line of a log brings.
fn chunk(line: &str) -> Option<Vec<u8>> {
    let line: Value = serde_json::from_str(line).expect("a line in JSON");
    let input = line.get("input")?.to_string();
    match from_str::<Input>(&input).expect("an input") {
        Input::Http { input: HttpInput::Chunk(chunk), .. } => Some(chunk.0),
        _ => None,
    }
}

#[test]
fn the_corpus_holds_all_that_runtimes_could_differ_in() {
    let logs = corpus::logs();
    assert!(logs.len() >= 20, "{} logs", logs.len());
    let names: BTreeSet<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    assert_eq!(names.len(), logs.len(), "each has a name of its own");
    // A family that makes one call after the other has none side by side.
    let always = WANTED.into_iter().filter(|wanted| *wanted != "calls side by side");
    let always: BTreeSet<&str> = always.collect();
    let mut all = BTreeSet::new();
    for wire in WIRES {
        let of_wire = logs.iter().filter(|log| log.wire == wire);
        let held: BTreeSet<&str> = of_wire.flat_map(held).collect();
        let missing: Vec<_> = always.difference(&held).collect();
        assert!(missing.is_empty(), "{wire:?} lacks {missing:?}");
        all.extend(held);
    }
    assert_eq!(all, BTreeSet::from(WANTED));
}

#[test]
fn the_corpus_is_the_same_each_time_it_is_made() {
    let (first, second) = (corpus::logs(), corpus::logs());
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one.text, other.text, "{}", one.name);
        assert_eq!(corpus::digest(one), corpus::digest(other), "{}", one.name);
    }
}
