//! OpenRouter's `reasoning_details`: pieces of thinking, summaries and sealed data, joined to the
//! array that must go back unmodified.

use super::super::{
    lenient::{JsonDocument, ValueRef},
    sink::PieceSink,
    surrogates::PendingSurrogate,
    writer::{JsonWriter, rewritten},
};
use alloc::{string::String, vec::Vec};
use innerloop_json::{Map, PlaceMap, quoted};
use innerloop_types::json::Json;

/// The details of one reply, in order.
#[derive(Debug, Default)]
pub(super) struct DetailList {
    list: Vec<ReasoningDetail>,
    /// The position of the detail to which more of that field and index belongs.
    open: PlaceMap,
}

/// One detail: how it began, what came behind, and the field that grows.
#[derive(Debug)]
struct ReasoningDetail {
    begun: Json,
    later: Map<String>,
    grows: Option<GrowingField>,
}

/// The field that grows from delta to delta.
#[derive(Debug)]
struct GrowingField {
    name: &'static str,
    text: String,
    surrogate: PendingSurrogate,
}

impl DetailList {
    /// Takes the details of a delta.
    pub(super) fn take(&mut self, details: ValueRef<'_>, out: &mut PieceSink) {
        for detail in details.objects() {
            self.put(detail, growing(detail), out);
        }
    }

    fn put(
        &mut self,
        detail: ValueRef<'_>,
        (name, text): (Option<&'static str>, ValueRef<'_>),
        out: &mut PieceSink,
    ) {
        let known = name.and_then(|name| self.known(name, detail));
        if let (Some(name), Some(known)) = (name, known.and_then(|at| self.list.get_mut(at))) {
            if let Some(grows) = &mut known.grows {
                out.keep(grows.add(text));
            }
            for (field, value) in detail.entries() {
                // A later piece may bring fields of its own, such as a signature, which belong to
                // the detail as a whole.
                let is_news = field != name && !value.is_null();
                if is_news && (known.later.contains_key(&field) || out.item()) {
                    out.keep(value.json().len());
                    known.later.insert(field.into_owned(), value.json().into());
                }
            }
            return;
        }
        let Some(begun) = detail.to_json().filter(|_| out.item()) else { return };
        out.keep(begun.text().len());
        let grows = name.map(|name| {
            let (text, surrogate) = (String::new(), PendingSurrogate::default());
            GrowingField { name, text, surrogate }
        });
        let mut detail = ReasoningDetail { begun, later: Map::new(), grows };
        if let Some(grows) = &mut detail.grows {
            out.keep(grows.add(text));
        }
        self.list.push(detail);
    }

    /// Returns the position of the detail to which more belongs; none if a new one begins.
    fn known(&mut self, name: &str, detail: ValueRef<'_>) -> Option<usize> {
        let index = detail.field("index").some().map_or("", ValueRef::json);
        let key = alloc::format!("{name} {index}");
        let end = self.list.len();
        let at = self.open.get(&key);
        // Without an index a piece continues only the detail right before it.
        if let Some(at) = at.filter(|at| !index.is_empty() || at + 1 == end) {
            return Some(at);
        }
        self.open.insert(key, end);
        None
    }

    /// Returns the array; nothing if it is empty.
    pub(super) fn finish(self) -> Option<Json> {
        let mut out = JsonWriter::new();
        for detail in self.list {
            let ReasoningDetail { begun, mut later, grows } = detail;
            if let Some(GrowingField { name, mut text, mut surrogate }) = grows {
                if surrogate.give_up() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                later.insert(name.into(), quoted(&text));
            }
            let whole = rewritten(JsonDocument::of(begun.text()).root(), &|_, _| true, later)?;
            out.raw(if out.len() == 0 { "[" } else { "," }).raw(whole.text());
        }
        out.raw("]");
        Json::parse(out.0).ok()
    }
}

impl GrowingField {
    /// Appends more. Returns the number of its bytes.
    fn add(&mut self, text: ValueRef<'_>) -> usize {
        let more = text.joined(&mut self.surrogate).text;
        self.text.push_str(&more);
        more.len()
    }
}

/// Returns the text that a detail adds to the thinking.
pub(super) fn text(detail: ValueRef<'_>) -> ValueRef<'_> {
    growing(detail).1
}

/// Returns the name of the field that grows, if one does, and the text that the detail adds.
fn growing(detail: ValueRef<'_>) -> (Option<&'static str>, ValueRef<'_>) {
    let [kind, text, summary] = detail.fields(&["type", "text", "summary"]);
    match kind.string().as_deref() {
        Some("reasoning.text") => (Some("text"), text),
        Some("reasoning.summary") => (Some("summary"), summary),
        _ => (None, text),
    }
}
