//! Anthropic Messages: `POST {base}/v1/messages`, streams and whole bodies.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::{Head, Prefix};

use alloc::{string::String, vec, vec::Vec};

/// The path below the endpoint's base URL.
pub(super) const PATH: &str = "/v1/messages";

/// The headers that are not secret.
pub(super) fn headers() -> Vec<(String, String)> {
    vec![
        ("content-type".into(), "application/json".into()),
        ("anthropic-version".into(), "2023-06-01".into()),
    ]
}
