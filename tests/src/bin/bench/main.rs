//! `cargo xtask bench`: what the session core costs, beside the physical limit measured in the
//! same run (the goals follow from what the fastest peers need), and with the arguments `program
//! RG` what the program `innerloop` beside it costs, whole tasks beside codex, and its searching
//! beside ripgrep; with `lines SCRIPT COUNT`, a text delta by the lines. It asserts nothing: a
//! clock in a test would only measure the machine.
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
mod lines;
mod patches;
mod program;
mod reading;
mod scanning;
mod sessions;
mod streams;
mod tasks;

use std::{env, path::Path};

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [what, line @ ..] = &args[..]
        && what == tasks::COST
    {
        return tasks::cost(line);
    }
    if let [what, script, count] = &args[..]
        && what == "lines"
    {
        return lines::run(script, count);
    }
    if let [what, rg] = &args[..]
        && what == "program"
    {
        program::run();
        tasks::run();
        return reading::run(innerloop_tests::program::binary(), Path::new(rg));
    }
    sessions::run();
    streams::run();
    patches::run();
    scanning::run();
}
