//! The builder of an agent: its settings, and the steps from them to a running session. Nothing is
//! opened before `begin`, so that the order of the settings does not matter.

use crate::{
    approvals::UserCallbacks,
    build_error::BuildError,
    hooks::HookTable,
    log_lock,
    session::SessionHandle,
    session_site::{SessionLog, SessionResources},
};
use innerloop_core::{
    config::{EnvironmentFacts, HookPoint, NamedAgent, SessionConfig, SkillFacts},
    id::SessionId,
    input::{Command, HookReply},
    json::{Json, JsonObject},
    tool::ToolSpec,
};
use innerloop_driver::{
    ApiKey, Endpoint, EndpointError, FallbackModel, SessionSettings,
    catalogue::Catalogue,
    providers::{self, Provider},
};
use innerloop_face::{
    ApprovalDecision, ApprovalRequest, ModelFallback, fallback_models, patch, schema_of,
};
use innerloop_host::{
    environment::Environment,
    facts::skill_files,
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
use serde_json::{Map, Value, json};
use std::{
    env, fs,
    future::Future,
    iter,
    path::{Path, PathBuf},
    slice,
    sync::Arc,
};
use tempfile::TempDir;

/// The settings of an agent. With only a provider, the agent works in an empty folder of its own,
/// with all built-in tools in a sandbox.
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
    fallbacks: Vec<ModelFallback>,
    place: WorkspaceLocation,
    programs: Option<PathBuf>,
    engine: Option<Arc<SandboxEngine>>,
    domains: Vec<String>,
    environment: Option<Arc<dyn Environment>>,
    tools: Vec<OwnTool>,
    people: UserCallbacks,
    hooks: HookTable,
    skills: Vec<SkillFacts>,
    patches: Vec<String>,
    origin: SessionOrigin,
    log: Option<PathBuf>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
}

/// The folder that the agent works in.
#[derive(Debug, Default)]
enum WorkspaceLocation {
    /// In an empty folder of its own, which is removed with the agent.
    #[default]
    Own,
    /// On an overlay over a folder.
    Over(PathBuf),
    /// In a folder itself.
    In(PathBuf),
}

/// The origin of the session's conversation.
#[derive(Debug, Default)]
enum SessionOrigin {
    #[default]
    New,
    Snapshot(Vec<u8>),
    Log(PathBuf),
}

