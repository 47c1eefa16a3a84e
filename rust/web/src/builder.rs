//! The builder of an agent: its settings, and the steps from them to a session in the page. Nothing
//! here waits: the project's files are in memory.

use crate::{
    build_error::BuildError,
    clock::wall_time,
    facts,
    files::MemoryFiles,
    host::{SessionHost, SessionResources},
    tool::Tool,
};
use innerloop_core::{
    config::{EnvironmentFacts, HookPoint, NamedAgent, SessionConfig, SkillFacts},
    id::SessionId,
    input::{Command, HookReply, Input},
    json::{Json, JsonObject},
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions, Endpoint, EndpointError, EndpointTable, FallbackModel,
    ModelSource, SessionSettings,
    catalogue::Catalogue,
    providers::{self, Provider},
    traffic::TrafficPlayer,
};
use innerloop_face::{
    ApprovalDecision, ApprovalRequest, ModelFallback, fallback_models, patch, schema_of,
};
use schemars::JsonSchema;
use serde_json::Value;
use std::{iter, rc::Rc};

/// The settings of an agent. With only a provider and a key, the agent has no files, but all
/// built-in tools that work on files.
///
/// ```no_run
/// use innerloop_web::{Agent, JsonSchema, MemoryFiles, OwnToolCall, Tool};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Ticket {
///     number: u32,
/// }
///
/// # fn example(key: String, files: MemoryFiles) -> Result<(), innerloop_web::BuildError> {
/// let agent = Agent::builder()
///     .provider("openai")
///     .model("gpt-5.1")
///     .api_key(key)
///     .files(files)
///     .tool(Tool::new("ticket", "A ticket's text.", async |ticket: Ticket, _: OwnToolCall| {
///         Ok::<_, std::io::Error>(format!("#{}: it is broken", ticket.number))
///     }))
///     .config(r#"{"limits": {"max_turns": 50}}"#)
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use = "it makes an agent by `build`"]
pub struct AgentBuilder {
    provider: Option<String>,
    model: Option<String>,
    key: ApiKey,
    base_url: Option<String>,
    fallbacks: Vec<ModelFallback>,
    site: SessionResources,
    skills: Vec<SkillFacts>,
    patches: Vec<String>,
    snapshot: Option<Vec<u8>>,
    replay: Option<String>,
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

