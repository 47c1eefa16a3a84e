//! The change of a running session to another model, of the same provider or of another one, as a
//! patch of its configuration.

use innerloop_core::{
    config::ModelConfig,
    json::{ToJson, to_string},
};
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
    let mut patch = value_of(&model);
    let own = provider.config.field("model").map(value_of).unwrap_or_default();
    if let (Value::Object(patch), Value::Object(own)) = (&mut patch, own) {
        patch.extend(own);
    }
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
    let model = value_of(&model);
    // Every field is part of the patch, null if the new model has none: a price or a limit of the
    // old model must not stay.
    let fields =
        FIELDS.map(|field| (field.to_owned(), model.get(field).cloned().unwrap_or_default()));
    Value::Object(Map::from_iter(fields))
}

/// Returns our own JSON, which can always be read, for a patch.
fn value_of(value: &impl ToJson) -> Value {
    serde_json::from_str(&to_string(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, to};
    use innerloop_core::config::ModelConfig;
    use innerloop_driver::{catalogue::Catalogue, providers};

    #[test]
    fn a_model_elsewhere_has_what_its_provider_says_of_models() {
        let (catalogue, current) = (Catalogue::standard(), ModelConfig::default());
        let ollama = providers::find("ollama").unwrap();
        let patch = elsewhere("qwen3:8b", &ollama, &catalogue, &current);
        assert_eq!(
            (&patch["endpoint"], &patch["max_output_tokens"]),
            (&"ollama".into(), &2_048.into())
        );
        let anthropic = providers::find("anthropic").unwrap();
        let patch = elsewhere("claude-sonnet-5-5", &anthropic, &catalogue, &current);
        assert_ne!(patch["max_output_tokens"], 2_048);
        assert!(patch["price"].is_object());
        let same = to("claude-sonnet-5-5", &anthropic, &catalogue, &current);
        assert_eq!((&same["price"], same.get("endpoint")), (&patch["price"], None));
    }
}
