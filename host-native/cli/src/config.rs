//! The configuration of a session, made of patches over the preset: the program's defaults, then
//! settings (the user's, the project's, the environment's), then the file of `--config`, then
//! options. A project's patch is applied only as far as it restricts what the others grant.

use super::{
    agents,
    args::{ApprovalLevel, CompactionTrigger, ModelArgs, PresetName, TuningArgs, tools_shown},
    console::warn,
    exit::{CliError, ExitReason},
    fallbacks, instructions, patch,
    project_limits::ProjectPatch,
    sessions::new_id,
    setup,
    web_pages::PageAccess,
};
use innerloop_core::{
    config::{AskAbout, ConfigError, EnvironmentFacts, SessionConfig},
    id::SessionId,
    json::{JsonObject, from_str, to_string},
    preset::ConfigPreset,
    tool::ToolSpec,
};
use innerloop_driver::{
    FallbackModel, SessionSettings, SettingsError, catalogue::Catalogue, providers::Provider,
};
use innerloop_host::{
    facts::skill_files::{self, SkillFile},
    setup::WorkSite,
};
use serde_json::{Map, Value, json};
use std::{env, fmt::Display, fs, path::Path};

/// The limit of rounds of tool calls if neither the preset nor the user sets one.
const ROUNDS: u32 = 200;

/// The plan of a new session, with everything the user has asked for read and checked.
pub(super) struct SessionPlan {
    id: SessionId,
    provider: Provider,
    model: Option<String>,
    fallbacks: Vec<FallbackModel>,
    catalogue: Catalogue,
    preset: ConfigPreset,
    tools: Vec<ToolSpec>,
    skills: Vec<SkillFile>,
    /// True if pages of the web may be read.
    reads_web: bool,
    /// In the order in which they are applied.
    patches: Vec<String>,
}

impl SessionPlan {
    /// Reads what the user wants. `tools` are the user's own, `asks` says which calls need approval
    /// if neither the preset nor the user does, and `pages` which pages of the web may be read.
    pub(super) async fn read(
        provider: &Provider,
        model: &ModelArgs,
        tuning: &TuningArgs,
        tools: Vec<ToolSpec>,
        asks: AskAbout,
        pages: &PageAccess,
    ) -> Result<Self, CliError> {
        let catalogue = catalogue(tuning.models.as_deref())?;
        let preset = provider.preset(tuning.preset.map(PresetName::preset));
        let file = match &tuning.config {
            None => None,
            Some(path) => Some(given(path).await?),
        };
        let standard = model.settings.of(&provider.name).and_then(|said| said.model.as_deref());
        let standard = standard.map(|name| json!({"model": {"name": name}}).to_string());
        let settings = tuning.settings.clone();
        let fallbacks = fallbacks::read(provider, model)?;
        let window = window(provider)?;
        let lower = [Some(defaults(preset, asks, (tuning, pages))), standard, settings.user];
        let upper = [window, settings.environment, file, Some(options(tuning)?)];
        let (id, provider, model) = (new_id()?, provider.clone(), model.model.clone());
        let reads_web = !tuning.web.domains.is_empty() || pages.can_be_asked_for();
        let patches = Vec::new();
        let skills = settings.skills;
        let mut plan = Self {
            id,
            provider,
            model,
            fallbacks,
            catalogue,
            preset,
            tools,
            skills,
            reads_web,
            patches,
        };
        let around = |project: Option<String>| {
            let layers = lower.iter().cloned().chain([project]).chain(upper.iter().cloned());
            layers.flatten().collect()
        };
        let project = settings.project.as_deref().and_then(ProjectPatch::read);
        // In two steps: the project may choose the model, and what the others grant that model is
        // the bound for everything else that the project says.
        plan.patches = around(project.as_ref().map(ProjectPatch::model));
        let granted = plan.with(&EnvironmentFacts::default())?;
        if let Some(project) = project {
            plan.patches = around(Some(project.within(&granted)));
            plan.with(&EnvironmentFacts::default())?;
        }
        // Below all else: who names an agent in settings or options means that one.
        if let Some(agents) = agents::patch(&settings.agents, &granted) {
            plan.patches.insert(0, agents);
        }
        Ok(plan)
    }

