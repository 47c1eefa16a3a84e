//! Feeding a response's body to its decoder in every chunking, and cut at every place.

use innerloop_core::{config::WireKind, input::ResponseHead};
use innerloop_driver::decode::{DecodedResponse, decode};

/// Bodies up to this size are split at every position; of longer ones, at so many.
const POSITIONS: usize = 4_096;

/// The head of a response.
#[must_use]
pub fn head(status: u16, content_type: &str) -> ResponseHead {
    let headers = vec![("content-type".to_owned(), content_type.to_owned())];
    ResponseHead { status, headers, ..ResponseHead::default() }
}

/// Decodes a body whole, byte by byte and split at each position.
///
/// # Panics
/// If two of them differ.
#[must_use]
pub fn decoded(
    wire: WireKind,
    status: u16,
    content_type: &str,
    body: impl AsRef<[u8]>,
) -> DecodedResponse {
    decoded_with(wire, &head(status, content_type), body)
}

/// As [`decoded`], with another head.
///
/// # Panics
/// If two chunkings differ.
#[must_use]
pub fn decoded_with(
    wire: WireKind,
    head: &ResponseHead,
    body: impl AsRef<[u8]>,
) -> DecodedResponse {
    let body = body.as_ref();
    let whole = decode(wire, head, [body].into_iter());
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(decode(wire, head, body.chunks(size)), whole, "in pieces of {size}");
    }
    for at in positions(body) {
        let (a, b) = body.split_at(at);
        assert_eq!(decode(wire, head, [a, b].into_iter()), whole, "split at {at}");
    }
    whole
}

/// Cuts a body at each position: either an error comes out, without calls, or the same as of
/// the whole body. Returns how many cuts gave an error.
///
/// # Panics
/// If a cut body gives anything else.
pub fn truncations(
    wire: WireKind,
    status: u16,
    content_type: &str,
    body: impl AsRef<[u8]>,
) -> usize {
    let (head, body) = (head(status, content_type), body.as_ref());
    let whole = decode(wire, &head, [body].into_iter());
    let mut errors = 0;
    for at in positions(body) {
        let (kept, _) = body.split_at(at);
        let cut = decode(wire, &head, [kept].into_iter());
        if cut.error.is_some() {
            assert!(cut.tool_calls.is_empty(), "cut at {at}");
            errors += 1;
        } else {
            assert_eq!(cut, whole, "cut at {at}");
        }
    }
    errors
}

fn positions(body: &[u8]) -> impl Iterator<Item = usize> {
    (0..body.len()).step_by(body.len().div_ceil(POSITIONS).max(1))
}
