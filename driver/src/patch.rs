//! Patches of a configuration's JSON (RFC 7396), and which of their fields does not fit.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_core::{
    config::SessionConfig,
    json::{Json, Object},
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
    serde_json::from_str(text).map_err(|found| error(format!("it is no JSON object: {found}")))
}

/// The model that a patch names.
pub(crate) fn model_name(patch: &Object) -> Option<String> {
    let model = patch.field("model").and_then(as_object)?;
    serde_json::from_str(model.field("name")?.text()).ok()
}

/// The configuration with the patch over it.
pub(crate) fn patched(config: &SessionConfig, patch: &Object) -> Result<SessionConfig, PatchError> {
    let error = |message: String| PatchError { path: "config".to_owned(), message };
    let text = serde_json::to_string(config).map_err(|found| error(found.to_string()))?;
    let base = object(&text)?;
    read(&base, patch).map_err(|_| wrong_field(&base, patch))
}

fn read(base: &Object, patch: &Object) -> Result<SessionConfig, String> {
    let merged = merge(base, patch).to_json();
    serde_json::from_str(merged.text()).map_err(|error| {
        let text = error.to_string();
        text.split(" at line ").next().unwrap_or(&text).to_owned()
    })
}

/// The target with the patch over it. Where the target has no object, a value of the patch is
/// taken whole, since it may be a schema, to which `null` means something else.
fn merge(target: &Object, patch: &Object) -> Object {
    let mut fields: Vec<Option<(String, Json)>> = target.0.iter().cloned().map(Some).collect();
    let mut places: BTreeMap<String, usize> =
        target.0.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
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

/// The first field of a patch that does not fit, as deep as it can be told.
fn wrong_field(base: &Object, patch: &Object) -> PatchError {
    let mut path: Vec<String> = Vec::new();
    let (mut fields, mut beside) = (patch.clone(), Some(base.clone()));
    while let Some(target) = beside {
        // With the first field that does not fit, every longer part of the patch does not fit.
        let fits = |count: usize| {
            let part = Object(fields.0.iter().take(count).cloned().collect());
            read(base, &nested(&path, part)).is_ok()
        };
        let (mut good, mut bad) = (0, fields.0.len());
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if fits(middle) { good = middle } else { bad = middle }
        }
        let Some((name, value)) = fields.0.get(good).cloned() else { break };
        beside = target.field(&name).and_then(as_object);
        let inner = as_object(&value);
        let part = Object(Vec::from([(name.clone(), value)]));
        let is_last = beside.is_none() || inner.is_none();
        if is_last {
            let message = read(base, &nested(&path, part)).err().unwrap_or_default();
            path.push(name);
            return PatchError { path: format!("config.{}", path.join(".")), message };
        }
        path.push(name);
        fields = inner.unwrap_or_default();
    }
    PatchError { path: "config".to_owned(), message: "it does not fit".to_owned() }
}

/// A patch that holds `part` at that path.
fn nested(path: &[String], part: Object) -> Object {
    path.iter().rev().fold(part, |inner, name| Object(Vec::from([(name.clone(), inner.to_json())])))
}

fn as_object(value: &Json) -> Option<Object> {
    serde_json::from_str(value.text()).ok()
}
