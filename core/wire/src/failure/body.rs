//! The content of an error's JSON, whatever its shape: the message, the provider's own names and
//! number for it, and the time to wait.

use super::{
    super::lenient::{JsonDocument, ValueRef},
    delay,
};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use innerloop_json::{IntoList, joined};
use innerloop_types::{input::ResponseHead, text::listed};

/// Fields that may hold the provider's own name for a failure, best first.
const NAMES: &str = "code|status|type|__type|error_type|error_code|errorCode|reason";

/// Fields that may hold the message, best first.
const SENTENCES: &str = "message|Message|msg|error|detail|error_description|error_message|\
    errorMessage|error_msg|status_msg|base_resp|description|errors|title|reason|details";

/// The content of an error.
#[derive(Debug)]
pub(super) struct ErrorReport {
    /// The provider's own words.
    pub(super) message: String,
    /// The provider's own name.
    pub(super) code: Option<String>,
    /// Every name that stands anywhere in it, as the table of kinds wants them.
    pub(super) names: Vec<String>,
    /// The HTTP status that the error itself names.
    pub(super) number: Option<u16>,
    /// The time that the provider asks to wait in a field of its own, in milliseconds.
    pub(super) delay_ms: Option<u64>,
}

impl ErrorReport {
    /// Reads an error; dates in it are compared with the time of `head`.
    pub(super) fn new(value: ValueRef<'_>, head: &ResponseHead) -> Self {
        let outer = first(value);
        let error = inner(outer);
        // A bare string in `error` may be no more than a name: the words then stand beside it.
        let message = error.is_object().then(|| sentence(error)).flatten();
        let message = message.or_else(|| sentence(outer)).unwrap_or_else(|| error.json().into());
        let mut told = Self {
            message,
            code: code(error, outer),
            names: Vec::new(),
            number: number(error).or_else(|| number(outer)),
            delay_ms: delay::of_fields(error, outer, head.at),
        };
        // Bedrock names the failure in a header, with an address behind a colon.
        if let Some(name) = head.header("x-amzn-errortype") {
            let name = name.split(':').next().unwrap_or_default();
            told.code.get_or_insert_with(|| String::from(name));
            told.names.push(plain(name));
        }
        // Gateways put names into the error or beside it.
        told.collect(error);
        told.collect(outer);
        let minimax = outer.field("base_resp").count_of("status_code").and_then(name_of);
        told.names.extend(minimax.map(String::from));
        told.names.extend(error.string().map(|bare| plain(&bare)));
        told.nested(error);
        told
    }

    /// Takes the names of one object: its own, and those of its details.
    fn collect(&mut self, value: ValueRef<'_>) {
        let [innermost, metadata, details] = value.fields(&["innererror", "metadata", "details"]);
        for named in [value, innermost.or(metadata)] {
            let names = named.each_of(NAMES).filter_map(ValueRef::string);
            self.names.extend(names.map(|name| plain(&name)));
        }
        // OpenRouter says what its moderation found in a field of its own.
        if !metadata.field("flagged_input").is_null() {
            self.names.push(String::from("contentfilter"));
        }
        for detail in details.elements() {
            let [reason, violations] = detail.fields(&["reason", "violations"]);
            self.names.extend(reason.string().map(|reason| plain(&reason)));
            // Google gives quotas per minute and per day the same status; only the former is worth
            // waiting for.
            let ids = violations.elements().map(|found| found.field("quotaId"));
            if ids.filter_map(ValueRef::string).any(|id| id.contains("PerDay")) {
                self.names.push(String::from("quotaperday"));
            }
        }
    }

    /// Takes the error of the provider behind a gateway, which the gateway hands on as text or as
    /// it is.
    fn nested(&mut self, error: ValueRef<'_>) {
        let raw = error.field("metadata").field("raw");
        let text = raw.string().unwrap_or_else(|| Cow::Owned(self.message.clone()));
        let text = text.trim();
        let has_json = text.starts_with(['{', '[']);
        let within = if has_json { JsonDocument::of(text) } else { JsonDocument::default() };
        let parsed = if raw.is_object() { Some(raw) } else { within.root().some() };
        if let Some(value) = parsed {
            let outer = first(value);
            let error = inner(outer);
            self.collect(error);
            self.collect(outer);
            self.number = self.number.or_else(|| number(error));
        }
        let said = parsed.map_or_else(|| raw.string().map(Cow::into_owned), sentence);
        if let Some(said) = said.filter(|said| !raw.is_null() && !self.message.contains(said)) {
            self.message = format!("{}: {said}", self.message);
        }
    }
}

