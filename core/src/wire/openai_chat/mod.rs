//! OpenAI Chat Completions and its dialects: `POST {base}/chat/completions`, where the base URL
//! mostly ends with `/v1`; streams and whole bodies.

mod answer;
mod calls;
mod chunk;
mod decode;
mod details;
mod encode;
mod ids;
mod message;
mod usage;

pub(super) use decode::Accumulator;
pub(super) use encode::head;
pub(super) use message::Prefix;

use crate::types::config::ModelConfig;
use alloc::{string::String, vec, vec::Vec};

/// The path below the endpoint's base URL.
pub(super) fn path(_model: &ModelConfig) -> String {
    String::from("/chat/completions")
}

/// The headers that are not secret.
pub(super) fn headers(_model: &ModelConfig) -> Vec<(String, String)> {
    vec![("content-type".into(), "application/json".into())]
}
