//! A coding agent for pages written in Rust: a loop that calls a language model, runs the tools
//! that the model calls, and goes on until the model is done. It is for front ends such as Leptos,
//! Dioxus and Yew, on `wasm32-unknown-unknown`: requests use `fetch`, files are in memory, and
//! tools are async functions of the page.
//!
//! ```no_run
//! use futures::StreamExt as _;
//! use innerloop_web::{Agent, EventKind};
//!
//! # async fn example(key: String, show: impl Fn(&str)) -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder().provider("anthropic").api_key(key).build()?;
//! let mut run = agent.run("Write a haiku about wasm into haiku.md");
//! while let Some(event) = run.next().await {
//!     if let EventKind::AssistantTextDelta { text } = &event.kind {
//!         show(text);
//!     }
//! }
//! show(&agent.files().text("haiku.md").unwrap_or_default());
//! # Ok(())
//! # }
//! ```
//!
//! - [`Agent::builder`] takes the settings: the model, the files, tools, and people to ask.
//! - [`Agent::run`] begins a run: a stream of [`Event`]s, which resolves to a [`RunResult`] when
//!   awaited. A dropped run is interrupted.
//! - [`Agent::steer`], [`Agent::status`], [`Agent::history`] and all other methods also work during
//!   a run.
//! - [`Tool`] is an async function whose arguments have a type of yours.
//! - [`Agent::snapshot`] returns bytes, which the page can keep anywhere; [`AgentBuilder::restore`]
//!   resumes the session from them, even in the middle of a run.
//! - [`js`] is for pages in which JavaScript calls the agent.
//!
//! The names are those of the crate `innerloop`, which runs natively. Methods that wait there
//! return at once here, since a page has one thread; for the same reason nothing is [`Send`]. Other
//! hosts use the crates below it: [`innerloop_driver`] and [`innerloop_core`].
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agent;
mod approvals;
mod build_error;
mod builder;
mod clock;
mod facts;
mod files;
mod hooks;
mod host;
mod http;
pub mod js;
mod run;
mod tool;
mod watchers;

pub use agent::{Agent, AgentError, EventStream};
pub use build_error::BuildError;
pub use builder::AgentBuilder;
pub use files::{FilesError, MemoryFiles};
pub use run::{AgentRun, RunError};
pub use tool::{OwnToolCall, Tool};

pub use innerloop_core::{
    action::Outcome,
    config::{ApprovalRule, HookPoint, NamedAgent, SessionConfig, SkillFacts},
    event::{Event, EventKind},
    id::{AgentId, SessionId},
    input::{HookReply, RejectedInput, TurnOptions},
    json::Json,
    message::{Part, Turn, Usage},
    status::{
        AgentState, ContextUsage, PendingInput, PendingInputs, RunEnd, Status, SubagentInfo,
        SubagentState,
    },
    tool::ToolSpec,
};
pub use innerloop_face::{
    AnswerError, ApprovalDecision, ApprovalRequest, ModelFallback, Prompt, RunResult,
};
pub use schemars::JsonSchema;
