//! What a model does not take is left out, or told to it in words, before a protocol sees it:
//! pictures and files of other types, and what only the model understands that it came from.

use crate::types::{
    message::{Part, Reply, Said, ToolResult},
    model::{Origin, WireKind},
};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use base64ct::{Base64, Encoding as _};

/// Stands in for the signature of a call that the Gemini model which is asked has not signed:
/// without any, Gemini 3 refuses the request.
pub(super) const UNSIGNED: &str = "skip_thought_signature_validator";

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

/// What is said, as that model of that endpoint reads it: the reply of another one is told as that
/// of another provider, since signatures and sealed thinking are refused there for ever.
pub(super) fn unsigned<'a>(said: Said<'a>, reader: &Origin) -> Said<'a> {
    match said {
        Said::Assistant(reply) if reply.origin.as_ref().is_some_and(|own| **own != *reader) => {
            Said::Assistant(Cow::Owned(Reply { wire: None, ..reply.into_owned() }))
        }
        said => said,
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
                // It takes texts under their own types only, and decides itself about the rest.
                WireKind::Gemini => !media_type.starts_with("application/") || is_pdf(media_type),
                _ => is_pdf(media_type),
            };
            (name.as_str(), is_taken)
        }
    };
    if takes_images && is_taken {
        return part.clone();
    }
    match text_in(part) {
        Some(text) => Part::text(format!("{what}:\n\n{text}")),
        None if takes_images && wire == WireKind::Gemini => part.clone(),
        None => Part::text(format!("[{what} is left out: this model does not take it]")),
    }
}

fn is_pdf(media_type: &str) -> bool {
    media_type == "application/pdf"
}

/// The text of a file that is one, whatever its type is said to be.
fn text_in(part: &Part) -> Option<String> {
    let Part::File { data, .. } = part else { return None };
    let text = String::from_utf8(Base64::decode_vec(data).ok()?).ok()?;
    (!text.contains('\0') && !text.starts_with("%PDF-")).then_some(text)
}
