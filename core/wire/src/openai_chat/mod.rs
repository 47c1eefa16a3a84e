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

use super::{body::BareJsonMode, head::RequestHead, protocol::WireProtocol};
use alloc::string::String;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// OpenAI Chat Completions.
pub(crate) struct ChatCompletions;

impl WireProtocol for ChatCompletions {
    const BARE: BareJsonMode = BareJsonMode::Whole;

    type Prefix = message::ChatPrefix;
    type Accumulator = decode::ChatAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
        encode::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/chat/completions")
    }
}
