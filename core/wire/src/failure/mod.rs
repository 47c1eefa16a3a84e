//! Failures of a model call, told apart by what can be done about them. All five protocols and
//! their dialects share this module: the same gateways stand before all of them.

mod body;
mod budget;
mod classify;
mod delay;
mod kind;

pub use kind::FailureKind;

use super::lenient::{JsonDocument, ValueRef};
use alloc::{format, string::String};
use body::ErrorReport;
use innerloop_types::{input::ResponseHead, text::prefix};

/// The maximum length of an error that is read, in bytes: it is gone through once for each thing
/// that it may say.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// A failed model call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelCallError {
    /// The kind of the failure, which says what can be done about it.
    pub kind: FailureKind,
    /// The provider's message, or a description of what we saw.
    pub message: String,
    /// The provider's own name for the failure.
    pub code: Option<String>,
    /// The HTTP status; 0 if no response came. An error inside a stream leaves it a success.
    pub status: u16,
    /// The time that the provider asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The provider's word on whether to try again, if it gives one.
    pub should_retry: Option<bool>,
    /// The text that the model had said when a limit of ours ended its reply; it stays said.
    pub said: String,
}

impl ModelCallError {
    /// Makes a failure without a response that says more.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            status: 0,
            retry_after_ms: None,
            should_retry: None,
            said: String::new(),
        }
    }

    /// Returns whether another try may help. The provider's word counts, except for failures that a
    /// retry cannot fix.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            FailureKind::RateLimit
            | FailureKind::Overloaded
            | FailureKind::Server
            | FailureKind::Network
            | FailureKind::Protocol => self.should_retry.unwrap_or(true),
            FailureKind::InvalidRequest | FailureKind::NoTools => {
                self.should_retry.unwrap_or(false)
            }
            FailureKind::Authentication
            | FailureKind::Quota
            | FailureKind::ContextOverflow
            | FailureKind::ContentFilter
            | FailureKind::Host => false,
        }
    }

    /// Adds what the head of an error response says: status, retry-after, `x-should-retry`.
    pub(super) fn with_head(mut self, head: &ResponseHead) -> Self {
        self.status = head.status;
        // Anthropic sends `retry-after` with successes, too, where it is about the quota and not
        // about this failure.
        if !head.is_success() {
            self.retry_after_ms = delay::of_head(head).or(self.retry_after_ms);
            self.should_retry = match head.header("x-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => self.should_retry,
            };
        }
        self
    }
}

/// Returns the failure that the body of a response reports, whatever its shape: JSON, an event of a
/// stream with JSON in it, a page, or plain text.
pub(super) fn of_body(head: &ResponseHead, text: &str) -> ModelCallError {
    match parse(text).as_ref().map(JsonDocument::root) {
        Some(value) if !head.is_success() || body::is_error(value) => {
            let mut failure = of_value(head, value);
            // Ollama's cloud says where to sign in.
            if let Some(url) = value.field("signin_url").text().filter(|url| !url.is_empty()) {
                failure.message = format!("{}: sign in at {url}", failure.message);
            }
            failure
        }
        Some(value) => {
            let said = body::sentence(value).map_or(String::new(), |said| format!(": {said}"));
            let message = format!("the response is not of this protocol{said}");
            ModelCallError::new(FailureKind::Protocol, message)
        }
        None => {
            if head.is_success() {
                let said = prefix(text, 300);
                let message = format!("the response was cut or is not of this protocol: {said}");
                return ModelCallError::new(FailureKind::Protocol, message);
            }
            let kind = classify::classify(head.status, &[], text);
            ModelCallError {
                retry_after_ms: delay::of_text(text),
                ..ModelCallError::new(kind, hinted(foreign_body(head.status, text)))
            }
        }
    }
}

