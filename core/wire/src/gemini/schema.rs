//! The conversion of JSON Schema to the subset of OpenAPI 3.0 that `FunctionDeclaration.parameters`
//! takes, for endpoints that do not know `parametersJsonSchema`. What the subset cannot say is left
//! out: the arguments are checked against the whole schema when they come.

use super::{
    super::{
        lenient::{JsonDocument, ValueRef},
        writer::JsonWriter,
    },
    merge::{ArrayMerge, push_merged},
};
use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};
use innerloop_json::{IntoList, joined};
use innerloop_types::{
    json::{Json, JsonObject},
    text::listed,
};

/// Keywords that mean the same in both.
const SAME: &str = "title|default|example|pattern|minimum|maximum|minLength|maxLength|minItems|\
    maxItems|minProperties|maxProperties|propertyOrdering";

/// The depth of schemas within schemas; deeper ones are left out.
const DEEPEST: usize = 24;

/// The number of schemas in all, with references written out; later ones are left out. A few lines
/// that refer to themselves twice would otherwise double at each level.
const MOST: u32 = 4_000;

/// Returns a tool's parameters in the subset; `None` for a tool that takes none, since the provider
/// refuses an object without properties.
pub(super) fn parameters(schema: &Json) -> Option<Json> {
    let root = object(schema)?;
    let mut out = JsonWriter::new();
    SchemaConverter { root: &root, inside: Vec::new(), left: MOST }.write(&root, 0, &mut out);
    let converted = object(&Json::parse(out.0).ok()?)?;
    let is_empty_object = text(&converted, "type").as_deref() == Some("OBJECT")
        && converted.field("properties").is_none();
    (!is_empty_object).then(|| converted.to_json())
}

/// Converts the schemas within one root, to which references point.
struct SchemaConverter<'a> {
    root: &'a JsonObject,
    /// The references that are being written out: one that contains itself is cut.
    inside: Vec<String>,
    left: u32,
}

