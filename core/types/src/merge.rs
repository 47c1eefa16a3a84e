//! Changes of a configuration by patches of its JSON (RFC 7396).

use crate::{
    base::json::{Json, JsonObject, from_str, to_string},
    config::{ConfigError, SessionConfig},
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};

impl SessionConfig {
    /// The configuration with a patch of its JSON over it: objects are merged, other values are
    /// replaced, and `null` takes a field back to its default.
    ///
    /// # Errors
    /// The field that does not fit.
    pub fn merged(&self, patch: &JsonObject) -> Result<Self, ConfigError> {
        let base: JsonObject = from_str(&to_string(self))?;
        Ok(from_str(merge(&base, patch).to_json().text())?)
    }
}

/// The target with the patch over it. Where the target has no object, a value of the patch is
/// taken whole, since it may be a schema, to which `null` means something else.
fn merge(target: &JsonObject, patch: &JsonObject) -> JsonObject {
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
    JsonObject(fields.into_iter().flatten().collect())
}

fn as_object(value: &Json) -> Option<JsonObject> {
    from_str(value.text()).ok()
}
