//! Secrets that have a name instead of a shape: `API_TOKEN=…`, `"clientSecret": "…"`. The value
//! must look as if a machine had drawn it, since source is full of names that end in `key`.

use super::{
    cursor::{FoundSecret, ScanText, position},
    kinds,
    shape::kind_at,
};

/// The ends of the names of secrets. With the signs between name and value, and with what stands
/// before `key` for AWS, they are shorter than the context of a stream.
const NAMES: [&[u8]; 8] =
    [b"key", b"token", b"secret", b"password", b"passwd", b"pwd", b"credential", b"credentials"];
/// The number of names, the first ones, that are often not those of secrets: a hash in a cache and
/// a row of a database have a key, too.
const WEAK: usize = 2;
/// The maximum number of blanks and quotes between a name and its sign, and between that and the
/// value.
const GAP: usize = 8;
const SHORTEST: usize = 20;
const LONGEST: usize = 512;
/// The length of a secret key of AWS, which needs no digits to be known.
const AWS: usize = 40;

/// Returns the value of a secret's name that `=` or `:` at `at` assigns.
pub(super) fn value(text: &ScanText<'_>, at: usize) -> Option<FoundSecret> {
    let name = name_before(text, at)?;
    let is_gap = |at: &usize| matches!(text.peek(*at), b' ' | b'\t' | b'>');
    let mut start = at + 1 + (at + 1..at + GAP).take_while(is_gap).count();
    // In JSON inside of a string, quotes are escaped.
    start += usize::from(text.peek(start) == b'\\');
    let quote = Some(text.peek(start)).filter(|byte| b"\"'`".contains(byte));
    start += usize::from(quote.is_some());
    let of_kind = kind_at(text, start);
    if of_kind.is_some() {
        // A key with a shape has its own kind, with a name as without one.
        return of_kind;
    }
    let end = value_end(text, start, quote.is_some())?;
    let value = text.part(start..end);
    let is_whole = match text.peek(end) {
        b'\\' => true,
        next if quote.is_some() => quote == Some(next),
        // What else ends a value, such as a bracket that opens, makes it an expression.
        next => next <= b' ' || next >= 128 || b"\"'`&,;<)}]|".contains(&next),
    };
    let is_base64 = value.iter().all(|byte| kinds::bits(*byte) & kinds::BASE64 != 0);
    let is_aws = name.is_aws && value.len() == AWS && is_base64;
    let is_secret = is_whole && (is_aws || is_random(value, name.is_weak));
    let kind = if is_aws { "aws" } else { "assignment" };
    is_secret.then_some(FoundSecret { range: start..end, kind })
}

/// The name of a secret before a sign that assigns.
struct SecretName {
    /// True if the name may also be that of a hash.
    is_weak: bool,
    /// True if the value may be a secret key of AWS.
    is_aws: bool,
}

fn name_before(text: &ScanText<'_>, at: usize) -> Option<SecretName> {
    let is_gap = |count: &usize| b" \t\"'`]\\:".contains(&text.back(at, *count));
    let gap = (1..=GAP).take_while(is_gap).count();
    // The last letters of all names: most signs are behind others, and end here.
    let last = text.back(at, gap + 1);
    if !b"ydntsl".contains(&last.to_ascii_lowercase()) {
        return None;
    }
    let ends = |name: &[u8], gap: usize| {
        let mut letters = (gap + 1..).zip(name.iter().rev());
        letters.all(|(count, letter)| text.back(at, count).eq_ignore_ascii_case(letter))
    };
    let number = NAMES.iter().position(|name| ends(name, gap))?;
    let behind_aws = gap + b"key".len();
    let is_aws = ends(b"secret_access_", behind_aws) || ends(b"secretaccess", behind_aws);
    let is_weak = number < WEAK && last.is_ascii_lowercase();
    Some(SecretName { is_weak, is_aws: is_aws && number == 0 })
}

/// Returns where the value that begins at `start` ends.
fn value_end(text: &ScanText<'_>, start: usize, is_quoted: bool) -> Option<usize> {
    let mut at = start;
    while at - start <= LONGEST {
        let byte = text.peek(at);
        let goes_on = match byte {
            // In an address, the next value.
            b'&' => is_quoted,
            // The value of that name is the secret, if there is one. A text full of names is not
            // read again from each of them.
            b'=' if at > start && name_before(text, at).is_some() => return None,
            _ => kinds::bits(byte) != 0 || b"~!@#%^*".contains(&byte),
        };
        if !goes_on {
            return Some(at).filter(|at| at - start >= SHORTEST);
        }
        at += 1;
    }
    None
}

/// Returns whether a value looks drawn: letters and digits, or small and capital letters, change
/// often. In names, paths and numbers of versions they do not.
fn is_random(value: &[u8], is_weak: bool) -> bool {
    let is_break = |pair: &[u8]| match pair {
        [one, two] if one.is_ascii_digit() => two.is_ascii_alphabetic(),
        [one, two] if one.is_ascii_alphabetic() => {
            two.is_ascii_digit() || (one.is_ascii_lowercase() && two.is_ascii_uppercase())
        }
        _ => false,
    };
    let breaks = value.windows(2).filter(|pair| is_break(pair)).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    // Shortened, or left to be filled in.
    let is_example = position(value, b"...", 0).is_some();
    let is_hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    breaks * 4 >= value.len()
        && digits >= 2
        && digits < value.len()
        && !(is_weak && is_hex)
        && !is_example
}
