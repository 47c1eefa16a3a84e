//! Patches of a configuration's JSON (RFC 7396), and which of their fields does not fit.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, vec::Vec};
use innerloop_core::{
    config::SessionConfig,
    json::{Json, Object, from_str, to_string},
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
    let base = object(&to_string(config))?;
    from_str(merge(&base, patch).to_json().text()).map_err(|error| PatchError {
        path: format!("config.{}", error.path()),
        message: error.message().to_owned(),
    })
}

/// The target with the patch over it. Where the target has no object, a value of the patch is
/// taken whole, since it may be a schema, to which `null` means something else.
fn merge(target: &Object, patch: &Object) -> Object {
    let mut fields: Vec<Option<(String, Json)>> = target.0.iter().cloned().map(Some).collect();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    places.extend(target.0.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)));
    for (name, value) in &patch.0 {
        let place = *places.entry(name.clone()).or_insert(fields.len());
        let old = fields.get_mut(place);
        let new = (value.text() != "null").then(|| {
            let inner = old.as_ref().and_then(|old| old.as_ref()).and_then(|(_, v)| as_object(v));
            match (inner, as_object(value)) {
                (Some(target), Some(patch)) => merge(&target, &patch).to_json(),
                _ => value.clone(),
            }
        });
        let new = new.map(|value| (name.clone(), value));
        match old {
            Some(old) => *old = new,
            None => fields.push(new),
        }
    }
    Object(fields.into_iter().flatten().collect())
}

fn as_object(value: &Json) -> Option<Object> {
    from_str(value.text()).ok()
}
