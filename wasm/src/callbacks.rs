//! What the package's TypeScript hands in: where events go, and the functions that only
//! JavaScript can run.

use js_sys::Promise;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use web_sys::{AbortSignal, Request};

#[wasm_bindgen]
extern "C" {
    /// The package's side of one agent.
    #[derive(Clone, Debug)]
    pub type Callbacks;

    /// Takes a batch of events: a JSON array. Left out of them is what the package adds: the
    /// session, and the wall time, which is that of their time 0 and theirs together.
    #[wasm_bindgen(method)]
    pub(crate) fn events(this: &Callbacks, batch: &str, session: &str, epoch: f64);

    /// Whether the user sends requests with a function of their own.
    #[wasm_bindgen(method, getter, js_name = sends)]
    pub(crate) fn sends(this: &Callbacks) -> bool;

    /// Sends a request with the user's function. Resolves to a `Response`.
    #[wasm_bindgen(method, catch)]
    pub(crate) fn send(this: &Callbacks, request: &Request) -> Result<Promise, JsValue>;

    /// Runs a tool of the user. Resolves to what the tool returned.
    #[wasm_bindgen(method, catch, js_name = callTool)]
    pub(crate) fn call_tool(
        this: &Callbacks,
        effect: u64,
        name: &str,
        arguments: &str,
        call_id: &str,
        folder: &str,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;

    /// Runs a program in a worker. Resolves to a `ProgramEnd`.
    #[wasm_bindgen(method, catch, js_name = runProgram)]
    pub(crate) fn run_program(
        this: &Callbacks,
        effect: u64,
        request: &JsValue,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;

    /// Puts a question, as JSON, to a person. Resolves to the answer, as JSON.
    #[wasm_bindgen(method, catch)]
    pub(crate) fn ask(
        this: &Callbacks,
        agent: u32,
        question: &str,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;

    /// Runs a hook, which is told JSON. Resolves to its reply, as JSON.
    #[wasm_bindgen(method, catch, js_name = runHook)]
    pub(crate) fn run_hook(
        this: &Callbacks,
        agent: u32,
        hook: &str,
        signal: &AbortSignal,
    ) -> Result<Promise, JsValue>;
}
