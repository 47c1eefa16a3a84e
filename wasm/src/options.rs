//! The options of an agent, as the package hands them in: JSON, from which a configuration and the
//! driver's options are made. Unknown fields are refused, so that no option is lost between
//! TypeScript and here.

use crate::misuse::CallerError;
use innerloop_core::{
    config::{
        EnvironmentFacts, HookPoint, MAX_NESTED_DOCS, ProfileKind, ProgramFacts, ProjectDoc,
        SessionConfig,
    },
    doc_places,
    id::SessionId,
    instructed_folder,
    preset::ConfigPreset,
    skill::{SkillSet, skill_files},
    skills::SkillFacts,
    tool::ToolSpec,
    with_imports,
};
use innerloop_driver::{
    ApiKey, DriverOptions, Endpoint, EndpointError, EndpointTable, FallbackModel, HostCapabilities,
    ModelSource, SessionSettings, SettingsError,
    catalogue::{Catalogue, CatalogueError},
    providers::{self, Provider},
    traffic::TrafficPlayer,
};
use innerloop_json::{FromJson, IntoList, Json, joined};
use innerloop_tools::{InMemoryFiles, WorkspacePath};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The options of an agent.
#[derive(Default, FromJson)]
#[json(default, deny_unknown_fields)]
pub(crate) struct AgentOptions {
    pub(crate) id: String,
    /// The provider's name; may be absent only if a recording answers.
    provider: Option<String>,
    model: Option<String>,
    /// The models that take over where that one fails.
    fallbacks: Vec<FallbackOptions>,
    /// The text of a catalogue of models, in place of the one that comes along.
    models: Option<String>,
    preset: Option<ConfigPreset>,
    /// Patches of the configuration, one over the other.
    patches: Vec<Json>,
    tools: Vec<ToolSpec>,
    programs: Vec<ProgramFacts>,
    /// Skills beside those of the workspace.
    skills: Vec<SkillFacts>,
    date: String,
    base_url: Option<String>,
    key: String,
    /// True if the user's own function sends requests, and may add the key.
    sends: bool,
    /// True in a page: some providers want a header that says its visitors can see the key.
    page: bool,
    replay: Option<RecordingOptions>,
    approve: bool,
    answer: bool,
    hooks: Vec<HookPoint>,
    #[cfg(feature = "log")]
    log: bool,
}

/// A model that takes over, and the way to it.
#[derive(Default, FromJson)]
#[json(default, deny_unknown_fields)]
struct FallbackOptions {
    provider: String,
    model: Option<String>,
    base_url: Option<String>,
    key: String,
    cheap: bool,
    tasks: Vec<String>,
}

#[derive(Default, FromJson)]
#[json(deny_unknown_fields)]
struct RecordingOptions {
    traffic: String,
    pace_ms: u64,
}

