//! The driver in the hostile world of the simulator.

use innerloop_tests::simulator::run_hosted;

#[test]
fn no_seed_finds_a_fault_in_the_driver() {
    for seed in 0..60 {
        if let Err(what) = run_hosted(seed, 200) {
            panic!("seed {seed} {what}");
        }
    }
}
