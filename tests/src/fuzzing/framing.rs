//! Ways to frame the same data as server-sent events: each line of the data is an event.

use crate::simulator::rng::Rng;

/// The plainest way.
pub(super) fn plain(data: &[u8]) -> Vec<u8> {
    lines(data).flat_map(|line| [b"data: ", line, b"\n\n"].concat()).collect()
}

/// Another way: other line ends, comments, fields that nobody reads, no space, no last blank
/// line.
pub(super) fn framed(data: &[u8], rng: &mut Rng) -> Vec<u8> {
    let end = rng.pick(&["\n", "\r\n", "\r"]);
    let mut out = Vec::new();
    if rng.chance(20) {
        out.extend_from_slice(b"\xef\xbb\xbf");
    }
    for line in lines(data) {
        for extra in [": a comment", ":", "event: message_start", "id: 1", "retry", "datax: {}"] {
            if rng.chance(15) {
                out.extend_from_slice(extra.as_bytes());
                out.extend_from_slice(end.as_bytes());
            }
        }
        // The one space behind the colon is the frame's, so it is left out only before others.
        let space = if line.starts_with(b" ") || rng.chance(50) { " " } else { "" };
        for part in ["data:", space] {
            out.extend_from_slice(part.as_bytes());
        }
        out.extend_from_slice(line);
        for _ in 0..rng.between(2, 4) {
            out.extend_from_slice(end.as_bytes());
        }
    }
    while rng.chance(70) && out.ends_with(end.as_bytes()) {
        out.truncate(out.len() - end.len());
    }
    out
}

fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|byte| matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_frame_is_one_event_a_line() {
        assert_eq!(plain(b"a\n b"), b"data: a\n\ndata:  b\n\n");
    }
}