impl AgentOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// `bad_option` with the field that does not fit.
    pub(crate) fn read(json: &str) -> Result<Self, CallerError> {
        Ok(innerloop_json::from_str(json)?)
    }

    /// Returns the session's configuration, and what it has from `files`.
    ///
    /// # Errors
    /// `unknown_provider`, or `bad_option` with the field that does not fit.
    pub(crate) fn config(
        &self,
        files: &InMemoryFiles,
    ) -> Result<(SessionConfig, ProjectDocs), CallerError> {
        let provider = self.provider()?;
        let catalogue = match &self.models {
            Some(text) => Catalogue::parse(text).map_err(bad_catalogue)?,
            None => Catalogue::standard(),
        };
        // A recording answers whatever the model is called, so that a replay needs no name; but a
        // configuration does.
        let recorded = self.replay.is_some().then_some("recorded");
        let is_named = self.model.is_some() || provider.default_model.is_some();
        let patches: Vec<&str> = self.patches.iter().map(Json::text).into_list();
        let id = SessionId(self.id.clone());
        let fallbacks: Vec<FallbackModel> =
            self.fallbacks(&provider)?.into_iter().map(|(model, _)| model).into_list();
        let config = |facts: &EnvironmentFacts| {
            let settings = SessionSettings {
                id: &id,
                provider: &provider,
                model: self.model.as_deref().or(recorded.filter(|_| !is_named)),
                fallbacks: &fallbacks,
                catalogue: &catalogue,
                preset: self.preset,
                facts,
                tools: &self.tools,
                patches: &patches,
            };
            settings.config().map_err(bad_settings)
        };
        let mut facts = self.facts();
        // The configuration is made twice: a patch may name another family, which reads other
        // files. And a patch that names the files itself must still win over those found here.
        let docs = ProjectDocs::of(config(&facts)?.model.profile, files);
        (facts.project_docs, facts.nested_docs) = (docs.project.clone(), docs.nested.clone());
        let mut skills = SkillSet { skills: docs.skills.clone(), ..SkillSet::default() };
        self.skills.iter().for_each(|skill| skills.put(skill.clone()));
        facts.skills = skills.skills;
        Ok((config(&facts)?, docs))
    }

    /// Returns the driver's options, of an agent's options as JSON.
    ///
    /// # Errors
    /// As [`AgentOptions::parts`].
    pub(crate) fn parts_of(json: &str) -> Result<DriverOptions, CallerError> {
        Self::read(json)?.parts()
    }

    /// Returns the driver's options.
    ///
    /// # Errors
    /// `unknown_provider`, `missing_key`, `bad_option`, `replay_unreadable`.
    pub(crate) fn parts(&self) -> Result<DriverOptions, CallerError> {
        let provider = self.provider()?;
        let endpoint = self.endpoint(&provider, self.base_url.as_deref(), &self.key)?;
        let mut endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
        for (model, given) in self.fallbacks(&provider)? {
            // One without an address and a key of its own shares that of its provider.
            if endpoints.find(&model.endpoint).is_none() {
                let url = given.base_url.as_deref();
                let endpoint = self.endpoint(&model.provider, url, &given.key)?;
                endpoints = endpoints.with(model.endpoint, endpoint);
            }
        }
        let models = match &self.replay {
            None => ModelSource::Live,
            Some(_) if !cfg!(feature = "recordings") => {
                return Err(CallerError::bad_option("`replay`: this build plays no recordings"));
            }
            Some(RecordingOptions { traffic, pace_ms }) => ModelSource::Replayed {
                player: TrafficPlayer::parse(traffic)
                    .map_err(|error| CallerError::new("replay_unreadable", error.to_string()))?,
                pace_ms: *pace_ms,
            },
        };
        Ok(DriverOptions {
            endpoints,
            models,
            people: HostCapabilities {
                approve: self.approve,
                answer: self.answer,
                hooks: self.hooks.clone(),
            },
            #[cfg(feature = "log")]
            keeps_log: self.log,
        })
    }

    fn facts(&self) -> EnvironmentFacts {
        EnvironmentFacts {
            working_directory: "/".into(),
            platform: "wasm".into(),
            date: self.date.clone(),
            programs: self.programs.clone(),
            ..EnvironmentFacts::default()
        }
    }

    /// Returns the models that take over, each with the way to it.
    fn fallbacks(
        &self,
        own: &Provider,
    ) -> Result<Vec<(FallbackModel, &FallbackOptions)>, CallerError> {
        let mut models = Vec::new();
        if !cfg!(feature = "routing") {
            return match self.fallbacks.is_empty() {
                true => Ok(models),
                false => Err(CallerError::bad_option("`fallbacks`: this build has none")),
            };
        }
        let mut taken = Vec::from([own.endpoint()]);
        for given in &self.fallbacks {
            let provider = found(&given.provider)?;
            let is_shared = given.key.is_empty() && given.base_url.is_none();
            let endpoint = FallbackModel::endpoint_for(&provider, is_shared, &taken);
            taken.push(endpoint.clone());
            let (model, tasks) = (given.model.clone(), given.tasks.clone());
            let cheap = given.cheap;
            models.push((FallbackModel { provider, endpoint, model, cheap, tasks }, given));
        }
        Ok(models)
    }

    fn provider(&self) -> Result<Provider, CallerError> {
        // With a recording any provider will do: no request goes to it.
        let first = || providers::all().into_iter().next().filter(|_| self.replay.is_some());
        match &self.provider {
            Some(name) => found(name),
            None => first().ok_or_else(|| {
                let all = providers::all();
                let names: Vec<&str> = all.iter().map(|provider| &*provider.name).into_list();
                unknown(format!("`provider` is missing: give one of {}", joined(&names, ", ")))
            }),
        }
    }

    fn endpoint(
        &self,
        provider: &Provider,
        base_url: Option<&str>,
        key: &str,
    ) -> Result<Endpoint, CallerError> {
        let is_recorded = self.replay.is_some();
        // A recording needs no address, but a provider may have none of its own.
        let nowhere = || (is_recorded && provider.base_url.is_none()).then_some("http://localhost");
        let url = base_url.or_else(nowhere);
        let new = if is_recorded || self.sends { Endpoint::without_check } else { Endpoint::new };
        let endpoint = new(provider, url, ApiKey::new(key));
        let endpoint = endpoint.map_err(|error| bad_endpoint(error, provider))?;
        let headers = if self.page { provider.page_headers.clone() } else { Vec::new() };
        Ok(endpoint.with_headers(headers))
    }
}