impl AgentBuilder {
    /// Sets the provider by its name, by default `anthropic`; see [`innerloop_driver::providers`].
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.provider = Some(name.into());
        self
    }

    /// Sets the model by its name, by default the provider's default model.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the provider's key, by default that of the provider's environment variable. The key is
    /// sent only to the provider and masked in logs and events, unless it is shorter than 12
    /// characters or a plain word, which cannot be distinguished from other text.
    pub fn api_key(mut self, key: &str) -> Self {
        self.key = Some(ApiKey::new(key));
        self
    }

    /// Sets the provider's base URL, by default that of its environment variable, or else the
    /// provider's own.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Adds a model that takes over at once when the earlier ones are overloaded, are rate-limited,
    /// refuse their key or cannot be reached.
    ///
    /// ```
    /// use innerloop::{Agent, ModelFallback};
    ///
    /// let builder = Agent::builder()
    ///     .provider("anthropic")
    ///     .fallback(ModelFallback::of("openai").model("gpt-5.1").api_key("sk-your-key"));
    /// ```
    pub fn fallback(mut self, model: ModelFallback) -> Self {
        self.fallbacks.push(model);
        self
    }

    /// Lets the agent work over a folder, which does not change until
    /// [`Agent::apply`](crate::Agent::apply).
    pub fn workspace(mut self, folder: impl AsRef<Path>) -> Self {
        self.place = WorkspaceLocation::Over(folder.as_ref().to_owned());
        self
    }

    /// Lets the agent work in a folder itself: its changes are there at once.
    pub fn in_place(mut self, folder: impl AsRef<Path>) -> Self {
        self.place = WorkspaceLocation::In(folder.as_ref().to_owned());
        self
    }

    /// Sets the `tools.toml` that lists the sandbox's programs besides its own.
    pub fn programs(mut self, file: impl AsRef<Path>) -> Self {
        self.programs = Some(file.as_ref().to_owned());
        self
    }

    /// Shares a sandbox's engine with other agents, so that programs are compiled once. By default
    /// the agent has its own engine, with the compiled modules of the user's cache folder.
    pub fn engine(mut self, engine: Arc<SandboxEngine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Lets the agent read pages of these domains, such as `docs.rs` or `*.python.org`.
    pub fn allow_domains(mut self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.domains.extend(domains.into_iter().map(Into::into));
        self
    }

    /// Sets the environment that carries out the built-in tools' actions, in place of the sandbox.
    pub fn environment(mut self, environment: impl Environment + 'static) -> Self {
        self.environment = Some(Arc::new(environment));
        self
    }

    /// Adds a tool: a [`Tool`](crate::Tool), or an [`OwnTool`].
    pub fn tool(mut self, tool: impl Into<OwnTool>) -> Self {
        self.tools.push(tool.into());
        self
    }

    /// Sets the function that is asked before calls that change something, or before those that
    /// the configuration's `approval` names.
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

    /// Lets the model ask questions, which the function answers. If it answers `None`, the model
    /// decides for itself.
    pub fn ask<R>(mut self, answer: impl Fn(String) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Option<String>> + Send + 'static,
    {
        self.people.set_answer(answer);
        self
    }

    /// Sets the hook of a point. Its argument is the JSON that `docs/protocol.md` describes for
    /// that point.
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

    /// Requires a final answer of a type from the model, which
    /// [`RunResult::answer`](crate::RunResult::answer) then returns.
    pub fn answer<T: JsonSchema>(self) -> Self {
        self.config(patch::of_answer(&schema_of::<T>()))
    }

    /// Adds an agent that the model can start by name.
    ///
    /// ```
    /// use innerloop::{Agent, NamedAgent};
    ///
    /// let builder = Agent::builder().named_agent(
    ///     "reviewer",
    ///     &NamedAgent {
    ///         description: "Reviews changes for errors.".into(),
    ///         prompt: "You review changes. Report errors only.".into(),
    ///         ..NamedAgent::default()
    ///     },
    /// );
    /// ```
    pub fn named_agent(self, name: impl AsRef<str>, agent: &NamedAgent) -> Self {
        self.config(patch::of_agent(name.as_ref(), agent))
    }

    /// Adds a skill. A skill of the same name in the workspace overrides it; with an empty `path`
    /// the model gets `body` when it reads the skill.
    ///
    /// ```
    /// use innerloop::{Agent, SkillFacts};
    ///
    /// let builder = Agent::builder().skill(SkillFacts {
    ///     name: "release-notes".into(),
    ///     description: "Writes release notes. Use it before a release.".into(),
    ///     body: Some("Read CHANGELOG.md first.".into()),
    ///     ..SkillFacts::default()
    /// });
    /// ```
    pub fn skill(mut self, skill: SkillFacts) -> Self {
        self.skills.push(skill);
        self
    }

    /// Leaves skills alone, also those in the workspace.
    pub fn without_skills(self) -> Self {
        self.config(r#"{"skills": "off"}"#)
    }

    /// Changes the configuration with a JSON Merge Patch (RFC 7396) of [`SessionConfig`]'s JSON.
    /// Later patches override earlier ones.
    pub fn config(mut self, patch: impl Into<String>) -> Self {
        self.patches.push(patch.into());
        self
    }

    /// Restores the session from a snapshot, see [`Agent::snapshot`](crate::Agent::snapshot). Its
    /// configuration is kept and this builder's changes are applied to it; the tools are this
    /// builder's.
    pub fn restore(mut self, snapshot: impl Into<Vec<u8>>) -> Self {
        self.origin = SessionOrigin::Snapshot(snapshot.into());
        self
    }

    /// Resumes the session from a log, even if its program was killed: open requests to the model
    /// are sent again, and open tool runs are reported as lost. With [`AgentBuilder::log`] the
    /// session continues to be logged; both may name the same file.
    pub fn resume(mut self, log: impl AsRef<Path>) -> Self {
        self.origin = SessionOrigin::Log(log.as_ref().to_owned());
        self
    }

    /// Writes the session's log to a file, from which [`AgentBuilder::resume`] continues. Each
    /// input is on the disk before its effects are carried out. The file must be new, or the
    /// resumed one.
    pub fn log(mut self, file: impl AsRef<Path>) -> Self {
        self.log = Some(file.as_ref().to_owned());
        self
    }

    /// Records the traffic with the model in a new file.
    pub fn record(mut self, file: impl AsRef<Path>) -> Self {
        self.record = Some(file.as_ref().to_owned());
        self
    }

    /// Lets a recording answer in place of the model, without a key or a network.
    pub fn replay(mut self, file: impl AsRef<Path>) -> Self {
        self.replay = Some(file.as_ref().to_owned());
        self
    }

    /// Opens the workspace, reads the project's facts, and begins the session.
    pub(crate) async fn begin(mut self) -> Result<StartedSession, BuildError> {
        let provider = providers::find(self.provider.as_deref().unwrap_or(providers::DEFAULT))?;
        // The lock comes before the log is read: another agent could still append to it, and two
        // sessions would go on from one log.
        let lock = match &self.log {
            Some(log) => Some(log_lock::take(log).await?),
            None => None,
        };
        let traffic = self.traffic(&provider)?;
        let site = self.site(traffic)?;
        // Before any tool can run: the model must not write the log that its session resumes from.
        site.work().reserve(self.own_files().iter().map(PathBuf::as_path));
        // Replayed traffic is not recorded: it would be the same recording again.
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
        // Only now that the old log has been read: the journal may take the place of that file.
        let outlets = SessionLog { journal: self.journal()?, lock };
        let link = site.begin(opened, tools, outlets);
        // As commands of the running session, so that the changes are in its log. Tools come last
        // and only if they differ: new ones drop the prefix that the provider has cached.
        if !matches!(self.origin, SessionOrigin::New) {
            let tools = (!is_told_of_tools).then(|| patch::of_tools(&specs));
            for patch in self.changes(&site)?.into_iter().chain(tools) {
                let said = link.say(Command::Configure { patch }).await?;
                said.map_err(|rejected| rejected.reason)?;
            }
        }
        Ok(StartedSession { id, link, site })
    }

    /// Returns the source of the model's answers: the endpoint, or the recording.
    fn traffic(&mut self, provider: &Provider) -> Result<ModelTraffic, BuildError> {
        let key = self.key.take().or_else(|| key_of(provider)).unwrap_or_default();
        let url = self.base_url.take().or_else(|| url_of(provider));
        if let Some(path) = &self.replay {
            let player = recording::read(path)?.player;
            let endpoint = Endpoint::without_check(provider, url.as_deref(), key).ok();
            return Ok(ModelTraffic::replayed(provider, endpoint, player));
        }
        let mut traffic = ModelTraffic::live(provider, endpoint(provider, url.as_deref(), key)?);
        for (model, given) in fallback_models(provider, &self.fallbacks)? {
            // One without a key and an address of its own shares the endpoint of its provider.
            if !traffic.has(&model.endpoint) {
                let provider = &model.provider;
                let key = given.key.clone().or_else(|| key_of(provider)).unwrap_or_default();
                let url = given.base_url.clone().or_else(|| url_of(provider));
                traffic =
                    traffic.with(model.endpoint.clone(), endpoint(provider, url.as_deref(), key)?);
            }
        }
        Ok(traffic)
    }

    /// Opens the workspace, with everything that works in it.
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

    /// Adds the web reader and the program's own tools.
    fn tools(&mut self, mut tools: ToolRunner) -> Result<ToolRunner, DomainError> {
        if !self.domains.is_empty() {
            let domains = SessionDomains::new(AllowedDomains::parse(&self.domains)?);
            tools = tools.with_web_fetch(web::reader(domains));
        }
        Ok(self.tools.drain(..).fold(tools, ToolRunner::with))
    }

    /// Returns the session's own files, including those that do not exist yet.
    fn own_files(&self) -> Vec<PathBuf> {
        let lock = self.log.as_deref().map(log_lock::beside);
        [&self.log, &lock, &self.record].into_iter().flatten().cloned().collect()
    }

    /// Returns the configuration of a new session.
    async fn new_config(
        &self,
        provider: &Provider,
        site: &SessionResources,
        specs: &[ToolSpec],
    ) -> Result<SessionConfig, BuildError> {
        let own = Value::from(self.own_patch(site)).to_string();
        let window = window(provider);
        let patches: Vec<&str> =
            iter::once(&own).chain(&window).chain(&self.patches).map(String::as_str).collect();
        let (id, catalogue) =
            (new_session_id().map_err(BuildError::Random)?, Catalogue::standard());
        let fallbacks = fallback_models(provider, &self.fallbacks)?;
        let fallbacks: Vec<FallbackModel> = fallbacks.into_iter().map(|(model, _)| model).collect();
        let settings = |facts: &EnvironmentFacts| {
            SessionSettings {
                id: &id,
                provider,
                model: self.model.as_deref(),
                fallbacks: &fallbacks,
                catalogue: &catalogue,
                preset: None,
                facts,
                tools: specs,
                patches: &patches,
            }
            .config()
        };
        // The configuration is made twice: a patch may name another family of models, which reads
        // other instruction files.
        let family = settings(&EnvironmentFacts::default())?.model.profile;
        let mut facts = site.work().facts(family).await.map_err(BuildError::Facts)?;
        let mut found = skill_files::read(&skill_files::of_project(site.work().workspace()));
        self.skills.iter().for_each(|skill| found.put(skill.clone()));
        facts.skills = found.skills;
        Ok(settings(&facts)?)
    }

    /// Returns the changes to the configuration that the given functions and domains imply. The
    /// user's own patches override them.
    fn own_patch(&self, site: &SessionResources) -> Map<String, Value> {
        let mut patch = patch::of_people(&site.people());
        if !self.domains.is_empty() {
            patch.insert("web_fetch".into(), true.into());
        }
        patch
    }

    /// Returns this builder's changes to the configuration of a resumed session.
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

/// A begun session, with the parts of its agent.
pub(crate) struct StartedSession {
    pub(crate) id: SessionId,
    pub(crate) link: SessionHandle,
    pub(crate) site: SessionResources,
}

/// Returns the provider's endpoint.
fn endpoint(provider: &Provider, url: Option<&str>, key: ApiKey) -> Result<Endpoint, BuildError> {
    Endpoint::new(provider, url, key).map_err(|error| match error {
        EndpointError::MissingKey => BuildError::MissingKey {
            provider: provider.title.clone(),
            variables: provider.key_variables.join(" or "),
        },
        error => error.into(),
    })
}

/// Returns the provider's key from the environment.
fn key_of(provider: &Provider) -> Option<ApiKey> {
    variable(&provider.key_variables).map(|key| ApiKey::new(&key))
}

/// Returns the provider's base URL from the environment.
fn url_of(provider: &Provider) -> Option<String> {
    variable(slice::from_ref(&provider.base_url_variable))
}

/// Returns the value of the first of those variables that is set and not blank.
fn variable(names: &[String]) -> Option<String> {
    // Shells and CI systems set a variable to nothing to say that there is none.
    let set = names.iter().filter_map(|name| env::var(name).ok());
    set.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
}

/// Returns the window that the provider's variable sets, as a patch.
fn window(provider: &Provider) -> Option<String> {
    let text = variable(provider.context_window_variable.as_slice())?;
    // A text that is no number is refused with the field's name, as in any other patch.
    let tokens = text.parse::<u32>().map_or_else(|_| Value::from(text), Value::from);
    Some(json!({"model": {"context_window": tokens}}).to_string())
}

/// Resumes the session from the log at a path.
fn resumed(path: &Path, setup: SessionSetup) -> Result<OpenSession, BuildError> {
    let unreadable = |error| BuildError::Unreadable { path: path.to_owned(), error };
    let log = fs::read_to_string(path).map_err(unreadable)?;
    setup.resume(&log).map_err(|error| BuildError::Resume { path: path.to_owned(), error })
}
