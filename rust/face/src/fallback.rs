//! The models that take over where an agent's own fails, as a builder is given them.

use innerloop_driver::{
    ApiKey, FallbackModel,
    providers::{self, Provider, UnknownProvider},
};

/// A model that takes over where the one before is overloaded, has had too many requests, refuses
/// its key or cannot be reached.
#[derive(Clone, Debug)]
#[must_use = "it takes over if a builder is given it"]
pub struct ModelFallback {
    provider: String,
    model: Option<String>,
    /// The key, where one was given.
    pub key: Option<ApiKey>,
    /// The base URL, where one was given.
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

    /// Sets the provider's key, which no other provider is sent.
    pub fn api_key(self, key: impl AsRef<str>) -> Self {
        Self { key: Some(ApiKey::new(key.as_ref())), ..self }
    }

    /// Sets the provider's base URL.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        Self { base_url: Some(url.into()), ..self }
    }

    /// Has it write the summaries. It takes over only where no other model is left.
    pub fn cheap(self) -> Self {
        Self { cheap: true, ..self }
    }

    /// Adds kinds of tasks for which it goes before the others: `debug`, `unit_test`, `explain` and
    /// so on.
    pub fn tasks(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tasks.extend(kinds.into_iter().map(Into::into));
        self
    }
}

/// Returns the models behind that of the provider `own`, each with what was given of the way to it.
///
/// # Errors
/// The name of a provider that there is not.
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
