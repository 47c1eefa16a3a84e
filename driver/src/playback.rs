//! The conversion of a recorded exchange into the inputs of a session: piece by piece, as a
//! response streams. Everything is masked as if it came from the network.

use crate::{
    firewall::SessionFirewall,
    mask_input,
    masking::{SecretKeys, StreamMasker},
    traffic::{TrafficError, TrafficExchange},
};
use alloc::{format, string::String, vec::Vec};
use innerloop_core::{
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};

/// Returns the inputs that the exchange consists of, the terminal one last. Keys are masked, since
/// the recording may be another host's.
pub(crate) fn news(exchange: TrafficExchange, firewall: &SessionFirewall) -> Vec<HttpInput> {
    let TrafficExchange { status, headers, body, failed, .. } = exchange;
    let mut news = Vec::new();
    if status != 0 {
        // The body is stored whole, and how it once was cut is not known: pieces are what each
        // protocol sends at once, a line of JSON or a server-sent event.
        let separator: &[u8] = if is_lines(&headers) { b"\n" } else { b"\n\n" };
        let mut masking = StreamMasker::new(&firewall.keys);
        let mut body = masking.push(body.0);
        body.extend(masking.end());
        let pieces = pieces(&body, separator);
        // No wall time: a date in the old headers must not be compared with today's.
        news.push(HttpInput::Head(ResponseHead { status, headers, at: UnixMillis(0) }));
        news.extend(pieces.into_iter().map(|piece| HttpInput::Chunk(piece.to_vec().into())));
    }
    news.push(match failed {
        None => HttpInput::End,
        Some(message) => HttpInput::Failed(HttpFailure { kind: HttpFailureKind::Network, message }),
    });
    let mut masker = firewall.of_models();
    news.iter_mut().for_each(|input| mask_input::mask_http(&mut masker, input));
    news
}

/// Returns the failure that says why the recording has no answer.
pub(crate) fn failure(error: &TrafficError, keys: &SecretKeys) -> HttpFailure {
    let advice = match error {
        TrafficError::Mismatch { .. } => {
            "\nthe tools, the files or the prompt are not those of the recording; restore them, \
             or record again"
        }
        _ => "; record again",
    };
    let mut message = format!("replay stopped: {error}{advice}");
    // The error quotes the recording, which may be another host's and hold a key of this table.
    keys.mask(&mut message);
    HttpFailure { kind: HttpFailureKind::Refused, message }
}

/// Returns whether each line of the body is a value of its own.
fn is_lines(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| name == "content-type" && value.contains("ndjson"))
}

/// Cuts the body behind each separator.
fn pieces<'a>(body: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut rest = body;
    let mut pieces = Vec::new();
    while let Some(at) = rest.windows(separator.len()).position(|window| window == separator) {
        let (piece, behind) = rest.split_at(at + separator.len());
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}
