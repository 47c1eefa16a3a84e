//! What an agent is made with, and how it is put together.

use crate::{
    approvals::UserCallbacks,
    build_error::BuildError,
    hooks::HookTable,
    log_lock,
    session::SessionHandle,
    session_site::{SessionLog, SessionResources},
};
use innerloop_core::{
    config::{EnvironmentFacts, HookPoint, SessionConfig},
    id::SessionId,
    input::{Command, HookReply},
    json::{Json, JsonObject},
    preset::ConfigPreset,
    tool::ToolSpec,
};
use innerloop_driver::{
    ApiKey, Endpoint, EndpointError, SessionSettings,
    catalogue::Catalogue,
    providers::{self, Provider},
};
use innerloop_face::{ApprovalDecision, ApprovalRequest, patch, schema_of};
use innerloop_host::{
    environment::Environment,
    host::new_session_id,
    journal::{Journal, JournalError},
    recording,
    setup::{ModelTraffic, OpenSession, SessionSetup, WorkSite},
    tools::{OwnTool, ToolRunner},
    web::{self, AllowedDomains, DomainError, SessionDomains},
};
use innerloop_sandbox::{EngineOptions, SandboxEngine};
use innerloop_workspace::Workspace;
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::{
    env, fs,
    future::Future,
    iter,
    path::{Path, PathBuf},
    slice,
    sync::Arc,
};
use tempfile::TempDir;

/// The settings that an agent is made with. With no more than a provider, the agent works in an
/// empty folder of its own, with all built-in tools in a sandbox.
///
/// ```
/// use innerloop::{Agent, JsonSchema, OwnToolCall, Tool};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Ticket {
///     number: u32,
/// }
///
/// # async fn example() -> Result<(), innerloop::BuildError> {
/// let agent = Agent::builder()
///     .provider("openai")
///     .model("gpt-5.1")
///     .workspace("my-project")
///     .tool(Tool::new("ticket", "A ticket's text.", async |ticket: Ticket, _: OwnToolCall| {
///         Ok::<_, std::io::Error>(format!("#{}: it is broken", ticket.number))
///     }))
///     .config(r#"{"limits": {"max_turns": 50}}"#)
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use = "it makes an agent by `build`"]
pub struct AgentBuilder {
    provider: Option<String>,
    model: Option<String>,
    key: Option<ApiKey>,
    base_url: Option<String>,
    place: WorkspaceLocation,
    programs: Option<PathBuf>,
    engine: Option<Arc<SandboxEngine>>,
    domains: Vec<String>,
    environment: Option<Arc<dyn Environment>>,
    tools: Vec<OwnTool>,
    people: UserCallbacks,
    hooks: HookTable,
    patches: Vec<String>,
    origin: SessionOrigin,
    log: Option<PathBuf>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
}

/// The place where the agent works.
#[derive(Debug, Default)]
enum WorkspaceLocation {
    /// In an empty folder of its own, which goes with it.
    #[default]
    Own,
    /// On an overlay of a folder.
    Over(PathBuf),
    /// In a folder itself.
    In(PathBuf),
}

/// The origin of the session.
#[derive(Debug, Default)]
enum SessionOrigin {
    #[default]
    New,
    Snapshot(Vec<u8>),
    Log(PathBuf),
}

