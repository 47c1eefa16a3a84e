//! What every host does beside I/O: tests of the driver, without a sandbox.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect is to fail at once"
)]

mod catalogue;
mod firewall;
mod kept_results;
mod keys;
mod lines;
mod memory_log;
mod origin;
mod programs;
mod providers;
mod sessions;
mod settings;
mod simulation;
mod stage;
mod traffic;
mod undone;
