//! Checks of a tool's schema, and of a call's arguments against it: JSON Schema as far as the
//! schemas of tools use it. Violations are sentences that a model can act on. Keywords that are not
//! known here restrict nothing.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{IntoList, Number, Value, from_str, joined, quoted};
use innerloop_types::{config::ConfigError, tool::ToolSpec};

/// The maximum number of violations that are reported: the model fixes the first ones first.
const MAX_VIOLATIONS: usize = 8;

/// Returns the schema of a tool's arguments.
///
/// # Errors
/// The field of the tool that no model accepts: its name, or a schema that is not of an object.
pub fn of_tool(spec: &ToolSpec) -> Result<Value, ConfigError> {
    let ToolSpec { name, parameters, .. } = spec;
    // The rule that all providers accept: a name that one of them refuses would fail every request.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(fits) {
        let message = format!(
            "{} is not a name that models accept: 1 to 64 letters, digits, _ and -",
            quoted(name)
        );
        return Err(ConfigError::new("name", message));
    }
    let fault = |field: &'static str, message: String| {
        let tool = Some(name.clone());
        Err(ConfigError { tool, ..ConfigError::new(field, message) })
    };
    let schema: Value = match from_str(parameters.text()) {
        Ok(schema) => schema,
        Err(error) => return fault("parameters", error.to_string()),
    };
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return fault("parameters", "the root of the schema must have type \"object\"".into());
    }
    let has = |path: &&String| schema.get("properties").is_some_and(|all| all.get(path).is_some());
    if let Some(unknown) = spec.paths.iter().find(|path| !has(path)) {
        return fault("paths", format!("there is no argument {}", quoted(unknown)));
    }
    Ok(schema)
}

/// Returns the violations of `schema` by `instance`, a sentence each; empty if it fits.
#[must_use]
pub fn violations(schema: &Value, instance: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, instance, "", &mut found);
    // One check may add several at once, so that the early return alone does not keep the limit.
    found.truncate(MAX_VIOLATIONS);
    found
}

/// Checks one place of the instance; `path` names it, empty for the root.
fn check(schema: &Value, instance: &Value, path: &str, found: &mut Vec<String>) {
    if found.len() >= MAX_VIOLATIONS {
        return;
    }
    if schema == &Value::Bool(false) {
        found.push(format!("{} is not allowed", place(path)));
    }
    if !schema.is_object() {
        return;
    }
    // `nullable` is OpenAPI's word, which schemas made for Gemini use; JSON Schema has a type for
    // it.
    if instance.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
        return;
    }
    if !has_type(schema, instance) {
        let want = joined(&types(schema), " or ");
        found.push(format!("{} must be {want}, not {}", place(path), type_name(instance)));
        return;
    }
    check_choices(schema, instance, path, found);
    check_branches(schema, instance, path, found);
    match instance {
        Value::Object(_) => check_object(schema, instance, path, found),
        Value::Array(items) => check_array(schema, items, path, found),
        Value::String(text) => {
            // JSON Schema counts characters, not bytes.
            check_size(schema, ("minLength", "maxLength"), text.chars().count(), path, found);
        }
        Value::Number(number) => check_number(schema, *number, path, found),
        Value::Null | Value::Bool(_) => {}
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { "the arguments".to_string() } else { format!("`{path}`") }
}

/// Returns the types that a schema names; empty if it names none.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => [name.as_str()].into(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).into_list(),
        _ => Vec::new(),
    }
}

/// Returns whether a value has one of the schema's types, or the schema names none.
pub(super) fn has_type(schema: &Value, instance: &Value) -> bool {
    let wanted = types(schema);
    wanted.is_empty()
        || wanted.iter().any(|&name| match name {
            "integer" => is_integer(instance),
            "number" => instance.is_number(),
            name => name == type_name(instance),
        })
}

