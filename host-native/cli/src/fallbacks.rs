//! The models that take over where the session's own fails: as options and settings name them, and
//! the way to each.

use super::{args::ModelArgs, exit::CliError, setup};
use innerloop_core::{config::ModelConfig, routing::RoutedModel};
use innerloop_driver::{
    Endpoint, FallbackModel,
    providers::{self, Provider},
};

/// Returns the models that take over for one of that provider.
///
/// # Errors
/// The name of a provider that there is not.
pub(super) fn read(own: &Provider, args: &ModelArgs) -> Result<Vec<FallbackModel>, CliError> {
    let spare = args.fallbacks.iter().map(|named| {
        let (provider, model) = named.split_once('/').unwrap_or((named, ""));
        let provider = providers::find(provider)
            .map_err(|error| CliError::usage(format!("--fallback {named}: {error}")))?;
        Ok(fallback(provider, model, false))
    });
    let cheap = args.cheap_model.iter().map(|named| {
        let parts = named.split_once('/');
        // Gateways have slashes in the names of their models: what is no provider's name is a part
        // of the model's.
        let other = parts.and_then(|(name, model)| Some((providers::find(name).ok()?, model)));
        let (provider, model) = other.unwrap_or((own.clone(), named));
        Ok(fallback(provider, model, true))
    });
    spare.chain(cheap).collect()
}

fn fallback(provider: Provider, model: &str, cheap: bool) -> FallbackModel {
    let model = Some(model.to_owned()).filter(|name| !name.is_empty());
    FallbackModel { endpoint: provider.endpoint(), provider, model, cheap, tasks: Vec::new() }
}

/// Returns the endpoints of models, other than that of the provider itself.
///
/// # Errors
/// A provider that there is not, or whose key is nowhere.
pub(super) fn endpoints(
    own: &Provider,
    models: &[RoutedModel],
    args: &ModelArgs,
) -> Result<Vec<(Provider, Endpoint)>, CliError> {
    let mut found: Vec<(Provider, Endpoint)> = Vec::new();
    for RoutedModel { model: ModelConfig { endpoint, .. }, .. } in models {
        let is_known = |provider: &Provider| provider.endpoint() == *endpoint;
        if is_known(own) || found.iter().any(|(provider, _)| is_known(provider)) {
            continue;
        }
        let provider = providers::find(&endpoint.0).map_err(CliError::configuration)?;
        let access = setup::endpoint_of(&provider, &args.of(&provider)).map_err(|error| {
            CliError { message: format!("the model that takes over: {}", error.message), ..error }
        })?;
        found.push((provider, access.endpoint));
    }
    Ok(found)
}
