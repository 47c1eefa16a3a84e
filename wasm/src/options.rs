//! What the package hands in when an agent is made, read as JSON.

use crate::{endpoint::Endpoint, misuse::Misuse, replay::Replay};
use innerloop_core::{config::SessionConfig, json::Json, preset::Preset, profile, tool::ToolSpec};
use innerloop_driver::traffic::Player;
use js_sys::JSON;
use serde::{Deserialize, de::DeserializeOwned};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The options of an agent.
#[derive(Deserialize)]
pub(crate) struct Options {
    /// The session's configuration without its tools, as JSON text, for which the module has a
    /// reader already; what the options cannot say is as in the preset `modern`.
    config: String,
    tools: Vec<Tool>,
    endpoint: Endpoint,
    replay: Option<Recording>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    /// The schema as JSON text: it is kept as it is, and only text keeps its order.
    parameters: String,
    read_only: bool,
}

#[derive(Deserialize)]
struct Recording {
    traffic: String,
    pace_ms: u64,
}

/// The options, each in its final form.
pub(crate) struct Parts {
    pub(crate) config: SessionConfig,
    pub(crate) endpoint: Endpoint,
    pub(crate) replay: Option<Replay>,
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// `bad_option` for a value or a schema that does not fit, `replay_unreadable` for a
    /// recording that is none.
    pub(crate) fn read(options: JsValue) -> Result<Parts, Misuse> {
        let Self { config, tools, endpoint, replay } = from_js(options)?;
        let mut config: SessionConfig =
            serde_json::from_str(&config).map_err(Misuse::bad_option)?;
        let modern = Preset::Modern.config();
        (config.guard, config.repair) = (modern.guard, modern.repair);
        config.tools = tools.into_iter().map(Tool::spec).collect::<Result<_, _>>()?;
        let replay = replay.map(Recording::load).transpose()?;
        Ok(Parts { config, endpoint, replay })
    }
}

impl Tool {
    fn spec(self) -> Result<ToolSpec, Misuse> {
        let Self { name, description, parameters, read_only } = self;
        let parameters = Json::parse(parameters).map_err(|error| {
            Misuse::bad_option(format!("the schema of the tool `{name}` is no JSON: {error}"))
        })?;
        Ok(ToolSpec { name, description, parameters, read_only, freeform: None })
    }
}

impl Recording {
    fn load(self) -> Result<Replay, Misuse> {
        let player = Player::parse(&self.traffic)
            .map_err(|error| Misuse::new("replay_unreadable", error.to_string()))?;
        Ok(Replay::new(player, self.pace_ms))
    }
}

/// The instruction files that a model family reads at the workspace's root.
///
/// # Errors
/// `bad_option` for a family that is not known.
#[wasm_bindgen(js_name = docNames)]
pub fn doc_names(profile: &str) -> Result<Vec<String>, JsValue> {
    let kind = from_js(JsValue::from_str(profile))?;
    Ok(profile::doc_places(kind, "", ""))
}

/// Reads a value that the package hands in.
///
/// # Errors
/// `bad_option` with what does not fit.
#[expect(clippy::needless_pass_by_value, reason = "the binding is handed values")]
pub(crate) fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, Misuse> {
    let text = JSON::stringify(&value).ok().and_then(|text| text.as_string());
    let text = text.ok_or_else(|| Misuse::bad_option("the value has no JSON"))?;
    serde_json::from_str(&text).map_err(Misuse::bad_option)
}
