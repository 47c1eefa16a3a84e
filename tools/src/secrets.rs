//! The guard of keys that the model is shown as a mask: writing the mask back would destroy them.
//! Writes, edits and patches ask before they change a file (`docs/decisions.md#masks-in-new-text`).
//! Nothing here knows the keys, only what keys look like.

use crate::{failure_texts, path::WorkspacePath};
use innerloop_json::IntoList;
use innerloop_types::action::{MASK, Outcome, ToolError};

/// The shortest key that is masked.
const SHORTEST: usize = 8;
/// The minimum length of a part of a text that looks like a key wherever it stands.
const LONG: usize = 12;
/// The maximum number of lines with masks that are looked at, and of masks in one.
const MAX_LINES: usize = 16;
const MAX_MASKS: usize = 8;
/// The words that the names of keys contain.
const NAMES: [&str; 8] = ["key", "token", "secret", "passw", "pwd", "credential", "auth", "bearer"];

/// Checks that no line of the new text has a mask where the old text has a secret.
pub(crate) fn check(path: &WorkspacePath, old: &str, new: &str) -> Result<(), Outcome> {
    if !new.contains(MASK) {
        return Ok(());
    }
    let masked = (1..).zip(new.lines()).filter(|(_, line)| line.contains(MASK));
    // Each of them is compared with every line of the old text.
    for (number, line) in masked.take(MAX_LINES) {
        let masked = MaskedLine::of(line.trim());
        // A line that is in the file with its mask hides nothing.
        let is_known = old.lines().any(|old| old == line);
        if !is_known && old.lines().any(|old| masked.hides(old.trim())) {
            return Err(failure_texts::error(
                ToolError::EditConflict,
                format!(
                    "{path} was not changed: line {number} would be {MASK} where the file has a \
                     secret, which you are shown as {MASK}. That would destroy it. Leave its line \
                     as it is, and edit only what stands around it. To take the secret out on \
                     purpose, write another placeholder."
                ),
            ));
        }
    }
    Ok(())
}

/// A line with masks.
struct MaskedLine<'t> {
    /// The texts around the masks.
    pieces: Vec<&'t str>,
    /// True if these texts name a key.
    is_named: bool,
    /// The name whose value has a mask.
    name: Option<&'t str>,
}

impl<'t> MaskedLine<'t> {
    fn of(line: &'t str) -> Self {
        let pieces: Vec<&str> = line.splitn(MAX_MASKS + 1, MASK).into_list();
        let is_named = pieces.iter().any(|piece| has_name(piece));
        let name = assignment(line).filter(|(_, value)| value.contains(MASK));
        Self { pieces, is_named, name: name.map(|(name, _)| name) }
    }

    /// Returns whether `plain` is the same line with secrets in the places of the masks.
    fn hides(&self, plain: &str) -> bool {
        // A line of nothing but stars may be a rule in Markdown, so that a path or an address in
        // its place is no secret.
        let is_bare = self.pieces.iter().all(|piece| piece.is_empty());
        let is_secret = |run: &&str| {
            (self.is_named && run.len() >= SHORTEST)
                || (is_key(run) && !(is_bare && run.contains(['/', ':', '.'])))
        };
        let runs = hidden(&self.pieces, plain).filter(|runs| runs.iter().all(|run| is_word(run)));
        // The same name counts, too, even if the value is quoted in another way.
        runs.is_some_and(|runs| runs.iter().any(is_secret)) || self.names(plain)
    }

    fn names(&self, plain: &str) -> bool {
        let Some(name) = self.name.filter(|name| plain.contains(name)) else { return false };
        assignment(plain).is_some_and(|(of_plain, secret)| {
            let is_secret = (has_name(name) && secret.len() >= SHORTEST) || is_key(secret);
            name == of_plain && is_word(secret) && is_secret
        })
    }
}

/// Returns what a line has in the places between the pieces; `None` if it has not all of them.
fn hidden<'t>(pieces: &[&str], line: &'t str) -> Option<Vec<&'t str>> {
    let (first, rest) = pieces.split_first()?;
    let (last, middle) = rest.split_last()?;
    let mut text = line.strip_prefix(first)?.strip_suffix(last)?;
    let mut runs = Vec::new();
    for piece in middle {
        let (run, behind) = text.split_once(piece)?;
        runs.push(run);
        text = behind;
    }
    runs.push(text);
    Some(runs)
}

/// Returns a name and its value, without quotes: `NAME=value`, `"name": "value",`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    const QUOTES: [char; 5] = ['"', '\'', '`', ',', ';'];
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name.trim().rsplit(char::is_whitespace).next()?.trim_matches(QUOTES);
    let value = value.trim_start_matches(['=', ':', '>']).trim().trim_matches(QUOTES);
    (!name.is_empty()).then_some((name, value))
}

/// Returns whether the text names a key.
fn has_name(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    NAMES.iter().any(|name| text.contains(name))
}

/// Returns whether the text is one word, as keys are.
fn is_word(text: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"-_./+=~:@%$!#&^?|".contains(&sign);
    !text.is_empty() && text.bytes().all(is_sign)
}

/// Returns whether the text looks like a key wherever it stands: letters and digits without a
/// break.
fn is_key(text: &str) -> bool {
    let parts = text.split(|sign: char| !sign.is_ascii_alphanumeric());
    let mut parts = parts.filter(|part| part.len() >= LONG);
    parts.any(|part| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        digits > 0 && digits < part.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_hides_what_looks_like_a_secret_and_nothing_else() {
        for (masked, plain, expected) in [
            ("API_KEY=***", "API_KEY=anthropic-test-0123456789abcdef", true),
            ("API_KEY=***", "API_KEY=secret-without-digits", true),
            ("API_KEY = \"***\"", "API_KEY='secret-without-digits'", true),
            ("export API_KEY=***", "API_KEY=secret-without-digits", true),
            ("\"token\": \"***\",", "\"token\": \"abcdefgh\"", true),
            ("Authorization: Bearer ***", "Authorization: Bearer abcdefgh", true),
            ("X=***", "X=0123456789abcdef", true),
            ("call(\"***\", \"***\")", "call(\"sk-0123456789abc\", \"sk-abc0123456789\")", true),
            ("***", "0123456789abcdef", true),
            ("API_KEY=***", "API_KEY=short", false),
            ("API_KEY=***", "OTHER_KEY=anthropic-test-0123456789abcdef", false),
            ("API_KEY=***", "API_KEY=", false),
            ("***", "Introduction", false),
            ("***", "https://example.com/a0123456789abc", false),
            ("***bold***", "**bold**", false),
            ("print(\"***\")", "print(\"version_1_2_3_final\")", false),
            ("print(\"***\")", "print(\"some longer text\")", false),
            ("/*** a ***/", "/* a */", false),
            ("pattern: ***", "pattern: some-longer-word", false),
        ] {
            assert_eq!(MaskedLine::of(masked).hides(plain), expected, "{masked} of {plain}");
        }
    }
}
