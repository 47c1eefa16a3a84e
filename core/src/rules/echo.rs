//! Echoes in a reply's text while it arrives: a passage that the model writes over and over. Small
//! models do it until their output limit ends them, which is paid for and tells nothing.
//!
//! Looked at are the newest bytes, every so often, for a period that they repeat. What is found
//! depends on the text alone and not on the pieces in which it came, so that a log replays alike.

use alloc::vec::Vec;

/// The number of bytes that are looked at.
const WINDOW: usize = 2_048;

/// The number of bytes after which they are looked at again.
const STEP: usize = 256;

/// The longest passage that counts.
const MAX_PERIOD: usize = 400;

/// How often a passage must stand there.
const MIN_REPEATS: usize = 4;

/// The number of bytes that the repeated passages must take together.
const MIN_LEN: usize = 400;

/// The watch over one reply's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EchoDetector {
    /// The newest bytes.
    tail: Vec<u8>,
    /// The number of bytes before them.
    passed: usize,
    /// The number of bytes since they were looked at.
    unseen: usize,
}

impl EchoDetector {
    /// Takes in more of the text. Returns, once it echoes, how many bytes of the whole text to
    /// keep: all up to the passage, and that once.
    pub fn feed(&mut self, text: &str) -> Option<usize> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(STEP - self.unseen));
            rest = later;
            self.tail.extend_from_slice(now);
            self.unseen += now.len();
            if self.unseen < STEP {
                break;
            }
            self.unseen = 0;
            self.skip_fences();
            if let Some((period, len)) = repetition(&self.tail) {
                return Some(self.passed + self.tail.len() - len + period);
            }
            let old = self.tail.len().saturating_sub(WINDOW - STEP);
            self.forget(old);
        }
        None
    }

    /// Leaves out what stands before the newest fence of a code block: tables and data in it repeat
    /// themselves for good reasons.
    fn skip_fences(&mut self) {
        if let Some(at) = self.tail.windows(3).rposition(|bytes| bytes == b"```") {
            self.forget(at + 3);
        }
    }

    fn forget(&mut self, count: usize) {
        self.tail.drain(..count);
        self.passed += count;
    }
}

/// Finds the passage that a text ends in many times: its length, and that of all its repetitions.
/// The text is read from its end, so that its smallest period is that of a prefix.
fn repetition(text: &[u8]) -> Option<(usize, usize)> {
    let at = |place: usize| text.len().checked_sub(place + 1).and_then(|at| text.get(at));
    // The length of the longest border of each prefix, as Knuth, Morris and Pratt have it.
    let mut borders: Vec<usize> = Vec::with_capacity(text.len());
    borders.push(0);
    let mut found = None;
    for place in 1..text.len() {
        let mut border = borders.last().copied().unwrap_or_default();
        while border > 0 && at(place) != at(border) {
            border = borders.get(border - 1).copied().unwrap_or_default();
        }
        border += usize::from(at(place) == at(border));
        borders.push(border);
        let (len, period) = (place + 1, place + 1 - border);
        // Longer prefixes have no shorter periods.
        if period > MAX_PERIOD {
            break;
        }
        if len >= MIN_LEN && len >= period * MIN_REPEATS {
            found = Some((period, len));
        }
    }
    let (period, _) = found?;
    is_prose(text.get(text.len() - period..)?).then_some(())?;
    found
}

/// Returns whether a passage says something: rulers, tables of numbers and padding do not.
fn is_prose(passage: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let letters = passage.iter().filter(|byte| is_letter(byte)).count();
    // Scripts without spaces have about six bytes a word.
    let foreign = passage.iter().filter(|byte| !byte.is_ascii()).count() / 6;
    let is_start = |pair: &[u8]| matches!(pair, [a, b] if !is_letter(a) && is_letter(b));
    // The passage goes round: its last byte stands before its first.
    let wraps = passage.last().zip(passage.first()).is_some_and(|(a, b)| is_start(&[*a, *b]));
    let words = passage.windows(2).filter(|pair| is_start(pair)).count() + usize::from(wraps);
    let mut kinds = [false; 256];
    for byte in passage {
        if let Some(kind) = kinds.get_mut(usize::from(*byte)) {
            *kind = true;
        }
    }
    let kinds = kinds.iter().filter(|seen| **seen).count();
    words.max(foreign) >= 2 && kinds >= 6 && letters * 2 > passage.len()
}

#[cfg(test)]
mod tests {
    use super::{EchoDetector, WINDOW};
    use alloc::{format, string::String};

    fn kept(text: &str, piece: usize) -> Option<usize> {
        let mut detector = EchoDetector::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            if let Some(kept) = detector.feed(now) {
                return Some(kept);
            }
            rest = later;
        }
        assert!(detector.tail.len() <= WINDOW);
        None
    }

    /// A passage of so many bytes that repeats nothing in itself.
    fn passage(len: usize) -> String {
        let mut text = String::new();
        for number in 0.. {
            if text.len() >= len {
                break;
            }
            text.push_str(&format!("word{number} of "));
        }
        text.truncate(len - 1);
        text + "\n"
    }

    #[test]
    fn every_period_is_seen_however_the_text_comes() {
        for len in (12..=400).step_by(7) {
            let text = format!("A beginning.\n{}", passage(len).repeat(4_000 / len + 6));
            let whole = kept(&text, text.len()).unwrap_or_else(|| panic!("{len} is not seen"));
            assert!((13..=13 + 2 * len).contains(&whole), "{len}: {whole}");
            for piece in [1, 3, 7, 100, 256, 1_000] {
                assert_eq!(kept(&text, piece), Some(whole), "{len} by {piece}");
            }
        }
    }

    #[test]
    fn what_repeats_for_good_reasons_is_left_alone() {
        let rows = (0..400).map(|row| format!("| item {row} | {} | done |\n", row * 37));
        let quiet = [
            "-".repeat(5_000),
            "| 0.0 | 0.0 | 0.0 |\n".repeat(300),
            "abababab".repeat(500),
            rows.collect(),
            format!("{}\n```\n", "the same line again\n".repeat(18)).repeat(20),
            "Yes, it is. ".repeat(33),
        ];
        for text in quiet {
            assert_eq!(kept(&text, 4), None, "{}", text.get(..40).unwrap());
        }
    }

    #[test]
    fn scripts_without_spaces_echo_too() {
        assert!(kept(&"我现在开始检查这个文件。".repeat(60), 36).is_some());
    }
}
