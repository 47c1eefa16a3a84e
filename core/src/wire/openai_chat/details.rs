//! OpenRouter's `reasoning_details`: pieces of thinking, summaries and sealed data, gathered into
//! the array that goes back untouched.

use crate::base::json::{Json, Object, push_string, without_lone_surrogates};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use innerloop_json::from_str;
use serde_json::value::RawValue;

/// The details of one reply, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// Where the detail stands to which more of that kind and index belongs.
    open: BTreeMap<(&'static str, String), usize>,
}

/// One detail: its fields, but for the text that grows.
#[derive(Clone, Debug)]
struct Detail {
    fields: Object,
    /// The name of the field that grows, if one does.
    grows: Option<&'static str>,
    text: String,
}

impl Details {
    /// Takes the details of a delta, and gives the text that they add.
    pub(super) fn take(&mut self, raw: &RawValue) -> String {
        let mut added = String::new();
        for fields in objects(raw.get()) {
            let (grows, text) = growing(&fields);
            added.push_str(&text);
            self.put(fields, grows, &text);
        }
        added
    }

    fn put(&mut self, fields: Object, grows: Option<&'static str>, text: &str) {
        let Some(name) = grows else {
            self.list.push(Detail { fields, grows, text: String::new() });
            return;
        };
        let index = fields.field("index").map_or("", Json::text);
        let at = *self.open.entry((name, index.into())).or_insert(self.list.len());
        // What has no index only continues what stands right before it.
        let continues = !index.is_empty() || at + 1 == self.list.len();
        match self.list.get_mut(at).filter(|_| continues) {
            Some(detail) => {
                detail.text.push_str(text);
                for (field, value) in fields.0 {
                    if field != name && value.text() != "null" {
                        detail.fields.set(&field, value);
                    }
                }
            }
            None => {
                self.open.insert((name, index.into()), self.list.len());
                self.list.push(Detail { fields, grows, text: text.into() });
            }
        }
    }

    /// The array, unless it is empty.
    pub(super) fn finish(self) -> Option<Json> {
        if self.list.is_empty() {
            return None;
        }
        let mut out = String::from("[");
        for (index, detail) in self.list.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            out.push_str(detail.json().text());
        }
        out.push(']');
        Json::parse(out).ok()
    }
}

impl Detail {
    fn json(self) -> Json {
        let Self { mut fields, grows, text } = self;
        if let Some(name) = grows {
            let mut quoted = Vec::with_capacity(text.len() + 2);
            push_string(&mut quoted, &text);
            let quoted = String::from_utf8(quoted).unwrap_or_default();
            fields.set(name, Json::parse(quoted).unwrap_or_default());
        }
        fields.to_json()
    }
}

/// The field that grows from delta to delta, and what it holds.
fn growing(fields: &Object) -> (Option<&'static str>, String) {
    let text = |name: &str| {
        let raw = fields.field(name).map_or("", Json::text);
        // A raw value may hold half a surrogate pair, which no string can.
        let text = serde_json::from_str(raw);
        let text = text.or_else(|_| serde_json::from_str(&without_lone_surrogates(raw)));
        text.unwrap_or_default()
    };
    match fields.field("type").map(Json::text) {
        Some("\"reasoning.text\"") => (Some("text"), text("text")),
        Some("\"reasoning.summary\"") => (Some("summary"), text("summary")),
        _ => (None, text("text")),
    }
}

/// The objects of a list, or the one that stands in its place.
fn objects(json: &str) -> Vec<Object> {
    match from_str::<Vec<Json>>(json) {
        Ok(items) => items.iter().filter_map(|item| from_str(item.text()).ok()).collect(),
        Err(_) => from_str(json).into_iter().collect(),
    }
}
