//! Ollama: streams and whole bodies.

mod decode;
mod encode;

pub(super) use decode::Accumulator;
pub(super) use encode::Prefix;
pub(super) use encode::head;

use crate::types::config::ModelConfig;
use alloc::{string::String, vec, vec::Vec};

/// The path below the endpoint's base URL.
pub(super) fn path(_model: &ModelConfig) -> String {
    String::from("/api/chat")
}

/// The headers that are not secret.
pub(super) fn headers(_model: &ModelConfig) -> Vec<(String, String)> {
    vec![("content-type".into(), "application/json".into())]
}
