//! The models that take over when an agent's own fails, as given to a builder.

use innerloop_driver::{
    ApiKey, FallbackModel,
    providers::{self, Provider, UnknownProvider},
};

/// A model that takes over when the previous one is overloaded, is rate-limited, refuses its key or
/// cannot be reached.
#[derive(Clone, Debug)]
#[must_use = "it takes over if a builder is given it"]
pub struct ModelFallback {
    provider: String,
    model: Option<String>,
    /// The key, if one was given.
    pub key: Option<ApiKey>,
    /// The base URL, if one was given.
    pub base_url: Option<String>,
    cheap: bool,
    tasks: Vec<String>,
}

impl ModelFallback {
    /// The default model of a provider, by the provider's name.
    pub fn of(provider: impl Into<String>) -> Self {
        let (provider, model, key, base_url) = (provider.into(), None, None, None);
        Self { provider, model, key, base_url, cheap: false, tasks: Vec::new() }
    }

    /// Sets the model by its name.
    pub fn model(self, name: impl Into<String>) -> Self {
        Self { model: Some(name.into()), ..self }
    }

    /// Sets the provider's key, which is sent to no other provider.
    pub fn api_key(self, key: impl AsRef<str>) -> Self {
        Self { key: Some(ApiKey::new(key.as_ref())), ..self }
    }

    /// Sets the provider's base URL.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        Self { base_url: Some(url.into()), ..self }
    }

    /// Lets the model write the summaries. It takes over only if no other model is left.
    pub fn cheap(self) -> Self {
        Self { cheap: true, ..self }
    }

    /// Adds kinds of tasks for which the model is preferred: `debug`, `unit_test`, `explain` and so
    /// on.
    pub fn tasks(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tasks.extend(kinds.into_iter().map(Into::into));
        self
    }
}

/// Returns the fallbacks after the model of the provider `own`, each with its given key and
/// address.
///
/// # Errors
/// The name of an unknown provider.
pub fn fallback_models<'a>(
    own: &Provider,
    given: &'a [ModelFallback],
) -> Result<Vec<(FallbackModel, &'a ModelFallback)>, UnknownProvider> {
    let mut taken = vec![own.endpoint()];
    given
        .iter()
        .map(|given| {
            let provider = providers::find(&given.provider)?;
            let is_shared = given.key.is_none() && given.base_url.is_none();
            let endpoint = FallbackModel::endpoint_for(&provider, is_shared, &taken);
            taken.push(endpoint.clone());
            let ModelFallback { model, cheap, tasks, .. } = given.clone();
            Ok((FallbackModel { provider, endpoint, model, cheap, tasks }, given))
        })
        .collect()
}
