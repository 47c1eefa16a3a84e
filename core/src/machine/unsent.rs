//! Parts that are not sent to a model: what stands in their place, and what people call them.

use alloc::{format, string::String};
use innerloop_types::{
    message::{Part, Turn, TurnKind},
    text::{grouped, prefix},
};

/// The number of bytes that the model reads of a provider's words.
const MOST_WORDS: usize = 300;

/// Returns what stands in the place of a part that is left out by that turn.
pub(super) fn in_words(part: &Part, by: &Turn) -> Part {
    let why = match &by.kind {
        TurnKind::LeftOut(left) => prefix(&left.why, MOST_WORDS),
        _ => "",
    };
    let what = match part {
        Part::File { name, .. } => name.as_str(),
        _ => "an image",
    };
    Part::text(format!(
        "[{what} is left out: the provider refused the request with it, and would again: {why}]"
    ))
}

/// Returns what people know a part by: its name, or what the tool that read it says before it.
pub(super) fn name(part: &Part, before: &str) -> String {
    match part {
        Part::Text { .. } => String::new(),
        Part::ImageUrl { url } => prefix(url, MOST_WORDS).into(),
        Part::File { name, .. } => name.clone(),
        Part::Image { media_type, data } => match before.rsplit_once(": image/") {
            Some((path, _)) => path.lines().next_back().unwrap_or(path).into(),
            None => {
                format!("a picture ({media_type}, {} bytes)", grouped(data.len() as u64 / 4 * 3))
            }
        },
    }
}