impl AgentBuilder {
    /// The provider's name, `anthropic` if nothing is said; see [`innerloop_driver::providers`].
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.provider = Some(name.into());
        self
    }

    /// The model's name; else the provider's own choice.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// The provider's key; else it is that of the provider's variable in the environment. It gets
    /// into no request to another place, no log and no event, but for a key that is shorter than
    /// twelve characters or a plain word: that is not told apart from other text.
    pub fn api_key(mut self, key: &str) -> Self {
        self.key = Some(ApiKey::new(key));
        self
    }

    /// Returns where the provider is reached; else at the address in its variable of the
    /// environment, or at its own.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Works on a folder, which stays as it is until
    /// [`Agent::apply`](crate::Agent::apply).
    pub fn workspace(mut self, folder: impl AsRef<Path>) -> Self {
        self.place = WorkspaceLocation::Over(folder.as_ref().to_owned());
        self
    }

    /// Works on a folder in place: what the agent writes is written.
    pub fn in_place(mut self, folder: impl AsRef<Path>) -> Self {
        self.place = WorkspaceLocation::In(folder.as_ref().to_owned());
        self
    }

    /// A `tools.toml` that says which programs the sandbox has besides its own.
    pub fn programs(mut self, file: impl AsRef<Path>) -> Self {
        self.programs = Some(file.as_ref().to_owned());
        self
    }

    /// Shares a sandbox's engine with other agents, so that what they run is compiled once; else
    /// the agent has one of its own, with the compiled modules of the user's cache folder.
    pub fn engine(mut self, engine: Arc<SandboxEngine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Lets the agent read pages of these domains, such as `docs.rs` or `*.python.org`.
    pub fn allow_domains(mut self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.domains.extend(domains.into_iter().map(Into::into));
        self
    }

    /// Carries out the built-in tools' actions elsewhere than in the sandbox.
    pub fn environment(mut self, environment: impl Environment + 'static) -> Self {
        self.environment = Some(Arc::new(environment));
        self
    }

    /// Gives the model a tool: a [`Tool`](crate::Tool), or an [`OwnTool`].
    pub fn tool(mut self, tool: impl Into<OwnTool>) -> Self {
        self.tools.push(tool.into());
        self
    }

    /// Asks before calls that change something; a configuration's `approval` says otherwise.
    pub fn approve<R>(
        mut self,
        approve: impl Fn(ApprovalRequest) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = ApprovalDecision> + Send + 'static,
    {
        self.people.set_approve(approve);
        self
    }

    /// Lets the model ask questions. Nothing as an answer has it decide for itself.
    pub fn ask<R>(mut self, answer: impl Fn(String) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Option<String>> + Send + 'static,
    {
        self.people.set_answer(answer);
        self
    }

    /// Sets a hook: what it is told is JSON, as `docs/protocol.md` has it for each point.
    ///
    /// ```
    /// use innerloop::{Agent, HookPoint, HookReply, Json};
    ///
    /// let builder = Agent::builder().hook(HookPoint::BeforeTool, async |call: Json| {
    ///     match call.text().contains("secrets/") {
    ///         true => HookReply::Deny { reason: "that folder is off limits".into() },
    ///         false => HookReply::Allow,
    ///     }
    /// });
    /// ```
    pub fn hook<R>(
        mut self,
        point: HookPoint,
        hook: impl Fn(Json) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = HookReply> + Send + 'static,
    {
        self.hooks.set(point, hook);
        self
    }

    /// Asks for the final answer in the form of a type, which is
    /// [`RunResult::answer`](crate::RunResult::answer) then.
    pub fn answer<T: JsonSchema>(self) -> Self {
        self.config(patch::of_answer(&schema_of::<T>()))
    }

    /// Changes the configuration by a JSON Merge Patch (RFC 7396) of [`SessionConfig`]'s JSON; a
    /// later one goes over those before.
    pub fn config(mut self, patch: impl Into<String>) -> Self {
        self.patches.push(patch.into());
        self
    }

    /// Goes on with the session of a snapshot, see [`Agent::snapshot`](crate::Agent::snapshot). Its
    /// configuration goes on, with what this builder says over it; the tools are this builder's.
    pub fn restore(mut self, snapshot: impl Into<Vec<u8>>) -> Self {
        self.origin = SessionOrigin::Snapshot(snapshot.into());
        self
    }

    /// Goes on with the session of a log, also of one whose program was killed: what it had asked a
    /// model is asked again, and what became of a tool's run is not known. With
    /// [`AgentBuilder::log`] the session is logged on; the same file may be named by both.
    pub fn resume(mut self, log: impl AsRef<Path>) -> Self {
        self.origin = SessionOrigin::Log(log.as_ref().to_owned());
        self
    }

    /// Writes the session's log to that file, from which [`AgentBuilder::resume`] goes on. Nothing
    /// is done before it is written down. The file must be new, or the one that is resumed.
    pub fn log(mut self, file: impl AsRef<Path>) -> Self {
        self.log = Some(file.as_ref().to_owned());
        self
    }

    /// Records the traffic with the model into a new file.
    pub fn record(mut self, file: impl AsRef<Path>) -> Self {
        self.record = Some(file.as_ref().to_owned());
        self
    }

    /// Has a recording answer in place of the model: no key, no network.
    pub fn replay(mut self, file: impl AsRef<Path>) -> Self {
        self.replay = Some(file.as_ref().to_owned());
        self
    }

    /// Opens the workspace, looks at the project, and begins the session.
    pub(crate) async fn begin(mut self) -> Result<StartedSession, BuildError> {
        let provider = providers::find(self.provider.as_deref().unwrap_or(providers::DEFAULT))?;
        let lock = match &self.log {
            Some(log) => Some(log_lock::take(log).await?),
            None => None,
        };
        let traffic = self.traffic(&provider)?;
        let site = self.site(traffic)?;
        site.work().reserve(self.own_files().iter().map(PathBuf::as_path));
        // What comes from a recording is recorded already.
        let record = self.record.as_deref().filter(|_| self.replay.is_none());
        let setup = site.setup()?.recorded(record)?.with_log(self.log.is_some());
        let tools = self.tools(site.work().tools(&setup.keys()))?;
        let specs = tools.specs();
        let opened = match &self.origin {
            SessionOrigin::New => setup.open(self.new_config(&provider, &site, &specs).await?)?,
            SessionOrigin::Snapshot(snapshot) => setup.restore(snapshot)?,
            SessionOrigin::Log(path) => resumed(path, setup)?,
        };
        let id = opened.session().id().clone();
        let is_told_of_tools = opened.session().config().tools == specs;
        let outlets = SessionLog { journal: self.journal()?, lock };
        let link = site.begin(opened, tools, outlets);
        if !matches!(self.origin, SessionOrigin::New) {
            let tools = (!is_told_of_tools).then(|| patch::of_tools(&specs));
            for patch in self.changes(&site)?.into_iter().chain(tools) {
                let said = link.say(Command::Configure { patch }).await?;
                said.map_err(|rejected| rejected.reason)?;
            }
        }
        Ok(StartedSession { id, link, site })
    }

    /// Returns where the model's traffic goes and comes from.
    fn traffic(&mut self, provider: &Provider) -> Result<ModelTraffic, BuildError> {
        let key = self
            .key
            .take()
            .or_else(|| variable(&provider.key_variables).map(|key| ApiKey::new(&key)));
        let key = key.unwrap_or_default();
        let own = variable(slice::from_ref(&provider.base_url_variable));
        let url = self.base_url.take().or(own);
        if let Some(path) = &self.replay {
            let player = recording::read(path)?.player;
            let endpoint = Endpoint::without_check(provider, url.as_deref(), key).ok();
            return Ok(ModelTraffic::replayed(provider, endpoint, player));
        }
        let endpoint =
            Endpoint::new(provider, url.as_deref(), key).map_err(|error| match error {
                EndpointError::MissingKey => BuildError::MissingKey {
                    provider: provider.title.clone(),
                    variables: provider.key_variables.join(" or "),
                },
                error => error.into(),
            })?;
        Ok(ModelTraffic::live(provider, endpoint))
    }

    /// The workspace, with everything that works there.
    fn site(&mut self, traffic: ModelTraffic) -> Result<SessionResources, BuildError> {
        let (workspace, own) = match &self.place {
            WorkspaceLocation::Own => {
                let folder = TempDir::with_prefix("innerloop-").map_err(BuildError::Folder)?;
                (Workspace::open(folder.path())?, Some(folder))
            }
            WorkspaceLocation::Over(folder) => (Workspace::open(folder)?.overlay()?, None),
            WorkspaceLocation::In(folder) => (Workspace::open(folder)?, None),
        };
        let engine =
            self.engine.take().unwrap_or_else(|| SandboxEngine::new(EngineOptions::default()));
        let work = WorkSite::open(workspace, self.programs.as_deref(), engine)?;
        let work = self.environment.take().into_iter().fold(work, WorkSite::with_environment);
        Ok(SessionResources::new((work, own), traffic, (self.people.clone(), self.hooks.clone())))
    }

    /// Those tools, with what reads pages and the program's own.
    fn tools(&mut self, mut tools: ToolRunner) -> Result<ToolRunner, DomainError> {
        if !self.domains.is_empty() {
            let domains = SessionDomains::new(AllowedDomains::parse(&self.domains)?);
            tools = tools.with_web_fetch(web::reader(domains));
        }
        Ok(self.tools.drain(..).fold(tools, ToolRunner::with))
    }

    /// The session's own files, also those that are not there yet.
    fn own_files(&self) -> Vec<PathBuf> {
        let lock = self.log.as_deref().map(log_lock::beside);
        [&self.log, &lock, &self.record].into_iter().flatten().cloned().collect()
    }

    /// The configuration of a new session.
    async fn new_config(
        &self,
        provider: &Provider,
        site: &SessionResources,
        specs: &[ToolSpec],
    ) -> Result<SessionConfig, BuildError> {
        let own = Value::from(self.own_patch(site)).to_string();
        let patches: Vec<&str> =
            iter::once(&own).chain(&self.patches).map(String::as_str).collect();
        let (id, catalogue) =
            (new_session_id().map_err(BuildError::Random)?, Catalogue::standard());
        let settings = |facts: &EnvironmentFacts| {
            SessionSettings {
                id: &id,
                provider,
                model: self.model.as_deref(),
                catalogue: &catalogue,
                preset: ConfigPreset::Modern,
                facts,
                tools: specs,
                patches: &patches,
            }
            .config()
        };
        let family = settings(&EnvironmentFacts::default())?.model.profile;
        let facts = site.work().facts(family).await.map_err(BuildError::Facts)?;
        Ok(settings(&facts)?)
    }

    /// Returns what follows for the configuration from who is there, and from what may be read.
    fn own_patch(&self, site: &SessionResources) -> Map<String, Value> {
        let mut patch = patch::of_people(&site.people());
        if !self.domains.is_empty() {
            patch.insert("web_fetch".into(), true.into());
        }
        patch
    }

    /// Returns what this builder says over the configuration of a session that goes on.
    fn changes(&self, site: &SessionResources) -> Result<Vec<JsonObject>, BuildError> {
        let own = self.own_patch(site);
        patch::over_restored(own, self.model.as_deref(), &self.patches).map_err(BuildError::Patch)
    }

    fn journal(&self) -> Result<Option<Journal>, JournalError> {
        let Some(path) = &self.log else { return Ok(None) };
        match &self.origin {
            SessionOrigin::Log(resumed) if resumed == path => Journal::replace(path).map(Some),
            _ => Journal::create(path).map(Some),
        }
    }
}

/// A session that has begun.
pub(crate) struct StartedSession {
    pub(crate) id: SessionId,
    pub(crate) link: SessionHandle,
    pub(crate) site: SessionResources,
}

/// Returns what is set of those variables first, if anything is.
fn variable(names: &[String]) -> Option<String> {
    let set = names.iter().filter_map(|name| env::var(name).ok());
    set.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
}

/// The session of a log, as it stands.
fn resumed(path: &Path, setup: SessionSetup) -> Result<OpenSession, BuildError> {
    let unreadable = |error| BuildError::Unreadable { path: path.to_owned(), error };
    let log = fs::read_to_string(path).map_err(unreadable)?;
    setup.resume(&log).map_err(|error| BuildError::Resume { path: path.to_owned(), error })
}
