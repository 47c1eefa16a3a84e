//! What the package's TypeScript asks of the table of providers and of the catalogue of models:
//! both are the core's, so that every host has the same.

use crate::{misuse::Misuse, options::from_js};
use innerloop_driver::{catalogue::Catalogue, providers};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The table of providers, as JSON.
///
/// # Errors
/// `internal` if it cannot be told.
#[wasm_bindgen(js_name = providersJson)]
pub fn providers_json() -> Result<String, JsValue> {
    json(&providers::all())
}

/// The configuration of a model, as JSON: the provider's, with what the catalogue knows of it.
/// `models` is a catalogue as JSON in place of the one that comes along.
///
/// # Errors
/// `unknown_provider`, or `bad_option` for a vocabulary that is none or a catalogue that is none.
#[wasm_bindgen(js_name = modelJson)]
pub fn model_json(
    provider: &str,
    name: &str,
    vocabulary: JsValue,
    models: Option<String>,
) -> Result<String, JsValue> {
    let unknown = |error: providers::UnknownProvider| {
        JsValue::from(Misuse::new("unknown_provider", error.to_string()))
    };
    let provider = providers::find(provider).map_err(unknown)?;
    let known = models.map_or_else(|| Ok(Catalogue::standard()), |text| Catalogue::parse(&text));
    let known = known.map_err(|error| Misuse::bad_option(format!("`models`: {error}")))?;
    let mut model = provider.model(name, from_js(vocabulary)?);
    known.complete(&provider, &mut model);
    json(&model)
}

fn json(value: &impl serde::Serialize) -> Result<String, JsValue> {
    let text = serde_json::to_string(value);
    text.map_err(|error| Misuse::new("internal", error.to_string()).into())
}
