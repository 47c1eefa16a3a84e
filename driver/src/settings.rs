//! A session's configuration out of what a host's user says: a provider and a model, completed
//! from the catalogue, over a preset, and over all of it patches of the configuration's JSON. A
//! field of the configuration needs no line here to be reachable.

use crate::{catalogue::Catalogue, patch, providers::Provider};
use alloc::{string::String, vec::Vec};
use innerloop_core::{
    config::{ConfigError, EnvironmentFacts, ModelConfig, SessionConfig},
    id::SessionId,
    preset::ConfigPreset,
    tool::ToolSpec,
};

/// The settings that a host's user gives.
#[derive(Clone, Copy, Debug)]
pub struct SessionSettings<'a> {
    /// The session's id.
    pub id: &'a SessionId,
    /// The provider that serves the model.
    pub provider: &'a Provider,
    /// The model; else the one that a patch names, else the provider's own choice.
    pub model: Option<&'a str>,
    /// The catalogue of the models that are known.
    pub catalogue: &'a Catalogue,
    /// The preset for all that is not set otherwise.
    pub preset: ConfigPreset,
    /// The place that the agent works in.
    pub facts: &'a EnvironmentFacts,
    /// The host's own tools.
    pub tools: &'a [ToolSpec],
    /// Changes, one over the other, each the text of a JSON Merge Patch (RFC 7396) of the
    /// configuration's JSON: objects are merged, `null` takes a value back to its default, anything
    /// else takes the place of what was there.
    pub patches: &'a [&'a str],
}

/// Settings that make no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Nobody has named a model.
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
    /// The configuration.
    ///
    /// # Errors
    /// No model is named, or the field of a patch that does not fit.
    pub fn config(&self) -> Result<SessionConfig, SettingsError> {
        let patches = self.patches.iter().map(|text| patch::object(text));
        let patches = patches.collect::<Result<Vec<_>, _>>()?;
        let named = patches.iter().rev().find_map(patch::model_name);
        let name = self.model.or(named.as_deref()).or(self.provider.default_model.as_deref());
        let missing = || SettingsError::MissingModel { provider: self.provider.name.clone() };
        let name = name.ok_or_else(missing)?;
        let preset = self.preset.config();
        let mut config = SessionConfig {
            id: self.id.clone(),
            model: self.model_config(name, &preset.model),
            facts: self.facts.clone(),
            tools: self.tools.to_vec(),
            ..preset
        };
        let provider = Some(&self.provider.config).filter(|patch| !patch.0.is_empty());
        for patch in provider.into_iter().chain(&patches) {
            config = patch::patched(&config, patch)?;
        }
        config.model.name = name.into();
        Ok(config)
    }

    /// Returns what the provider and the catalogue know of the model. What the preset says
    /// otherwise than the specification about how a model is talked to comes before the family's
    /// defaults; the protocol and the family are the provider's.
    fn model_config(&self, name: &str, preset: &ModelConfig) -> ModelConfig {
        let mut model = self.provider.model(name, preset.vocabulary);
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
        model.stream &= preset.stream;
        self.catalogue.complete(self.provider, &mut model);
        model
    }
}
