//! Floor 2: pure functions without state.

pub mod approval;
pub mod coerce;
pub mod cost;
pub mod gauge;
pub mod guard;
pub mod prompt;
pub mod repeat;
pub mod retry;
pub mod schema;
pub mod truncate;
