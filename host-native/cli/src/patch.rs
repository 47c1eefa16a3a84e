//! The construction of JSON Merge Patches of a session's configuration, from options and settings.

use serde_json::{Value, json};

/// Sets a field of a patch, and creates the objects on the way to it.
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
