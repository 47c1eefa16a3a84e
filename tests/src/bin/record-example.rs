//! Records the example's model traffic anew: `cargo build -p innerloop-host` and then
//! `cargo run -p innerloop-tests --bin record-example`. It lets the program mend a copy of the
//! example with the scripted replies, and checks that the example's test is red before and green
//! after.
#![allow(clippy::panic, clippy::expect_used, reason = "what is not as expected ends the program")]

use innerloop_tests::example::{copy_project, own_test, record, recording};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = folder.path().join("project");
    copy_project(&project);
    let before = own_test(&project);
    assert_eq!(before.code, Some(1), "the example's test is not red: {before:#?}");
    let new = folder.path().join("traffic.jsonl");
    let run = record(&project, &new);
    eprint!("{}", run.stderr);
    assert_eq!(run.code, Some(0), "the agent failed");
    let after = own_test(&project);
    assert_eq!(after.code, Some(0), "the example's test is not green: {after:#?}");
    let traffic = std::fs::read(&new).expect("the new recording");
    std::fs::write(recording(), traffic).expect("a writable recording");
    println!("recorded {}", recording().display());
}
