//! A coding agent for Rust programs: a loop that calls a language model, runs the tools that the
//! model calls, and goes on until the model is done. The tools run in a sandbox over a folder,
//! which does not change until the program applies the changes.
//!
//! ```
//! use innerloop::Agent;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder().provider("anthropic").workspace("my-project").build().await?;
//! let result = agent.run("Why does the test of the parser fail? Fix it.").await?;
//! println!("{}", result.text);
//! agent.apply().await?;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Agent::builder`] takes the settings: the model, the workspace, tools, and people to ask.
//! - [`Agent::run`] begins a run: a stream of [`Event`]s, which resolves to a [`RunResult`] when
//!   awaited.
//! - [`Agent::steer`], [`Agent::status`], [`Agent::history`] and all other methods also work during
//!   a run.
//! - [`Tool`] is an async function whose arguments have a type of yours.
//! - [`AgentBuilder::log`] and [`AgentBuilder::resume`] let a session survive a crash;
//!   [`Agent::snapshot`] and [`Agent::fork`] copy it.
//!
//! The crate needs a tokio runtime. To build it, you need the programs that the sandbox embeds: its
//! README says how to get them. Other hosts use the crates below it: [`innerloop_host`],
//! [`innerloop_sandbox`], [`innerloop_workspace`], [`innerloop_driver`] and [`innerloop_core`].

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agent;
mod approvals;
mod build_error;
mod builder;
mod hooks;
mod log_lock;
mod run;
mod session;
mod session_site;
mod tool;

pub use agent::{Agent, AgentError, EventStream};
pub use build_error::BuildError;
pub use builder::AgentBuilder;
pub use run::{AgentRun, RunError};
pub use session::SessionEndedError;
pub use tool::Tool;

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
};
pub use innerloop_face::{
    AnswerError, ApprovalDecision, ApprovalRequest, ModelFallback, Prompt, RunResult,
};
pub use innerloop_host::tools::{OwnTool, OwnToolCall};
pub use innerloop_sandbox::{EngineOptions, SandboxEngine};
pub use innerloop_workspace::{ApplyError, FileChange, Workspace};
pub use schemars::JsonSchema;

/// Types for environments, which carry out the built-in tools' actions instead of the sandbox: the
/// trait that [`AgentBuilder::environment`] takes, and the file tools over any [`WorkspaceFiles`].
///
/// [`WorkspaceFiles`]: environment::WorkspaceFiles
pub mod environment {
    pub use innerloop_core::{
        action::{Action, ToolError},
        config::EnvironmentFacts,
    };
    pub use innerloop_host::environment::{
        ActionRequest, CallContext, Environment, OutcomeFuture, StopFuture,
    };
    pub use innerloop_tools::{
        DirectoryFiles, EntryKind, FileError, FileStat, FolderEntry, InMemoryFiles, WorkspaceFiles,
        WorkspacePath, perform_known,
    };
}