    /// Sets the provider's key. Visitors of the page can see it: let them enter their own, or let
    /// your server add it, and set the server's address with [`AgentBuilder::base_url`]. The key is
    /// sent only to the provider and masked in snapshots and events, unless it is shorter than 12
    /// characters or a plain word, which cannot be distinguished from other text.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.key = ApiKey::new(key.as_ref());
        self
    }

    /// Sets the base URL of an endpoint that speaks the provider's protocol, by default the
    /// provider's own. With a base URL no key is needed: a proxy may add it.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Adds a model that takes over at once when the earlier ones are overloaded, are rate-limited,
    /// refuse their key or cannot be reached.
    ///
    /// ```
    /// use innerloop_web::{Agent, ModelFallback};
    ///
    /// let builder = Agent::builder()
    ///     .provider("anthropic")
    ///     .fallback(ModelFallback::of("openai").model("gpt-5.1").api_key("sk-your-key"));
    /// ```
    pub fn fallback(mut self, model: ModelFallback) -> Self {
        self.fallbacks.push(model);
        self
    }

    /// Sets the files that the agent works on, which the page and other agents may share.
    pub fn files(mut self, files: MemoryFiles) -> Self {
        self.site.files = files;
        self
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.site.tools.retain(|known| known.spec().name != tool.spec().name);
        self.site.tools.push(tool);
        self
    }

    /// Sets the function that is asked before calls that change something, or before those that
    /// the configuration's `approval` names.
    pub fn approve(
        mut self,
        approve: impl AsyncFn(ApprovalRequest) -> ApprovalDecision + 'static,
    ) -> Self {
        self.site.people.set_approve(approve);
        self
    }

    /// Lets the model ask questions, which the function answers. If it answers `None`, the model
    /// decides for itself.
    pub fn ask(mut self, answer: impl AsyncFn(String) -> Option<String> + 'static) -> Self {
        self.site.people.set_answer(answer);
        self
    }

    /// Sets the hook of a point. Its argument is the JSON that `docs/protocol.md` describes for
    /// that point.
    ///
    /// ```
    /// use innerloop_web::{Agent, HookPoint, HookReply, Json};
    ///
    /// let builder = Agent::builder().hook(HookPoint::BeforeTool, async |call: Json| {
    ///     match call.text().contains("secrets/") {
    ///         true => HookReply::Deny { reason: "that folder is off limits".into() },
    ///         false => HookReply::Allow,
    ///     }
    /// });
    /// ```
    pub fn hook(
        mut self,
        point: HookPoint,
        hook: impl AsyncFn(Json) -> HookReply + 'static,
    ) -> Self {
        self.site.hooks.set(point, hook);
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
    /// use innerloop_web::{Agent, NamedAgent};
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
    /// use innerloop_web::{Agent, SkillFacts};
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

    /// Restores the session from a snapshot, see [`Agent::snapshot`](crate::Agent::snapshot). Open
    /// requests to the model are sent again, and open tool runs are reported as lost. The
    /// configuration is kept and this builder's changes are applied to it; tools and files are this
    /// builder's.
    pub fn restore(mut self, snapshot: impl Into<Vec<u8>>) -> Self {
        self.snapshot = Some(snapshot.into());
        self
    }

    /// Lets a recording, as the crate `innerloop` writes one, answer in place of the model, without
    /// a key or a network.
    pub fn replay(mut self, recording: impl Into<String>) -> Self {
        self.replay = Some(recording.into());
        self
    }

    /// Creates the session's host, and returns it with the table of endpoints.
    pub(crate) fn begin(self) -> Result<(Rc<SessionHost>, EndpointTable), BuildError> {
        let provider = providers::find(self.provider.as_deref().unwrap_or(providers::DEFAULT))?;
        let endpoints = self.endpoints(&provider)?;
        let models = match &self.replay {
            None => ModelSource::Live,
            Some(recording) => {
                ModelSource::Replayed { player: TrafficPlayer::parse(recording)?, pace_ms: 0 }
            }
        };
        let people = self.site.asked();
        let parts =
            DriverOptions { endpoints: endpoints.clone(), models, people, keeps_log: false };
        let driver = match &self.snapshot {
            None => Driver::open(self.new_config(&provider)?, wall_time(), parts)?,
            Some(snapshot) => Driver::restore(snapshot, wall_time(), parts)?,
        };
        // As commands after the opening, as a user gives them: if the restored session refuses a
        // patch, the error has the reason.
        let over = self.over(&driver)?;
        let host = SessionHost::new(driver, self.site);
        for patch in over {
            host.tell(Input::command(Command::Configure { patch })).map_err(Box::new)?;
        }
        Ok((host, endpoints))
    }

    /// Returns the endpoints for requests.
    fn endpoints(&self, provider: &Provider) -> Result<EndpointTable, BuildError> {
        let own = self.endpoint(provider, self.base_url.as_deref(), self.key.clone())?;
        let mut endpoints = EndpointTable::default().with(provider.endpoint(), own);
        for (model, given) in fallback_models(provider, &self.fallbacks)? {
            // One without a key and an address of its own shares the endpoint of its provider.
            if endpoints.find(&model.endpoint).is_none() {
                let (url, key) = (given.base_url.as_deref(), given.key.clone());
                let endpoint = self.endpoint(&model.provider, url, key.unwrap_or_default())?;
                endpoints = endpoints.with(model.endpoint, endpoint);
            }
        }
        Ok(endpoints)
    }

    /// Returns an endpoint of a provider.
    fn endpoint(
        &self,
        provider: &Provider,
        url: Option<&str>,
        key: ApiKey,
    ) -> Result<Endpoint, BuildError> {
        let endpoint = match &self.replay {
            // A recording needs no address, but a provider may have none of its own.
            Some(_) => {
                let nowhere = url.or(provider.base_url.is_none().then_some("http://localhost"));
                Endpoint::without_check(provider, nowhere, key)?
            }
            None if url.is_some() => Endpoint::without_check(provider, url, key)?,
            None => Endpoint::new(provider, url, key).map_err(|error| match error {
                EndpointError::MissingKey => {
                    BuildError::MissingKey { provider: provider.title.clone() }
                }
                error => error.into(),
            })?,
        };
        Ok(endpoint.with_headers(provider.page_headers.clone()))
    }

    /// Returns the configuration of a new session.
    fn new_config(&self, provider: &Provider) -> Result<SessionConfig, BuildError> {
        let (id, catalogue) = (new_session_id()?, Catalogue::standard());
        let own = Value::from(patch::of_people(&self.site.asked())).to_string();
        let patches: Vec<&str> =
            iter::once(&own).chain(&self.patches).map(String::as_str).collect();
        let specs = self.site.specs();
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
                tools: &specs,
                patches: &patches,
            }
            .config()
        };
        let facts = facts::of_page();
        // The configuration is made twice: a patch may name another family of models, which reads
        // other instruction files.
        let family = settings(&facts)?.model.profile;
        Ok(settings(&facts::with_docs(facts, family, &self.site.files, &self.skills))?)
    }

    /// Returns this builder's changes to the configuration of a resumed session.
    fn over(&self, driver: &Driver) -> Result<Vec<JsonObject>, BuildError> {
        if self.snapshot.is_none() {
            return Ok(Vec::new());
        }
        let own = patch::of_people(&self.site.asked());
        let said = patch::over_restored(own, self.model.as_deref(), &self.patches);
        let mut over = said.map_err(BuildError::Patch)?;
        let specs = self.site.specs();
        // Only if they differ: new tools drop the prefix that the provider has cached.
        if driver.session().config().tools != specs {
            over.push(patch::of_tools(&specs));
        }
        Ok(over)
    }
}

/// Creates a unique session id.
pub(crate) fn new_session_id() -> Result<SessionId, BuildError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(BuildError::Random)?;
    Ok(SessionId(format!("{:032x}", u128::from_ne_bytes(bytes))))
}
