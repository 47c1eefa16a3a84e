//! Merge patches of a configuration's JSON (RFC 7396), which reconfigure a session. They depart
//! from the RFC in one case: if there is nothing to merge into, `null` is a value.

use crate::{
    base::json::{Json, JsonObject, from_str, to_string},
    config::{ConfigError, SessionConfig},
};
use alloc::{string::String, vec::Vec};
use innerloop_json::{IntoList, PlaceMap};

impl SessionConfig {
    /// Returns the configuration with a patch of its JSON applied: objects are merged, other values
    /// are replaced, and `null` resets a field to its default.
    ///
    /// # Errors
    /// The field whose value does not fit.
    pub fn merged(&self, patch: &JsonObject) -> Result<Self, ConfigError> {
        // By way of the JSON, so that a patch is checked exactly as a whole configuration is:
        // unknown fields and wrong types are refused with their path. Fields that the JSON leaves
        // out have their defaults again when it is read, which is what makes `null` a reset.
        let base: JsonObject = from_str(&to_string(self))?;
        Ok(from_str(merge(&base, patch).to_json().text())?)
    }
}

/// Returns the target with the patch applied.
fn merge(target: &JsonObject, patch: &JsonObject) -> JsonObject {
    // A removed field leaves `None` in its place, so that the places in the index stay right and
    // the other fields keep their order. The index keeps the merge linear: a patch comes from
    // outside and may have many fields.
    let mut fields: Vec<Option<(String, Json)>> = target.0.iter().cloned().map(Some).into_list();
    let mut places = PlaceMap::new();
    for (at, (name, _)) in target.0.iter().enumerate() {
        places.insert(name.clone(), at);
    }
    for (name, value) in &patch.0 {
        let place = places.or_insert(name.clone(), fields.len());
        let old = fields.get_mut(place);
        let new = (value.text() != "null").then(|| {
            let inner = old.as_ref().and_then(|old| old.as_ref()).and_then(|(_, v)| as_object(v));
            match (inner, as_object(value)) {
                (Some(target), Some(patch)) => merge(&target, &patch).to_json(),
                // RFC 7396 removes `null` inside of a value that is taken whole. Here such a value
                // may be a JSON Schema or a provider's option, to which `null` means something.
                _ => value.clone(),
            }
        });
        let new = new.map(|value| (name.clone(), value));
        match old {
            Some(old) => *old = new,
            None => fields.push(new),
        }
    }
    let mut merged = Vec::new();
    fields.into_iter().for_each(|field| merged.extend(field));
    JsonObject(merged)
}

fn as_object(value: &Json) -> Option<JsonObject> {
    from_str(value.text()).ok()
}
