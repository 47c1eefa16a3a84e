//! Floor 2: pure functions without state.

pub(crate) mod aliases;
pub(crate) mod approval;
pub(crate) mod argv;
pub mod budget;
pub(crate) mod coerce;
pub mod cost;
pub mod echo;
pub mod fold;
pub(crate) mod folder_instructions;
pub mod gauge;
pub mod guard;
pub(crate) mod imports;
pub(crate) mod paths;
pub(crate) mod prompt;
pub mod repeat;
pub(crate) mod reply_fault;
pub(crate) mod retry;
pub mod schema;
pub mod transcript;
pub mod truncate;
