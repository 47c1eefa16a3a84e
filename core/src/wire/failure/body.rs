//! What the JSON of an error says, whatever its shape: the message, the provider's own names and
//! number for it, and how long to wait (WIRE.md A1 to A5).

use super::delay;
use crate::{base::json::push_value, types::input::ResponseHead};
use alloc::{format, string::String, vec::Vec};
use serde_json::Value;

/// Fields that may hold the provider's own name for a failure, best first.
const NAMES: [&str; 8] =
    ["code", "status", "type", "__type", "error_type", "error_code", "errorCode", "reason"];

/// Fields that may hold what is said, best first.
const SENTENCES: [&str; 16] = [
    "message",
    "Message",
    "msg",
    "error",
    "detail",
    "error_description",
    "error_message",
    "errorMessage",
    "error_msg",
    "status_msg",
    "base_resp",
    "description",
    "errors",
    "title",
    "reason",
    "details",
];

/// What an error says.
#[derive(Debug)]
pub(super) struct Told {
    /// The provider's own words.
    pub(super) message: String,
    /// The provider's own name.
    pub(super) code: Option<String>,
    /// Every name that stands anywhere in it, as the table of kinds wants them.
    pub(super) names: Vec<String>,
    /// The HTTP status that the error itself names.
    pub(super) number: Option<u16>,
    /// How long the provider asks to wait, in a field of its own.
    pub(super) delay_ms: Option<u64>,
}

impl Told {
    /// What `value` says; dates in it are compared with the time of `head`.
    pub(super) fn new(value: &Value, head: &ResponseHead) -> Self {
        let outer = first(value);
        let error = inner(outer);
        let message = Some(error).filter(|error| error.is_object()).and_then(sentence);
        let message = message.or_else(|| sentence(outer)).unwrap_or_else(|| json(error));
        let mut told = Self {
            message,
            code: code(error, outer),
            names: Vec::new(),
            number: number(error).or_else(|| number(outer)),
            delay_ms: delay::of_fields(error, outer, head.at),
        };
        if let Some(name) = head.header("x-amzn-errortype") {
            let name = name.split(':').next().unwrap_or_default();
            told.code.get_or_insert_with(|| String::from(name));
            told.names.push(plain(name));
        }
        told.collect(error);
        told.collect(outer);
        if let Some(bare) = error.as_str() {
            told.names.push(plain(bare));
        }
        told.nested(error);
        told
    }

    /// Takes the names of one object: its own, and those of its details.
    fn collect(&mut self, value: &Value) {
        let own = NAMES.iter().filter_map(|name| value.get(name)).filter_map(Value::as_str);
        self.names.extend(own.map(plain));
        let inner = value.get("innererror").or_else(|| value.get("metadata"));
        let inner = inner.into_iter().flat_map(|inner| NAMES.map(|name| inner.get(name)));
        self.names.extend(inner.flatten().filter_map(Value::as_str).map(plain));
        // OpenRouter names what its moderation found.
        if value.pointer("/metadata/flagged_input").is_some() {
            self.names.push(String::from("contentfilter"));
        }
        let details = value.get("details").and_then(Value::as_array).into_iter().flatten();
        for detail in details {
            self.names.extend(detail.get("reason").and_then(Value::as_str).map(plain));
            let violations = detail.get("violations").and_then(Value::as_array);
            let ids = violations.into_iter().flatten().filter_map(|found| found.get("quotaId"));
            if ids.filter_map(Value::as_str).any(|id| id.contains("PerDay")) {
                self.names.push(String::from("quotaperday"));
            }
        }
    }

    /// A gateway hands on the error of the provider behind it, as text or as it is.
    fn nested(&mut self, error: &Value) {
        let raw = error.pointer("/metadata/raw");
        let text = raw.and_then(Value::as_str).unwrap_or(&self.message).trim();
        let parsed = match raw {
            Some(raw) if raw.is_object() => Some(raw.clone()),
            _ if text.starts_with(['{', '[']) => serde_json::from_str::<Value>(text).ok(),
            _ => None,
        };
        let said = match (&parsed, raw) {
            (Some(value), _) => sentence(value),
            (None, Some(Value::String(text))) => Some(text.clone()),
            _ => None,
        };
        if let Some(value) = &parsed {
            let outer = first(value);
            let error = inner(outer);
            self.collect(error);
            self.collect(outer);
            self.number = self.number.or_else(|| number(error));
        }
        if let Some(said) = said.filter(|said| raw.is_some() && !self.message.contains(said)) {
            self.message = format!("{}: {said}", self.message);
        }
    }
}