impl SchemaConverter<'_> {
    fn write(&mut self, schema: &JsonObject, depth: usize, out: &mut JsonWriter) {
        let outside = self.inside.len();
        let schema = self.resolved(schema);
        self.left = self.left.saturating_sub(1);
        self.write_resolved(&schema, depth, out);
        // References count only within the schema that they stand in: two siblings may use the same
        // one.
        self.inside.truncate(outside);
    }

    fn write_resolved(&mut self, schema: &JsonObject, depth: usize, out: &mut JsonWriter) {
        let goes_on = depth < DEEPEST && self.left > 0;
        let (types, mut is_nullable) = types(schema);
        let mut choices = choices(schema);
        let all = choices.len();
        choices.retain(|choice| text(choice, "type").as_deref() != Some("null"));
        is_nullable |= choices.len() < all || is_true(schema, "nullable");
        if types.len() > 1 {
            choices = types.iter().map(|kind| of_type(kind)).into_list();
        }
        // An object keeps its fields and loses its choices, since the subset has no way to say
        // both.
        if !choices.is_empty() && schema.field("properties").is_none() && goes_on {
            return self.write_choices(schema, &choices, is_nullable, depth, out);
        }
        let (texts, values) = enumerated(schema);
        let kind = types.into_iter().next();
        let kind = kind.or_else(|| implied(schema, !texts.is_empty()).map(String::from));
        let mut fields = SchemaFields { out, count: 0 };
        fields.out.raw("{");
        if let Some(kind) = &kind {
            fields.name("type").string(&kind.to_ascii_uppercase());
        }
        describe(schema, &values, &mut fields);
        if is_nullable {
            fields.name("nullable").raw("true");
        }
        for name in listed(SAME) {
            if let Some(value) = schema.field(name) {
                fields.name(name).raw(value.text());
            }
        }
        if kind.as_deref() == Some("string") && !texts.is_empty() {
            fields.name("enum").raw(&alloc::format!("[{}]", joined(&texts, ",")));
        }
        if let Some(format) = format(schema, kind.as_deref()) {
            fields.name("format").string(&format);
        }
        if goes_on {
            self.members(schema, kind.as_deref(), depth, &mut fields);
        }
        fields.out.raw("}");
    }

    /// Writes a choice of schemas, each with what is said of all of them. A single one replaces the
    /// choice.
    fn write_choices(
        &mut self,
        schema: &JsonObject,
        choices: &[JsonObject],
        is_nullable: bool,
        depth: usize,
        out: &mut JsonWriter,
    ) {
        let mut shared = schema.clone();
        shared.0.retain(|(name, _)| !matches!(name.as_str(), "anyOf" | "oneOf" | "type"));
        if is_nullable && let Ok(yes) = Json::parse("true") {
            shared.set("nullable", yes);
        }
        if let [only] = choices {
            return self.write(&over(&shared, only), depth + 1, out);
        }
        out.raw("{\"anyOf\":[");
        for (index, choice) in choices.iter().enumerate() {
            out.raw(if index == 0 { "" } else { "," });
            self.write(&over(&shared, choice), depth + 1, out);
        }
        out.raw("]}");
    }

    /// Writes what is within an object or an array.
    fn members(
        &mut self,
        schema: &JsonObject,
        kind: Option<&str>,
        depth: usize,
        fields: &mut SchemaFields<'_>,
    ) {
        if kind == Some("array") {
            let items = schema.field("items").and_then(object).unwrap_or_else(|| {
                // The provider refuses an array that does not say what it holds.
                of_type("string")
            });
            self.write(&items, depth + 1, fields.name("items"));
        }
        let properties = schema.field("properties").and_then(object).unwrap_or_default();
        if properties.0.is_empty() {
            return;
        }
        let out = fields.name("properties").raw("{");
        for (index, (name, property)) in properties.0.iter().enumerate() {
            out.raw(if index == 0 { "" } else { "," }).string(name).raw(":");
            self.write(&object(property).unwrap_or_default(), depth + 1, out);
        }
        out.raw("}");
        let required = schema.field("required").map(strings).unwrap_or_default();
        // The provider refuses a required name that is not among the properties.
        let known = |name: &&String| properties.field(name).is_some();
        let mut required = required.iter().filter(known).peekable();
        if required.peek().is_some() {
            let out = fields.name("required").raw("[");
            for (index, name) in required.enumerate() {
                out.raw(if index == 0 { "" } else { "," }).string(name);
            }
            out.raw("]");
        }
    }

    /// Returns the schema with what it refers to (`$ref`) and what it consists of (`allOf`) merged
    /// into it.
    fn resolved(&mut self, schema: &JsonObject) -> JsonObject {
        let mut schema = self.referred(schema.clone());
        for part in schema.field("allOf").map(objects).unwrap_or_default() {
            schema = over(&self.referred(part), &schema);
        }
        schema
    }

    fn referred(&mut self, mut schema: JsonObject) -> JsonObject {
        while let Some(target) = text(&schema, "$ref") {
            schema.0.retain(|(name, _)| name != "$ref");
            if self.inside.contains(&target) {
                return over(&of_type("object"), &schema);
            }
            schema = over(&self.find(&target).unwrap_or_default(), &schema);
            self.inside.push(target);
        }
        schema
    }

    /// Returns the schema that `#/$defs/name` points to.
    fn find(&self, target: &str) -> Option<JsonObject> {
        let mut place = self.root.clone();
        for step in target.strip_prefix('#')?.split('/').filter(|step| !step.is_empty()) {
            // `~1` goes first (RFC 6901): `~01` stands for `~1` and not for a slash.
            place = object(place.field(&step.replace("~1", "/").replace("~0", "~"))?)?;
        }
        Some(place)
    }
}

/// An object's fields while they are written.
struct SchemaFields<'a> {
    out: &'a mut JsonWriter,
    count: usize,
}

impl SchemaFields<'_> {
    /// Writes a field's name. Its value comes next.
    fn name(&mut self, name: &str) -> &mut JsonWriter {
        self.out.raw(if self.count == 0 { "" } else { "," }).string(name).raw(":");
        self.count += 1;
        self.out
    }
}

/// Writes the description, with the values of an enumeration that the subset cannot have.
fn describe(schema: &JsonObject, values: &[String], fields: &mut SchemaFields<'_>) {
    let mut description = text(schema, "description").unwrap_or_default();
    if !values.is_empty() {
        let space = if description.is_empty() { "" } else { " " };
        description.push_str(&alloc::format!("{space}One of: {}.", joined(values, ", ")));
    }
    if !description.is_empty() {
        fields.name("description").string(&description);
    }
}

