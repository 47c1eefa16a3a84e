//! JSON that is written by hand, so that its bytes are ours.

use super::lenient::{JsonDocument, ValueRef};
use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};
use core::mem;
use innerloop_json::{Map, Value, from_str, push_string};
use innerloop_types::{json::Json, message::ToolCall, steps};

/// JSON text while it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonWriter(pub(super) String);

impl JsonWriter {
    /// Nothing yet.
    pub(super) const fn new() -> Self {
        Self(String::new())
    }

    /// Nothing yet, with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Returns how many bytes are written.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Text as it is.
    pub(super) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// A string, quotes and all.
    pub(super) fn string(&mut self, text: &str) -> &mut Self {
        push_string(&mut self.0, text);
        self
    }

    /// A number.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.raw(&format!("{number}"))
    }

    /// `true` or `false`.
    pub(super) fn bool(&mut self, is_true: bool) -> &mut Self {
        self.raw(if is_true { "true" } else { "false" })
    }

    /// A file's bytes as the string of a URL.
    pub(super) fn data_url(&mut self, media_type: &str, data: &str) -> &mut Self {
        self.string(&format!("data:{media_type};base64,{data}"))
    }

    /// A file as OpenAI's protocols have it, as fields of an object.
    pub(super) fn file(&mut self, media_type: &str, name: &str, data: &str) -> &mut Self {
        self.raw("\"filename\":").string(name).raw(",\"file_data\":").data_url(media_type, data)
    }

    /// A tool's name and what it does, as fields of an object.
    pub(super) fn named(&mut self, name: &str, description: &str) -> &mut Self {
        self.raw("\"name\":").string(name).raw(",\"description\":").string(description)
    }
}

/// An object while it is written. A field that is set again keeps its place.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectFields {
    places: BTreeMap<Box<str>, FieldPosition>,
    /// All values one behind the other, with those that were set again.
    values: JsonWriter,
    /// The position where each of them begins.
    starts: Vec<usize>,
}

/// The position of a field.
#[derive(Clone, Copy, Debug)]
struct FieldPosition {
    /// Among the fields.
    order: usize,
    /// Among the values.
    value: usize,
}

impl ObjectFields {
    /// The fields of an object; none of another value.
    pub(super) fn of(object: ValueRef<'_>) -> Self {
        let mut fields = Self::default();
        for (name, value) in object.entries() {
            fields.set(&name).raw(value.json());
        }
        fields
    }

    /// Returns where the value of a field is to be appended, anew if it has one.
    pub(super) fn set(&mut self, name: &str) -> &mut JsonWriter {
        steps::count(1 + name.len());
        let (order, value) = (self.places.len(), self.starts.len());
        self.starts.push(self.values.len());
        match self.places.get_mut(name) {
            Some(place) => place.value = value,
            None => _ = self.places.insert(name.into(), FieldPosition { order, value }),
        }
        &mut self.values
    }

    /// The value of a field.
    pub(super) fn get(&self, name: &str) -> JsonDocument<'_> {
        JsonDocument::of(self.places.get(name).map_or("", |place| self.value(*place)))
    }

    /// Writes the object without its closing brace.
    pub(super) fn write_open(&self, out: &mut JsonWriter) {
        out.raw("{");
        let mut fields: Vec<_> = self.places.iter().collect();
        fields.sort_unstable_by_key(|(_, place)| place.order);
        for (index, (name, place)) in fields.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            out.raw(comma).string(name).raw(":").raw(self.value(*place));
        }
    }

    /// Returns whether there are none.
    #[cfg(feature = "text-calls")]
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The only field, if there is one.
    #[cfg(feature = "text-calls")]
    pub(super) fn only(&self) -> Option<(&str, JsonDocument<'_>)> {
        let (name, _) = self.places.first_key_value().filter(|_| self.places.len() == 1)?;
        Some((name, self.get(name)))
    }

    /// Writes the object.
    pub(super) fn write(&self, out: &mut JsonWriter) {
        self.write_open(out);
        out.raw("}");
    }

    fn value(&self, place: FieldPosition) -> &str {
        let from = self.starts.get(place.value).copied().unwrap_or_default();
        let to = self.starts.get(place.value + 1).copied().unwrap_or(self.values.len());
        self.values.0.get(from..to).unwrap_or_default()
    }
}

/// An object with these fields, JSON each: in the places of its own of those names, or else behind
/// all. Only what `keeps` allows of its own stays. Nothing of another value.
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

/// A call's arguments as a JSON object. Anything else cannot be sent; the call's error result
/// tells the model that it was refused.
pub(super) fn arguments_object(call: &ToolCall) -> &str {
    // Text that is read lazily may hold what no string can, such as a lone surrogate.
    let is_object = matches!(from_str(&call.arguments), Ok(Value::Object(_)));
    if is_object { call.arguments.trim() } else { "{}" }
}
