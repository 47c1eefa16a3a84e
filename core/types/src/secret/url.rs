//! Passwords in addresses, `scheme://user:password@host`.

use super::cursor::{FoundSecret, ScanText, position};

/// The maximum length of a user and of a password.
const LONGEST: usize = 256;
/// The minimum length of a password.
const SHORTEST: usize = 4;
/// The passwords of examples, which are no secrets.
const EXAMPLES: [&str; 10] = [
    "pass", "password", "passwd", "secret", "test", "user", "root", "postgres", "guest", "example",
];

/// Returns the password of the address whose `://` is at `at`.
pub(super) fn password(text: &ScanText<'_>, at: usize) -> Option<FoundSecret> {
    let user = text.literal(at, b"://")?;
    let start = end(text, user, b":@") + 1;
    if text.peek(start - 1) != b':' || !text.back(at, 1).is_ascii_alphanumeric() {
        return None;
    }
    let mut at = end(text, start, b"@");
    // A password may hold a bare `@`, against all standards: its end is the last one.
    let mut password = None;
    while text.peek(at) == b'@' && at - start < LONGEST {
        password = Some(start..at);
        at = end(text, at + 1, b"@");
    }
    let range = password.filter(|range| range.end + 1 < at)?;
    is_secret(text.part(range.clone())).then_some(FoundSecret { range, kind: "url-password" })
}

/// Returns where a part of an address ends: at one of the signs, or at what no part has.
fn end(text: &ScanText<'_>, start: usize, signs: &[u8]) -> usize {
    let stops = |at: &usize| {
        let byte = text.peek(*at);
        byte <= b' ' || b"\"#'/<>?\\`\x7f".contains(&byte) || signs.contains(&byte)
    };
    (start..start + LONGEST).find(stops).unwrap_or(start + LONGEST)
}

fn is_secret(password: &[u8]) -> bool {
    // Variables and templates of every language, and masks, which are not masked again.
    let placeholders = ["$", "{", "%(", "[^", "‹", "…"];
    let is_placeholder =
        placeholders.iter().any(|sign| position(password, sign.as_bytes(), 0).is_some());
    let mut examples = EXAMPLES.iter();
    password.len() >= SHORTEST
        && !is_placeholder
        && !examples.any(|example| password.eq_ignore_ascii_case(example.as_bytes()))
        // `xxxx`, `****`, `....`
        && password.iter().any(|byte| Some(byte) != password.first())
}
