//! Changes that meet others: applied over them, or given up.

use super::{Bench, change};
use std::fs;

#[test]
fn what_else_has_changed_is_replaced_if_that_is_meant() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    bench.write("a.txt", "somebody else");
    bench.write("new.txt", "somebody else");
    overlay.apply().unwrap_err();
    overlay.rebase();
    overlay.save().unwrap();
    drop(overlay);
    let overlay = bench.open();
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("a.txt")).unwrap(), "other");
    assert_ne!(fs::read_to_string(bench.path("new.txt")).unwrap(), "somebody else");
}

#[test]
fn what_was_given_up_is_not_taken_up_again() {
    let bench = Bench::new();
    let overlay = bench.open();
    change(&overlay);
    overlay.save().unwrap();
    overlay.give_up();
    assert_eq!(overlay.changes().0.len(), 0);
    drop(overlay);
    let overlay = bench.open();
    assert_eq!(overlay.changes().0.len(), 0);
    overlay.apply().unwrap();
    assert_eq!(fs::read_to_string(bench.path("a.txt")).unwrap(), "a.txt");
}