/// Returns whether the body of a success is an error's.
pub(super) fn is_error(value: ValueRef<'_>) -> bool {
    let [error, errors, object, kind, status] =
        first(value).fields(&["error", "errors", "object", "type", "base_resp"]);
    let is_word = |value: ValueRef<'_>| value.string().as_deref() == Some("error");
    let has_failed = status.count_of("status_code").is_some_and(|code| code != 0);
    has_failed
        || !error.is_null()
        || errors.elements().next().is_some()
        || is_word(object)
        || is_word(kind)
}

/// Returns the message, in `value` itself or in the field that has it.
pub(super) fn sentence(value: ValueRef<'_>) -> Option<String> {
    if let Some(text) = value.string() {
        return (!text.trim().is_empty()).then(|| text.into_owned());
    }
    if value.is_array() {
        let all: Vec<String> = value.elements().filter_map(sentence).into_list();
        return (!all.is_empty()).then(|| joined(&all, "; "));
    }
    if !value.is_object() {
        return None;
    }
    let mut fields = listed(SENTENCES);
    let (field, said) = fields.find_map(|name| Some((name, sentence(value.field(name))?)))?;
    Some(with_place(value, field, said))
}

/// Returns the message with the field that it is about (FastAPI), or with the bare name beside it.
fn with_place(value: ValueRef<'_>, field: &str, said: String) -> String {
    let [place, error] = value.fields(&["loc", "error"]);
    if place.is_array() {
        let step =
            |step: ValueRef<'_>| step.string().map_or_else(|| step.json().into(), Cow::into_owned);
        let steps: Vec<String> = place.elements().map(step).into_list();
        return format!("{}: {said}", joined(&steps, "."));
    }
    match error.word() {
        Some(name) if field != "error" && !said.contains(&*name) => format!("{name}: {said}"),
        _ => said,
    }
}

/// Returns the element of an array that has the error; any other value as it is.
fn first(value: ValueRef<'_>) -> ValueRef<'_> {
    if !value.is_array() {
        return value;
    }
    let told = value.elements().find(|item| !item.field("error").is_null());
    told.or_else(|| value.elements().next()).unwrap_or(value)
}

/// Returns the innermost object that has the error.
fn inner(mut value: ValueRef<'_>) -> ValueRef<'_> {
    loop {
        let [error, detail, errors, status] =
            value.fields(&["error", "detail", "errors", "base_resp"]);
        let detail = if detail.is_object() { detail } else { ValueRef::default() };
        let listed = errors.elements().next().unwrap_or_default();
        match error.or(detail).or(listed).or(status).some() {
            Some(deeper) => value = first(deeper),
            None => return value,
        }
    }
}

/// Returns the provider's own name: a word before a number, the inner before the outer.
fn code(error: ValueRef<'_>, outer: ValueRef<'_>) -> Option<String> {
    let is_beside = || !outer.first_of("message|detail|error_description").is_null();
    // A bare `error` beside a message is a name.
    let bare = || error.string().filter(|text| !text.trim().contains(' ') && is_beside());
    let number = |value: ValueRef<'_>| {
        value.each_of("code|status|status_code|statusCode").find_map(ValueRef::count)
    };
    let found = word(error).or_else(|| word(outer)).or_else(|| bare().map(Cow::into_owned));
    found.or_else(|| number(error).or_else(|| number(outer)).map(|number| format!("{number}")))
}

/// Returns the first name of an object.
fn word(value: ValueRef<'_>) -> Option<String> {
    let names = value.each_of(NAMES).filter_map(ValueRef::string);
    let mut names = names.map(|name| match name.rsplit_once('#') {
        Some((_, name)) => String::from(name),
        None => name.into_owned(),
    });
    // `"type": "error"` only says that this is one.
    names.find(|name| !name.is_empty() && name != "error")
}

/// Returns the HTTP status that an object names, as a number or in digits.
fn number(value: ValueRef<'_>) -> Option<u16> {
    const FIELDS: &str = "code|status|status_code|statusCode|http_code|http_status";
    let numbers = value.each_of(FIELDS).filter_map(ValueRef::count);
    let mut numbers = numbers.filter_map(|number| u16::try_from(number).ok());
    // Many providers number their failures in their own way.
    numbers.find(|number| (400..600).contains(number))
}

/// Returns the name of the kind that MiniMax's number stands for, where its words may not say it.
const fn name_of(code: u64) -> Option<&'static str> {
    Some(match code {
        1002 | 1041 => "ratelimit",
        1004 | 2049 => "invalidapikey",
        1008 => "insufficientbalance",
        1026 | 1027 => "contentfilter",
        2013 => "invalidrequest",
        2056 => "usagelimitreached",
        _ => return None,
    })
}

/// Returns a name without case and punctuation: providers spell the same one in many ways.
fn plain(name: &str) -> String {
    // AWS puts a namespace before a `#`.
    let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}
