//! JSON values from bytes in any chunking: one a line, one after the other, or the elements of one
//! array (Ollama's lines, Gemini's array).

use alloc::vec::Vec;
use innerloop_types::steps;

/// Splits a stream of JSON objects.
#[derive(Clone, Debug, Default)]
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

    /// The stream has ended: hands out the object that was cut, if one was.
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

    /// Goes on through `bytes` to where the last of what is open closes: behind how many of them
    /// that is.
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
                _ if core::mem::take(&mut self.is_escaped) => {}
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' if self.in_string => self.in_string = false,
                _ if self.in_string => {
                    let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    rest = rest.get(plain..).unwrap_or_default();
                }
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
