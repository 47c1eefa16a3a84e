//! What the package throws: a code for programs and a message for people.

use innerloop_core::input::{Reason, Rejected};
use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

/// A mistake of the caller. Crosses as `{code, message}`; the package makes an `AgentError` of it.
#[derive(Debug)]
pub(crate) struct Misuse {
    code: &'static str,
    message: String,
}

impl Misuse {
    /// A mistake of that code.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// An option whose value does not fit.
    #[allow(clippy::needless_pass_by_value, reason = "errors are handed over by `map_err`")]
    pub(crate) fn bad_option(message: impl ToString) -> Self {
        Self::new("bad_option", message.to_string())
    }
}

impl From<Rejected> for Misuse {
    fn from(rejected: Rejected) -> Self {
        let code = match rejected.reason {
            Reason::Busy => "busy",
            Reason::Closed => "closed",
            Reason::Unsupported(_) => "unsupported",
            _ => "bad_option",
        };
        Self::new(code, rejected.reason.to_string())
    }
}

impl From<Misuse> for JsValue {
    fn from(misuse: Misuse) -> Self {
        let thrown = Object::new();
        // Setting a field of a new plain object cannot fail.
        let _set = Reflect::set(&thrown, &"code".into(), &misuse.code.into());
        let _set = Reflect::set(&thrown, &"message".into(), &misuse.message.into());
        thrown.into()
    }
}
