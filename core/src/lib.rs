//! A coding agent without a body: [`Session`] is told what happened and answers what follows.
//! It decides everything and touches nothing: no clock, no network, no files, no threads, no
//! randomness. The modules stand on floors; each uses its own floor and those below, and the
//! modules of one floor form no circle.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod base;
mod machine;
pub mod profile;
pub mod rules;
mod session;
mod types;
pub mod wire;

pub use base::{bytes, digest, id, json, text, time};
pub use machine::history::History;
pub use session::{REPLAY_VERSION, Session, blueprint::Blueprint, log, snapshot::RestoreError};
pub use types::{action, config, event, input, message, output, preset, status, tool};
pub use wire::text_calls;
