//! Patches of a configuration's JSON (RFC 7396), and which of their fields does not fit.

use alloc::{format, string::String};
use innerloop_core::{
    config::{ConfigError, SessionConfig},
    json::{Json, JsonObject, from_str},
};

/// Reads a patch.
pub(crate) fn object(text: &str) -> Result<JsonObject, ConfigError> {
    from_str::<JsonObject>(text).map_err(|error| error.within("config").into())
}

/// The model that a patch names.
pub(crate) fn model_name(patch: &JsonObject) -> Option<String> {
    let model = patch.field("model").and_then(as_object)?;
    from_str(model.field("name")?.text()).ok()
}

/// The configuration with the patch over it.
pub(crate) fn patched(
    config: &SessionConfig,
    patch: &JsonObject,
) -> Result<SessionConfig, ConfigError> {
    config.merged(patch).map_err(|error| {
        let field = format!("config.{}", error.field).into();
        ConfigError { field, ..error }
    })
}

fn as_object(value: &Json) -> Option<JsonObject> {
    from_str(value.text()).ok()
}
