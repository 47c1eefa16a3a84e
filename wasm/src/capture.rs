//! What a program prints, as much of it as is kept: of each of the two outputs the beginning
//! and the end. The text is the native host's for the same run, so that one recording fits both.

use std::collections::VecDeque;

/// Bytes that are kept of each output's beginning, and as many of its end.
const HALF: usize = 1 << 20;

/// Both outputs of one run.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    out: Kept,
    err: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
}

impl Capture {
    /// Adds what the program printed: stream 2 is standard error, any other standard output.
    pub(crate) fn push(&mut self, stream: u8, bytes: &[u8]) {
        let kept = if stream == 2 { &mut self.err } else { &mut self.out };
        kept.push(bytes);
    }

    /// Whether a part of the output is missing.
    pub(crate) const fn is_capped(&self) -> bool {
        self.out.dropped > 0 || self.err.dropped > 0
    }

    /// What the program printed on standard output and standard error.
    pub(crate) fn texts(self) -> (String, String) {
        (self.out.text(), self.err.text())
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        let room = HALF.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..excess);
        self.dropped += excess;
    }

    fn text(self) -> String {
        let Self { mut head, tail, dropped } = self;
        let tail = Vec::from(tail);
        if dropped == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
        format!("{head}\n[{dropped} bytes of output dropped here]\n{tail}")
    }
}
