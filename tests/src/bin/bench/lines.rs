//! What a text delta costs by the lines that hosts in other languages speak.

use innerloop_driver::LineServer;
use std::{fs, time::Instant};

/// Deltas before those that are counted.
const BEFORE: u32 = 1_000;

/// Prints the microseconds for each of `count` deltas of a script, its answer left unread.
pub(super) fn run(script: &str, count: &str) {
    let script = fs::read_to_string(script).unwrap();
    let [open, submit, head, chunk, piece] = script.lines().collect::<Vec<_>>()[..] else {
        panic!("the script has other lines");
    };
    let mut lines = LineServer::default();
    for request in [open, submit, head] {
        lines.call(request.as_bytes());
    }
    let delta = format!("{chunk}\n{piece}\n\n");
    let mut once = || lines.call(delta.as_bytes()).matches("\"assistant_text_delta\"").count();
    let count: u32 = count.parse().unwrap();
    let _: usize = (0..BEFORE).map(|_| once()).sum();
    let begun = Instant::now();
    let told: usize = (0..count).map(|_| once()).sum();
    let took = begun.elapsed().as_secs_f64();
    assert_eq!(told, count as usize, "deltas were told");
    println!("{:.2}", took * 1e6 / f64::from(count));
}
