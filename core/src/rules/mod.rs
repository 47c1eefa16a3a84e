//! Floor 2: pure functions without state that the loop decides by: checks of arguments, limits,
//! repetition, costs, and the texts that follow from them. Equal arguments give equal results, so
//! that a log replays to the same bytes.

pub(crate) mod aliases;
pub(crate) mod approval;
pub(crate) mod argv;
pub(crate) mod availability;
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
pub mod skill;
pub(crate) mod task_kind;
pub(crate) mod tool_rank;
pub mod transcript;
pub mod truncate;
