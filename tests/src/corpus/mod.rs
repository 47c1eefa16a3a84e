//! Logs of sessions that every runtime must replay to the same bytes: scripted scenes over each
//! protocol, and sessions of the simulator. They are made anew each time, always the same.

mod scenes;

use crate::{
    simulator::{self, Plan},
    wires::WIRES,
};
use innerloop_core::config::WireKind;
use innerloop_driver::LineServer;
use scenes::SCENES;
use sha2::{Digest, Sha256};

/// The simulator's seeds over each protocol.
const SEEDS: [u64; 2] = [1, 7];

/// Steps of a simulated session before it comes to its end.
const STEPS: usize = 60;

/// A log of the corpus.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its protocol, and its scene or seed; a file's name.
    pub name: String,
    /// The protocol in which its session talks to the model.
    pub wire: WireKind,
    /// Its lines.
    pub text: String,
}

/// All logs of the corpus.
///
/// # Panics
/// A seed of the simulator fails.
#[must_use]
pub fn logs() -> Vec<Log> {
    WIRES.into_iter().flat_map(of_wire).collect()
}

/// The digest of what a log's replay answers, in the words of the lines: what every runtime must
/// come to.
#[must_use]
pub fn digest(log: &Log) -> String {
    let request = format!("{{\"replay\":null}}\n{}", log.text);
    let mut lines = LineServer::default();
    let answer = lines.call(request.as_bytes());
    Sha256::digest(answer).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_wire(wire: WireKind) -> Vec<Log> {
    let scenes = SCENES.into_iter().map(|(name, play)| (name.to_owned(), play(wire).log));
    let seeds = SEEDS.into_iter().map(|seed| (format!("seed-{seed}"), simulated(wire, seed)));
    let named = |(name, text)| Log { name: format!("{}-{name}", name_of(wire)), wire, text };
    scenes.chain(seeds).map(named).collect()
}

fn simulated(wire: WireKind, seed: u64) -> String {
    // Without further models, which came after the first of the logs.
    let plan = Plan { steps: STEPS, wire: Some(wire), routes: false, ..Plan::default() };
    match simulator::run(seed, plan) {
        Ok(report) => report.log,
        Err(fault) => panic!("seed {seed} fails: {}", fault.message),
    }
}

const fn name_of(wire: WireKind) -> &'static str {
    match wire {
        WireKind::OpenaiResponses => "openai-responses",
        WireKind::OpenaiChat => "openai-chat",
        WireKind::Gemini => "gemini",
        WireKind::Ollama => "ollama",
        _ => "anthropic",
    }
}
