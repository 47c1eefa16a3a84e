//! OpenRouter's `reasoning_details`: pieces of thinking, summaries and sealed data, gathered into
//! the array that goes back untouched.

use super::super::{
    lenient::Raw,
    surrogates::PendingSurrogate,
    writer::{Fields, Writer},
};
use crate::base::json::Json;
use alloc::{collections::BTreeMap, string::String, vec::Vec};

/// The details of one reply, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// Where the detail stands to which more of that field and index belongs.
    open: BTreeMap<String, usize>,
}

/// One detail: its fields, of which one may grow.
#[derive(Clone, Debug)]
struct Detail {
    fields: Fields,
    grows: Option<Growing>,
}

/// The field that grows from delta to delta.
#[derive(Clone, Debug)]
struct Growing {
    name: &'static str,
    text: String,
    surrogate: PendingSurrogate,
}

impl Details {
    /// Takes the details of a delta.
    pub(super) fn take(&mut self, details: Raw<'_>) {
        for detail in details.objects() {
            let (name, text) = growing(detail);
            self.put(detail, name, text);
        }
    }

    fn put(&mut self, detail: Raw<'_>, grows: Option<&'static str>, text: Raw<'_>) {
        let Some(name) = grows else {
            self.list.push(Detail { fields: Fields::of(detail), grows: None });
            return;
        };
        let index = detail.field("index").some().map_or("", Raw::json);
        let key = alloc::format!("{name} {index}");
        let at = *self.open.entry(key.clone()).or_insert(self.list.len());
        // What has no index only continues what stands right before it.
        let continues = !index.is_empty() || at + 1 == self.list.len();
        if let Some(known) = self.list.get_mut(at).filter(|_| continues) {
            if let Some(grows) = &mut known.grows {
                grows.add(text);
            }
            for (field, value) in detail.entries() {
                if field != name && !value.is_null() {
                    known.fields.set(&field).raw(value.json());
                }
            }
        } else {
            self.open.insert(key, self.list.len());
            let mut grows =
                Growing { name, text: String::new(), surrogate: PendingSurrogate::default() };
            grows.add(text);
            self.list.push(Detail { fields: Fields::of(detail), grows: Some(grows) });
        }
    }

    /// The array, unless it is empty.
    pub(super) fn finish(self) -> Option<Json> {
        let mut out = Writer::new();
        for detail in self.list {
            let Detail { mut fields, grows } = detail;
            if let Some(Growing { name, mut text, mut surrogate }) = grows {
                if surrogate.give_up() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                fields.set(name).string(&text);
            }
            fields.write(out.raw(if out.len() == 0 { "[" } else { "," }));
        }
        Json::parse(&out.raw("]").0).ok()
    }
}

impl Growing {
    fn add(&mut self, text: Raw<'_>) {
        self.text.push_str(&text.joined(&mut self.surrogate).text);
    }
}

/// The text that a detail adds to the thinking.
pub(super) fn text(detail: Raw<'_>) -> Raw<'_> {
    growing(detail).1
}

/// The name of the field that grows, if one does, and the text that the detail adds.
fn growing(detail: Raw<'_>) -> (Option<&'static str>, Raw<'_>) {
    let [kind, text, summary] = detail.fields(&["type", "text", "summary"]);
    match kind.string().as_deref() {
        Some("reasoning.text") => (Some("text"), text),
        Some("reasoning.summary") => (Some("summary"), summary),
        _ => (None, text),
    }
}
