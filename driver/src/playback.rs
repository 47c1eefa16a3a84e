//! An answer of a recording on its way into a session: piece by piece, as it once streamed.

use crate::{
    mask_input,
    masking::{SecretKeys, StreamMasker},
    traffic::{TrafficError, TrafficExchange},
};
use alloc::{format, string::String, vec::Vec};
use innerloop_core::{
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};

/// The news that the exchange consists of, the terminal one last. The recording may be another
/// host's, so that keys are masked as in what comes from a network.
pub(crate) fn news(exchange: TrafficExchange, keys: &SecretKeys) -> Vec<HttpInput> {
    let TrafficExchange { status, headers, body, failed, .. } = exchange;
    let mut news = Vec::new();
    if status != 0 {
        let separator: &[u8] = if is_lines(&headers) { b"\n" } else { b"\n\n" };
        let mut masking = StreamMasker::new(keys);
        let mut body = masking.push(body.0);
        body.extend(masking.end());
        let pieces = pieces(&body, separator);
        news.push(HttpInput::Head(ResponseHead { status, headers, at: UnixMillis(0) }));
        news.extend(pieces.into_iter().map(|piece| HttpInput::Chunk(piece.to_vec().into())));
    }
    news.push(match failed {
        None => HttpInput::End,
        Some(message) => HttpInput::Failed(HttpFailure { kind: HttpFailureKind::Network, message }),
    });
    news.iter_mut().for_each(|input| mask_input::mask_http(keys, input));
    news
}

/// The failure that tells why the recording has no answer.
pub(crate) fn failure(error: &TrafficError, keys: &SecretKeys) -> HttpFailure {
    let advice = match error {
        TrafficError::Mismatch { .. } => {
            "\nthe tools, the files or the prompt are not those of the recording; restore them, \
             or record again"
        }
        _ => "; record again",
    };
    let mut message = format!("replay stopped: {error}{advice}");
    keys.mask(&mut message);
    HttpFailure { kind: HttpFailureKind::Refused, message }
}

/// Returns whether each line of the body is a value of its own.
fn is_lines(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| name == "content-type" && value.contains("ndjson"))
}

/// The body, cut behind each separator.
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
