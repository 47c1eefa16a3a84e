//! Patches of the session's configuration, as JSON.

use serde_json::{Value, json};

/// Sets a field of a patch, with the objects around it.
pub(super) fn set(patch: &mut Value, path: &[&str], value: Value) {
    let mut place = patch;
    for name in path {
        if !place.is_object() {
            *place = json!({});
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(*name).or_insert(Value::Null);
    }
    *place = value;
}
