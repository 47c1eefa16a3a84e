//! The errors that the package throws: a code for programs and a message for people.

use crate::js::object;
use innerloop_core::{
    config::ConfigError,
    input::{RejectedInput, RejectionReason},
};
use innerloop_json::{Error, to_string};
use wasm_bindgen::JsValue;

/// A mistake of the caller. It reaches JavaScript as `{code, message, fault, rejected}`, of which
/// the package makes an `AgentError`.
#[derive(Debug)]
pub(crate) struct CallerError {
    code: &'static str,
    message: String,
    /// The description of what does not fit, as JSON of a `ConfigError`, for the package to word.
    fault: Option<String>,
    /// A refused input and the reason, as JSON.
    rejected: Option<String>,
}

impl CallerError {
    /// Makes an error with that code.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fault: None, rejected: None }
    }

    /// Makes the error of an option whose value does not fit.
    #[allow(clippy::needless_pass_by_value, reason = "errors are handed over by `map_err`")]
    pub(crate) fn bad_option(message: impl ToString) -> Self {
        Self::new("bad_option", message.to_string())
    }

    /// Makes the error of an input that a bare session refused, with the input and the reason.
    pub(crate) fn rejected(rejected: &RejectedInput) -> Self {
        let (code, message) = ("rejected", rejected.reason.to_string());
        Self { rejected: Some(to_string(rejected)), ..Self::new(code, message) }
    }
}

impl From<Error> for CallerError {
    fn from(error: Error) -> Self {
        ConfigError::from(error).into()
    }
}

impl From<ConfigError> for CallerError {
    fn from(error: ConfigError) -> Self {
        Self { fault: Some(to_string(&error)), ..Self::bad_option(error) }
    }
}

impl From<RejectedInput> for CallerError {
    fn from(rejected: RejectedInput) -> Self {
        let code = match rejected.reason {
            RejectionReason::Config(error) => return (*error).into(),
            RejectionReason::Busy => "busy",
            RejectionReason::Closed => "closed",
            RejectionReason::HoldsSecret(_) => "holds_secret",
            RejectionReason::Nothing(_) => "nothing",
            RejectionReason::Unsupported(_) => "unsupported",
            _ => "bad_option",
        };
        Self::new(code, rejected.reason.to_string())
    }
}

impl From<CallerError> for JsValue {
    fn from(misuse: CallerError) -> Self {
        let CallerError { code, message, fault, rejected } = misuse;
        let [fault, rejected] = [fault, rejected].map(Self::from);
        let (code, message) = (code.into(), message.into());
        object(&[
            ("code", &code),
            ("message", &message),
            ("fault", &fault),
            ("rejected", &rejected),
        ])
    }
}
