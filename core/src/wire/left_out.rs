//! What a model does not take, of pictures and files, is told to it in words before a protocol sees
//! it.

use crate::types::{
    message::{Part, Said, ToolResult},
    model::WireKind,
};
use alloc::{borrow::Cow, format, vec::Vec};

/// The types of image that Anthropic takes.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What is said, as a model reads it that takes pictures, or takes none, over that protocol.
pub(super) fn readable(said: Said<'_>, wire: WireKind, takes_images: bool) -> Said<'_> {
    let is_plain = |parts: &[Part]| parts.iter().all(|part| part.as_text().is_some());
    let read = |parts: &[Part]| -> Vec<Part> {
        parts.iter().map(|part| told(part, wire, takes_images)).collect()
    };
    match &said {
        Said::User(parts) | Said::Steering(parts) if !is_plain(parts) => {
            Said::User(Cow::Owned(read(parts)))
        }
        Said::ToolResults(results) if !results.iter().all(|it| is_plain(&it.parts)) => {
            let result = |ToolResult { call_id, parts, is_error }: &ToolResult| {
                let (call_id, parts) = (call_id.clone(), read(parts));
                ToolResult { call_id, parts, is_error: *is_error }
            };
            Said::ToolResults(results.iter().map(result).collect())
        }
        _ => said,
    }
}

fn told(part: &Part, wire: WireKind, takes_images: bool) -> Part {
    let (what, is_taken) = match part {
        Part::Text { .. } => return part.clone(),
        Part::Image { media_type, .. } => {
            ("an image", wire != WireKind::Anthropic || IMAGES.contains(&media_type.as_str()))
        }
        Part::ImageUrl { .. } => ("an image", wire != WireKind::Ollama),
        Part::File { media_type, name, .. } => {
            let is_taken = match wire {
                WireKind::Ollama => false,
                WireKind::Gemini => true,
                _ => media_type == "application/pdf",
            };
            (name.as_str(), is_taken)
        }
    };
    if takes_images && is_taken {
        return part.clone();
    }
    Part::text(format!("[{what} is left out: this model does not take it]"))
}
