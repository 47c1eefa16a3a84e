//! What can be shown without a sandbox: the loop, the wire, the log, the tools over memory and
//! over a folder, and the house itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect is to fail at once"
)]

mod durable;
mod lifecycle;
mod pipeline;
mod schema;
mod steering;
mod tidy;
mod tools;
mod traffic;
mod truncation;
mod wire;
