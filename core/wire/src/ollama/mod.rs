//! Ollama: streams and whole bodies.

mod decode;
mod encode;

use super::{body::Bare, head::Head, protocol::Wire};
use alloc::string::String;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// Ollama's `/api/chat`.
pub(crate) struct OllamaChat;

impl Wire for OllamaChat {
    const BARE: Bare = Bare::Values;

    type Prefix = encode::Prefix;
    type Accumulator = decode::Accumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Head {
        encode::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/api/chat")
    }
}
