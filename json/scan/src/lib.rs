//! What the codec does once per byte: finding where values and strings end, and escapes. It is a
//! crate of its own so that it is built for speed where all else is built for size.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod skip;
mod strings;

pub use skip::{MAX_DEPTH, MAX_TEXT, Token, TokenIndex, value_end};
pub use strings::{LoneSurrogate, code_unit, plain_len, push_string, quoted, unescaped};
