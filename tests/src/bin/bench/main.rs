//! `cargo xtask bench`: what the session core costs, beside the physical limit measured in the
//! same run (the goals follow from what the fastest peers need). It asserts nothing: a clock
//! in a test would only measure the machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench that meets what it does not expect is to fail at once"
)]

mod bodies;
mod limits;
mod patches;
mod sessions;
mod streams;

fn main() {
    sessions::run();
    streams::run();
    patches::run();
}
