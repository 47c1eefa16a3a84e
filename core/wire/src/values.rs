//! JSON values out of bytes that may be cut anywhere: one a line, one after the other, or the
//! elements of one array (Ollama's lines, Gemini's array). Only the nesting is followed here; each
//! protocol reads the values itself.

use alloc::vec::Vec;
use innerloop_types::steps;

/// Splits a stream of JSON objects.
#[derive(Debug, Default)]
pub(super) struct JsonSplitter {
    /// The object that has begun.
    value: Vec<u8>,
    nesting: JsonNesting,
}

/// The nesting of JSON at the end of what has come of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonNesting {
    /// The number of braces and brackets that are open.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl JsonSplitter {
    /// Takes the next bytes and calls `on_value` with each object that they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], on_value: &mut dyn FnMut(&[u8])) {
        loop {
            if !self.nesting.is_open() {
                // Line ends, the array's brackets and its commas stand between objects and are
                // passed over.
                let Some(begin) = memchr::memchr(b'{', bytes) else { return };
                bytes = bytes.get(begin..).unwrap_or_default();
            }
            let end = self.nesting.close(bytes);
            let (value, rest) =
                bytes.split_at_checked(end.unwrap_or(bytes.len())).unwrap_or_default();
            if end.is_none() {
                self.value.extend_from_slice(value);
                return;
            }
            if self.value.is_empty() {
                on_value(value);
            } else {
                self.value.extend_from_slice(value);
                on_value(&self.value);
                self.value.clear();
            }
            bytes = rest;
        }
    }

    /// Returns how many bytes wait for the rest of their object.
    pub(super) const fn waiting(&self) -> usize {
        self.value.len()
    }

    /// Ends the stream and hands out the object that was cut, if one was.
    pub(super) fn finish(&self, on_value: &mut dyn FnMut(&[u8])) {
        if !self.value.is_empty() {
            on_value(&self.value);
        }
    }
}

impl JsonNesting {
    /// Returns whether a brace or bracket is open.
    pub(super) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Goes on through `bytes` to where the last open brace or bracket closes. Returns the number
    /// of bytes up to and with it.
    pub(super) fn close(&mut self, bytes: &[u8]) -> Option<usize> {
        let found = self.find(bytes);
        steps::count(found.unwrap_or(bytes.len()));
        found
    }

    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                // A read may end between a backslash and its character, so this is a field and no
                // look ahead.
                _ if core::mem::take(&mut self.is_escaped) => {}
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' if self.in_string => self.in_string = false,
                _ if self.in_string => {
                    // Most of a stream is text within strings, which is passed over at once.
                    let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    rest = rest.get(plain..).unwrap_or_default();
                }
                // Outside of any object a quote is noise: it must not hide the brace behind it.
                b'"' => self.in_string = self.is_open(),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.is_open() => {
                    self.depth -= 1;
                    if !self.is_open() {
                        return Some(bytes.len() - rest.len());
                    }
                }
                _ => {}
            }
        }
        None
    }
}
