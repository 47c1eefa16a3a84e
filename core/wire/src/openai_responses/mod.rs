//! OpenAI Responses: `POST {base}/responses`, streams and whole bodies. Where the provider is told
//! to store nothing, whole items go back with each request.

mod decode;
mod encode;

mod head;
mod items;
mod output_items;
mod partial_items;
mod response;

use super::{body::BareJsonMode, head::RequestHead, protocol::WireProtocol};
use alloc::{string::String, vec, vec::Vec};
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// OpenAI Responses.
pub(crate) struct OpenAiResponses;

impl WireProtocol for OpenAiResponses {
    const BARE: BareJsonMode = BareJsonMode::Whole;

    type Prefix = encode::ResponsesPrefix;
    type Accumulator = decode::ResponsesAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
        head::head(model, system, tools)
    }

    fn path(_model: &ModelConfig) -> String {
        String::from("/responses")
    }

    fn headers(model: &ModelConfig) -> Vec<(String, String)> {
        let mut headers = vec![("content-type".into(), "application/json".into())];
        if model.stream {
            headers.push(("accept".into(), "text/event-stream".into()));
        }
        headers
    }
}
