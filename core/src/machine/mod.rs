//! Floor 4: the loop of the specification. An agent is a body (history, model calls, queues,
//! counts) and a phase; a phase is stepped by value, writes outputs and signals, and returns the
//! phase that follows.

pub(crate) mod agent;
pub(crate) mod agent_state;
pub(crate) mod cause;
mod corrections;
pub(crate) mod ctx;
mod edited_arguments;
mod elided_results;
pub(crate) mod fold_plan;
pub(crate) mod folding;
pub(crate) mod history;
pub(crate) mod import;
mod instructions;
mod last_reply;
pub(crate) mod ledger;
mod loop_texts;
pub(crate) mod model_call;
mod outbound_hook;
pub(crate) mod phase;
pub(crate) mod pipeline;
mod refused_parts;
pub(crate) mod reply;
pub(crate) mod rewind;
pub(crate) mod round;
pub(crate) mod route;
mod run;
mod run_end;
pub(crate) mod setup;
mod step;
mod stopping;
pub(crate) mod table;
pub(crate) mod tool_call;
pub(crate) mod turn_options;
mod turn_tools;
mod unsent;
mod view;
