//! The arguments of tools, for people who call them with `innerloop tool`: their names and types in
//! words, a call that works, and the faults of given ones, field by field.

use innerloop_core::tool::ToolSpec;
use serde_json::{Map, Value};

/// Example calls that work in most folders, by the tools' names.
const EXAMPLES: &[(&str, &str)] = &[
    ("apply_patch", r#"{"patch": "*** Begin Patch\n*** Add File: hi.txt\n+Hi\n*** End Patch"}"#),
    ("edit_file", r#"{"file_path": "README.md", "old_string": "teh", "new_string": "the"}"#),
    ("glob", r#"{"pattern": "**/*.md"}"#),
    ("grep", r#"{"pattern": "TODO"}"#),
    ("list_dir", "{}"),
    ("read_file", r#"{"file_path": "README.md"}"#),
    ("read_many_files", r#"{"paths": ["*.md"]}"#),
    ("run_program", r#"{"program": "qjs", "args": ["-e", "console.log(6 * 7)"]}"#),
    ("shell", r#"{"command": "ls -l"}"#),
    ("write_file", r#"{"file_path": "hi.txt", "content": "Hi\n"}"#),
];

/// The least similarity of two words, from 0 to 1, at which one is taken for the other.
const ALIKE: f64 = 0.6;

/// The arguments that a tool takes, by its schema.
pub(super) struct ToolParameters {
    all: Map<String, Value>,
    required: Vec<String>,
    /// True if it takes no others.
    is_closed: bool,
}

impl ToolParameters {
    pub(super) fn of(spec: &ToolSpec) -> Self {
        let schema: Value = serde_json::from_str(spec.parameters.text()).unwrap_or_default();
        let all = schema.get("properties").and_then(Value::as_object).cloned();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        Self { all: all.unwrap_or_default(), required, is_closed }
    }

    fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// Returns their names, the required ones first.
    fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.all.keys().filter(|name| !self.is_required(name));
        self.required.iter().chain(others).map(String::as_str)
    }

    /// Returns their names in a line; optional ones are in brackets.
    pub(super) fn line(&self) -> String {
        let name = |name: &str| match self.is_required(name) {
            true => name.to_owned(),
            false => format!("[{name}]"),
        };
        let names: Vec<String> = self.names().map(name).collect();
        if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") }
    }

    /// Returns a line for each: its name, type and meaning.
    pub(super) fn lines(&self) -> Vec<String> {
        let width = self.names().map(|name| name.chars().count()).max().unwrap_or_default();
        let line = |name: &str| {
            let schema = self.all.get(name).unwrap_or(&Value::Null);
            let need = if self.is_required(name) { "needed" } else { "optional" };
            let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            let line = format!("{name:<width$}  {}, {need}: {about}", form(schema));
            line.trim_end_matches([' ', ':']).to_owned()
        };
        self.names().map(line).collect()
    }

    /// Returns the faults of these arguments that people make most, a sentence for each field: it
    /// is missing, unknown, or of another type. Other faults are left to the schema's check.
    pub(super) fn faults(&self, given: &Map<String, Value>) -> Vec<String> {
        let known: Vec<&str> = self.names().collect();
        let is_unknown = |name: &&String| self.is_closed && !self.all.contains_key(*name);
        let meant: Vec<&str> =
            given.keys().filter(is_unknown).filter_map(|name| nearest(name, &known)).collect();
        let mut faults = Vec::new();
        for name in &self.required {
            // A misspelt name is one fault, not an unknown field and a missing one.
            if !given.contains_key(name) && !meant.contains(&name.as_str()) {
                faults.push(format!("{name}: missing"));
            }
        }
        for (name, value) in given {
            match self.all.get(name) {
                None if self.is_closed => faults.push(unknown(name, &known)),
                Some(schema) if !fits(schema, value) => {
                    faults.push(format!("{name}: expected {}, got {}", form(schema), shown(value)));
                }
                _ => {}
            }
        }
        faults
    }

    /// Returns the JSON of a call that works, or at least shows the form of one.
    pub(super) fn example(&self, tool: &str) -> String {
        if let Some((_, example)) = EXAMPLES.iter().find(|(name, _)| *name == tool) {
            return (*example).to_owned();
        }
        let field = |name: &String| {
            let schema = self.all.get(name).unwrap_or(&Value::Null);
            format!("{}: {}", Value::from(name.as_str()), sample(schema))
        };
        let fields: Vec<String> = self.required.iter().map(field).collect();
        format!("{{{}}}", fields.join(", "))
    }
}

/// Returns the message about an unknown name, with the one that was probably meant.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(meant) => format!("{name}: unknown, did you mean {meant}?"),
        None => format!("{name}: unknown"),
    }
}

/// Returns the known name that was probably meant; none if all differ too much.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |it: &&'a str| (strsim::normalized_damerau_levenshtein(name, it), *it);
    let likeliest = known.iter().map(likeness).max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeliest.0 >= ALIKE).then_some(likeliest.1)
}

/// Returns whether a value has the type that a schema asks for.
fn fits(schema: &Value, value: &Value) -> bool {
    let is = |wanted: &str| match wanted {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number % 1.0 == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    match schema.get("type") {
        Some(Value::String(wanted)) => is(wanted),
        Some(Value::Array(any)) => any.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Returns the type that a schema asks for, in words.
fn form(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    let limit = |name| schema.get(name).and_then(Value::as_i64);
    let range = match (limit("minimum"), limit("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least}"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a text".to_owned(),
        Some("integer") => format!("a whole number{range}"),
        Some("number") => format!("a number{range}"),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => "a list".to_owned(),
        Some("object") => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

/// Returns a sample value of the type that a schema asks for.
fn sample(schema: &Value) -> Value {
    let given = ["default", "example"].into_iter().find_map(|name| schema.get(name).cloned());
    let choice = || schema.get("enum").and_then(|choices| choices.get(0)).cloned();
    given.or_else(choice).unwrap_or_else(|| match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(Value::from(1)),
        Some("boolean") => Value::from(true),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Value::Object(Map::new()),
        _ => Value::from("…"),
    })
}

/// Returns a value as it was given, cut if it is long.
fn shown(value: &Value) -> String {
    const MOST: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::json::Json;
    use serde_json::json;

    fn fields(schema: &Value) -> ToolParameters {
        let parameters = Json::parse(schema.to_string()).unwrap();
        let (name, description) = ("own".to_owned(), String::new());
        let spec = ToolSpec::new(name, description, parameters);
        ToolParameters::of(&spec)
    }

    #[test]
    fn a_fault_names_its_field_and_what_was_meant() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 9},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "any": {"type": ["string", "null"]},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let own = fields(&schema);
        let faults = |given: Value| own.faults(given.as_object().unwrap());
        assert_eq!(faults(json!({"path": "a", "limit": 2.0, "any": null})), [""; 0]);
        assert_eq!(faults(json!({})), ["path: missing"]);
        let typo = faults(json!({"pth": "a", "limit": "x"}));
        let words = "limit: expected a whole number from 1 to 9, got \"x\"";
        assert_eq!(typo, [words, "pth: unknown, did you mean path?"]);
        assert_eq!(faults(json!({"path": "a", "colour": 1})), ["colour: unknown"]);
        let long = faults(json!({"path": ["x".repeat(99)]}));
        assert!(long[0].starts_with("path: expected a text, got [\"xxx") && long[0].len() < 90);
        assert_eq!(own.line(), "path, [any], [limit], [mode]");
        assert_eq!(own.lines()[0], "path   a text, needed: Where");
        assert_eq!(own.lines()[3], "mode   one of \"a\", \"b\", optional");
        assert_eq!(own.example("own"), "{\"path\": \"…\"}");
        schema["additionalProperties"] = json!(true);
        assert_eq!(
            fields(&schema).faults(json!({"path": "a", "b": 1}).as_object().unwrap()),
            [""; 0]
        );
        assert_eq!(fields(&json!({"type": "object"})).line(), "no arguments");
    }
}
