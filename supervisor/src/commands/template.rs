//! The templates of custom commands: texts with places for the arguments.

use alloc::string::String;

/// The place for all arguments.
const ALL: &str = "ARGUMENTS";

/// Returns a template with its arguments: `$ARGUMENTS` is all of them as they were typed, `$1` to
/// `$9` is one of the words between blanks, or nothing, and `$$` is a dollar sign. Arguments for
/// which the template has no place follow it as a paragraph of their own.
pub(super) fn filled(template: &str, args: &str) -> String {
    let (mut text, mut has_place) = (String::new(), false);
    let mut parts = template.split('$');
    text.push_str(parts.next().unwrap_or_default());
    // What an argument brings in is not looked at again: a dollar sign in it is nothing but that.
    while let Some(part) = parts.next() {
        if let Some(rest) = part.strip_prefix(ALL) {
            has_place = true;
            text.push_str(args);
            text.push_str(rest);
        } else if let Some(number @ 1..=9) = part.chars().next().and_then(|c| c.to_digit(10)) {
            has_place = true;
            let word = args.split_whitespace().zip(1..).find(|(_, at)| *at == number);
            text.push_str(word.map_or("", |(word, _)| word));
            text.push_str(part.get(1..).unwrap_or_default());
        } else {
            text.push('$');
            if part.is_empty() {
                text.push_str(parts.next().unwrap_or_default());
            } else {
                text.push_str(part);
            }
        }
    }
    if !has_place && !args.is_empty() {
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
        text.push_str(args);
    }
    text
}
