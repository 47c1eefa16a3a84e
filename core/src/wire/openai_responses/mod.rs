//! OpenAI Responses: streams and whole bodies.

mod decode;
mod encode;

mod head;
mod items;
mod response;
mod slots;
mod streamed;

pub(super) use decode::Accumulator;
pub(super) use encode::Prefix;
pub(super) use head::head;

use crate::types::config::ModelConfig;
use alloc::{string::String, vec, vec::Vec};

/// The path below the endpoint's base URL.
pub(super) fn path(_model: &ModelConfig) -> String {
    String::from("/responses")
}

/// The headers that are not secret.
pub(super) fn headers(model: &ModelConfig) -> Vec<(String, String)> {
    let mut headers = vec![("content-type".into(), "application/json".into())];
    if model.stream {
        headers.push(("accept".into(), "text/event-stream".into()));
    }
    headers
}
