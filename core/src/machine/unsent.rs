//! The words for parts that are not sent to a model: what the model reads in their place, and what
//! people call them.

use alloc::{format, string::String};
use innerloop_types::{
    message::{Part, Turn, TurnKind},
    text::{grouped, prefix},
};

/// The number of bytes that are shown of a provider's message, or of an address.
const MOST_WORDS: usize = 300;

/// Returns the text in the place of a part that is left out by that turn.
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

/// Returns the name that people know a part by: its own, or that in the text of the tool that read
/// it, which comes before it.
pub(super) fn name(part: &Part, before: &str) -> String {
    match part {
        Part::Text { .. } => String::new(),
        Part::ImageUrl { url } => prefix(url, MOST_WORDS).into(),
        Part::File { name, .. } => name.clone(),
        Part::Image { media_type, data } => match named(before) {
            Some(path) => path.lines().next_back().unwrap_or(path).into(),
            None => {
                format!("a picture ({media_type}, {} bytes)", grouped(data.len() as u64 / 4 * 3))
            }
        },
    }
}

/// Returns the text before the last name of a type of pictures.
fn named(text: &str) -> Option<&str> {
    // The last of all, and not the first from the end: the standard library's search from the end
    // is code of its own.
    let (at, _) = text.match_indices(": image/").last()?;
    text.get(..at)
}
