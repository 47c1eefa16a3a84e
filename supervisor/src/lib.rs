//! The part of a host that is above sessions and does no I/O. It has [`commands`], the reader of
//! the texts that people type, and [`answer`], through which hosts in other languages reach it as
//! JSON. Nothing here calls a session: words come in, and words for sessions come out.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod commands;
mod lines;

pub use lines::answer;