/// Returns the provider of that name.
fn found(name: &str) -> Result<Provider, CallerError> {
    providers::find(name).map_err(|error| unknown(error.to_string()))
}

fn unknown(message: String) -> CallerError {
    CallerError::new("unknown_provider", message)
}

/// The instruction files and skills of a project.
#[derive(PartialEq, Eq)]
pub(crate) struct ProjectDocs {
    project: Vec<ProjectDoc>,
    nested: Vec<ProjectDoc>,
    skills: Vec<SkillFacts>,
}

impl ProjectDocs {
    /// Finds the files that a model family reads.
    pub(crate) fn of(family: ProfileKind, files: &InMemoryFiles) -> Self {
        let doc = |path: &str| doc(files, path);
        let nested = files.iter().map(|(path, _)| path).filter(|path| {
            instructed_folder(family, path).is_some_and(|folder| !folder.is_empty())
        });
        let mut found = SkillSet::default();
        if cfg!(feature = "skills") {
            let paths: Vec<&str> = files.iter().map(|(path, _)| path).into_list();
            for path in skill_files(&paths) {
                text(files, path).iter().for_each(|text| found.add(path, text));
            }
        }
        Self {
            skills: found.skills,
            project: doc_places(family, "", "").iter().filter_map(|it| doc(it)).into_list(),
            nested: nested.take(MAX_NESTED_DOCS).filter_map(doc).into_list(),
        }
    }
}

fn doc(files: &InMemoryFiles, path: &str) -> Option<ProjectDoc> {
    let own = text(files, path)?;
    // Without built-in tools the model cannot read imported files either, and the code that follows
    // imports is left out of the module.
    let text = if cfg!(feature = "tools") {
        with_imports(path, own, &mut |path| text(files, path))
    } else {
        own
    };
    Some(ProjectDoc { path: path.into(), text, private: false })
}

fn text(files: &InMemoryFiles, path: &str) -> Option<String> {
    let bytes = files.bytes(&WorkspacePath::parse_file(path).ok()?)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn bad_catalogue(error: CatalogueError) -> CallerError {
    match error {
        CatalogueError::Json(error) => error.within("models").into(),
        error @ CatalogueError::Model { .. } => {
            CallerError::bad_option(format!("`models`: {error}"))
        }
    }
}

fn bad_settings(error: SettingsError) -> CallerError {
    match error {
        SettingsError::MissingModel { .. } => {
            CallerError::bad_option("`model` is missing: name the model as the provider knows it")
        }
        SettingsError::Patch(error) => error.into(),
    }
}

fn bad_endpoint(error: EndpointError, provider: &Provider) -> CallerError {
    match error {
        EndpointError::MissingKey => CallerError::new(
            "missing_key",
            "there is no key for the provider: give `apiKey`, or `fetch` if a proxy adds the key, \
             or `replay`",
        ),
        EndpointError::MissingUrl => {
            let example = provider.base_url_example.as_deref().unwrap_or_default();
            CallerError::bad_option(format!(
                "`baseUrl` is missing: `{}` is at a place such as {example}",
                provider.name
            ))
        }
        // The package has checked the key's characters, so that only the URL can be at fault.
        error @ (EndpointError::BadKey | EndpointError::BadUrl { .. }) => {
            CallerError::bad_option(format!("`baseUrl`: {error}"))
        }
    }
}

/// Returns the configuration that options come to, as JSON, for a bare session.
///
/// # Errors
/// `unknown_provider`, or `bad_option` with the field that does not fit.
#[wasm_bindgen(js_name = configJson)]
pub fn config_json(options: &str) -> Result<String, JsValue> {
    let (config, _) = AgentOptions::read(options)?.config(&InMemoryFiles::new())?;
    Ok(innerloop_json::to_string(&config))
}