/// Returns the failure that an error's JSON reports: `{"error": {…}}`, `{"error": "…"}`,
/// `{"detail": …}`, `{"code": …, "message": …}` and their like, or what stands in such an `error`;
/// each also in an array. Inside a stream the head is that of a success, and the error's own number
/// is used to tell the kind.
pub(super) fn of_value(head: &ResponseHead, value: ValueRef<'_>) -> ModelCallError {
    let json = value.json();
    if json.len() > MAX_BYTES {
        let kind = classify::classify(head.status, &[], "");
        return ModelCallError::new(kind, prefix(json, 4_000));
    }
    let told = ErrorReport::new(value, head);
    let status = told.number.unwrap_or(head.status);
    let kind = classify::classify(status, &told.names, &told.message);
    // A request that is wrong stays wrong: a duration in its message is not a delay.
    let may_wait = !matches!(kind, FailureKind::InvalidRequest | FailureKind::ContextOverflow);
    let in_text = || delay::of_text(&told.message).filter(|_| may_wait);
    ModelCallError {
        retry_after_ms: told.delay_ms.or_else(in_text),
        code: told.code,
        ..ModelCallError::new(kind, hinted(told.message))
    }
}

/// Returns the failure that is reported by words in place of a stream's data.
pub(super) fn of_words(words: &str) -> ModelCallError {
    let retry_after_ms = delay::of_text(words);
    let (kind, message) = match classify::classify(200, &[], words) {
        // `classify` says `Server` for want of anything better: such words come from something that
        // does not speak the protocol.
        FailureKind::Server if retry_after_ms.is_none() => {
            let message = format!("the response is not of this protocol: {words}");
            (FailureKind::Protocol, message)
        }
        kind => (kind, words.into()),
    };
    ModelCallError { retry_after_ms, ..ModelCallError::new(kind, hinted(message)) }
}

/// The texts to look for in a message, in lower case, and the hint that is then given.
const HINTS: [(&str, &str); 3] = [
    (
        "parse tool call|parsing tool call",
        "the model wrote a tool call that its server cannot read; llama.cpp must be started with \
         --jinja, and another model or a newer server may do better",
    ),
    (classify::NO_IMAGES, "with `compat.images` of the model false, no pictures are sent"),
    (
        "tokens is too large|tokens' is too large|valid range of max_|tokens` must be less|\
         cannot be greater than max_|allowed number of output tokens",
        LOWER,
    ),
];

/// The hint for an output limit that is too large.
const LOWER: &str = "lower `max_output_tokens` of the model";

/// Returns the provider's message, with a hint where we know more than it says.
fn hinted(message: String) -> String {
    let said = message.to_ascii_lowercase();
    let found = HINTS.iter().find(|(phrases, _)| budget::says(&said, phrases));
    let hint = found.map(|(_, hint)| *hint);
    match hint.or_else(|| budget::is_output_too_large(&said).then_some(LOWER)) {
        Some(hint) => format!("{message} (hint: {hint})"),
        None => message,
    }
}

/// Returns the JSON value of a body, which may also stand in the data of an event, or before other
/// text.
fn parse(text: &str) -> Option<JsonDocument<'_>> {
    // `502 Bad Gateway` begins with a number, which would be JSON.
    let first = |text| JsonDocument::first(text).filter(|value| !value.root().is_number());
    first(text).or_else(|| {
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| first(data.trim())).find(|value| value.root().is_object())
    })
}

/// Returns a sentence for a body that is not JSON, such as a proxy's page.
fn foreign_body(status: u16, text: &str) -> String {
    if status == 407 {
        return String::from("a proxy on the way wants a user name and password (HTTP 407)");
    }
    if text.is_empty() {
        return format!("HTTP {status} with an empty body");
    }
    if !text.starts_with('<') {
        return format!("HTTP {status}: {}", prefix(text, 4_000));
    }
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map_or(String::new(), |(title, _)| format!(": {}", title.trim()));
    format!("HTTP {status} with an HTML page instead of an API response{title}")
}
