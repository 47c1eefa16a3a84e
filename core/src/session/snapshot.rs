//! A session as bytes, at any moment. The encoded form of the history and a response that is
//! under way are not in it: both are made anew.

use super::{REPLAY_VERSION, Session};
use crate::{
    machine::{
        agent::{Agent, Phase},
        body::{Body, Queues, Run},
        history::History,
        ledger::Ledger,
        setup::Setup,
    },
    nouns::{
        config::{ConfigError, SessionConfig},
        message::Turn,
    },
    words::{
        id::AgentId,
        time::{Instant, UnixMillis},
    },
};
use alloc::{
    borrow::Cow,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "innerloop-snapshot";

/// Bytes that are not a snapshot that this version can restore.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes are no snapshot, or were damaged.
    #[error("this is not an Innerloop snapshot, or it is damaged: {0}")]
    Damaged(String),
    /// The snapshot comes from another version.
    #[error("the snapshot has version {found}, this program reads version {expected}")]
    Version {
        /// The snapshot's version.
        found: u32,
        /// The version that can be read.
        expected: u32,
    },
    /// The snapshot's configuration cannot work.
    #[error("the snapshot's configuration cannot work: {0}")]
    Config(#[from] ConfigError),
}

#[derive(Deserialize)]
struct Label {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct State<'a> {
    format: Cow<'a, str>,
    version: u32,
    config: Cow<'a, SessionConfig>,
    now: Instant,
    seq: u64,
    ledger: Cow<'a, Ledger>,
    turns: Cow<'a, [Turn]>,
    queues: Cow<'a, Queues>,
    run: Cow<'a, Run>,
    past: Cow<'a, Run>,
    phase: Cow<'a, Phase>,
}

impl Session {
    /// The session as bytes (JSON), from which [`Session::restore`] makes it again.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let Agent { body, phase } = &self.agent;
        let state = State {
            format: Cow::Borrowed(FORMAT),
            version: REPLAY_VERSION,
            config: Cow::Borrowed(&self.setup.config),
            now: self.now,
            seq: self.seq,
            ledger: Cow::Borrowed(&self.ledger),
            turns: Cow::Borrowed(body.history.turns()),
            queues: Cow::Borrowed(&body.queues),
            run: Cow::Borrowed(&body.run),
            past: Cow::Borrowed(&body.past),
            phase: Cow::Borrowed(phase),
        };
        // Plain data with text keys has no way to fail.
        serde_json::to_vec(&state).unwrap_or_default()
    }

    /// Makes the session of a snapshot again; session time goes on from where it stood, which is
    /// now `wall`. Ask [`Session::owed`] for the effects that were open.
    ///
    /// # Errors
    /// The bytes are damaged, or come from another version.
    pub fn restore(bytes: &[u8], wall: UnixMillis) -> Result<Self, RestoreError> {
        let damaged = |error: serde_json::Error| RestoreError::Damaged(error.to_string());
        // Read as text, as logs are: reading bytes is a second reader, 120 KB of the page's wasm.
        let text = core::str::from_utf8(bytes)
            .map_err(|error| RestoreError::Damaged(error.to_string()))?;
        let label: Label = serde_json::from_str(text).map_err(damaged)?;
        if label.format != FORMAT {
            return Err(RestoreError::Damaged(String::from("its format is another one")));
        }
        if label.version != REPLAY_VERSION {
            let (found, expected) = (label.version, REPLAY_VERSION);
            return Err(RestoreError::Version { found, expected });
        }
        let state: State<'_> = serde_json::from_str(text).map_err(damaged)?;
        let setup = Setup::new(state.config.into_owned())?;
        let body = Body {
            id: AgentId::ROOT,
            history: History::new(setup.config.model.wire, state.turns.into_owned()),
            queues: state.queues.into_owned(),
            run: state.run.into_owned(),
            past: state.past.into_owned(),
        };
        Ok(Self {
            setup: Arc::new(setup),
            agent: Agent { body, phase: state.phase.into_owned() },
            ledger: state.ledger.into_owned(),
            seq: state.seq,
            now: state.now,
            epoch: UnixMillis(wall.0.saturating_sub(state.now.0)),
        })
    }
}
