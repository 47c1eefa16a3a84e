//! What the package throws: a code for programs and a message for people.

use crate::js::object;
use innerloop_core::{
    config::ConfigError,
    input::{Reason, Rejected},
};
use innerloop_json::{Error, to_string};
use wasm_bindgen::JsValue;

/// A mistake of the caller. Crosses as `{code, message, fault, rejected}`; the package makes an
/// `AgentError` of it.
#[derive(Debug)]
pub(crate) struct Misuse {
    code: &'static str,
    message: String,
    /// What does not fit, as JSON of a `ConfigError`, for the package to word.
    fault: Option<String>,
    /// A refused input and the reason, as JSON.
    rejected: Option<String>,
}

impl Misuse {
    /// A mistake of that code.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fault: None, rejected: None }
    }

    /// An option whose value does not fit.
    #[allow(clippy::needless_pass_by_value, reason = "errors are handed over by `map_err`")]
    pub(crate) fn bad_option(message: impl ToString) -> Self {
        Self::new("bad_option", message.to_string())
    }

    /// An input that a bare session refused: it comes back with the reason.
    pub(crate) fn rejected(rejected: &Rejected) -> Self {
        let (code, message) = ("rejected", rejected.reason.to_string());
        Self { rejected: Some(to_string(rejected)), ..Self::new(code, message) }
    }
}

impl From<Error> for Misuse {
    fn from(error: Error) -> Self {
        ConfigError::from(error).into()
    }
}

impl From<ConfigError> for Misuse {
    fn from(error: ConfigError) -> Self {
        Self { fault: Some(to_string(&error)), ..Self::bad_option(error) }
    }
}

impl From<Rejected> for Misuse {
    fn from(rejected: Rejected) -> Self {
        let code = match rejected.reason {
            Reason::Config(error) => return (*error).into(),
            Reason::Busy => "busy",
            Reason::Closed => "closed",
            Reason::Nothing(_) => "nothing",
            Reason::Unsupported(_) => "unsupported",
            _ => "bad_option",
        };
        Self::new(code, rejected.reason.to_string())
    }
}

impl From<Misuse> for JsValue {
    fn from(misuse: Misuse) -> Self {
        let Misuse { code, message, fault, rejected } = misuse;
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
