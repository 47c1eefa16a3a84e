//! The log is the session, and so is a snapshot: what they give again is what was there.

use super::{
    seen::{Seen, require},
    views::view,
};
use crate::{simulator::subject::Subject, test_host::EPOCH};
use innerloop_core::{
    Session,
    bytes::BodyBytes,
    config::SessionConfig,
    id::AgentId,
    input::Input,
    log,
    message::Turn,
    output::{Effect, HttpRequest, Output, OutputBatch},
    time::{SessionInstant, UnixMillis},
};
use std::collections::BTreeMap;

/// Every so many steps the whole history is compared, not only its end.
const WHOLE_EVERY: u64 = 16;

/// The log, what followed from each of its lines, and the histories.
#[derive(Debug)]
pub(super) struct Durable {
    log: String,
    followed: Vec<Vec<u8>>,
    histories: BTreeMap<AgentId, Vec<Turn>>,
    /// Bytes of all inputs and of all outputs without the bodies of requests.
    bytes_in: u64,
    bytes_out: u64,
}

/// All bytes of the outputs: the JSON of each with the bodies of requests taken out, and these. The
/// first number of bytes is without the bodies.
fn bytes(outputs: &OutputBatch) -> (usize, Vec<u8>) {
    let (mut all, mut bodies) = (Vec::new(), Vec::new());
    for output in outputs {
        let Output::Effect(Effect::Http { id, agent, request, purpose }) = output else {
            all.extend(serde_json::to_vec(output).unwrap_or_default());
            continue;
        };
        let HttpRequest { endpoint, path, headers, body } = request;
        bodies.extend_from_slice(body);
        let (endpoint, path, headers) = (endpoint.clone(), path.clone(), headers.clone());
        let request = HttpRequest { endpoint, path, headers, body: BodyBytes::default() };
        let bare = Effect::Http { id: *id, agent: *agent, request, purpose: *purpose };
        all.extend(serde_json::to_vec(&bare).unwrap_or_default());
    }
    let bare = all.len();
    all.extend(bodies);
    (bare, all)
}

impl Durable {
    pub(super) fn new(config: &SessionConfig, outputs: &OutputBatch) -> Self {
        let log = log::LogHeader::new(config, EPOCH).line();
        let followed = vec![bytes(outputs).1];
        Self { log, followed, histories: BTreeMap::new(), bytes_in: 0, bytes_out: 0 }
    }

    pub(super) fn log(&self) -> &str {
        &self.log
    }

    /// Takes an accepted input and its outputs in.
    pub(super) fn on_step(
        &mut self,
        seen: &Seen<'_>,
        input: &Input,
        at: SessionInstant,
    ) -> Result<(), String> {
        let line = log::entry(input, at);
        let (bare, outputs) = bytes(seen.outputs);
        self.bytes_in += line.len() as u64;
        self.bytes_out += bare as u64;
        let steps = self.followed.len() as u64;
        require(self.bytes_out <= 32 * self.bytes_in + 4_096 * steps, || {
            format!("{} bytes came of {} in {steps} steps", self.bytes_out, self.bytes_in)
        })?;
        let most = 32 * self.bytes_in + 16_384;
        require(bare as u64 <= most, || format!("{bare} bytes came of one input"))?;
        self.log.push_str(&line);
        self.followed.push(outputs);
        self.check_histories(seen)
    }

    /// Histories only grow, and what was said stays as it was.
    fn check_histories(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let whole = (self.followed.len() as u64).is_multiple_of(WHOLE_EVERY);
        for number in 0.. {
            let id = AgentId(number);
            if seen.session().history(id).is_none() {
                break;
            }
            let (turns, known) = (seen.turns(id), self.histories.entry(id).or_default());
            let from = if whole { 0 } else { known.len().saturating_sub(2) };
            let is_same = turns.get(from..known.len()) == known.get(from..);
            require(is_same, || format!("the history of {id} changed: {known:?}\n{turns:?}"))?;
            known.extend(turns.iter().skip(known.len()).cloned());
        }
        Ok(())
    }

    /// The histories are those that were there.
    pub(super) fn check_same(&self, seen: &Seen<'_>) -> Result<(), String> {
        for (&id, known) in &self.histories {
            require(seen.turns(id) == known.as_slice(), || {
                format!("the history of {id} is {:?}\nand was {known:?}", seen.turns(id))
            })?;
        }
        Ok(())
    }

    /// The log gives the same outputs and the same state; returns the session that it gives.
    pub(super) fn replay(&self, subject: &Subject) -> Result<Session, String> {
        let replayed = log::replay(&self.log).map_err(|error| format!("replay: {error}"))?;
        for (index, (outputs, before)) in replayed.outputs.iter().zip(&self.followed).enumerate() {
            let (_, again) = bytes(outputs);
            let what = format!("what line {} of the log gives", index + 1);
            require(again == *before, || differ(&what, &again, before))?;
        }
        let (again, before) = (replayed.session.snapshot(), subject.snapshot());
        require(again == before, || differ("the log's snapshot", &again, &before))?;
        Ok(replayed.session)
    }

    /// A log that was cut anywhere gives the session of its whole lines; a snapshot that was
    /// damaged anywhere is refused, or is at least no trouble.
    pub(super) fn check_damaged(&self, seen: &Seen<'_>, place: usize) -> Result<(), String> {
        let header = self.log.find('\n').map_or(0, |end| end + 1);
        let cut = header + place % (self.log.len() - header + 1);
        let cut = (header..=cut).rev().find(|&cut| self.log.is_char_boundary(cut));
        let part = self.log.get(..cut.unwrap_or(header)).unwrap_or_default();
        let whole = part.matches('\n').count();
        let replayed = log::replay(part).map_err(|error| format!("a cut log: {error}"))?;
        require(replayed.outputs.len() == whole, || "a cut log has lost lines".into())?;
        let mut snapshot = seen.subject.snapshot();
        let place = place % snapshot.len();
        snapshot[place] = snapshot[place].wrapping_add(1);
        require(Session::restore(&snapshot, EPOCH).is_err(), || {
            format!("a snapshot is taken that was damaged at {place}")
        })?;
        snapshot.truncate(place);
        require(Session::restore(&snapshot, EPOCH).is_err(), || "a cut snapshot is taken".into())
    }

    /// A snapshot gives a session with the same snapshot, which owes the same.
    pub(super) fn check_snapshot(seen: &Seen<'_>) -> Result<(), String> {
        let snapshot = seen.subject.snapshot();
        let wall = UnixMillis(EPOCH.0 + seen.now.0);
        let again = Session::restore(&snapshot, wall).map_err(|error| error.to_string())?;
        let bytes = again.snapshot();
        require(bytes == snapshot, || differ("the restored snapshot", &bytes, &snapshot))?;
        for agent in (0..).map(AgentId).take_while(|agent| again.history(*agent).is_some()) {
            let (now, before) = (view(&again, agent), view(seen.session(), agent));
            require(now == before, || differ("what is seen", now.as_bytes(), before.as_bytes()))?;
        }
        let (owed, now_owed) = (seen.subject.session().owed(), again.owed());
        require(owed == now_owed, || format!("owed were {owed:?}\nnow are {now_owed:?}"))?;
        require(again.deadline() == seen.session().deadline(), || {
            format!("the deadline was {:?}, is {:?}", seen.session().deadline(), again.deadline())
        })
    }
}

fn differ(what: &str, now: &[u8], before: &[u8]) -> String {
    let (now, before) = (String::from_utf8_lossy(now), String::from_utf8_lossy(before));
    format!("{what} is\n{now}\nand was\n{before}")
}
