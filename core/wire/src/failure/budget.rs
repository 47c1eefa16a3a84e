//! Input and output that together exceed a model's window: whether the output limit is at fault, as
//! far as the numbers in the message tell.

use innerloop_types::text::listed;

/// The text to look for in the words behind the number of tokens that the output may have, in lower
/// case.
const OUTPUT: &str = "completion|output|max_new_tokens";

/// The text to look for in the words behind the number of tokens of the input.
const INPUT: &str = "messages|prompt|input";

/// Returns whether a smaller output limit would help and a shorter conversation would not: the
/// output may be as long as the window, or the input takes no more than half of it. `message` is in
/// lower case; without its numbers the answer is false.
pub(super) fn is_output_too_large(message: &str) -> bool {
    let (mut window, mut input, mut output, mut last) = (None, None, None, None);
    let mut before = "";
    // Providers word this in many ways. The word before a number tells the window ("length is
    // 8192"), the words behind it tell the rest ("42 in the messages"). One pass suffices, since a
    // message may be long.
    for word in message.split(' ') {
        let is_other = |c: char| !c.is_ascii_digit();
        let digits = word.trim_start_matches(is_other).split(is_other).next();
        let number = digits.and_then(|digits| digits.parse::<u64>().ok());
        if number.is_some() {
            match before {
                "is" | "of" | "<=" => window = window.or(number),
                "large:" => output = output.or(number),
                // vLLM's "at least 62466 input tokens" and "upper bound for 192 input tokens" are
                // bounds and not the input's length.
                "least" | "for" => last = None,
                _ => last = number,
            }
        } else if says(word, OUTPUT) {
            output = output.or(last.take());
        } else if says(word, INPUT) {
            input = input.or(last.take());
        }
        before = word;
    }
    let (Some(window), Some(output)) = (window, output) else { return false };
    // An input that is not named counts as almost as long as the window, so that only an output as
    // long as the window is at fault.
    let input = input.unwrap_or(window.saturating_sub(1));
    input < window && (output >= window || input <= window / 2)
}

/// Returns whether a message in lower case has one of the phrases.
pub(super) fn says(message: &str, phrases: &'static str) -> bool {
    listed(phrases).any(|phrase| message.contains(phrase))
}
