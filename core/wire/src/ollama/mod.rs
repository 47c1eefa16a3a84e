//! Ollama's own protocol: `POST {base}/api/chat`, streams and whole bodies.

mod decode;
mod encode;

use super::{body::BareJsonMode, head::RequestHead, protocol::WireProtocol};
use alloc::string::String;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// Ollama's `/api/chat`.
pub(crate) struct OllamaChat;

impl WireProtocol for OllamaChat {
    const BARE: BareJsonMode = BareJsonMode::Values;

    type Prefix = encode::OllamaPrefix;
    type Accumulator = decode::OllamaAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
        encode::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/api/chat")
    }
}
