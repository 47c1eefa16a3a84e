//! What a machine can do at best, and how times are taken and shown.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// How long a copy of that many bytes takes, in microseconds.
pub(super) fn copy_us(bytes: usize) -> f64 {
    let source = vec![1_u8; bytes.max(1)];
    let times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            black_box(source.clone());
            start.elapsed()
        })
        .collect();
    median(times).as_secs_f64() * 1e6
}

/// The middle one of the times.
pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The least time of several runs: what else the machine does only ever adds to it.
pub(super) fn least(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

/// How long something takes.
pub(super) fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

/// Prints a time in microseconds beside its goal.
pub(super) fn report(name: &str, time: Duration, goal: &str) {
    println!("{name}: {:.1} µs ({goal})", time.as_secs_f64() * 1e6);
}
