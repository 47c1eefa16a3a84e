//! Arguments bent to their schema, for models that write numbers and truth values as texts
//! (CONFLICTS, seed 004). Only what is plainly meant is changed: `"30000"` where a number must
//! stand, `"true"` where a truth value must, a number where a text must.

use alloc::{format, string::ToString};
use innerloop_json::{Number, Value, from_str};

/// Bends `instance` to `schema` where a value has the wrong type and plainly means a right one.
/// Returns whether anything changed.
pub fn coerce(schema: &Value, instance: &mut Value) -> bool {
    let mut changed = bend(schema, instance);
    match instance {
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties") else { return changed };
            for (name, value) in fields.iter_mut() {
                if let Some(property) = properties.get(name) {
                    changed |= coerce(property, value);
                }
            }
        }
        Value::Array(items) => {
            let Some(each) = schema.get("items") else { return changed };
            for item in items {
                changed |= coerce(each, item);
            }
        }
        _ => {}
    }
    changed
}

fn bend(schema: &Value, instance: &mut Value) -> bool {
    let Some(Value::String(wanted)) = schema.get("type") else { return false };
    let bent = match (wanted.as_str(), &*instance) {
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("integer" | "number", Value::String(text)) => number(text.trim()),
        ("string", Value::Number(number)) => Some(Value::String(format!("{number}"))),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        // A list or an object that was written as its JSON text.
        ("array" | "object", Value::String(text)) => from_str::<Value>(text)
            .ok()
            .filter(|value| if wanted == "array" { value.is_array() } else { value.is_object() }),
        _ => None,
    };
    bent.map(|value| *instance = value).is_some()
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(|number| Value::Number(number.into()));
    whole.or_else(|| text.parse().ok().and_then(Number::from_f64).map(Value::Number))
}
