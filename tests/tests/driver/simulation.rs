//! The driver in the hostile world of the simulator.

use innerloop_tests::simulator::{run_hosted, run_without_firewall};

/// The seeds that ever failed.
fn kept() -> impl Iterator<Item = u64> {
    let lines = include_str!("../../fixtures/seeds.txt").lines();
    lines.filter_map(|line| line.split('#').next()?.trim().parse().ok())
}

#[test]
fn no_seed_finds_a_fault_in_the_driver() {
    for seed in (0..60).chain(kept()) {
        if let Err(what) = run_hosted(seed, 200) {
            panic!("seed {seed} {what}");
        }
    }
}

#[test]
fn j19_without_a_firewall_secrets_are_found() {
    let found = (0..12).filter(|seed| {
        run_without_firewall(*seed, 200).is_err_and(|what| what.contains("the secret "))
    });
    assert!(found.count() > 6);
}
