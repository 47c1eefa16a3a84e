//! Conversion of arguments to the types of their schema, where their meaning is plain. `null` for
//! an argument that need not be there counts as absent. For models that write values as text,
//! `"30000"` is a number where the schema wants one, `"true"` a boolean, a number a string, and the
//! JSON text of an array or object that value.

use super::schema::{has_type, types, violations};
use alloc::{format, string::ToString, vec::Vec};
use innerloop_json::{IntoList, Map, Number, Value, from_str, parse_f64};

/// Makes `instance` fit the schema where its meaning is plain; with `retypes`, also values of
/// another type than the schema's. Returns whether anything changed.
pub(crate) fn coerce(schema: &Value, instance: &mut Value, retypes: bool) -> bool {
    // The value itself before what it holds: an object that came as text has fields only after
    // this.
    let mut changed = retypes && retype(schema, instance);
    match instance {
        Value::Object(fields) => {
            changed |= drop_nulls(schema, fields);
            let properties = schema.get("properties").and_then(Value::as_object);
            if let Some(properties) = properties {
                for (name, property) in properties {
                    if let Some(value) = fields.get_mut(name) {
                        changed |= coerce(property, value, retypes);
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(each) = schema.get("items") {
                for item in items {
                    changed |= coerce(each, item, retypes);
                }
            }
        }
        _ => {}
    }
    for all in branches(schema, "allOf") {
        changed |= coerce(all, instance, retypes);
    }
    // Not `||`: the forms must be tried even if something has changed already.
    changed | choose(schema, instance, retypes)
}

/// Removes each `null` that stands for an absent value: the field is optional, and its schema does
/// not allow `null`.
fn drop_nulls(schema: &Value, fields: &mut Map<Value>) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let is_absent = |name: &str, value: &Value| {
        let property = schema.get("properties").and_then(|all| all.get(name));
        let may_be_null = |property| violations(property, &Value::Null).is_empty();
        // A property that the schema does not name keeps its `null`: nobody knows what it means.
        value.is_null() && !is_required(name) && property.is_some_and(|it| !may_be_null(it))
    };
    if !fields.iter().any(|(name, value)| is_absent(name, value)) {
        return false;
    }
    for (name, value) in fields.take() {
        if !is_absent(&name, &value) {
            fields.insert(name, value);
        }
    }
    true
}

/// Makes a value that fits none of the schema's forms fit the first one that it can.
fn choose(schema: &Value, instance: &mut Value, retypes: bool) -> bool {
    let mut forms = branches(schema, "anyOf").iter().into_list();
    forms.extend(branches(schema, "oneOf"));
    // A value that fits a form already is left alone, though another form might like it converted:
    // `"1"` stays a text where texts and numbers are allowed.
    if forms.iter().any(|form| violations(form, instance).is_empty()) {
        return false;
    }
    for form in forms {
        let mut candidate = instance.clone();
        if coerce(form, &mut candidate, retypes) && violations(form, &candidate).is_empty() {
            *instance = candidate;
            return true;
        }
    }
    false
}

fn branches<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Converts one value to a type that the schema wants, but not the values inside of it.
fn retype(schema: &Value, instance: &mut Value) -> bool {
    if has_type(schema, instance) {
        return false;
    }
    let wanted = types(schema);
    let retyped = wanted.into_iter().find_map(|wanted| as_type(wanted, instance));
    retyped.map(|value| *instance = value).is_some()
}

/// Returns the value as that type, if it plainly means one.
fn as_type(wanted: &str, instance: &Value) -> Option<Value> {
    match (wanted, instance) {
        ("boolean", Value::String(text)) => match text.trim() {
            // Python's spelling as well, which models mix up with JSON's. `1` or `yes` are not
            // plain.
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("integer" | "number", Value::String(text)) => number(text.trim()),
        ("null", Value::String(text)) => {
            matches!(text.trim(), "null" | "None").then_some(Value::Null)
        }
        ("string", Value::Number(number)) => Some(Value::String(format!("{number}"))),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        // An array or an object that was written as its JSON text.
        ("array" | "object", Value::String(text)) => from_str::<Value>(text)
            .ok()
            .filter(|value| if wanted == "array" { value.is_array() } else { value.is_object() }),
        _ => None,
    }
}

fn number(text: &str) -> Option<Value> {
    // Whole numbers first: a large id would lose digits as a floating-point number.
    let whole = text.parse::<i64>().ok().map(|number| Value::Number(number.into()));
    whole.or_else(|| parse_f64(text).and_then(Number::from_f64).map(Value::Number))
}