/// Returns the types that a schema allows, without `null`, and whether `null` is one.
fn types(schema: &JsonObject) -> (Vec<String>, bool) {
    let Some(json) = schema.field("type") else { return (Vec::new(), false) };
    let mut types = match JsonDocument::of(json.text()).root().string() {
        Some(only) => Vec::from([only.into_owned()]),
        None => strings(json),
    };
    if let [only] = types.as_slice()
        && only == "null"
    {
        return (types, false);
    }
    let all = types.len();
    types.retain(|kind| kind != "null");
    let has_null = types.len() < all;
    (types, has_null)
}

/// Returns the type of a schema that does not name it.
fn implied(schema: &JsonObject, has_texts: bool) -> Option<&'static str> {
    if schema.field("properties").is_some() {
        Some("object")
    } else if schema.field("items").is_some() {
        Some("array")
    } else {
        has_texts.then_some("string")
    }
}

/// Returns the values of `enum` or `const`: first those of an enumeration of strings alone, as
/// JSON; second all, if any of them is not a string.
fn enumerated(schema: &JsonObject) -> (Vec<String>, Vec<String>) {
    let listed = schema.field("enum");
    let only = schema.field("const").filter(|_| listed.is_none());
    let listed = JsonDocument::kept(listed);
    let only = JsonDocument::kept(only);
    let values =
        listed.root().elements().chain(only.root().some()).filter(|value| !value.is_null());
    let values: Vec<String> = values.map(|value| value.json().to_owned()).into_list();
    if values.iter().all(|value| value.starts_with('"')) {
        (values, Vec::new())
    } else {
        (Vec::new(), values)
    }
}

/// Returns the format, if the provider takes it; others are an error.
fn format(schema: &JsonObject, kind: Option<&str>) -> Option<String> {
    let known: &[&str] = match kind? {
        "string" => &["date-time"],
        "number" => &["float", "double"],
        "integer" => &["int32", "int64"],
        _ => &[],
    };
    text(schema, "format").filter(|format| known.contains(&format.as_str()))
}

/// Returns the schemas of which one must fit.
fn choices(schema: &JsonObject) -> Vec<JsonObject> {
    let found = ["anyOf", "oneOf"].into_iter().find_map(|name| schema.field(name));
    found.map(objects).unwrap_or_default()
}

/// Merges `schema` over `base`; lists of both are joined.
fn over(base: &JsonObject, schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    schema.0.retain(|(name, _)| name != "allOf");
    let mut out = JsonWriter::new();
    let (base, schema) = (base.to_json(), schema.to_json());
    let (base, schema) = (JsonDocument::of(base.text()), JsonDocument::of(schema.text()));
    push_merged(&mut out, base.root(), schema.root(), ArrayMerge::Append);
    JsonDocument::of(&out.0).root().to_object().unwrap_or_default()
}

fn of_type(kind: &str) -> JsonObject {
    let kind = Json::parse(alloc::format!("\"{kind}\"")).unwrap_or_default();
    JsonObject(Vec::from([(String::from("type"), kind)]))
}

fn object(json: &Json) -> Option<JsonObject> {
    JsonDocument::of(json.text()).root().to_object()
}

fn objects(json: &Json) -> Vec<JsonObject> {
    let document = JsonDocument::of(json.text());
    let mut objects = Vec::new();
    for element in document.root().elements() {
        // One that is no object makes the list unusable.
        let Some(object) = element.to_object() else { return Vec::new() };
        objects.push(object);
    }
    objects
}

fn strings(json: &Json) -> Vec<String> {
    let document = JsonDocument::of(json.text());
    let strings = document.root().elements().filter_map(ValueRef::string);
    strings.map(Cow::into_owned).into_list()
}

fn text(schema: &JsonObject, name: &str) -> Option<String> {
    JsonDocument::of(schema.field(name)?.text()).root().string().map(Cow::into_owned)
}

fn is_true(schema: &JsonObject, name: &str) -> bool {
    schema.field(name).is_some_and(|json| json.text() == "true")
}
