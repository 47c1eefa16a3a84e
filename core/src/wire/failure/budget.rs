//! Where input and output together exceed a model's window: whether the output limit is at fault,
//! as far as the numbers in the message tell it.

use crate::base::text::listed;
use innerloop_json::parse_f64;

/// Words before the size of the window, in lower case.
const WINDOW: &str = "context length is |context length of |must be <= ";

/// Words behind the tokens of the input.
const INPUT: &str = " in the messages| in your prompt| of text input| from the input| input tokens|\
     `inputs` tokens";

/// Words behind the tokens that the output may have.
const OUTPUT: &str =
    " in the completion| for the completion| in the output| output tokens| `max_new_tokens`";

/// Whether a smaller output limit would help and a shorter conversation would not: the output may
/// be as long as the window, or the input takes no more than half of it. `message` is in lower
/// case; without the numbers nothing is known.
pub(super) fn is_output_too_large(message: &str) -> bool {
    let stated = || after(message, "is too large: ");
    let output = before(message, OUTPUT).or_else(stated);
    let (Some(window), Some(output)) = (after(message, WINDOW), output) else { return false };
    match before(message, INPUT) {
        Some(input) => input < window && (output >= window || input * 2.0 <= window),
        None => output >= window,
    }
}

/// The number behind one of the phrases.
fn after(message: &str, phrases: &'static str) -> Option<f64> {
    listed(phrases).find_map(|phrase| {
        let (_, rest) = message.split_once(phrase)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',');
        number(rest.get(..end.unwrap_or(rest.len()))?)
    })
}

/// The number in front of one of the phrases, unless it is only the least that it can be.
fn before(message: &str, phrases: &'static str) -> Option<f64> {
    listed(phrases).find_map(|phrase| {
        message.match_indices(phrase).find_map(|(at, _)| {
            let text = message.get(..at)?;
            let text = text.strip_suffix(" tokens").unwrap_or(text);
            let (rest, word) = text.rsplit_once([' ', '(']).unwrap_or(("", text));
            number(word).filter(|_| !rest.ends_with("at least") && !rest.ends_with("bound for"))
        })
    })
}

/// A count, with or without commas.
fn number(word: &str) -> Option<f64> {
    parse_f64(&word.replace(',', ""))
}
