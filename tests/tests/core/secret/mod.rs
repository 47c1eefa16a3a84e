//! The scanner of secrets by itself: what it masks and what it leaves alone, in whole texts and in
//! streams, and the way back into the file. The driver's tests show it at work in a session.

mod masking;
mod private_keys;
mod restoring;
mod streaming;

use innerloop_core::secret::{FileSecrets, SecretScanner, SecretStream};
use innerloop_tests::simulator::rng::Rng;

const GITHUB: &str = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
const OTHER_GITHUB: &str = concat!("ghp_", "ABCDEFGHIJ0123456789abcdefghij012345");

fn scanner(salt: u64) -> SecretScanner {
    SecretScanner::new(salt, &[])
}

fn masked(scanner: &SecretScanner, text: &str) -> String {
    scanner.masked(text, &mut Vec::new()).into_owned()
}

/// The text with the secrets of the file, and the number of masks that stand for none of them.
fn unmasked(scanner: &SecretScanner, text: &str, file: &str) -> (String, usize) {
    let secrets = FileSecrets::find(scanner, file, &mut [text].into_iter());
    (secrets.unmasked(text).into_owned(), secrets.unknown())
}

/// The text as it comes out of a stream that is cut into pieces of up to `max` bytes.
fn streamed(scanner: &SecretScanner, text: &str, rng: &mut Rng, max: usize) -> String {
    let mut stream = SecretStream::new(scanner);
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at((rng.index(max) + 1).min(rest.len()));
        out.extend(stream.push(piece.to_vec()));
        rest = behind;
    }
    out.extend(stream.end());
    String::from_utf8(out).unwrap()
}
