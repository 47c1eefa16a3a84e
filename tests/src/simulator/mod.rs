//! The simulator: a session in a hostile world, drawn from a seed. A scripted model, scripted
//! tools, people and hooks answer late, twice, wrongly or never; the clock jumps; the session is
//! killed and goes on from its log or its snapshot. After every step a checker says what does not
//! hold. The same seed gives the same run.

mod canaries;
mod checker;
mod driver;
mod hosted;
mod model;
mod people;
mod plan;
pub mod rng;
mod settings;
mod subject;
mod world;

pub use hosted::{run_hosted, run_without_firewall};
pub use plan::{Fault, Plan, Report};
pub use subject::Mutation;

/// Runs a seed; a panic of the session is a fault like any other.
///
/// # Errors
/// What did not hold.
pub fn run(seed: u64, plan: Plan) -> Result<Report, Box<Fault>> {
    driver::run(seed, plan).map_err(Box::new)
}
