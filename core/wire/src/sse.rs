//! Server-sent events out of bytes that may be cut anywhere, by the WHATWG rules: LF, CRLF and CR
//! end a line, comments are skipped, several `data` lines join, a blank line dispatches. Lines that
//! are not fields are kept aside, since some servers put their errors there.

use alloc::vec::Vec;
use innerloop_types::steps;

/// Splits a stream into the data of its events. The `event` and `id` fields are not read: every
/// protocol here repeats the type in the data.
#[derive(Debug, Default)]
pub(super) struct SseSplitter {
    /// The line that has begun.
    line: Vec<u8>,
    /// The data of the event that has begun.
    data: Vec<u8>,
    has_data: bool,
    /// True if the last line ended with CR, so that an LF now belongs to it.
    after_cr: bool,
    /// True if a line has been read, so that no byte order mark can come any more.
    begun: bool,
    /// Lines that are not fields but look like JSON: some servers send an error without a frame.
    stray: Vec<u8>,
    /// The beginning of other lines that are not fields, kept until an event comes.
    words: Vec<u8>,
    /// True if an event has come.
    is_stream: bool,
}

/// The number of bytes that are kept of lines that are not fields.
const MOST_WORDS: usize = 4_000;

impl SseSplitter {
    /// Takes the next bytes and calls `on_event` with the data of each event they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], on_event: &mut dyn FnMut(&[u8])) {
        while let Some(&first) = bytes.first() {
            // CRLF may be cut between two reads: an LF at the start then ends no line of its own.
            if core::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                steps::count(bytes.len());
                self.line.extend_from_slice(bytes);
                return;
            };
            steps::count(end);
            let (line, rest) = bytes.split_at(end);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            // A line that came in one read is taken from there, without a copy.
            if self.line.is_empty() {
                self.on_line(line, on_event);
            } else {
                self.line.extend_from_slice(line);
                self.on_whole_line(on_event);
            }
        }
    }

    /// Returns how many bytes wait for the rest of their event.
    pub(super) const fn waiting(&self) -> usize {
        self.line.len() + self.data.len() + self.stray.len() + self.words.len()
    }

    /// Ends the stream and dispatches what an unterminated event holds.
    pub(super) fn finish(&mut self, on_event: &mut dyn FnMut(&[u8])) {
        // A cut connection leaves an event without its blank line. It is tried, since it may hold
        // the provider's error; without the terminal marker the reply still counts as cut.
        self.on_whole_line(on_event);
        self.on_line(b"", on_event);
        if !self.stray.is_empty() {
            on_event(&self.stray);
        } else if !self.is_stream {
            on_event(&self.words);
        }
    }

    /// Takes the line that was kept, which is now whole. A long one that begins an event becomes
    /// its data without a copy.
    fn on_whole_line(&mut self, on_event: &mut dyn FnMut(&[u8])) {
        let mut line = core::mem::take(&mut self.line);
        // The first line takes the other way, which removes a byte order mark.
        let value = data_of(&line).filter(|_| !self.has_data && self.begun).map(<[u8]>::len);
        match value {
            Some(length) => {
                line.drain(..line.len() - length);
                (self.data, self.has_data) = (line, true);
            }
            None => self.on_line(&line, on_event),
        }
    }

    fn on_line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&[u8])) {
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.begun => rest,
            _ => line,
        };
        self.begun = true;
        if line.is_empty() {
            if core::mem::take(&mut self.has_data) {
                self.is_stream = true;
                on_event(&self.data);
                self.data.clear();
            }
            return;
        }
        let Some(value) = data_of(line) else {
            // Gemini spreads an error over many lines of JSON, also behind good events: once such a
            // line has begun, all further lines that are not data or comments belong to it.
            let begins = matches!(line.first(), Some(b'{' | b'['));
            if begins || (!self.stray.is_empty() && !line.starts_with(b":")) {
                self.stray.extend_from_slice(line);
                self.stray.push(b'\n');
            } else if !self.is_stream && !is_known(line) && self.words.len() < MOST_WORDS {
                self.words.extend(line.iter().take(MOST_WORDS));
                self.words.push(b'\n');
            }
            return;
        };
        if core::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }
}

/// Returns whether a line is a comment, a field that is not read, or the beginning of a field that
/// was cut.
fn is_known(line: &[u8]) -> bool {
    const FIELDS: [&[u8]; 4] = [b"data:", b"event:", b"id:", b"retry:"];
    let is_field = |field: &[u8]| field.starts_with(line) || line.starts_with(field);
    line.starts_with(b":") || FIELDS.into_iter().any(is_field)
}

/// Returns what a line adds to the data of its event, if it adds something.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    // llama.cpp puts an error into a field of its own.
    let error = line.strip_prefix(b"error").filter(|value| value.starts_with(b":"));
    let value = line.strip_prefix(b"data").or(error)?;
    match value.strip_prefix(b":") {
        Some(value) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        // A field name that stands alone has an empty value, by the WHATWG rules.
        None => value.is_empty().then_some(value),
    }
}
