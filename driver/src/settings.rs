//! The way from a user's settings to a session's configuration: a preset, over it the provider and
//! the model with what the catalogue knows, and over all of it patches of the configuration's JSON.
//! Through a patch every field is reachable, so that a new one needs no line here.

use crate::{catalogue::Catalogue, patch, providers::Provider};
use alloc::{format, string::String, vec::Vec};
use innerloop_core::{
    config::{ConfigError, EnvironmentFacts, ModelConfig, SessionConfig, SkillFacts, SkillUse},
    id::{EndpointId, SessionId},
    preset::ConfigPreset,
    routing::RoutedModel,
    tool::ToolSpec,
};

/// The settings that a host's user gives.
#[derive(Clone, Copy, Debug)]
pub struct SessionSettings<'a> {
    /// The session's id.
    pub id: &'a SessionId,
    /// The provider that serves the model.
    pub provider: &'a Provider,
    /// The model; if absent, the one that a patch names, else the provider's default.
    pub model: Option<&'a str>,
    /// The models that take over where that one fails, in this order.
    pub fallbacks: &'a [FallbackModel],
    /// The catalogue of the models that are known.
    pub catalogue: &'a Catalogue,
    /// The preset for all that is not set otherwise; if absent, the provider's.
    pub preset: Option<ConfigPreset>,
    /// The place that the agent works in.
    pub facts: &'a EnvironmentFacts,
    /// The host's own tools.
    pub tools: &'a [ToolSpec],
    /// Changes, one over the other, each the text of a JSON Merge Patch (RFC 7396) of the
    /// configuration's JSON: objects are merged, `null` takes a value back to its default, anything
    /// else takes the place of what was there.
    pub patches: &'a [&'a str],
}

/// A model beside the session's own.
#[derive(Clone, Debug)]
pub struct FallbackModel {
    /// The provider that serves it.
    pub provider: Provider,
    /// The name of its endpoint: the provider's, unless one provider is reached in several ways.
    pub endpoint: EndpointId,
    /// The model; the provider's default if absent.
    pub model: Option<String>,
    /// True if it writes the summaries, and takes over only when no other model is left.
    pub cheap: bool,
    /// The kinds of tasks for which it goes before the others.
    pub tasks: Vec<String>,
}

/// The reason why settings make no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No model is named, and the provider has no default.
    #[error("{provider} has no model of its own choice; name one")]
    MissingModel {
        /// The provider.
        provider: String,
    },
    /// A patch does not fit.
    #[error(transparent)]
    Patch(#[from] ConfigError),
}

impl SessionSettings<'_> {
    /// Returns the configuration that the settings come to.
    ///
    /// # Errors
    /// No model is named, or a field of a patch does not fit.
    pub fn config(&self) -> Result<SessionConfig, SettingsError> {
        let patches = self.patches.iter().map(|text| patch::object(text));
        let patches = patches.collect::<Result<Vec<_>, _>>()?;
        // The model is looked up before any patch is applied, since the catalogue's facts stand
        // below them. The last patch that names one counts, as it does in the merge.
        let named = patches.iter().rev().find_map(patch::model_name);
        let name = self.model.or(named.as_deref()).or(self.provider.default_model.as_deref());
        let name = name.ok_or_else(|| missing(self.provider))?;
        let mut config = self.provider.preset(self.preset).config();
        for fallback in self.fallbacks {
            let FallbackModel { provider, endpoint, model, cheap, tasks } = fallback;
            let name = model.as_deref().or(provider.default_model.as_deref());
            let name = name.ok_or_else(|| missing(provider))?;
            let (mut model, _) = self.model_config(provider, name, &config.model);
            model.endpoint.clone_from(endpoint);
            // Of the provider's patch only what is said of the model: the rest is about a session,
            // and this one is another provider's.
            let own = SessionConfig { model, ..config.clone() };
            let model = patch::patched(&own, &provider.config)?.model;
            let tasks = tasks.clone();
            config.routing.models.push(RoutedModel { model, cheap: *cheap, tasks });
        }
        let knowledge_cutoff;
        (config.model, knowledge_cutoff) = self.model_config(self.provider, name, &config.model);
        config.id.clone_from(self.id);
        config.facts.clone_from(self.facts);
        if config.facts.knowledge_cutoff.is_empty() {
            config.facts.knowledge_cutoff = knowledge_cutoff;
        }
        config.tools = self.tools.to_vec();
        // The provider's own patch comes first: a user's patch may undo what it sets.
        let provider = Some(&self.provider.config).filter(|patch| !patch.0.is_empty());
        for patch in provider.into_iter().chain(&patches) {
            config = patch::patched(&config, patch)?;
        }
        // A patch may name another model than `self.model`, and all facts are those of `name`.
        config.model.name = name.into();
        self.catalogue.add_prices(self.provider, &mut config);
        // What the model reads itself need not be in every log.
        let is_read = |skill: &&mut SkillFacts| !skill.place().starts_with("~/");
        if config.skills != SkillUse::Selected {
            config.facts.skills.iter_mut().filter(is_read).for_each(|skill| skill.body = None);
        }
        Ok(config)
    }

    /// Returns what the provider and the catalogue know of a model, and its knowledge cutoff. Where
    /// the preset differs from the specification in how a model is talked to, it goes before the
    /// family's defaults; protocol and family are the provider's.
    fn model_config(
        &self,
        provider: &Provider,
        name: &str,
        preset: &ModelConfig,
    ) -> (ModelConfig, String) {
        let mut model = provider.model(name, preset.vocabulary);
        // A preset has no absent fields: a value equal to the default says nothing.
        let plain = ModelConfig::default();
        if preset.text_calls != plain.text_calls {
            model.text_calls = preset.text_calls;
        }
        if preset.context_window != plain.context_window {
            model.context_window = preset.context_window;
        }
        if preset.max_output_tokens != plain.max_output_tokens {
            model.max_output_tokens = preset.max_output_tokens;
        }
        // Either may have a reason not to stream, and neither can make the other do it.
        model.stream &= preset.stream;
        // Last, since the limits of a known model are facts and not preferences.
        let knowledge_cutoff = self.catalogue.complete(provider, &mut model);
        (model, knowledge_cutoff)
    }
}

impl FallbackModel {
    /// Returns the name of the endpoint of a further model, behind those that are `taken`. One
    /// without a key and an address of its own shares the endpoint of its provider.
    #[must_use]
    pub fn endpoint_for(provider: &Provider, is_shared: bool, taken: &[EndpointId]) -> EndpointId {
        let mut name = provider.endpoint();
        // Two ways to one provider, with two keys, are two endpoints.
        if !is_shared && taken.contains(&name) {
            name.0.push_str(&format!("-{}", taken.len() + 1));
        }
        name
    }
}

fn missing(provider: &Provider) -> SettingsError {
    SettingsError::MissingModel { provider: provider.name.clone() }
}
