//! The requests of a host, as JSON: one object with one key, the verb (`docs/protocol.md#lines`).
//! Unknown fields are refused, so that a misspelt option does not go unnoticed. The docs of the
//! types here are the descriptions in the published schema.

use super::{answer::RequestError, docs::DocsRequest};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_core::{
    config::{EnvironmentFacts, HookPoint, ProfileKind, SessionConfig},
    id::{AgentId, EffectId, EndpointId, SessionId},
    input::Input,
    preset::ConfigPreset,
    time::{SessionInstant, UnixMillis},
    tool::ToolSpec,
};
#[cfg(feature = "schema")]
use innerloop_json::schema::{self, ReadSchema};
use innerloop_json::{FromJson, Map, RawJson, from_str};

/// A request.
#[derive(FromJson)]
#[json(rename_all = "snake_case", keyed, deny_unknown_fields)]
pub(super) enum LineRequest<'a> {
    /// The table of providers.
    Providers,
    /// The configuration of a model; of the provider's own choice if none is named.
    Model { provider: String, name: Option<String> },
    /// The names of the files that instruct a family's models.
    DocNames { profile: ProfileKind },
    /// The instruction files among those of a workspace, with what they import.
    Docs(DocsRequest),
    /// The configuration that settings come to.
    Config(Box<ConfigRequest<'a>>),
    /// The parts that sessions of one configuration share.
    Blueprint {
        config: Box<SessionConfig>,
        #[json(default)]
        parts: SetupSpec,
    },
    /// A session.
    Open(OpenRequest),
    /// A session that goes on from the log behind the line.
    Resume {
        #[json(default)]
        parts: SetupSpec,
        wall: UnixMillis,
        /// True if tools' runs are owed again, and not lost.
        #[json(default)]
        owe_runs: bool,
    },
    /// A session that goes on from the snapshot behind the line.
    Restore {
        #[json(default)]
        parts: SetupSpec,
        wall: UnixMillis,
        #[json(default)]
        owe_runs: bool,
    },
    /// Another session that has heard the first turns of this one, all if nothing is said.
    Fork {
        session: u32,
        id: SessionId,
        turns: Option<usize>,
        #[json(default)]
        parts: SetupSpec,
        wall: UnixMillis,
    },
    /// Something happened.
    Handle { session: u32, at: SessionInstant, input: Box<Input> },
    /// The bytes behind the line are a piece of a response's body.
    Chunk { session: u32, at: SessionInstant, id: EffectId },
    /// Another key for the session's endpoint.
    Rekey { session: u32, key: String },
    /// The session as it stands.
    Snapshot { session: u32 },
    /// All that is open, again.
    Owed { session: u32 },
    /// The status of an agent.
    Status {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
    },
    /// The tokens that fill an agent's context window, by what they are spent on.
    Context {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
    },
    /// The data that a session holds beside its history; the words that wait are the agent's.
    Overview {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
    },
    /// The turns of an agent and its user.
    History {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
        #[json(default)]
        from: usize,
    },
    /// The turns that an agent's model sees.
    Seen {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
    },
    /// The files whose changes are undone with their steps, each with what undoes them.
    Undone {
        session: u32,
        /// The texts of those that were asked for; `None` where there is no such file.
        #[json(default)]
        texts: Map<Option<String>>,
    },
    /// The text that is new to an agent's model, as recordings compare it.
    Said {
        session: u32,
        #[json(default = "root")]
        agent: AgentId,
    },
    /// The outputs that followed from each line of the log behind the line.
    Replay,
    /// The host needs the session no more.
    Close { session: u32 },
    /// The host opens no more sessions of the blueprint.
    Discard { blueprint: u32 },
}

const fn root() -> AgentId {
    AgentId::ROOT
}

impl<'a> LineRequest<'a> {
    /// Reads a request: its line, and the bytes behind the line feed.
    ///
    /// # Errors
    /// The line is not a request, or bytes follow a verb that takes none.
    pub(super) fn read(request: &'a [u8]) -> Result<(Self, &'a [u8]), RequestError> {
        // Logs and chunks stand behind the line as they are: in JSON they would have to be escaped,
        // which takes time and memory, and bytes that are not UTF-8 could not stand there.
        let end = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
        let (line, bytes) = request.split_at_checked(end).unwrap_or_default();
        let bytes = bytes.get(1..).unwrap_or_default();
        let line = str::from_utf8(line).map_err(RequestError::bad_request)?;
        let request: Self = from_str(line)?;
        if !bytes.is_empty() && !request.takes_bytes() {
            return Err(RequestError::bad_request("this verb takes no bytes behind its line"));
        }
        Ok((request, bytes))
    }

    const fn takes_bytes(&self) -> bool {
        matches!(
            self,
            Self::Resume { .. } | Self::Restore { .. } | Self::Chunk { .. } | Self::Replay
        )
    }
}

