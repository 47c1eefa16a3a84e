//! The table of providers, and limits from it, for the package's TypeScript.

use innerloop_driver::providers;
use wasm_bindgen::prelude::wasm_bindgen;
#[cfg(feature = "tools")]
use {
    innerloop_core::{config::VocabularyKind, media::MediaLimits},
    innerloop_tools::MAX_PICTURE_BYTES,
};

/// Returns the table of providers, as JSON.
#[must_use]
#[wasm_bindgen(js_name = providersJson)]
pub fn providers_json() -> String {
    innerloop_json::to_string(&providers::all())
}

/// Returns the limits of a picture that goes to a provider: characters of base64, and pixels of the
/// longer side, 0 for any number.
#[cfg(feature = "tools")]
#[must_use]
#[wasm_bindgen(js_name = pictureLimits)]
pub fn picture_limits(provider: &str) -> Vec<u32> {
    let limits = providers::find(provider)
        .map(|it| MediaLimits::of(&it.model("", VocabularyKind::default())))
        .unwrap_or_default();
    let base64_bytes = limits.base64_bytes_or(MAX_PICTURE_BYTES as u64);
    let side_px = limits.safe_side_px().unwrap_or_default();
    vec![u32::try_from(base64_bytes).unwrap_or(u32::MAX), side_px]
}
