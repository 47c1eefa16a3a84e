//! JSON Merge Patches (RFC 7396) of a configuration, as [`SessionSettings`](crate::SessionSettings)
//! applies them. An error names its field from `config` on, as users write it.

use alloc::{format, string::String};
use innerloop_core::{
    config::{ConfigError, SessionConfig},
    json::{Json, JsonObject, from_str},
};

/// Reads the text of a patch, which must be an object.
pub(crate) fn object(text: &str) -> Result<JsonObject, ConfigError> {
    from_str::<JsonObject>(text).map_err(|error| error.within("config").into())
}

/// Returns the model that a patch names. A `null` or a name of another type names none; applying
/// the patch reports that.
pub(crate) fn model_name(patch: &JsonObject) -> Option<String> {
    let model = patch.field("model").and_then(as_object)?;
    from_str(model.field("name")?.text()).ok()
}

/// Returns the configuration with the patch applied to it.
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
