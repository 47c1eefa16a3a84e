//! Gemini `generateContent`: `POST {base}/v1beta/models/{model}:streamGenerateContent?alt=sse`,
//! streams and whole bodies, of the Gemini API and of Vertex AI.

mod chunk;
mod decode;
mod encode;
mod family;
mod head;
mod merge;
mod partial;
mod schema;

use super::{body::BareJsonMode, head::RequestHead, protocol::WireProtocol};
use alloc::string::String;
use family::is_vertex;
use innerloop_types::{config::ModelConfig, tool::ToolSpec};

/// Gemini `generateContent`.
pub(crate) struct GeminiContent;

impl WireProtocol for GeminiContent {
    const BARE: BareJsonMode = BareJsonMode::Values;

    type Prefix = encode::GeminiPrefix;
    type Accumulator = decode::GeminiAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
        head::head(model, system, tools)
    }

    /// Returns the path. A model's name may be a resource's whole name, such as `tunedModels/x` or,
    /// on Vertex AI, `projects/p/locations/l/publishers/google/models/m`.
    fn path(model: &ModelConfig) -> String {
        let name = percent_encoded(model.name.trim_matches('/'));
        let resource = if is_vertex(&name) {
            alloc::format!("/v1beta1/{name}")
        } else if name.starts_with("models/") || name.starts_with("tunedModels/") {
            alloc::format!("/v1beta/{name}")
        } else {
            alloc::format!("/v1beta/models/{name}")
        };
        let method = if model.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        alloc::format!("{resource}:{method}")
    }
}

/// Returns a name in the characters that a path may have; slashes stay.
fn percent_encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&alloc::format!("%{byte:02X}")),
        }
    }
    out
}
