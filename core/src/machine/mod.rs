//! Floor 4: the loop. An agent has data (history, model calls, queues, counts) and a phase in which
//! it waits. `table` takes the phase by value, together with what has happened, and returns the
//! phase that follows; the steps between write outputs, and signals to other agents, into the
//! context of `ctx`.

pub(crate) mod agent;
pub(crate) mod agent_state;
pub(crate) mod cause;
pub(crate) mod child_wait;
mod config_check;
mod corrections;
pub(crate) mod ctx;
mod edited_arguments;
mod elided_results;
pub(crate) mod fold_plan;
pub(crate) mod folding;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod instructions;
mod kept_results;
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
pub(crate) mod routing;
mod run;
mod run_end;
pub(crate) mod setup;
mod skills;
mod step;
mod stopping;
pub(crate) mod table;
pub(crate) mod tool_call;
mod tool_search;
mod tool_stages;
mod tool_table;
pub(crate) mod turn_options;
mod turn_tools;
mod unsent;
mod view;
