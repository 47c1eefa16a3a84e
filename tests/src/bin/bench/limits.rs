//! What a machine can do at best, and how times are taken and shown.

use std::{
    fs,
    hint::black_box,
    thread,
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

/// How much of the processor's time something takes; what other programs take is not in it.
pub(super) fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let before = processor_time();
    black_box(run());
    processor_time() - before
}

/// The processor's time that this thread has had.
fn processor_time() -> Duration {
    // The kernel brings its books up to date when a thread gives way.
    thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux machine");
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a count of nanoseconds"))
}

/// Prints a time in microseconds beside its goal.
pub(super) fn report(name: &str, time: Duration, goal: &str) {
    println!("{name}: {:.1} µs ({goal})", time.as_secs_f64() * 1e6);
}
