//! The lines of a file that is too large to be held in memory: it is read piece by piece, and only
//! the lines that are asked for are kept. The answer is the one that the tools would give if they
//! could hold it.

use super::{files::WorkspaceReader, stop::StopFlag};
use innerloop_tools::{
    MAX_FILE_BYTES, WorkspacePath,
    parts::{ReadOptions, binary, file_path, looks_binary, past_the_end},
};
use innerloop_types::action::{Outcome, ToolError};
use memchr::{memchr, memchr_iter};
use std::{
    io::{self, ErrorKind, Read},
    str,
};

/// The number of bytes that are read at once.
const PIECE: usize = 1 << 20;
/// The maximum number of bytes that are kept of the lines.
const KEPT: usize = 16 << 20;

/// Reads lines of a file that is too large for the tools; `None` if the tools can read the file, or
/// have the right message for it.
pub(super) fn read(
    reader: &WorkspaceReader,
    within: &WorkspacePath,
    path: &str,
    lines: ReadOptions,
) -> Option<Result<Outcome, Outcome>> {
    let path = file_path(within, path).ok()?;
    let (file, size) = reader.open(&path).ok()?;
    let is_large = size > MAX_FILE_BYTES && lines.limit != Some(0);
    is_large.then(|| LinePage::new(lines, PIECE, KEPT).read(file, size, &path, reader.stop()))
}

/// The lines that were kept so far, and the state of reading.
struct LinePage {
    lines: ReadOptions,
    /// The number of bytes that are read at once.
    piece: usize,
    /// The maximum number of bytes that are kept.
    most: usize,
    first: u64,
    last: u64,
    /// The lines that are asked for, each with its line end.
    kept: Vec<u8>,
    /// The number of line feeds that have been seen.
    feeds: u64,
    /// The number of bytes that are kept of the current line.
    of_line: usize,
    /// The maximum number of bytes that are kept of one line.
    most_of_line: usize,
    /// The start of a character whose end has not been read yet.
    partial: Vec<u8>,
    ends_with_feed: bool,
}

impl LinePage {
    fn new(lines: ReadOptions, piece: usize, most: usize) -> Self {
        let first = lines.first();
        let last = lines.limit.map_or(u64::MAX, |limit| first.saturating_add(limit - 1));
        // A character takes at most four bytes, and one more than is shown says that the line goes
        // on.
        let chars = lines.line_chars.and_then(|chars| usize::try_from(chars).ok());
        let most_of_line = chars.map_or(usize::MAX, |chars| chars.saturating_add(2) * 4);
        let (kept, partial) = (Vec::new(), Vec::new());
        let (feeds, of_line, ends_with_feed) = (0, 0, true);
        Self {
            lines,
            piece,
            most,
            first,
            last,
            kept,
            feeds,
            of_line,
            most_of_line,
            partial,
            ends_with_feed,
        }
    }

    fn read(
        mut self,
        mut file: impl Read,
        size: u64,
        path: &WorkspacePath,
        stop: &StopFlag,
    ) -> Result<Outcome, Outcome> {
        let mut piece = vec![0; self.piece];
        let mut left = size;
        while left > 0 {
            if stop.is_set() {
                return Err(Outcome::error(ToolError::Interrupted, "the reading was stopped"));
            }
            let wanted = usize::try_from(left).unwrap_or(self.piece).min(self.piece);
            let wanted = piece.get_mut(..wanted).unwrap_or_default();
            let read = read_whole(&mut file, wanted)
                .map_err(|error| Outcome::error(ToolError::Io, format!("{path}: {error}.")))?;
            if read == 0 {
                // The file has become shorter meanwhile.
                break;
            }
            let bytes = piece.get(..read).unwrap_or_default();
            // Only the first piece, since the tools, too, look at no more than the beginning.
            if left == size && looks_binary(bytes) {
                return Err(binary(path, "it contains NUL bytes"));
            }
            if !self.is_text(bytes) {
                return Err(binary(path, "it is not UTF-8"));
            }
            self.take(bytes);
            if self.kept.len() > self.most {
                return Err(self.too_long(path));
            }
            left = left.saturating_sub(read as u64);
        }
        if !self.partial.is_empty() {
            return Err(binary(path, "it is not UTF-8"));
        }
        let total = self.feeds + u64::from(!self.ends_with_feed);
        if self.first > total {
            return Err(past_the_end(path, self.first, total));
        }
        let text = String::from_utf8_lossy(&self.kept);
        // A byte order mark is not a part of the text.
        let mark = if self.first == 1 { "\u{feff}" } else { "" };
        let text = text.strip_prefix(mark).unwrap_or(&text);
        Ok(Outcome::text(self.lines.show(text.lines(), total)))
    }

