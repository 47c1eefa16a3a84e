//! The functions of the codec that run once per byte: finding the ends of values and strings, and
//! escapes. They are a crate of their own, so that it can be built for speed while everything else
//! is built for size.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod skip;
mod strings;

pub use skip::{MAX_DEPTH, MAX_TEXT, Token, TokenIndex, value_end};
pub use strings::{LoneSurrogate, code_unit, plain_len, push_string, quoted, unescaped};
