//! What the package's TypeScript asks of the table of providers.

use innerloop_driver::providers;
use wasm_bindgen::prelude::wasm_bindgen;

/// The table of providers, as JSON.
#[must_use]
#[wasm_bindgen(js_name = providersJson)]
pub fn providers_json() -> String {
    innerloop_json::to_string(&providers::all())
}
