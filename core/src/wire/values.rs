//! JSON values from bytes in any chunking: one a line, one after the other, or the elements of one
//! array (Ollama's lines, Gemini's array).

use alloc::vec::Vec;

/// Splits a stream of JSON objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// The object that has begun.
    value: Vec<u8>,
    /// How many braces and brackets of it are open.
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Values {
    /// Takes the next bytes and calls `on_value` with each object that they complete.
    pub(super) fn feed(&mut self, bytes: &[u8], on_value: &mut impl FnMut(&[u8])) {
        let mut begun = if self.depth > 0 { Some(0) } else { None };
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' if self.depth > 0 => self.in_string = true,
                b'{' => {
                    if self.depth == 0 {
                        begun = Some(at);
                    }
                    self.depth += 1;
                }
                b'[' if self.depth > 0 => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        let from = begun.take().unwrap_or(at);
                        let whole = bytes.get(from..=at).unwrap_or_default();
                        if self.value.is_empty() {
                            on_value(whole);
                        } else {
                            self.value.extend_from_slice(whole);
                            on_value(&self.value);
                            self.value.clear();
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(from) = begun {
            self.value.extend_from_slice(bytes.get(from..).unwrap_or_default());
        }
    }

    /// The stream has ended: hands out the object that was cut, if one was.
    pub(super) fn finish(self, on_value: &mut impl FnMut(&[u8])) {
        if !self.value.is_empty() {
            on_value(&self.value);
        }
    }
}
