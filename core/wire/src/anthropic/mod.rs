//! Anthropic Messages: `POST {base}/v1/messages`, streams and whole bodies.

mod block;
mod decode;
mod encode;
mod fields;
mod thinking;

use super::{body::BareJsonMode, head::RequestHead, protocol::WireProtocol};
use alloc::{string::String, vec, vec::Vec};
use innerloop_json::joined;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// Anthropic Messages.
pub(crate) struct AnthropicMessages;

impl WireProtocol for AnthropicMessages {
    const BARE: BareJsonMode = BareJsonMode::Whole;

    type Prefix = encode::AnthropicPrefix;
    type Accumulator = decode::AnthropicAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
        encode::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/v1/messages")
    }

    fn headers(model: &ModelConfig) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type".into(), "application/json".into()),
            ("anthropic-version".into(), "2023-06-01".into()),
        ];
        if !model.betas.is_empty() {
            headers.push(("anthropic-beta".into(), joined(&model.betas, ",")));
        }
        headers
    }
}