/// A session of its own configuration, or of a blueprint under an id of its own.
#[derive(FromJson)]
#[json(deny_unknown_fields, like = "OpeningForms")]
pub(super) struct OpenRequest {
    pub(super) config: Option<Box<SessionConfig>>,
    pub(super) parts: Option<SetupSpec>,
    pub(super) blueprint: Option<u32>,
    pub(super) id: Option<SessionId>,
    pub(super) wall: UnixMillis,
}

/// The schema of an [`OpenRequest`]: one of the two forms that are read as one.
#[cfg(feature = "schema")]
pub(super) struct OpeningForms;

#[cfg(feature = "schema")]
#[derive(FromJson)]
#[json(deny_unknown_fields)]
struct OwnOpening {
    /// The configuration.
    config: Box<SessionConfig>,
    /// The parts that the session's driver works with.
    #[json(default)]
    parts: SetupSpec,
    /// The wall time.
    wall: UnixMillis,
}

#[cfg(feature = "schema")]
#[derive(FromJson)]
#[json(deny_unknown_fields)]
struct SharedOpening {
    /// The blueprint's number.
    blueprint: u32,
    /// The session's id.
    id: SessionId,
    /// The wall time.
    wall: UnixMillis,
}

#[cfg(feature = "schema")]
impl ReadSchema for OpeningForms {
    fn read_schema(table: &mut schema::SchemaTable) -> schema::ValueSchema {
        let docs = "A session of its own configuration, or of a blueprint under an id of its own.";
        table.define_either(module_path!(), "Opening", docs, |table| {
            [OwnOpening::read_schema(table), SharedOpening::read_schema(table)].into()
        })
    }
}

/// Settings of a host's user, see [`Settings`](crate::Settings).
#[derive(Default, FromJson)]
#[json(default, deny_unknown_fields)]
pub(super) struct ConfigRequest<'a> {
    pub(super) id: SessionId,
    pub(super) provider: String,
    pub(super) model: Option<String>,
    /// The models that take over where that one fails, in this order.
    pub(super) fallbacks: Vec<FallbackSpec>,
    /// A catalogue of models, in place of the one that comes along.
    #[json(like = "Option<innerloop_json::JsonObject>")]
    pub(super) models: Option<RawJson<'a>>,
    pub(super) preset: Option<ConfigPreset>,
    pub(super) facts: EnvironmentFacts,
    pub(super) tools: Vec<ToolSpec>,
    /// Merge patches of the configuration, one over the other.
    #[json(like = "Vec<innerloop_json::schema::MergePatch<SessionConfig>>")]
    pub(super) patches: Vec<RawJson<'a>>,
}

/// A model beside the session's own, see [`FallbackModel`](crate::FallbackModel).
#[derive(FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct FallbackSpec {
    pub(super) provider: String,
    /// The name of its endpoint, where it is not the provider's.
    pub(super) endpoint: Option<EndpointId>,
    /// The model; the provider's default if absent.
    pub(super) model: Option<String>,
    /// True if it writes the summaries, and takes over only when no other model is left.
    #[json(default)]
    pub(super) cheap: bool,
    /// The kinds of tasks for which it goes before the others.
    #[json(default)]
    pub(super) tasks: Vec<String>,
}

/// The parts that a session's driver works with, see [`DriverOptions`](crate::DriverOptions).
#[derive(Default, FromJson)]
#[json(default, deny_unknown_fields)]
pub(super) struct SetupSpec {
    pub(super) endpoints: Vec<EndpointSpec>,
    /// True if somebody says which calls may run.
    pub(super) approve: bool,
    /// True if somebody answers the model's questions.
    pub(super) answer: bool,
    pub(super) hooks: Vec<HookPoint>,
    /// True if the log's lines are wanted.
    pub(super) entries: bool,
    /// True if the recording's lines are wanted.
    pub(super) record: bool,
    /// True if the changes of files are kept, for `undone`.
    pub(super) undo: bool,
    pub(super) replay: Option<ReplaySpec>,
}

/// An endpoint.
#[derive(FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct EndpointSpec {
    /// The provider that serves it, which determines how a key is sent.
    pub(super) provider: String,
    /// Its name in configurations, where it is not the provider's.
    pub(super) name: Option<String>,
    pub(super) base_url: Option<String>,
    #[json(default)]
    pub(super) key: String,
    /// True if the host adds the key to the requests by itself.
    #[json(default)]
    pub(super) keyless: bool,
    #[json(default)]
    pub(super) headers: Vec<(String, String)>,
}

/// A recording that answers in place of the endpoints.
#[derive(FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct ReplaySpec {
    pub(super) traffic: String,
    #[json(default)]
    pub(super) pace_ms: u64,
}
