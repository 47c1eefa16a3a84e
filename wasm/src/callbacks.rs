//! The functions that the package's TypeScript hands in: the destination of events, and the work
//! that only JavaScript can do. Each begins something and returns at once; its answer is reported
//! to [`RawAgent`](crate::RawAgent) under the effect's id, never before the function has returned.
//! Ids and times are `f64`, since a `u64` would be a `BigInt`.

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The package's side of one agent.
    #[derive(Clone, Debug)]
    pub type Callbacks;

    /// Returns whether the package wants the session's log kept in memory, to ask for it later.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method, getter, js_name = keepsLog)]
    pub(crate) fn keeps_log(this: &Callbacks) -> bool;

    /// Returns whether the package wants each line of the session's log as it is made.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method, getter, js_name = hearsLines)]
    pub(crate) fn hears_lines(this: &Callbacks) -> bool;

    /// Takes lines of the session's log, before anything is done that follows from them.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method)]
    pub(crate) fn lines(this: &Callbacks, lines: &str);

    /// Takes a batch of events, as [`event_batch`](crate::event_batch) encodes them. The package
    /// adds what is left out of each: the session, and the wall time, which is `epoch`, the wall
    /// time of session time 0, plus the event's session time.
    #[wasm_bindgen(method)]
    pub(crate) fn events(this: &Callbacks, batch: &str, session: &str, epoch: f64);

    /// Sends a request to an endpoint. Its headers are pairs in JSON, among them the key's.
    #[wasm_bindgen(method)]
    pub(crate) fn send(
        this: &Callbacks,
        effect: f64,
        endpoint: &str,
        base: &str,
        url: &str,
        headers: &str,
        body: &[u8],
    );

    /// Returns whether the package can make pictures smaller.
    #[wasm_bindgen(method, getter, js_name = fitsPictures)]
    pub(crate) fn fits_pictures(this: &Callbacks) -> bool;

    /// Ends a run with an outcome, as JSON, after making its pictures as small as the provider
    /// takes them.
    #[wasm_bindgen(method)]
    pub(crate) fn fit(this: &Callbacks, effect: f64, outcome: &str);

    /// Runs a tool of the user, for at most `limit_ms`.
    #[wasm_bindgen(method, js_name = callTool)]
    pub(crate) fn call_tool(
        this: &Callbacks,
        effect: f64,
        limit_ms: f64,
        name: &str,
        arguments: &str,
        call_id: &str,
        folder: &str,
    );

    /// Carries out an action of a built-in tool beyond the module's memory, for at most `limit_ms`:
    /// reads a page of the web, or works on files that are kept elsewhere. The action, and what the
    /// model knows of the files, are JSON.
    #[wasm_bindgen(method)]
    pub(crate) fn perform(
        this: &Callbacks,
        effect: f64,
        limit_ms: f64,
        name: &str,
        action: &str,
        call_id: &str,
        folder: &str,
        known: &str,
    );

    /// Runs a program in a worker, for at most `limit_ms`. The arguments are a JSON array, or
    /// `null` for a command line, which is an action on `stdin`; the files are `[path, bytes]`
    /// each. `tmp` is the name of what the program means by that folder.
    #[wasm_bindgen(method, js_name = runProgram)]
    pub(crate) fn run_program(
        this: &Callbacks,
        effect: f64,
        limit_ms: f64,
        program: &str,
        arguments: &str,
        stdin: &str,
        files: Array,
        folder: &str,
        agent: u32,
        tmp: &str,
    );

    /// Puts a question, as JSON, to a person.
    #[wasm_bindgen(method)]
    pub(crate) fn ask(this: &Callbacks, effect: f64, agent: u32, question: &str);

    /// Runs a hook, which gets its payload as JSON.
    #[wasm_bindgen(method, js_name = runHook)]
    pub(crate) fn run_hook(this: &Callbacks, effect: f64, agent: u32, hook: &str);

    /// Stops what was begun for an effect, if it has not ended.
    #[wasm_bindgen(method)]
    pub(crate) fn cancel(this: &Callbacks, effect: f64);

    /// Calls `RawAgent.tick` in so many milliseconds, never if the number is negative. Replaces an
    /// earlier request.
    #[wasm_bindgen(method)]
    pub(crate) fn wake(this: &Callbacks, ms: f64);
}
