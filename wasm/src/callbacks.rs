//! What the package's TypeScript hands in: where events go, and the work that only JavaScript can
//! do. Each function begins something and returns at once; what comes of it is told to
//! [`RawAgent`](crate::RawAgent) by the number of the effect. None is called back into before it
//! has returned.

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The package's side of one agent.
    #[derive(Clone, Debug)]
    pub type Callbacks;

    /// Returns whether the package wants the session's log kept, for when it asks for it.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method, getter, js_name = keepsLog)]
    pub(crate) fn keeps_log(this: &Callbacks) -> bool;

    /// Returns whether the package wants each line of the session's log.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method, getter, js_name = hearsLines)]
    pub(crate) fn hears_lines(this: &Callbacks) -> bool;

    /// Takes lines of the session's log, before anything is done that follows from them.
    #[cfg(feature = "log")]
    #[wasm_bindgen(method)]
    pub(crate) fn lines(this: &Callbacks, lines: &str);

    /// Takes a batch of events, as [`event_batch`](crate::event_batch) has them. Left out of them
    /// is what the package adds: the session, and the wall time, which is that of their time 0 and
    /// theirs together.
    #[wasm_bindgen(method)]
    pub(crate) fn events(this: &Callbacks, batch: &str, session: &str, epoch: f64);

    /// Sends a request: its headers are pairs in JSON, the key among them.
    #[wasm_bindgen(method)]
    pub(crate) fn send(
        this: &Callbacks,
        effect: f64,
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

    /// Runs a tool of the user, so long at most.
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

    /// Does what a built-in tool does beyond the module's memory, so long at most: reads pages of
    /// the web, or works on files that are kept elsewhere. The action, and what the model knows of
    /// the files, are JSON.
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

    /// Runs a program in a worker, so long at most. The arguments are a JSON array, or `null` for
    /// a command line, which is an action on `stdin`; the files are `[path, bytes]` each. The last
    /// is the name of what it means by `tmp`.
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

    /// Runs a hook, which is told JSON.
    #[wasm_bindgen(method, js_name = runHook)]
    pub(crate) fn run_hook(this: &Callbacks, effect: f64, agent: u32, hook: &str);

    /// Stops what was begun for an effect, if it is still under way.
    #[wasm_bindgen(method)]
    pub(crate) fn cancel(this: &Callbacks, effect: f64);

    /// Calls `RawAgent.tick` in so many milliseconds, in place of what was said before; never if
    /// they are negative.
    #[wasm_bindgen(method)]
    pub(crate) fn wake(this: &Callbacks, ms: f64);
}
