//! The place in a request that an error names, as in `messages.4.content.1.image.source.base64` or
//! `input[3].output[0].image_url`, and the search for texts that stand there.

use super::lenient::{JsonDocument, ValueRef};
use alloc::vec::Vec;
use core::ops::Range;
use innerloop_json::IntoList;
use innerloop_types::{steps, text::is_word};

/// The fields of a request that hold the turns, in all protocols.
const TURNS: [&str; 3] = ["messages", "input", "contents"];

/// Returns which of the texts stand in the places that the message names, or nothing if it names
/// none. The texts are in the order of the body; one that is not found there is passed over.
pub fn named(body: &str, message: &str, texts: &[&str]) -> Vec<bool> {
    let document = JsonDocument::of(body);
    let mut places: Vec<Range<usize>> = Vec::new();
    for field in TURNS {
        for (at, _) in message.match_indices(field) {
            if places.len() == MOST_PLACES {
                break;
            }
            let path = path(message, at, at + field.len());
            places.extend(path.and_then(|path| place(document.root(), field, path, body)));
        }
    }
    let mut from = 0;
    let is_named = |text: &&str| {
        // The search goes on behind the last hit: the same picture may stand in the body twice, and
        // only its position tells which of the two is meant.
        let rest = body.get(from..).unwrap_or_default();
        steps::count(rest.len());
        let Some(at) = rest.find(text).map(|at| from + at) else { return false };
        from = at + text.len();
        places.iter().any(|place| place.contains(&at))
    };
    if places.is_empty() {
        return Vec::new();
    }
    texts.iter().map(is_named).into_list()
}

/// The number of places of one message that are looked at: each costs a walk through the body.
const MOST_PLACES: usize = 16;

/// Returns the path that follows the name of a field, from `at` to `end`, in a message.
fn path(message: &str, at: usize, end: usize) -> Option<&str> {
    let path = message.get(end..)?;
    let is_whole = !message.get(..at)?.ends_with(is_word);
    // A number must follow: `messages` alone is a word of prose.
    let is_path =
        path.starts_with(['.', '[']) && path.get(1..)?.starts_with(|c: char| c.is_ascii_digit());
    let end = path.find(|c: char| !is_word(c) && !matches!(c, '.' | '[' | ']'));
    let path = path.get(..end.unwrap_or(path.len()))?;
    (is_whole && is_path).then_some(path)
}

/// Returns where in the body that path leads, as far as it can be followed. Names that stand for a
/// type are passed over.
fn place(root: ValueRef<'_>, field: &'static str, path: &str, body: &str) -> Option<Range<usize>> {
    let mut value = root.field(field).some()?;
    let steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    for (step, depth) in steps.zip(0..) {
        let next = match step.parse::<usize>() {
            Ok(index) => value.elements().nth(index),
            Err(_) => value.field(step).some(),
        };
        match next {
            Some(next) => value = next,
            // A turn that is not there names nothing; the type names in between (`image`, `base64`)
            // are not there either and are passed over.
            None if depth == 0 => return None,
            None => {}
        }
    }
    let json = value.json();
    // The value is a slice of the body, so that the distance of the pointers is its position.
    let from = json.as_ptr().addr().checked_sub(body.as_ptr().addr())?;
    Some(from..from + json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"messages":[{"content":"x"},{"content":[{"type":"text","text":"AAAA"},
        {"type":"image","source":{"data":"BBBB"}},{"type":"image","source":{"data":"BBBB"}}]},
        {"content":[{"type":"tool_result","content":[{"source":{"data":"CCCC"}}]}]}]}"#;

    fn found(message: &str) -> Vec<bool> {
        named(BODY, message, &["BBBB", "BBBB", "CCCC"])
    }

    #[test]
    fn the_part_that_an_error_names_is_found() {
        let exact = "messages.1.content.2.image.source.base64.data: image exceeds 5 MB maximum";
        assert_eq!(found(exact), [false, true, false]);
        let nested = "messages.2.content.0.tool_result.content.0.image.source.base64: bad";
        assert_eq!(found(nested), [false, false, true]);
        assert_eq!(found("Invalid 'messages[1].content[1].image_url.url'."), [true, false, false]);
        assert_eq!(found("messages.1: too large"), [true, true, false], "all of the turn");
        assert_eq!(found("messages.0.content: no"), [false, false, false]);
        for none in ["the messages. 1 of them", "messages.7.content.0: no", "submessages.1", ""] {
            assert!(found(none).is_empty(), "{none}");
        }
    }
}
