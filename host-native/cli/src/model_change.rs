//! The change of a running session to another model, of the same provider or of another one, as a
//! patch of its configuration.

use innerloop_core::{config::ModelConfig, json::to_string};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};
use serde_json::{Map, Value};

/// The fields that depend on the model. The others belong to the user or the endpoint, and stay.
const FIELDS: [&str; 7] =
    ["name", "profile", "max_output_tokens", "context_window", "text_calls", "compat", "price"];

/// Returns the patch of the model's configuration for the model of that name at another provider.
/// What was said for the requests of the provider before is gone.
pub(super) fn elsewhere(
    name: &str,
    provider: &Provider,
    catalogue: &Catalogue,
    current: &ModelConfig,
) -> Value {
    let mut model = provider.model(name, current.vocabulary);
    catalogue.complete(provider, &mut model);
    model.reasoning_effort.clone_from(&current.reasoning_effort);
    let mut patch: Value = serde_json::from_str(&to_string(&model)).unwrap_or_default();
    // Patches merge objects, so that fields of the provider before must be taken out by name.
    if let Some(options) = patch.get_mut("options").and_then(Value::as_object_mut) {
        options.extend(current.options.keys().map(|field| (field.to_owned(), Value::Null)));
    }
    patch
}

/// Returns the patch of the model's configuration for the model of that name.
pub(super) fn to(
    name: &str,
    provider: &Provider,
    catalogue: &Catalogue,
    current: &ModelConfig,
) -> Value {
    let mut model = provider.model(name, current.vocabulary);
    if provider.key_optional {
        // How much a machine of one's own holds does not depend on the model's name.
        model.context_window = current.context_window;
        model.max_output_tokens = current.max_output_tokens;
    }
    catalogue.complete(provider, &mut model);
    let model: Value = serde_json::from_str(&to_string(&model)).unwrap_or_default();
    // Every field is part of the patch, null if the new model has none: a price or a limit of the
    // old model must not stay.
    let fields =
        FIELDS.map(|field| (field.to_owned(), model.get(field).cloned().unwrap_or_default()));
    Value::Object(Map::from_iter(fields))
}
