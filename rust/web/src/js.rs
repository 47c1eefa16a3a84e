//! Conversions for pages in which JavaScript calls the agent: options come in as an object, and the
//! agent's values go out as plain objects, with the names of `docs/protocol.md`.
//!
//! The agent's types contain unparsed JSON, such as a tool's arguments, which `serde-wasm-bindgen`
//! silently turns into objects that contain a string. So [`to_js`] and [`from_js`] go through the
//! JSON itself. In your own type that `serde-wasm-bindgen` converts, mark a field:
//!
//! ```
//! use innerloop_web::Event;
//!
//! #[derive(serde::Serialize)]
//! struct Message {
//!     chat: u32,
//!     #[serde(with = "innerloop_web::js")]
//!     event: Event,
//! }
//! ```

use crate::{build_error::BuildError, builder::AgentBuilder, files::MemoryFiles};
use innerloop_core::json::{FromJson, JsonObject, ToJson, from_str, to_string};
use js_sys::{JSON, Uint8Array};
use serde::{Deserialize, Deserializer, Serializer, de::Error as _};
use serde_wasm_bindgen::preserve;
use std::collections::BTreeMap;
use wasm_bindgen::{JsCast as _, JsValue};

/// Converts a value of the agent's types to a plain JavaScript value.
///
/// ```no_run
/// # fn example(event: innerloop_web::Event, listener: js_sys::Function) {
/// let told = innerloop_web::js::to_js(&event);
/// drop(listener.call1(&wasm_bindgen::JsValue::NULL, &told));
/// # }
/// ```
pub fn to_js(value: &(impl ToJson + ?Sized)) -> JsValue {
    // Our own JSON can always be parsed.
    JSON::parse(&to_string(value)).unwrap_or(JsValue::NULL)
}

/// Converts a JavaScript value to one of the agent's types. Fields that JSON leaves out, such as
/// those that are `undefined`, count as absent.
///
/// # Errors
/// The position of the invalid value, and the reason.
pub fn from_js<T: for<'a> FromJson<'a>>(value: &JsValue) -> Result<T, String> {
    let text = JSON::stringify(value).map_err(|_| "it is no JSON".to_owned())?;
    // `JSON.stringify` returns `undefined` for `undefined` and for functions.
    let text = JsValue::from(text).as_string().unwrap_or_else(|| "null".to_owned());
    from_str(&text).map_err(|error| error.to_string())
}

/// Serializes a value of the agent's types in a type that `serde-wasm-bindgen` converts, for
/// `#[serde(with = "innerloop_web::js")]`. It works with no other serializer.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: ToJson, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    preserve::serialize(&to_js(value), serializer)
}

/// Deserializes a value of the agent's types, for `#[serde(with = "innerloop_web::js")]`. The
/// counterpart of [`serialize`].
///
/// # Errors
/// The position of the invalid value, and the reason.
pub fn deserialize<'de, T: for<'a> FromJson<'a>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value: JsValue = preserve::deserialize(deserializer)?;
    from_js(&value).map_err(D::Error::custom)
}

/// The names of the options. `serde-wasm-bindgen` reads only an object's known fields, so that
/// misspelt names need a check of their own.
const OPTIONS: [&str; 7] =
    ["provider", "model", "apiKey", "baseUrl", "files", "config", "snapshot"];

/// The options of an agent from JavaScript.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentOptions {
    provider: Option<String>,
    model: Option<String>,
    api_key: Option<String>,
    base_url: Option<String>,
    /// The texts of the files, by path.
    files: Option<BTreeMap<String, String>>,
    #[serde(default, with = "self")]
    config: Option<JsonObject>,
    #[serde(default, deserialize_with = "bytes")]
    snapshot: Option<Vec<u8>>,
}

/// Reads the bytes of a `Uint8Array`, if there is one.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    let value: JsValue = preserve::deserialize(deserializer)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let array = value.dyn_into::<Uint8Array>();
    array.map(|array| Some(array.to_vec())).map_err(|_| D::Error::custom("it is no Uint8Array"))
}

impl AgentBuilder {
    /// Creates a builder from JavaScript options: an object with any of `provider`, `model`,
    /// `apiKey`, `baseUrl`, `files` (texts by path), `config` (a JSON Merge Patch of the
    /// configuration, as an object) and `snapshot` (a `Uint8Array`). Add tools and functions for
    /// questions in Rust.
    ///
    /// ```no_run
    /// use innerloop_web::{Agent, AgentBuilder, BuildError};
    /// use wasm_bindgen::JsValue;
    ///
    /// fn make(options: JsValue) -> Result<Agent, BuildError> {
    ///     AgentBuilder::from_js(&options)?.build()
    /// }
    /// ```
    ///
    /// # Errors
    /// [`BuildError::Options`] if the value is not such an object.
    pub fn from_js(options: &JsValue) -> Result<Self, BuildError> {
        let wrong = BuildError::Options;
        let Some(object) = js_sys::Object::try_from(options) else {
            return Err(wrong("the options are no object".to_owned()));
        };
        let names = js_sys::Object::keys(object).into_iter();
        let mut names = names.filter_map(|name| name.as_string());
        if let Some(unknown) = names.find(|name| !OPTIONS.contains(&name.as_str())) {
            let known = OPTIONS.join(", ");
            return Err(wrong(format!("there is no option {unknown:?}; known: {known}")));
        }
        let AgentOptions { provider, model, api_key, base_url, files, config, snapshot } =
            serde_wasm_bindgen::from_value(options.clone())
                .map_err(|error| wrong(format!("the options do not fit: {error}")))?;
        let builder = Self::default().files(memory_of(files.unwrap_or_default())?);
        let set = |builder, value: Option<_>, how: fn(Self, String) -> Self| match value {
            Some(value) => how(builder, value),
            None => builder,
        };
        let builder = set(builder, provider, Self::provider);
        let builder = set(builder, model, Self::model);
        let builder = set(builder, api_key, Self::api_key);
        let builder = set(builder, base_url, Self::base_url);
        let builder = set(builder, config.map(|patch| to_string(&patch)), Self::config);
        Ok(snapshot.into_iter().fold(builder, Self::restore))
    }
}

/// Creates files with these texts.
fn memory_of(texts: BTreeMap<String, String>) -> Result<MemoryFiles, BuildError> {
    let files = MemoryFiles::new();
    for (path, text) in texts {
        let written = files.write(&path, text);
        written.map_err(|error| BuildError::Options(format!("files: {error}")))?;
    }
    Ok(files)
}