/// Returns whether a value is an integer; JSON Schema counts 2.0 as one.
fn is_integer(instance: &Value) -> bool {
    instance.as_number().is_some_and(|number| number.is_integer() || number.as_f64() % 1.0 == 0.0)
}

const fn type_name(instance: &Value) -> &'static str {
    match instance {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Compares values; 1 and 1.0 are the same number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

fn check_choices(schema: &Value, instance: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(Value::Array(choices)) = schema.get("enum")
        && !choices.iter().any(|choice| equal(choice, instance))
    {
        let shown: Vec<String> = choices.iter().map(Value::to_string).into_list();
        found.push(format!("{} must be one of {}", place(path), joined(&shown, ", ")));
    }
    if let Some(constant) = schema.get("const")
        && !equal(constant, instance)
    {
        found.push(format!("{} must be {constant}", place(path)));
    }
}

fn check_branches(schema: &Value, instance: &Value, path: &str, found: &mut Vec<String>) {
    let fits = |branch: &&Value| violations(branch, instance).is_empty();
    if let Some(Value::Array(branches)) = schema.get("anyOf")
        && !branches.iter().any(|branch| fits(&branch))
    {
        found.push(format!("{} fits none of the allowed forms", place(path)));
    }
    if let Some(Value::Array(branches)) = schema.get("oneOf") {
        match branches.iter().filter(fits).count() {
            1 => {}
            0 => found.push(format!("{} fits none of the allowed forms", place(path))),
            _ => found.push(format!("{} fits more than one of the allowed forms", place(path))),
        }
    }
    if let Some(Value::Array(branches)) = schema.get("allOf") {
        for branch in branches {
            check(branch, instance, path, found);
        }
    }
}

fn check_object(schema: &Value, instance: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(Value::Array(required)) = schema.get("required") {
        for name in required.iter().filter_map(Value::as_str) {
            if instance.get(name).is_none() {
                found.push(format!("`{}` is required", join(path, name)));
            }
        }
    }
    let properties = schema.get("properties");
    let Some(fields) = instance.as_object() else { return };
    for (name, value) in fields {
        let known = properties.and_then(|properties| properties.get(name));
        match (known, schema.get("additionalProperties")) {
            (Some(property), _) => check(property, value, &join(path, name), found),
            (None, Some(Value::Bool(false))) => {
                found.push(format!("`{}` is not a known property", join(path, name)));
            }
            (None, Some(rest)) => check(rest, value, &join(path, name), found),
            (None, None) => {}
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

fn check_array(schema: &Value, items: &[Value], path: &str, found: &mut Vec<String>) {
    check_size(schema, ("minItems", "maxItems"), items.len(), path, found);
    if let Some(each) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            check(each, item, &format!("{path}[{index}]"), found);
        }
    }
}

fn check_size(
    schema: &Value,
    (least, most): (&str, &str),
    size: usize,
    path: &str,
    found: &mut Vec<String>,
) {
    let size = size as u64;
    if let Some(min) = schema.get(least).and_then(Value::as_u64)
        && size < min
    {
        found.push(format!("{} is too short: {size}, at least {min}", place(path)));
    }
    if let Some(max) = schema.get(most).and_then(Value::as_u64)
        && size > max
    {
        found.push(format!("{} is too long: {size}, at most {max}", place(path)));
    }
}

fn check_number(schema: &Value, number: Number, path: &str, found: &mut Vec<String>) {
    type IsBad = fn(&f64, &f64) -> bool;
    const LIMITS: [(&str, &str, IsBad); 4] = [
        ("minimum", "at least", f64::lt),
        ("maximum", "at most", f64::gt),
        ("exclusiveMinimum", "more than", f64::le),
        ("exclusiveMaximum", "less than", f64::ge),
    ];
    for (name, how, is_bad) in LIMITS {
        if let Some(limit) = schema.get(name).and_then(Value::as_number)
            && is_bad(&number.as_f64(), &limit.as_f64())
        {
            found.push(format!("{} must be {how} {limit}, not {number}", place(path)));
        }
    }
}
