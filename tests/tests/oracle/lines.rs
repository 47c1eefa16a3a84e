//! `docs/lines.schema.json` beside the code: what the code writes passes it, what passes it is
//! read by the code, and neither has a variant that the other lacks.

use innerloop_driver::LineServer;
use innerloop_tests::transcript::exchanges;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The schema of one of its definitions.
struct Schema {
    whole: Value,
    name: &'static str,
    validator: Validator,
}

impl Schema {
    fn of(name: &'static str) -> Self {
        let text = include_str!("../../../docs/lines.schema.json");
        let mut whole: Value = serde_json::from_str(text).unwrap();
        let fields = whole.as_object_mut().unwrap();
        fields.remove("anyOf");
        fields.insert("$ref".to_owned(), json!(format!("#/$defs/{name}")));
        let validator = jsonschema::validator_for(&whole).unwrap();
        Self { whole, name, validator }
    }

    fn check(&self, value: &Value) {
        let faults: Vec<String> =
            self.validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{}: {value}\n{}", self.name, faults.join("\n"));
    }

    /// Values of every kind that the schema allows, with all that a value can have and with as
    /// little as it must have.
    fn values(&self) -> Vec<Value> {
        self.values_of(&json!({"$ref": format!("#/$defs/{}", self.name)}))
    }

    fn values_of(&self, schema: &Value) -> Vec<Value> {
        let list = |key: &str| schema[key].as_array().into_iter().flatten();
        if let Some(name) = schema["$ref"].as_str() {
            return self.values_of(self.whole.pointer(name.trim_start_matches('#')).unwrap());
        }
        if let Some(value) = schema.get("const") {
            return vec![value.clone()];
        }
        let branches: Vec<Value> = list("anyOf").chain(list("oneOf")).cloned().collect();
        if !branches.is_empty() {
            return branches.iter().flat_map(|branch| self.values_of(branch)).collect();
        }
        if schema["enum"].is_array() {
            return list("enum").cloned().collect();
        }
        match schema["type"].as_str() {
            Some("object") => self.objects_of(schema),
            Some("array") if schema["minItems"].is_u64() => vec![json!(["a", "b"])],
            Some("array") => {
                self.values_of(&schema["items"]).into_iter().map(|v| json!([v])).collect()
            }
            Some("string") if schema["contentEncoding"] == "base64" => vec![json!("AA==")],
            Some("string") => vec![json!("a")],
            Some("integer") => vec![json!(1)],
            Some("boolean") => vec![json!(true)],
            _ => vec![Value::Null],
        }
    }

    fn objects_of(&self, schema: &Value) -> Vec<Value> {
        let Some(properties) = schema["properties"].as_object() else { return vec![json!({})] };
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let choices: Vec<(&String, Vec<Value>)> =
            properties.iter().map(|(name, schema)| (name, self.values_of(schema))).collect();
        if schema["maxProperties"] == 1 {
            let values = choices.into_iter().flat_map(|(name, values)| {
                values.into_iter().map(move |value| json!({name.as_str(): value}))
            });
            return values.collect();
        }
        // Each field has each of its values once.
        let most = choices.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let nth = |n: usize| -> Map<String, Value> {
            let field = |(name, values): &(&String, Vec<Value>)| {
                ((*name).clone(), values[n % values.len()].clone())
            };
            choices.iter().map(field).collect()
        };
        let least = nth(0).into_iter().filter(|(name, _)| required.contains(name.as_str()));
        let least = Value::Object(least.collect());
        (0..most).map(|n| Value::Object(nth(n))).chain([least]).collect()
    }
}

/// The samples of a type, as the code writes them.
fn samples(name: &str) -> Vec<Value> {
    let text = include_str!("../../fixtures/samples.json");
    let all: Value = serde_json::from_str(text).unwrap();
    all[name].as_array().unwrap().clone()
}

/// What the code says of a request before it looks whether it can be carried out.
fn refusal(request: &Value) -> Option<String> {
    let answer = LineServer::default().call(request.to_string().as_bytes()).to_owned();
    answer.starts_with("{\"error\":{\"code\":\"bad_request\"").then_some(answer)
}

fn kinds(values: &[Value]) -> BTreeSet<String> {
    let fields = values.iter().filter_map(Value::as_object);
    fields.filter_map(|fields| fields.keys().next().cloned()).collect()
}

#[test]
fn what_the_code_writes_passes_the_schema() {
    for (name, of) in [
        ("input", "Input"),
        ("command", "Command"),
        ("http_input", "HttpInput"),
        ("tool_input", "ToolInput"),
        ("answer", "Answer"),
        ("hook_reply", "HookReply"),
        ("part", "Part"),
        ("outcome", "Outcome"),
        ("tool_spec", "ToolSpec"),
        ("event", "Event"),
    ] {
        let schema = Schema::of(name);
        let samples = samples(of);
        samples.iter().for_each(|sample| schema.check(sample));
        if schema.whole["$defs"][name]["maxProperties"] == 1 {
            assert_eq!(kinds(&samples), kinds(&schema.values()), "{name}");
        }
    }
    let schema = Schema::of("line");
    let mut effects = samples("Effect");
    effects.retain(|effect| !["http", "cancel"].iter().any(|own| effect.get(own).is_some()));
    effects.iter().for_each(|effect| schema.check(&json!({"effect": effect})));
}

#[test]
fn what_is_said_in_the_documentation_passes_the_schema() {
    let (request, line) = (Schema::of("request"), Schema::of("line"));
    let mut lines = LineServer::default();
    for exchange in exchanges() {
        let answer = lines.call(&exchange.request).to_owned();
        answer.lines().for_each(|told| line.check(&serde_json::from_str(told).unwrap()));
        let asked = exchange.request.split(|byte| *byte == b'\n').next().unwrap();
        let asked = serde_json::from_slice(asked).unwrap();
        // The last request is none.
        if asked != json!({"stop": null}) {
            request.check(&asked);
        }
    }
}

#[test]
fn what_passes_the_schema_is_read_by_the_code() {
    let schema = Schema::of("request");
    let values = schema.values();
    assert!(values.len() > 60, "{}", values.len());
    for value in &values {
        schema.check(value);
        assert_eq!(refusal(value), None, "{value}");
    }
    let told = LineServer::default().call(b"{\"stop\":null}").to_owned();
    for kind in kinds(&values) {
        assert!(told.contains(&format!("`{kind}`")), "{kind}: {told}");
    }
    assert_eq!(told.matches('`').count(), 2 * kinds(&values).len() + 2, "{told}");
}

#[test]
fn what_the_schema_refuses_the_code_refuses() {
    let schema = Schema::of("request");
    for value in schema.values() {
        let (kind, fields) = value.as_object().unwrap().iter().next().unwrap();
        let Some(fields) = fields.as_object() else { continue };
        let mut more = fields.clone();
        more.insert("unknown".to_owned(), json!(1));
        let more = json!({kind.as_str(): more});
        assert!(!schema.validator.is_valid(&more) && refusal(&more).is_some(), "{more}");
    }
}