    /// Returns the preset under everything else.
    pub(super) const fn preset(&self) -> ConfigPreset {
        self.preset
    }

    /// Returns the configuration before anything about the workspace is known.
    pub(super) fn draft(&self) -> Result<SessionConfig, CliError> {
        self.with(&EnvironmentFacts::default())
    }

    /// Returns the configuration of a session whose tools work at that site.
    pub(super) async fn config(&self, site: &WorkSite) -> Result<SessionConfig, CliError> {
        let family = self.draft()?.model.profile;
        let facts = site.facts(family).await;
        let facts = facts.map_err(|error| CliError::new(ExitReason::Failed, error))?;
        instructions::cut(&facts).iter().for_each(|line| warn(line));
        let found = skill_files::read(&self.skills);
        found.warnings.iter().for_each(|line| warn(line));
        self.with(&EnvironmentFacts { skills: found.skills, ..facts })
    }

    fn with(&self, facts: &EnvironmentFacts) -> Result<SessionConfig, CliError> {
        let Self { id, provider, model, catalogue, preset, tools, .. } = self;
        let patches: Vec<&str> = self.patches.iter().map(String::as_str).collect();
        let (model, preset) = (model.as_deref(), *preset);
        let settings = SessionSettings {
            id,
            provider,
            model,
            fallbacks: &self.fallbacks,
            catalogue,
            preset: Some(preset),
            facts,
            tools,
            patches: &patches,
        };
        let config = settings.config().map_err(|error| told(&error))?;
        // A patch may set any field, but these two need something that only this program can give:
        // what runs a tool, and domains to read.
        if config.tools != *tools {
            let advice = "a tool needs something that runs it; define it in a file for --tool";
            return Err(CliError::configuration(format!("config.tools: {advice}")));
        }
        if config.web_fetch && !self.reads_web {
            let advice = "name the domains whose pages may be read with --allow-domain";
            return Err(CliError::configuration(format!("config.web_fetch: {advice}")));
        }
        Ok(config)
    }
}

fn told(error: &SettingsError) -> CliError {
    let advice = match error {
        SettingsError::MissingModel { .. } => " with --model",
        SettingsError::Patch(_) => "",
    };
    CliError::configuration(format!("{error}{advice}"))
}

/// Returns the program's own defaults for fields that the preset leaves open.
fn defaults(
    preset: ConfigPreset,
    asks: AskAbout,
    (tuning, pages): (&TuningArgs, &PageAccess),
) -> String {
    let preset = preset.config();
    let mut patch = json!({});
    set(&mut patch, &["web_fetch"], pages.can_be_asked_for().then_some(true));
    set(&mut patch, &["ask_user"], tuning.asks_person.filter(|asks| *asks));
    if preset.limits.max_tool_rounds_per_input == 0 {
        set(&mut patch, &["limits", "max_tool_rounds_per_input"], Some(ROUNDS));
    }
    if preset.approval.ask == AskAbout::Nothing {
        let asks = to_string(&asks);
        set(&mut patch, &["approval", "ask"], Some(asks.trim_matches('"')));
    }
    patch.to_string()
}

/// Returns the window that the provider's variable sets, as a patch.
fn window(provider: &Provider) -> Result<Option<String>, CliError> {
    let Some(name) = &provider.context_window_variable else { return Ok(None) };
    let Some(text) = env::var(name).ok().filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    match text.trim().parse::<u32>() {
        Ok(tokens) if tokens > 0 => {
            Ok(Some(json!({"model": {"context_window": tokens}}).to_string()))
        }
        _ => Err(CliError::configuration(format!("{name} takes a number of tokens above 0"))),
    }
}

