//! Records the examples' model traffic anew: `cargo build -p innerloop-cli` and then
//! `cargo run -p innerloop-tests --bin record-example`. It lets the program fix a copy of each
//! example with the scripted replies, and checks that its tests are red before and green after.
#![allow(clippy::panic, clippy::expect_used, reason = "what is not as expected ends the program")]

use innerloop_tests::example::{Example, JAVASCRIPT, PYTHON};

fn main() {
    for example in [JAVASCRIPT, PYTHON] {
        record(&example);
    }
}

fn record(example: &Example) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = folder.path().join("project");
    example.copy_project(&project);
    let before = example.own_test(&project);
    assert_eq!(before.code, Some(1), "the example's tests are not red: {before:#?}");
    let new = folder.path().join("traffic.jsonl");
    let run = example.record(&project, &new);
    eprint!("{}", run.stderr);
    assert_eq!(run.code, Some(0), "the agent failed");
    let after = example.own_test(&project);
    assert_eq!(after.code, Some(0), "the example's tests are not green: {after:#?}");
    std::fs::write(example.recording(), Example::exchanges(&new)).expect("a writable recording");
    println!("recorded {}", example.recording().display());
}
