//! A session as bytes, at any moment. The encoded form of a history and a response that is under
//! way are not in it: both are made anew.

use super::Session;
use crate::{
    base::{
        digest::Digest,
        id::AgentId,
        time::{Instant, UnixMillis},
    },
    machine::{
        agent::Agent,
        body::{Memory, Run, Scope},
        ctx::Roll,
        ledger::Ledger,
        phase::Phase,
        setup::Setup,
    },
    types::{
        config::{ConfigError, SessionConfig},
        message::Turn,
        output::Effect,
    },
};
use alloc::{
    borrow::Cow,
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const FORMAT: &str = "innerloop-snapshot";

/// Raised whenever the form of a snapshot changes; what it says is not bound to the behaviour
/// that [`REPLAY_VERSION`](super::REPLAY_VERSION) stands for.
const VERSION: u32 = 2;

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

/// What a snapshot says of itself, around the state.
#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    format: Cow<'a, str>,
    version: u32,
    /// The digest of the state's bytes, as 16 hexadecimal digits.
    #[serde(default)]
    digest: Cow<'a, str>,
    #[serde(borrow, default)]
    state: Option<Cow<'a, RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct State<'a> {
    config: Cow<'a, SessionConfig>,
    now: Instant,
    seq: u64,
    roll: Roll,
    ledger: Cow<'a, Ledger>,
    /// The session's own agent first.
    agents: Vec<AgentForm<'a>>,
}

#[derive(Serialize, Deserialize)]
struct AgentForm<'a> {
    id: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<Cow<'a, Scope>>,
    turns: Cow<'a, [Turn]>,
    memory: Cow<'a, Memory>,
    run: Cow<'a, Run>,
    phase: Cow<'a, Phase>,
    /// What the open model call was made with, where that is no longer in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent_with: Option<Cow<'a, SessionConfig>>,
}

impl Session {
    /// The session as bytes (JSON), from which [`Session::restore`] makes it again.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let state = State {
            config: Cow::Owned(SessionConfig { id: self.id.clone(), ..self.config().clone() }),
            now: self.now,
            seq: self.seq,
            roll: self.roll,
            ledger: Cow::Borrowed(&self.ledger),
            agents: self.agents().map(AgentForm::of).collect(),
        };
        // Plain data with text keys has no way to fail.
        let state = serde_json::value::to_raw_value(&state).unwrap_or_default();
        let envelope = Envelope {
            format: Cow::Borrowed(FORMAT),
            version: VERSION,
            digest: Cow::Owned(digest(&state)),
            state: Some(Cow::Owned(state)),
        };
        serde_json::to_vec(&envelope).unwrap_or_default()
    }

    /// Makes the session of a snapshot again; session time goes on from where it stood, which is
    /// now `wall`. Ask [`Session::owed`] for the effects that were open.
    ///
    /// # Errors
    /// The bytes are damaged, or come from another version.
    pub fn restore(bytes: &[u8], wall: UnixMillis) -> Result<Self, RestoreError> {
        let damaged = |message: &dyn ToString| RestoreError::Damaged(message.to_string());
        let text = core::str::from_utf8(bytes).map_err(|error| damaged(&error))?;
        let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| damaged(&error))?;
        if envelope.format != FORMAT {
            return Err(damaged(&"its format is another one"));
        }
        if envelope.version != VERSION {
            let (found, expected) = (envelope.version, VERSION);
            return Err(RestoreError::Version { found, expected });
        }
        let state = envelope.state.ok_or_else(|| damaged(&"its state is missing"))?;
        if envelope.digest != digest(&state) {
            return Err(damaged(&"its digest is another one"));
        }
        let state: State<'_> = serde_json::from_str(state.get()).map_err(|e| damaged(&e))?;
        let config = state.config.into_owned();
        let id = config.id.clone();
        let setup = Arc::new(Setup::new(config)?);
        let mut root = None;
        let mut others = BTreeMap::new();
        for form in state.agents {
            let agent = form.agent(&setup)?;
            if agent.body.id == AgentId::ROOT {
                root = Some(agent);
            } else {
                others.insert(agent.body.id, agent);
            }
        }
        let session = Self {
            id,
            root: root.ok_or_else(|| damaged(&"its own agent is missing"))?,
            others,
            roll: state.roll,
            ledger: state.ledger.into_owned(),
            seq: state.seq,
            now: state.now,
            epoch: UnixMillis(wall.0.saturating_sub(state.now.0)),
        };
        // An effect that one side does not know of would be waited for without end.
        if !session.owed().effects().map(Effect::id).eq(session.ledger.open_ids()) {
            return Err(damaged(&"its open effects do not fit together"));
        }
        Ok(session)
    }
}

/// The digest of a state, as text.
fn digest(state: &RawValue) -> String {
    format!("{:016x}", Digest::of(state.get().as_bytes()).0)
}

impl<'a> AgentForm<'a> {
    fn of(agent: &'a Agent) -> Self {
        Self {
            id: agent.body.id,
            scope: agent.body.scope.as_deref().map(Cow::Borrowed),
            turns: Cow::Borrowed(agent.body.history.turns()),
            memory: Cow::Borrowed(&agent.body.memory),
            run: Cow::Borrowed(&agent.body.run),
            phase: Cow::Borrowed(&agent.phase),
            sent_with: match &agent.phase {
                Phase::Calling(calling) => calling.sent_with(),
                _ => None,
            }
            .map(|setup| Cow::Borrowed(&setup.config)),
        }
    }

    fn agent(self, root: &Arc<Setup>) -> Result<Agent, ConfigError> {
        let setup = match &self.scope {
            None => Arc::clone(root),
            Some(scope) => Arc::new(root.scoped(scope)?),
        };
        let scope = self.scope.map(|scope| Box::new(scope.into_owned()));
        let mut agent = Agent::new(self.id, scope, setup, self.turns.into_owned());
        agent.body.memory = self.memory.into_owned();
        agent.body.run = self.run.into_owned();
        agent.phase = self.phase.into_owned();
        if let (Phase::Calling(calling), Some(config)) = (&mut agent.phase, self.sent_with) {
            calling.keep(Arc::new(Setup::of(config.into_owned(), agent.body.depth())?));
        }
        Ok(agent)
    }
}
