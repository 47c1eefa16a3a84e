//! The house itself: who may know whom, sizes, stray files, accepted mutants, and what comments and
//! documents promise. A check lists what is wrong with a [`House`](house::House); one test runs it
//! over this repository, another over a sample in which it must find something.

mod clocks;
mod house;
mod layers;
mod lints;
mod mutants;
mod names;
mod openings;
mod paths;
mod reasons;
mod scripts;
mod secrets;
mod sizes;
mod strays;
mod words;

/// Fails with the list unless it is empty.
#[track_caller]
fn check_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Fails unless there is one fault for each of the texts, in order, and contains it.
#[track_caller]
fn check_found(faults: &[String], expected: &[&str]) {
    let as_expected = faults.len() == expected.len()
        && faults.iter().zip(expected).all(|(fault, part)| fault.contains(part));
    assert!(as_expected, "{faults:#?} instead of {expected:#?}");
}
