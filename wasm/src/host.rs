//! What the package's TypeScript hands in: where events go, and the functions that only
//! JavaScript can run.

use js_sys::{Promise, Uint8Array};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::{AbortSignal, Request};

#[wasm_bindgen]
extern "C" {
    /// The package's side of one agent.
    #[derive(Clone, Debug)]
    pub type Host;

    /// Takes a batch of events: a JSON array.
    #[wasm_bindgen(method)]
    pub(crate) fn events(this: &Host, batch: &str);

    /// Whether the user sends requests with a function of their own.
    #[wasm_bindgen(method, getter, js_name = sends)]
    pub(crate) fn sends(this: &Host) -> bool;

    /// Sends a request with the user's function. Resolves to a `Response`.
    #[wasm_bindgen(method, catch)]
    pub(crate) fn send(this: &Host, request: &Request) -> Result<Promise, JsValue>;

    /// Runs a tool of the user. Resolves to what the tool returned.
    #[wasm_bindgen(method, catch, js_name = callTool)]
    pub(crate) fn call_tool(
        this: &Host,
        effect: u64,
        name: &str,
        arguments: &str,
        call_id: &str,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;

    /// Runs a program in a worker. Resolves to a `ProgramEnd`.
    #[wasm_bindgen(method, catch, js_name = runProgram)]
    pub(crate) fn run_program(
        this: &Host,
        effect: u64,
        request: JsValue,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;
}

/// The bytes of a typed array of JavaScript.
pub(crate) fn bytes_of(array: &JsValue) -> Vec<u8> {
    Uint8Array::new(array).to_vec()
}

/// What an error of JavaScript says, with its cause if it names one.
pub(crate) fn message_of(error: &JsValue) -> String {
    let field = |of: &JsValue, name: &str| js_sys::Reflect::get(of, &name.into()).ok();
    let text = |of: &JsValue| field(of, "message").and_then(|message| message.as_string());
    let Some(message) = text(error) else {
        return error.as_string().unwrap_or_else(|| String::from("it failed without a word"));
    };
    let cause = field(error, "cause").and_then(|cause| text(&cause));
    match cause.filter(|cause| !cause.is_empty()) {
        Some(cause) => format!("{message} ({cause})"),
        None => message,
    }
}
