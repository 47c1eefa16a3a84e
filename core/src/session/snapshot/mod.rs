//! Snapshots: a session as bytes, at any moment. The encoded form of a history, and a response that
//! is under way, are not in it: both are made anew. What can be derived is derived, so that a
//! snapshot cannot contradict itself there. Snapshots of earlier versions are still read.

mod error;
mod folding;
mod from_snapshot;
mod input;
mod round;
mod run_form;
mod snapshot_form;

use super::Session;
use crate::machine::agent::Agent;
use alloc::{borrow::Cow, string::String, vec::Vec};
pub use error::RestoreError;
use folding::FoldingForm;
use innerloop_json::{FromJson, IntoList, RawJson, ToJson, from_str};
use innerloop_types::{digest::DigestBuilder, id::AgentId, json::Json, time::UnixMillis};
use input::InputForm;
use run_form::{RunForm, SpentForm};
use snapshot_form::SessionForm;
use snapshot_form::{AgentForm, CallForm, CancelledForm, ChildForm, PhaseForm, SpawnedForm};

const FORMAT: &str = "innerloop-snapshot";

/// Raised whenever the form of a snapshot changes; what it says is not bound to the behaviour
/// that [`REPLAY_VERSION`](super::REPLAY_VERSION) stands for.
const VERSION: u32 = 5;
/// The oldest version that is read.
const OLDEST: u32 = 3;

/// The data of a snapshot about itself, around the state.
#[derive(ToJson, FromJson)]
struct SnapshotEnvelope<'a> {
    format: Cow<'a, str>,
    version: u32,
    /// The digest of the state's bytes, as 16 hexadecimal digits.
    #[json(default)]
    digest: Cow<'a, str>,
    state: Option<RawJson<'a>>,
}

impl Session {
    /// Returns the session as bytes (JSON), from which [`Session::restore`] makes it again.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.snapshot_json().into_text().into_bytes()
    }

    pub(super) fn snapshot_json(&self) -> Json {
        let state = Json::of(&SessionForm {
            config: Cow::Owned(self.own_config()),
            now: self.now,
            events: self.seq,
            effects: self.ledger.issued(),
            purse: Some(self.purse),
            model: self.root.setup.at,
            off_until: Cow::Borrowed(&self.models.off_until),
            cancelled: self.ledger.cancelled().filter_map(CancelledForm::of).into_list(),
            agents: self.agents().map(|agent| self.form(agent)).into_list(),
        });
        Json::of(&SnapshotEnvelope {
            format: Cow::Borrowed(FORMAT),
            version: VERSION,
            digest: Cow::Owned(digest(state.text())),
            state: Some(state.raw()),
        })
    }

    fn form<'a>(&'a self, agent: &'a Agent) -> AgentForm<'a> {
        let body = &agent.body;
        let (pending, learnt) = (body.pending(), body.learnt());
        let children = learnt.children.iter().map(|(id, child)| {
            let (output, turns) = self.said(id);
            ChildForm::of(id, child, &output, turns)
        });
        // A call whose route is the one in force need not store it: it is most of what a call
        // consists of.
        let route = agent.route();
        let calls = pending.calls.iter().map(|call| CallForm::of(call, &route));
        AgentForm {
            id: body.id,
            spawned: body.spawned.as_deref().map(SpawnedForm::of),
            turns: Cow::Borrowed(body.history.turns()),
            steering: Cow::Borrowed(&pending.steering),
            follow_ups: pending.follow_ups.iter().map(InputForm::of).into_list(),
            children: children.into_list(),
            known_files: Cow::Borrowed(&learnt.known_files),
            allowed: Cow::Borrowed(&learnt.allowed),
            warned_of_fullness: body.warned_of_fullness,
            folding: FoldingForm::of(body.folding),
            succeeded: body.succeeded,
            past: SpentForm::of(&body.past),
            run: RunForm::of(&body.run),
            calls: calls.into_list(),
            phase: PhaseForm::of(agent),
        }
    }

    /// Returns the result of an agent, and its number of turns, by now.
    fn said(&self, id: AgentId) -> (String, u32) {
        self.agent(id)
            .map_or_else(Default::default, |agent| (agent.body.result(), agent.body.turns()))
    }

    /// Restores the session of a snapshot; session time goes on from where it stood, which is now
    /// `wall`. Ask [`Session::owed`] for the effects that were open.
    ///
    /// # Errors
    /// The bytes are damaged, or come from a newer version.
    pub fn restore(bytes: &[u8], wall: UnixMillis) -> Result<Self, RestoreError> {
        Self::restore_edited(bytes, wall, &|_| None)
    }

    /// Restores the session of a snapshot like [`Session::restore`], but lets `edit` change its
    /// state before it is read: `edit` gets the JSON, which is undamaged, and may return other
    /// JSON. Hosts remove secrets that were not yet known as such when the snapshot was made.
    ///
    /// # Errors
    /// Like [`Session::restore`]; the changed state counts as damaged if it cannot be read.
    pub fn restore_edited(
        bytes: &[u8],
        wall: UnixMillis,
        edit: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, RestoreError> {
        let text = core::str::from_utf8(bytes).map_err(|error| RestoreError::damaged(&error))?;
        let envelope: SnapshotEnvelope<'_> = read(text)?;
        if envelope.format != FORMAT {
            return Err(RestoreError::damaged("its format is another one"));
        }
        let version = envelope.version;
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(RestoreError::Version { found: version, expected: VERSION });
        }
        let state = envelope.state.ok_or_else(|| RestoreError::damaged("its state is missing"))?;
        if envelope.digest != digest(state.text()) {
            return Err(RestoreError::damaged("its digest is another one"));
        }
        // Behind the check of the digest, which is of the state as it was written.
        let edited = edit(state.text());
        let text = edited.as_deref().unwrap_or(state.text());
        read::<SessionForm<'_>>(text)?.restored(wall)
    }
}

fn read<'a, T: FromJson<'a>>(text: &'a str) -> Result<T, RestoreError> {
    from_str(text).map_err(|error| RestoreError::damaged(&error))
}

/// Returns the digest of a state, as text.
fn digest(state: &str) -> String {
    DigestBuilder::of(state.as_bytes()).text()
}
