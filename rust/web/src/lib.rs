//! A coding agent in a page that is written in Rust: a loop that asks a language model, runs the
//! tools that it wants, and goes on until it is done. It is for front ends such as Leptos, Dioxus
//! and Yew, on `wasm32-unknown-unknown`: requests go out by `fetch`, files are in memory, tools are
//! async functions of the page.
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
//! - [`Agent::builder`] says with which model, over which files, with which tools and people.
//! - [`Agent::run`] begins a run: a stream of [`Event`]s, and awaited, a [`RunResult`]. Dropped, it
//!   is interrupted.
//! - [`Agent::steer`], [`Agent::status`], [`Agent::history`] and all others work meanwhile, too.
//! - [`Tool`] is an async function with arguments of a type of yours.
//! - [`Agent::snapshot`] gives bytes, which the page keeps where it likes;
//!   [`AgentBuilder::restore`] goes on with them, also in the middle of a run.
//! - [`js`] is for pages in which JavaScript is the caller.
//!
//! The words are those of the crate `innerloop`, which runs natively. What waits there is answered
//! at once here, since a page has one thread; nothing of it is [`Send`]. What is below it, for
//! hosts of another kind, is in the crates [`innerloop_driver`] and [`innerloop_core`].
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
    config::{ApprovalRule, HookPoint},
    event::{Event, EventKind},
    id::{AgentId, SessionId},
    input::{HookReply, RejectedInput, TurnOptions},
    json::Json,
    message::{Part, Turn, Usage},
    status::{AgentState, RunEnd, Status},
    tool::ToolSpec,
};
pub use innerloop_face::{AnswerError, ApprovalDecision, ApprovalRequest, Prompt, RunResult};
pub use schemars::JsonSchema;
