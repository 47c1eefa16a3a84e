//! Anthropic Messages: `POST {base}/v1/messages`, streams and whole bodies.

mod block;
mod decode;
mod encode;
mod fields;
mod thinking;

pub(super) use decode::Accumulator;
pub(super) use encode::Prefix;
pub(super) use encode::head;

use crate::types::config::ModelConfig;
use alloc::{string::String, vec, vec::Vec};
use innerloop_json::joined;

/// The path below the endpoint's base URL.
pub(super) fn path(_model: &ModelConfig) -> String {
    String::from("/v1/messages")
}

/// The headers that are not secret.
pub(super) fn headers(model: &ModelConfig) -> Vec<(String, String)> {
    let mut headers = vec![
        ("content-type".into(), "application/json".into()),
        ("anthropic-version".into(), "2023-06-01".into()),
    ];
    if !model.betas.is_empty() {
        headers.push(("anthropic-beta".into(), joined(&model.betas, ",")));
    }
    headers
}