    /// Returns whether the file is still UTF-8 with these bytes at its end.
    fn is_text(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        // The border of two pieces may lie within a character.
        while !self.partial.is_empty() {
            let Some((next, behind)) = rest.split_first() else { return true };
            self.partial.push(*next);
            rest = behind;
            match str::from_utf8(&self.partial) {
                Ok(_) => self.partial.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                self.partial.extend(rest.get(error.valid_up_to()..).unwrap_or_default());
                true
            }
        }
    }

    /// Counts the lines in these bytes, and keeps those that are asked for.
    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.feeds < self.last {
            let end = memchr(b'\n', rest);
            let (line, behind) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
            if self.feeds + 1 >= self.first {
                self.keep(line);
            }
            if end.is_some() {
                self.feeds += 1;
                self.of_line = 0;
            }
            rest = behind;
        }
        // The lines behind those that are kept are only counted, for the total in the answer.
        self.feeds += memchr_iter(b'\n', rest).count() as u64;
        self.ends_with_feed = bytes.last().map_or(self.ends_with_feed, |byte| *byte == b'\n');
    }

    /// Keeps as much of a line as can be shown.
    fn keep(&mut self, line: &[u8]) {
        let room = self.most_of_line.saturating_sub(self.of_line);
        let kept = line.get(..room).unwrap_or(line);
        self.kept.extend_from_slice(kept);
        self.of_line += kept.len();
        if kept.len() < line.len() && line.ends_with(b"\n") {
            self.kept.push(b'\n');
        }
    }

    fn too_long(&self, path: &WorkspacePath) -> Outcome {
        let mib = self.most >> 20;
        let message = format!(
            "The lines of {path} from {} on are longer than {mib} MiB. Ask for fewer lines.",
            self.first
        );
        Outcome::error(ToolError::TooLarge, message)
    }
}

/// Reads until `into` is full or the file ends; returns the number of bytes.
fn read_whole(file: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = into.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read(room) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail at once")]

    use super::*;
    use innerloop_tools::{InMemoryFiles, WorkspaceFiles, perform};
    use innerloop_types::action::{Action, LineNumbering, NoticePosition};

    /// Texts in pieces of any size: the lines that are told are those that the tools tell.
    #[test]
    fn pages_are_those_of_the_tools() {
        let mut memory = InMemoryFiles::new();
        let path = WorkspacePath::parse("a").unwrap();
        let texts: [&[u8]; 7] = [
            b"one\ntwo\nthree",
            "\u{feff}one\r\n\r\ntwo\n".as_bytes(),
            "gr\u{fc}n\n\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}\n\u{1d11e}x".as_bytes(),
            b"\n\n\n",
            b"a\rb\r",
            b"a line that is rather long\nanother\n",
            b"x\0y\n",
        ];
        for text in texts {
            memory.write(&path, text.to_vec()).unwrap();
            for (offset, limit, line_chars) in [
                (None, None, None),
                (Some(2), Some(1), None),
                (Some(1), Some(2), Some(3)),
                (Some(3), None, Some(1)),
                (Some(9), None, None),
            ] {
                for (numbering, notice) in [
                    (LineNumbering::Pipe, NoticePosition::Below),
                    (LineNumbering::Tab, NoticePosition::Above),
                ] {
                    let lines = ReadOptions { offset, limit, numbering, line_chars, notice };
                    let path_text = "a".to_owned();
                    let asked = Action::Read {
                        path: path_text,
                        offset,
                        limit,
                        numbering,
                        line_chars,
                        notice,
                    };
                    let expected = perform(&mut memory, &asked);
                    for piece in [1, 2, 5, 64] {
                        let page = LinePage::new(lines, piece, KEPT);
                        let told = page.read(text, text.len() as u64, &path, &StopFlag::default());
                        let told = told.unwrap_or_else(|failure| failure);
                        // Of a real piece all is looked at that tells whether it is text.
                        if !text.contains(&0) || piece == 64 {
                            assert_eq!(told, expected, "{text:?} {asked:?} {piece}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_too_large_to_be_held_is_utf_8_or_nothing() {
        let path = WorkspacePath::parse("a").unwrap();
        for text in [&b"one\n\xff\n"[..], b"cut \xe2\x82", b"\xff\xfea\0"] {
            for piece in [1, 2, 64] {
                let page = LinePage::new(ReadOptions::default(), piece, KEPT);
                let told = page.read(text, text.len() as u64, &path, &StopFlag::default());
                let words = told.unwrap_err().joined_text();
                assert_eq!(words, "a is not a text file: it is not UTF-8.", "{text:?} {piece}");
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let text = "a line\n".repeat(100);
        let path = WorkspacePath::parse("a").unwrap();
        for (limit, error) in [(8, None), (20, Some(ToolError::TooLarge))] {
            let lines = ReadOptions { limit: Some(limit), ..ReadOptions::default() };
            let page = LinePage::new(lines, 16, 64);
            let told = page.read(text.as_bytes(), 700, &path, &StopFlag::default());
            assert_eq!(told.unwrap_or_else(|failure| failure).error, error, "{limit}");
        }
    }
}
