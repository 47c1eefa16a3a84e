//! Floor 2: pure functions without state.

pub mod prompt;
pub mod retry;
pub mod schema;
pub mod truncate;
