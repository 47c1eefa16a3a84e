//! Another model of the same provider, for a session that goes on.

use innerloop_core::{config::ModelConfig, json::to_string};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};
use serde_json::{Map, Value};

/// The fields that differ from model to model. The others are the user's, or the endpoint's.
const FIELDS: [&str; 7] =
    ["name", "profile", "max_output_tokens", "context_window", "text_calls", "compat", "price"];

/// The patch of the model's configuration that makes it the one of that name.
pub(super) fn to(
    name: &str,
    provider: &Provider,
    catalogue: &Catalogue,
    current: &ModelConfig,
) -> Value {
    let mut model = provider.model(name, current.vocabulary);
    catalogue.complete(provider, &mut model);
    let model: Value = serde_json::from_str(&to_string(&model)).unwrap_or_default();
    // What is not known of the new one must not stay from the old one.
    let fields =
        FIELDS.map(|field| (field.to_owned(), model.get(field).cloned().unwrap_or_default()));
    Value::Object(Map::from_iter(fields))
}
