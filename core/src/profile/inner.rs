//! The tools that never leave the core: other agents, questions, the final answer (DESIGN rule
//! 14). They are the same for every model family.

use super::{
    Profile,
    plan::{self, PlanCall},
};
use crate::types::{config::SessionConfig, tool::ToolSpec};
use alloc::{format, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// The schemas, as they go to the model.
const TOOLS: &str = include_str!("inner.json");

/// The tool of the final answer; its schema is the host's.
pub const FINAL_ANSWER: &str = "final_answer";

/// A call of one of these tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InnerCall {
    /// Start an agent.
    Spawn(SpawnCall),
    /// Say something to an agent.
    Send {
        /// Its id, as the model knows it.
        agent_id: String,
        /// What to say.
        message: String,
    },
    /// Wait for an agent's result.
    Wait {
        /// Its id, as the model knows it.
        agent_id: String,
        /// How long at most, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// End an agent.
    Close {
        /// Its id, as the model knows it.
        agent_id: String,
    },
    /// Ask the user.
    Ask {
        /// The question.
        question: String,
    },
    /// Keep a plan.
    Plan(PlanCall),
    /// The final answer, as JSON text that fits the schema.
    Answer(String),
}

/// What an agent is started with (Spec §7.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnCall {
    /// What it is to do.
    pub task: String,
    /// A folder to stay in.
    pub working_dir: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Most turns; 0 or nothing for no limit.
    pub max_turns: Option<u32>,
}

/// The tools that an agent at nesting depth `depth` is offered; the session's own is at 0.
#[must_use]
pub fn tools(config: &SessionConfig, depth: u32) -> Vec<ToolSpec> {
    let profile = Profile::of(&config.model);
    // The text is part of the program, and the tests read it.
    let mut tools: Vec<ToolSpec> = serde_json::from_str(TOOLS).unwrap_or_default();
    tools.retain(|tool| match tool.name.as_str() {
        "ask_user" => config.ask_user && depth == 0,
        _ => profile.starts_agents() && depth < config.subagents.max_depth,
    });
    tools.extend(profile.inner_tools());
    if let Some(answer) = config.answer.as_ref().filter(|_| depth == 0) {
        tools.push(ToolSpec {
            name: FINAL_ANSWER.into(),
            description: "Give the final answer of the task, once it is done. Ends the work."
                .into(),
            parameters: answer.schema.clone(),
            read_only: false,
            freeform: None,
        });
    }
    tools
}

/// Reads a call whose arguments fit the schema.
///
/// # Errors
/// A sentence for the model.
pub fn read(name: &str, arguments: &str) -> Result<InnerCall, String> {
    #[derive(Deserialize)]
    struct Send {
        agent_id: String,
        message: String,
    }
    #[derive(Deserialize)]
    struct Wait {
        agent_id: String,
        timeout_ms: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Close {
        agent_id: String,
    }
    #[derive(Deserialize)]
    struct Ask {
        question: String,
    }
    if let Some(call) = plan::call(name, arguments) {
        return call.map(InnerCall::Plan);
    }
    fn said(name: &str, field: &str, text: &str) -> Result<(), String> {
        if text.trim().is_empty() {
            return Err(format!("Invalid arguments for tool: {name}: {field} is blank"));
        }
        Ok(())
    }
    fn parse<'a, T: Deserialize<'a>>(name: &str, arguments: &'a str) -> Result<T, String> {
        serde_json::from_str(arguments)
            .map_err(|error| format!("Invalid arguments for tool: {name}: {error}"))
    }
    Ok(match name {
        "spawn_agent" => {
            let call: SpawnCall = parse(name, arguments)?;
            said(name, "task", &call.task)?;
            InnerCall::Spawn(call)
        }
        "send_input" => {
            let Send { agent_id, message } = parse(name, arguments)?;
            said(name, "message", &message)?;
            InnerCall::Send { agent_id, message }
        }
        "wait" => {
            let Wait { agent_id, timeout_ms } = parse(name, arguments)?;
            InnerCall::Wait { agent_id, timeout_ms }
        }
        "close_agent" => {
            let Close { agent_id } = parse(name, arguments)?;
            InnerCall::Close { agent_id }
        }
        "ask_user" => {
            let Ask { question } = parse(name, arguments)?;
            InnerCall::Ask { question }
        }
        FINAL_ANSWER => InnerCall::Answer(arguments.into()),
        _ => return Err(format!("Unknown tool: {name}")),
    })
}
