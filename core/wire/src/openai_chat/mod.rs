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

use super::{body::Bare, head::Head, protocol::Wire};
use alloc::string::String;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// OpenAI Chat Completions.
pub(crate) struct ChatCompletions;

impl Wire for ChatCompletions {
    const BARE: Bare = Bare::Whole;

    type Prefix = message::Prefix;
    type Accumulator = decode::Accumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Head {
        encode::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/chat/completions")
    }
}
