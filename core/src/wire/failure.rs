//! Failures of a model call, told apart by what can be done about them.

use crate::{
    nouns::{event::ErrorKind, input::ResponseHead},
    words::{text::prefix, time::UnixMillis},
};
use alloc::{format, string::String};
use serde_json::Value;

/// A failed model call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What can be done about it.
    pub kind: FailureKind,
    /// What the provider says, or what we saw.
    pub message: String,
    /// The provider's own name for the failure.
    pub code: Option<String>,
    /// The HTTP status; 0 if no response came.
    pub status: u16,
    /// How long the provider asks to wait.
    pub retry_after_ms: Option<u64>,
    /// What the provider says about trying again, if it does.
    pub should_retry: Option<bool>,
}

/// What can be done about a failed model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Another key.
    Authentication,
    /// Wait.
    RateLimit,
    /// Wait.
    Overloaded,
    /// Send less.
    ContextOverflow,
    /// Send something else.
    InvalidRequest,
    /// Try again.
    Server,
    /// Try again.
    Network,
    /// Try again: the response was cut or is not of this protocol.
    Protocol,
    /// Mend the host's configuration.
    Host,
}

impl FailureKind {
    /// The kind as an event shows it.
    #[must_use]
    pub const fn as_event(self) -> ErrorKind {
        match self {
            Self::Authentication => ErrorKind::Authentication,
            Self::RateLimit => ErrorKind::RateLimit,
            Self::Overloaded => ErrorKind::Overloaded,
            Self::ContextOverflow => ErrorKind::ContextOverflow,
            Self::InvalidRequest => ErrorKind::InvalidRequest,
            Self::Server => ErrorKind::Server,
            Self::Network => ErrorKind::Network,
            Self::Protocol => ErrorKind::Protocol,
            Self::Host => ErrorKind::Host,
        }
    }
}

impl Failure {
    /// A failure that no response tells more about.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            status: 0,
            retry_after_ms: None,
            should_retry: None,
        }
    }

    /// Whether another try may help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        if matches!(self.kind, FailureKind::Authentication | FailureKind::Host) {
            return false;
        }
        self.should_retry.unwrap_or(match self.kind {
            FailureKind::RateLimit
            | FailureKind::Overloaded
            | FailureKind::Server
            | FailureKind::Network
            | FailureKind::Protocol => true,
            FailureKind::Authentication
            | FailureKind::ContextOverflow
            | FailureKind::InvalidRequest
            | FailureKind::Host => false,
        })
    }

    /// Adds what the head of an error response says: status, retry-after, `x-should-retry`.
    pub(super) fn with_head(mut self, head: &ResponseHead) -> Self {
        self.status = head.status;
        // A retry-after on a success is about the quota, not about this failure.
        if !head.is_success() {
            self.retry_after_ms = retry_after_ms(head).or(self.retry_after_ms);
            self.should_retry = match head.header("x-should-retry") {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => self.should_retry,
            };
        }
        self
    }
}

/// The failure that the body of an error response tells, whatever its shape.
pub(super) fn of_body(head: &ResponseHead, body: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(value) if head.is_success() && value.get("error").is_none() => {
            Failure::new(FailureKind::Protocol, "the response is not of this protocol")
        }
        Ok(value) if value.is_object() || value.is_array() => of_value(head, &value),
        Err(_) if head.is_success() => {
            let message = foreign_body(head.status, body);
            Failure::new(FailureKind::Protocol, message).with_head(head)
        }
        _ => {
            let message = foreign_body(head.status, body);
            Failure::new(kind_of_status(head.status), message).with_head(head)
        }
    }
}

