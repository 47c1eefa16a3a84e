//! What can be shown without a sandbox: the loop, the wire, the log, the tools over memory and
//! over a folder, and the house itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect is to fail at once"
)]

mod across_wires;
mod attachments;
mod bad_days;
mod budgets;
mod by_id;
mod bytes;
mod call_order;
mod compaction;
mod composed;
mod context;
mod corpus;
mod corrections;
mod cost;
mod costly_patches;
mod durable;
mod endless;
mod failed_results;
mod failures;
mod folders;
mod folds;
mod fuzzing;
mod gateways;
mod held;
mod kept_results;
mod last_replies;
mod lifecycle;
mod local_models;
mod long_runs;
mod loop_table;
mod loops;
mod migration;
mod named_agents;
mod nested_docs;
mod ollama_sessions;
mod outbound;
mod outcomes;
mod parity;
mod patches;
mod people;
mod pipeline;
mod plain_meaning;
mod presets;
mod profiles;
mod prompts;
mod protocol;
mod refused_parts;
mod retries;
mod routing;
mod samples;
mod schema;
mod shifted_patches;
mod simulation;
mod skills;
mod states;
mod steering;
mod subagents;
mod text_calls;
mod text_costs;
mod text_mode;
mod tidy;
mod tools;
mod tools_shown;
mod truncation;
mod turn_options;
mod unnoticed;
mod view;
mod vocabularies;
mod web;
mod wire_anthropic;
mod wire_anthropic_requests;
mod wire_chat;
mod wire_chat_encode;
mod wire_costs;
mod wire_gateways;
mod wire_gemini;
mod wire_ollama;
mod wire_responses;
mod wire_responses_requests;
mod wire_unfinished;