/// Whether the body of a success is an error's.
pub(super) fn is_error(value: &Value) -> bool {
    let value = first(value);
    let is = |name: &str, word: &str| value.get(name).and_then(Value::as_str) == Some(word);
    value.get("error").is_some_and(|error| !error.is_null())
        || value.get("errors").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
        || is("object", "error")
        || is("type", "error")
}

/// What is said, in `value` itself or in the field that has it.
pub(super) fn sentence(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        Value::Array(items) => {
            let all: Vec<String> = items.iter().filter_map(sentence).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Object(fields) => {
            let (field, said) = SENTENCES
                .iter()
                .find_map(|name| fields.get(*name).and_then(sentence).map(|said| (*name, said)))?;
            Some(with_place(value, field, said))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// What is said, with the field that it is about (FastAPI), or with the bare name beside it.
fn with_place(value: &Value, field: &str, said: String) -> String {
    if let Some(place) = value.get("loc").and_then(Value::as_array) {
        let steps = place.iter().map(|step| step.as_str().map_or_else(|| json(step), String::from));
        let steps: Vec<String> = steps.collect();
        return format!("{}: {said}", steps.join("."));
    }
    match value.get("error").and_then(Value::as_str) {
        Some(name) if field != "error" && !name.is_empty() && !said.contains(name) => {
            format!("{name}: {said}")
        }
        _ => said,
    }
}

/// The element of an array that tells of the error, or what is no array itself.
fn first(value: &Value) -> &Value {
    let Some(items) = value.as_array() else { return value };
    let told = items.iter().find(|item| item.get("error").is_some());
    told.or_else(|| items.first()).unwrap_or(value)
}

/// The innermost object that tells of the error.
fn inner(mut value: &Value) -> &Value {
    loop {
        let error = value.get("error").filter(|error| !error.is_null());
        let detail = || value.get("detail").filter(|detail| detail.is_object());
        let listed = || value.get("errors").and_then(Value::as_array)?.first();
        let status = || value.get("base_resp");
        match error.or_else(detail).or_else(listed).or_else(status) {
            Some(deeper) => value = first(deeper),
            None => return value,
        }
    }
}

/// The provider's own name: a word before a number, the inner before the outer.
fn code(error: &Value, outer: &Value) -> Option<String> {
    let bare = || error.as_str().filter(|text| !text.trim().contains(' ') && is_beside(outer));
    let number = |value: &Value| {
        let fields = ["code", "status", "status_code", "statusCode"];
        fields.iter().filter_map(|name| value.get(name)).find_map(Value::as_u64)
    };
    let found = word(error).or_else(|| word(outer)).or_else(bare).map(String::from);
    found.or_else(|| number(error).or_else(|| number(outer)).map(|number| format!("{number}")))
}

/// The first name of an object.
fn word(value: &Value) -> Option<&str> {
    let words = NAMES.iter().filter_map(|name| value.get(name)).filter_map(Value::as_str);
    let mut words = words.map(|word| word.rsplit_once('#').map_or(word, |(_, word)| word));
    // `"type": "error"` only says that this is one.
    words.find(|word| !word.is_empty() && *word != "error")
}

/// Whether a message stands beside a bare `error`, which is then a name.
fn is_beside(outer: &Value) -> bool {
    ["message", "detail", "error_description"].iter().any(|name| outer.get(name).is_some())
}

/// The HTTP status that an object names, as a number or in digits.
fn number(value: &Value) -> Option<u16> {
    const FIELDS: [&str; 6] =
        ["code", "status", "status_code", "statusCode", "http_code", "http_status"];
    let numbers = FIELDS.iter().filter_map(|name| value.get(name)).filter_map(|found| {
        let digits = || found.as_str().and_then(|text| text.parse().ok());
        found.as_u64().and_then(|number| u16::try_from(number).ok()).or_else(digits)
    });
    numbers.into_iter().find(|number| (400..600).contains(number))
}

/// A name without case and punctuation: providers spell the same one in many ways.
fn plain(name: &str) -> String {
    let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// The value's JSON text, its keys in order.
fn json(value: &Value) -> String {
    let mut out = Vec::new();
    push_value(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}
