//! The question whether a call may run, and a person's decision.

use innerloop_core::{config::ApprovalRule, id::AgentId, input::Answer, json::Json, output::Ask};

/// A tool call that needs approval.
///
/// ```
/// # use innerloop_face::ApprovalRequest;
/// fn shown(call: &ApprovalRequest) -> String {
///     format!("{} wants to run {} with {}", call.agent.0, call.name, call.arguments.text())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call's id.
    pub call_id: String,
    /// The agent that makes the call: the session's own agent, or a subagent.
    pub agent: AgentId,
    /// The tool's name, as the model sees it.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Json,
    /// The folder of the workspace that the arguments' paths are relative to, itself relative to
    /// the root; empty for the root.
    pub folder: String,
}

impl ApprovalRequest {
    /// Returns the request in a question of an agent; `None` if the question is not about a call.
    #[must_use]
    pub fn of(agent: AgentId, ask: &Ask) -> Option<Self> {
        let Ask::Approval { call_id, name, arguments, folder, .. } = ask else { return None };
        let (call_id, name, folder) = (call_id.clone(), name.clone(), folder.clone());
        Some(Self { call_id, agent, name, arguments: arguments.clone(), folder })
    }
}

/// The decision on a call.
///
/// ```
/// # use innerloop_face::{ApprovalDecision, ApprovalRequest};
/// let approve = async |call: ApprovalRequest| match call.name.as_str() {
///     "shell" => ApprovalDecision::deny("no commands, please"),
///     _ => ApprovalDecision::Allow,
/// };
/// # let _ = approve;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// The call may run.
    Allow,
    /// The call may run, and so may every later call of its tool.
    AllowAlways,
    /// The call may run, and so may later calls that match the rule.
    AllowRule(ApprovalRule),
    /// The call may run with these arguments, which are checked again.
    AllowEdited(Json),
    /// The call may not run.
    Deny {
        /// The reason, for the model to read.
        reason: String,
    },
    /// The call may not run, and the whole run stops.
    Abort,
}

impl ApprovalDecision {
    /// Makes a denial with a reason for the model.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }
}

impl From<ApprovalDecision> for Answer {
    fn from(decision: ApprovalDecision) -> Self {
        match decision {
            ApprovalDecision::Allow => Self::Allow,
            ApprovalDecision::AllowAlways => Self::AllowAlways,
            ApprovalDecision::AllowRule(rule) => Self::AllowRule(rule),
            ApprovalDecision::AllowEdited(arguments) => Self::AllowEdited(arguments),
            ApprovalDecision::Deny { reason } => Self::deny(reason),
            ApprovalDecision::Abort => Self::Abort,
        }
    }
}

/// Returns the answer that is given if nobody is there, with the text that the model reads.
#[must_use]
pub fn unanswered() -> Answer {
    Answer::nobody("nobody answered; decide for yourself, and say what you assumed")
}