/// The failure that an error object tells: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}`,
/// `{"code": …, "message": …}`, each also as the only element of an array.
pub(super) fn of_value(head: &ResponseHead, value: &Value) -> Failure {
    let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let text = |name: &str| {
        let found = error.get(name).or_else(|| value.get(name));
        found.and_then(Value::as_str).filter(|text| !text.is_empty())
    };
    let message = error.as_str().or_else(|| text("message")).or_else(|| text("detail"));
    let message = message.map_or_else(|| format!("{error}"), String::from);
    let number = error.get("code").and_then(Value::as_u64);
    let code = text("code").or_else(|| text("status")).or_else(|| text("type"));
    let code = code.map(String::from).or_else(|| number.map(|number| format!("{number}")));
    let status = match number.and_then(|number| u16::try_from(number).ok()) {
        Some(number) if head.is_success() && (400..600).contains(&number) => number,
        _ => head.status,
    };
    let kind = classify(status, [text("code"), text("type"), text("status")], &message);
    Failure { code, ..Failure::new(kind, message) }.with_head(head)
}

/// What can be done about a failure with that status, those names and that message.
fn classify(status: u16, names: [Option<&str>; 3], message: &str) -> FailureKind {
    const TOO_LONG: [&str; 6] = [
        "prompt is too long",
        "prompt too long",
        "exceed context limit",
        "exceeds the context",
        "maximum context length",
        "exceeds the available context",
    ];
    if TOO_LONG.iter().any(|text| message.contains(text)) {
        return FailureKind::ContextOverflow;
    }
    for name in names.into_iter().flatten() {
        return match name {
            "authentication_error" | "permission_error" => FailureKind::Authentication,
            "rate_limit_error" => FailureKind::RateLimit,
            "overloaded_error" => FailureKind::Overloaded,
            "api_error" | "timeout_error" | "conflict_error" => FailureKind::Server,
            "request_too_large" => FailureKind::ContextOverflow,
            "invalid_request_error" | "not_found_error" | "billing_error" => {
                FailureKind::InvalidRequest
            }
            _ => continue,
        };
    }
    if (200..300).contains(&status) { FailureKind::Server } else { kind_of_status(status) }
}

/// The kind that an HTTP status stands for where the body says nothing better.
const fn kind_of_status(status: u16) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Authentication,
        408 | 409 => FailureKind::Server,
        413 => FailureKind::ContextOverflow,
        429 => FailureKind::RateLimit,
        529 => FailureKind::Overloaded,
        500.. => FailureKind::Server,
        _ => FailureKind::InvalidRequest,
    }
}

/// A sentence for an error response whose body is not of the protocol, such as a proxy's page.
fn foreign_body(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.is_empty() {
        format!("HTTP {status} with an empty body")
    } else if text.starts_with('<') {
        format!("HTTP {status} with an HTML page instead of an API response")
    } else {
        format!("HTTP {status}: {}", prefix(text, 300))
    }
}

/// How long the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
fn retry_after_ms(head: &ResponseHead) -> Option<u64> {
    let millis = |text: &str, factor: f64| {
        let value = text.trim().parse::<f64>().ok()? * factor;
        (value.is_finite() && value >= 0.0).then(|| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let whole = value as u64;
            whole
        })
    };
    if let Some(found) = head.header("retry-after-ms").and_then(|text| millis(text, 1.0)) {
        return Some(found);
    }
    let text = head.header("retry-after")?;
    millis(text, 1000.0).or_else(|| {
        let until = http_date(text)?;
        (head.at.0 > 0).then(|| until.0.saturating_sub(head.at.0))
    })
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<UnixMillis> {
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split([' ', ':']);
    let day = i64::from(words.next()?.parse::<u16>().ok()?);
    let month = words.next()?;
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = i64::try_from(months.find(month)? / 3).ok()? + 1;
    let mut number = || words.next()?.parse::<u16>().ok().map(i64::from);
    let (year, hour, minute, second) = (number()?, number()?, number()?, number()?);
    // Days from the civil date, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era_days = 365 * y + y / 4 - y / 100 + y / 400;
    let days = era_days + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    u64::try_from(seconds).ok().map(|seconds| UnixMillis(seconds.saturating_mul(1000)))
}
