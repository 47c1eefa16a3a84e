//! Tests that only pass on a fast machine: none asserts that something took less than some time.

use super::house::House;
use super::{check_found, check_none};

/// What reads a clock within an assertion, in Rust, JavaScript and Python.
const CLOCKS: [&str; 4] = ["elapsed()", "performance.now()", "Date.now()", "monotonic()"];
/// The upper bound that is allowed: what takes longer hangs.
const HANGS: &str = "elapsed() < PATIENCE";

/// Lines that assert that a span of time is short.
fn races(house: &House) -> Vec<String> {
    let lines = house.files.iter().flat_map(|(path, text)| {
        // A bench is about time, and this file is about these words.
        let is_exempt = path.contains("/bench") || path.ends_with("tidy/clocks.rs");
        let lines = text.lines().enumerate().filter(move |_| !is_exempt);
        lines.map(move |(at, line)| (path, at + 1, line.trim()))
    });
    let races = lines.filter(|(.., line)| {
        let asserts = line.starts_with("assert") || line.starts_with("self.assertLess");
        let is_bound = line.contains(" < ") || line.contains(" <= ") || line.contains("assertLess");
        let reads = CLOCKS.iter().any(|clock| line.contains(clock));
        asserts && is_bound && reads && !line.contains(HANGS)
    });
    races.map(|(path, at, line)| format!("{path}:{at}: {line}")).collect()
}

#[test]
fn no_test_asserts_that_the_machine_is_fast() {
    check_none(&races(&House::own()));
    let house = House::of(&[
        ("tests/tests/a.rs", "assert!(begun.elapsed() < Duration::from_secs(1));"),
        ("tests/tests/b.rs", "    assert!(begun.elapsed() >= SHORT && begun.elapsed() < LONG);"),
        ("tests/web/c.mjs", "\n  assert.ok(performance.now() - begun < 10_000);"),
        ("tests/src/d.rs", "assert!(begun.elapsed() < PATIENCE, \"it hangs\");"),
        ("tests/src/e.rs", "assert!(begun.elapsed() >= Duration::from_secs(1));"),
        ("tests/web/bench/f.mjs", "assert.ok(performance.now() - begun < 10_000);"),
    ]);
    check_found(&races(&house), &["a.rs:1: assert", "b.rs:1: assert", "c.mjs:2: assert"]);
}