/// Returns the options as a patch.
pub(super) fn options(tuning: &TuningArgs) -> Result<String, CliError> {
    let mut patch = json!({});
    set(&mut patch, &["approval", "ask"], tuning.approve.map(ApprovalLevel::asked));
    set(&mut patch, &["ask_user"], tuning.asks_person.filter(|asks| !*asks));
    set(&mut patch, &["limits", "max_turns"], tuning.max_turns);
    set(&mut patch, &["limits", "max_tool_rounds_per_input"], tuning.max_tool_rounds);
    set(&mut patch, &["model", "vocabulary"], tuning.vocabulary.map(|words| words.name()));
    set(&mut patch, &["model", "reasoning_effort"], tuning.effort.as_deref());
    set(&mut patch, &["model", "max_output_tokens"], tuning.max_output_tokens);
    set(&mut patch, &["model", "context_window"], tuning.context_window);
    set(&mut patch, &["compaction"], tuning.compact.and_then(CompactionTrigger::patch));
    set(&mut patch, &["tools_shown"], tuning.tools_shown.map(tools_shown::field));
    set(&mut patch, &["results"], tuning.keep_results.then(|| json!({})));
    let betas = Some(&tuning.betas).filter(|names| !names.is_empty());
    set(&mut patch, &["model", "betas"], betas.cloned());
    set(&mut patch, &["model", "options"], provider_options(tuning)?);
    set(&mut patch, &["skills"], tuning.no_skills.then_some("off"));
    let wanted = if tuning.read_only { Some("read_only".into()) } else { builtin_tools(tuning) };
    set(&mut patch, &["builtin_tools"], wanted);
    set(&mut patch, &["web_fetch"], (!tuning.web.domains.is_empty()).then_some(true));
    let prompt = tuning
        .base_prompt
        .as_deref()
        .map(|path| fs::read_to_string(path).map_err(|error| unusable(path, &error)));
    set(&mut patch, &["base_prompt"], prompt.transpose()?);
    Ok(patch.to_string())
}

/// Returns the fields that `--provider-options` adds to each request.
fn provider_options(tuning: &TuningArgs) -> Result<Option<Map<String, Value>>, CliError> {
    let wrong = |error| {
        CliError::usage(format!("--provider-options takes a JSON object in one line: {error}"))
    };
    tuning.provider_options.as_deref().map(serde_json::from_str).transpose().map_err(wrong)
}

/// Returns the built-in tools that the model is shown, as the configuration has it.
fn builtin_tools(tuning: &TuningArgs) -> Option<Value> {
    let names = |text: &str| text.split(',').map(str::trim).map(Value::from).collect::<Value>();
    let without = tuning.without_tools.as_deref().map(|text| json!({"except": names(text)}));
    without.or_else(|| {
        tuning.builtin_tools.as_deref().map(|text| match text {
            "all" | "none" => text.into(),
            "read-only" => "read_only".into(),
            _ => json!({"only": names(text)}),
        })
    })
}

/// Returns the error for a configuration that cannot work, naming the option that has caused it.
pub(super) fn unworkable(error: &ConfigError, tuning: &TuningArgs) -> CliError {
    let option = match error.field.as_ref() {
        "builtin_tools" if tuning.without_tools.is_some() => "--without-tools",
        "builtin_tools" if tuning.builtin_tools.is_some() => "--tools",
        field if field.starts_with("compaction.auto") && tuning.compact.is_some() => "--compact",
        _ => {
            return CliError::configuration(format!(
                "the configuration cannot work: config.{error}"
            ));
        }
    };
    CliError::usage(format!("{option}: {}", error.message))
}

/// Sets a field of a patch, if there is something to set.
fn set(patch: &mut Value, path: &[&str], value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        patch::set(patch, path, value.into());
    }
}

/// Reads the user's file, or standard input.
async fn given(path: &Path) -> Result<String, CliError> {
    if path == Path::new("-") {
        return setup::given("-".to_owned(), "the configuration").await;
    }
    let text = fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    match from_str::<JsonObject>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(unusable(path, &format_args!("it is no JSON object: {error}"))),
    }
}

/// Reads the catalogue of models in that file, or returns the built-in one.
pub(super) fn catalogue(path: Option<&Path>) -> Result<Catalogue, CliError> {
    let Some(path) = path else { return Ok(Catalogue::standard()) };
    let text = fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
    Catalogue::parse(&text).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, error: &dyn Display) -> CliError {
    CliError::configuration(format!("cannot use {}: {error}", path.display()))
}
