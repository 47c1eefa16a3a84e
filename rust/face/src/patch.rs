//! The patches of a session's configuration that a builder's settings imply.

use innerloop_core::{
    config::NamedAgent,
    json::{Json, JsonObject, from_str, to_string},
    tool::ToolSpec,
};
use innerloop_driver::HostCapabilities;
use serde_json::{Map, Value, json};

/// Returns the changes that the program's functions for questions and hooks imply.
#[must_use]
pub fn of_people(people: &HostCapabilities) -> Map<String, Value> {
    let mut patch = Map::new();
    if !people.hooks.is_empty() {
        // Our own JSON can always be read.
        let points = serde_json::from_str::<Value>(Json::of(&people.hooks).text());
        patch.insert("hooks".into(), json!({ "points": points.unwrap_or_default() }));
    }
    if people.approve {
        patch.insert("approval".into(), json!({ "ask": "changes" }));
    }
    if people.answer {
        patch.insert("ask_user".into(), true.into());
    }
    patch
}

/// Returns the patch that requires a final answer that fits a schema.
#[must_use]
pub fn of_answer(schema: &Json) -> String {
    format!(r#"{{"answer": {{"schema": {}}}}}"#, schema.text())
}

/// Returns the patch that adds an agent with a name.
#[must_use]
pub fn of_agent(name: &str, agent: &NamedAgent) -> String {
    let mut agents = JsonObject::default();
    agents.set(name, Json::of(agent));
    let mut patch = JsonObject::default();
    patch.set("agents", Json::of(&agents));
    to_string(&patch)
}

/// Returns the patch that sets the program's own tools.
#[must_use]
pub fn of_tools(specs: &[ToolSpec]) -> JsonObject {
    let mut patch = JsonObject::default();
    patch.set("tools", Json::of(specs));
    patch
}

/// Returns a builder's changes to the configuration of a resumed session: `own`, the model's name,
/// and the builder's own patches, in that order.
///
/// # Errors
/// The reason why one of the patches is not a JSON object.
pub fn over_restored(
    own: Map<String, Value>,
    model: Option<&str>,
    patches: &[String],
) -> Result<Vec<JsonObject>, String> {
    let model = model.map(|name| json!({ "model": { "name": name } }).to_string());
    let own = (!own.is_empty()).then(|| Value::from(own).to_string());
    // The user's patches come last, so that they win over what follows from the settings.
    let all = [own, model];
    let all = all.iter().flatten().chain(patches);
    all.map(|text| from_str(text).map_err(|error| error.to_string())).collect()
}
