//! JSON written by hand. The bytes of a request depend on nothing but this code: earlier turns must
//! stay the same to the byte, or the provider's cache of them is lost.

use super::lenient::{JsonDocument, ValueRef};
use alloc::{format, string::String, vec, vec::Vec};
use core::mem;
use innerloop_json::{Map, PlaceMap, Value, from_str, push_string};
use innerloop_types::{json::Json, message::ToolCall, steps};

/// JSON text while it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonWriter(pub(super) String);

impl JsonWriter {
    /// Makes a writer without text.
    pub(super) const fn new() -> Self {
        Self(String::new())
    }

    /// Makes a writer with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Returns the number of bytes that are written.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes text as it is.
    pub(super) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// Writes a string, quotes and all.
    pub(super) fn string(&mut self, text: &str) -> &mut Self {
        push_string(&mut self.0, text);
        self
    }

    /// Writes a number in digits.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.raw(&format!("{number}"))
    }

    /// Writes `true` or `false`.
    pub(super) fn bool(&mut self, is_true: bool) -> &mut Self {
        self.raw(if is_true { "true" } else { "false" })
    }

    /// Writes a file's bytes as the string of a `data:` URL.
    pub(super) fn data_url(&mut self, media_type: &str, data: &str) -> &mut Self {
        self.string(&format!("data:{media_type};base64,{data}"))
    }

    /// Writes a file as OpenAI's protocols have it, as fields of an object.
    pub(super) fn file(&mut self, media_type: &str, name: &str, data: &str) -> &mut Self {
        self.raw("\"filename\":").string(name).raw(",\"file_data\":").data_url(media_type, data)
    }

    /// Writes a tool's name and description, as fields of an object.
    pub(super) fn named(&mut self, name: &str, description: &str) -> &mut Self {
        self.raw("\"name\":").string(name).raw(",\"description\":").string(description)
    }
}

/// An object while it is written. A field that is set again keeps its place.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectFields {
    /// The position of each name among the fields.
    places: PlaceMap,
    /// The position of each field's value among the values.
    newest: Vec<usize>,
    /// All values one behind the other, with those that were set again.
    values: JsonWriter,
    /// The position where each of them begins.
    starts: Vec<usize>,
}

impl ObjectFields {
    /// Returns the fields of an object; none of another value.
    pub(super) fn of(object: ValueRef<'_>) -> Self {
        let mut fields = Self::default();
        for (name, value) in object.entries() {
            fields.set(&name).raw(value.json());
        }
        fields
    }

    /// Begins a field and returns the writer for its value, which replaces an earlier one.
    pub(super) fn set(&mut self, name: &str) -> &mut JsonWriter {
        steps::count(1 + name.len());
        let place = self.places.or_insert(name.into(), self.newest.len());
        // A value that is set again leaves the old one in the text, unused: to remove it, all
        // values behind it would have to move.
        match self.newest.get_mut(place) {
            Some(value) => *value = self.starts.len(),
            None => self.newest.push(self.starts.len()),
        }
        self.starts.push(self.values.len());
        &mut self.values
    }

    /// Reads the value of a field; an empty document if there is none.
    pub(super) fn get(&self, name: &str) -> JsonDocument<'_> {
        JsonDocument::of(self.places.get(name).map_or("", |place| self.value(place)))
    }

    /// Writes the object without its closing brace.
    pub(super) fn write_open(&self, out: &mut JsonWriter) {
        out.raw("{");
        // The map is in the order of names; the bytes must be in the order in which the fields were
        // set.
        let mut names = vec![""; self.newest.len()];
        for (name, place) in &self.places {
            if let Some(of_place) = names.get_mut(place) {
                *of_place = name;
            }
        }
        for (place, name) in names.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            out.raw(comma).string(name).raw(":").raw(self.value(place));
        }
    }

    /// Returns whether there are no fields.
    #[cfg(feature = "text-calls")]
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the field if there is exactly one.
    #[cfg(feature = "text-calls")]
    pub(super) fn only(&self) -> Option<(&str, JsonDocument<'_>)> {
        let (name, _) = self.places.iter().next().filter(|_| self.places.len() == 1)?;
        Some((name, self.get(name)))
    }

    /// Writes the object.
    pub(super) fn write(&self, out: &mut JsonWriter) {
        self.write_open(out);
        out.raw("}");
    }

    /// Returns the value of the field at a position.
    fn value(&self, place: usize) -> &str {
        let value = self.newest.get(place).copied().unwrap_or_default();
        let from = self.starts.get(value).copied().unwrap_or_default();
        let to = self.starts.get(value + 1).copied().unwrap_or(self.values.len());
        self.values.0.get(from..to).unwrap_or_default()
    }
}

/// Returns an object with these fields, given as JSON: they replace its own fields of the same
/// names, the others come last. Of its own fields only those stay that `keeps` allows. Returns
/// nothing if the value is not an object. An empty text in `with` adds nothing.
pub(super) fn rewritten(
    object: ValueRef<'_>,
    keeps: &dyn Fn(&str, ValueRef<'_>) -> bool,
    mut with: Map<String>,
) -> Option<Json> {
    if !object.is_object() {
        return None;
    }
    let mut json = String::new();
    let mut push = |name: &str, value: &str| {
        steps::count(name.len() + value.len());
        json.push(if json.is_empty() { '{' } else { ',' });
        push_string(&mut json, name);
        json.push(':');
        json.push_str(value);
    };
    for (name, value) in object.entries() {
        if keeps(&name, value) {
            // A text that has been taken is empty and is not written again at the end.
            let new = with.get_mut(&name).map(mem::take).filter(|new| !new.is_empty());
            push(&name, new.as_deref().unwrap_or(value.json()));
        }
    }
    for (name, new) in with.iter().filter(|(_, new)| !new.is_empty()) {
        push(name, new);
    }
    json.push_str(if json.is_empty() { "{}" } else { "}" });
    Json::parse(json).ok()
}

/// Returns a call's arguments as a JSON object, or `{}` for anything else, which cannot be sent;
/// the call's error result tells the model that it was refused.
pub(super) fn arguments_object(call: &ToolCall) -> &str {
    // A strict reading: arguments that were only passed over may hold what no string can, such as a
    // lone surrogate.
    let is_object = matches!(from_str(&call.arguments), Ok(Value::Object(_)));
    if is_object { call.arguments.trim() } else { "{}" }
}
