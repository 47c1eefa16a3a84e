//! Patches of a configuration's JSON (RFC 7396), and which of their fields does not fit.

use alloc::{borrow::ToOwned, format, string::String};
use innerloop_core::{
    config::SessionConfig,
    json::{Json, Object, from_str},
};

/// A patch that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct PatchError {
    /// The field, for example `config.retry.max_retries`.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// Reads a patch.
pub(crate) fn object(text: &str) -> Result<Object, PatchError> {
    let error = |message| PatchError { path: "config".to_owned(), message };
    from_str(text).map_err(|found| error(format!("it is no JSON object: {found}")))
}

/// The model that a patch names.
pub(crate) fn model_name(patch: &Object) -> Option<String> {
    let model = patch.field("model").and_then(as_object)?;
    from_str(model.field("name")?.text()).ok()
}

/// The configuration with the patch over it.
pub(crate) fn patched(config: &SessionConfig, patch: &Object) -> Result<SessionConfig, PatchError> {
    config.merged(patch).map_err(|error| PatchError {
        path: format!("config.{}", error.field),
        message: error.message,
    })
}

fn as_object(value: &Json) -> Option<Object> {
    from_str(value.text()).ok()
}
