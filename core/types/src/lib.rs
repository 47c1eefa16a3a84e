//! Plain data that goes into a session and comes out of it, with public fields, and its building
//! blocks: ids, time, bytes, opaque JSON and text. The loop, the protocols, the tools and the
//! workspace all use these types; nothing here makes decisions.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "seams"))]
// The crate itself is `no_std`: only tests need the standard library, for the count of work in each
// thread.
extern crate std;

pub mod action;
mod base;
pub mod compaction;
pub mod config;
pub mod corrections;
pub mod event;
pub mod facts;
pub mod input;
pub mod limits;
pub mod media;
mod merge;
pub mod message;
pub mod model;
pub mod output;
pub mod patch;
pub mod preset;
pub mod routing;
pub mod skills;
pub mod status;
pub mod subagents;
pub mod tool;
mod tool_error;
pub mod v4a;

pub use base::{by_id, bytes, digest, id, json, path, steps, text, time};
