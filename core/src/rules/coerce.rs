//! Arguments coerced to their schema, for models that write numbers and booleans as strings. Only
//! what is plainly meant is changed: `"30000"` where the schema wants a number, `"true"` where it
//! wants a boolean, a number where it wants a string.

use alloc::{format, string::ToString};
use innerloop_json::{Number, Value, from_str, parse_f64};

/// Changes the values of `instance` that have the wrong type and plainly mean a right one. Returns
/// whether anything changed.
pub(crate) fn coerce(schema: &Value, instance: &mut Value) -> bool {
    let mut changed = coerce_one(schema, instance);
    match instance {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let Some(value) = fields.get_mut(name) {
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

/// Changes one value, without what it holds.
fn coerce_one(schema: &Value, instance: &mut Value) -> bool {
    let Some(Value::String(wanted)) = schema.get("type") else { return false };
    let coerced = match (wanted.as_str(), &*instance) {
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("integer" | "number", Value::String(text)) => number(text.trim()),
        ("string", Value::Number(number)) => Some(Value::String(format!("{number}"))),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        // An array or an object that was written as its JSON text.
        ("array" | "object", Value::String(text)) => from_str::<Value>(text)
            .ok()
            .filter(|value| if wanted == "array" { value.is_array() } else { value.is_object() }),
        _ => None,
    };
    coerced.map(|value| *instance = value).is_some()
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(|number| Value::Number(number.into()));
    whole.or_else(|| parse_f64(text).and_then(Number::from_f64).map(Value::Number))
}
