//! Who says what calls may run, and answers the model's questions.

use innerloop_core::{
    config::ApprovalRule,
    id::{AgentId, EffectId},
    input::Answer,
    json::Json,
    output::Ask,
};
use innerloop_host::host::Commands;
use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};
use tokio::task::AbortHandle;

type Deciding = Pin<Box<dyn Future<Output = Decision> + Send>>;
type Answering = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A tool call that needs approval.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The call's id.
    pub call_id: String,
    /// Whose call it is: the session's own agent's, or a subagent's.
    pub agent: AgentId,
    /// The tool's name, as the model knows it.
    pub name: String,
    /// Its arguments.
    pub arguments: Json,
    /// The folder of the workspace that the arguments' paths begin in, from the root on, which is
    /// empty.
    pub folder: String,
}

/// What is to become of a call.
///
/// ```
/// use innerloop::{Agent, Approval, Decision};
///
/// let builder = Agent::builder().approve(async |call: Approval| match call.name.as_str() {
///     "shell" => Decision::deny("no commands, please"),
///     _ => Decision::Allow,
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// It may run, and so may every later call of its tool.
    AllowAlways,
    /// It may run, and so may later calls that the rule names.
    AllowRule(ApprovalRule),
    /// It may run with these arguments, which are checked again.
    AllowEdited(Json),
    /// It may not run.
    Deny {
        /// Why, for the model to read.
        reason: String,
    },
    /// The whole run is to stop.
    Abort,
}

impl Decision {
    /// A denial for that reason, which the model reads.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::AllowAlways => Self::AllowAlways,
            Decision::AllowRule(rule) => Self::AllowRule(rule),
            Decision::AllowEdited(arguments) => Self::AllowEdited(arguments),
            Decision::Deny { reason } => Self::Deny { reason },
            Decision::Abort => Self::Abort,
        }
    }
}

/// Who is asked, and what is being asked.
#[derive(Clone, Default)]
pub(crate) struct People {
    approve: Option<Arc<dyn Fn(Approval) -> Deciding + Send + Sync>>,
    answer: Option<Arc<dyn Fn(String) -> Answering + Send + Sync>>,
    open: BTreeMap<EffectId, AbortHandle>,
}

impl People {
    pub(crate) fn set_approve<R>(&mut self, approve: impl Fn(Approval) -> R + Send + Sync + 'static)
    where
        R: Future<Output = Decision> + Send + 'static,
    {
        self.approve = Some(Arc::new(move |call| Box::pin(approve(call))));
    }

    pub(crate) fn set_answer<R>(&mut self, answer: impl Fn(String) -> R + Send + Sync + 'static)
    where
        R: Future<Output = Option<String>> + Send + 'static,
    {
        self.answer = Some(Arc::new(move |question| Box::pin(answer(question))));
    }

    pub(crate) const fn approves(&self) -> bool {
        self.approve.is_some()
    }

    pub(crate) const fn answers(&self) -> bool {
        self.answer.is_some()
    }

    /// Asks whoever is there, who answers in a task of their own; one that breaks has denied.
    pub(crate) fn asked(&mut self, commands: &Commands, id: EffectId, agent: AgentId, ask: &Ask) {
        let (approve, answer, ask) = (self.approve.clone(), self.answer.clone(), ask.clone());
        let answering = async move {
            match (ask, approve, answer) {
                (Ask::Approval { call_id, name, arguments, folder, .. }, Some(approve), _) => {
                    approve(Approval { call_id, agent, name, arguments, folder }).await.into()
                }
                (Ask::Question { text }, _, Some(answer)) => {
                    answer(text).await.map_or_else(unanswered, Answer::Text)
                }
                _ => unanswered(),
            }
        };
        let commands = commands.clone();
        self.open.retain(|_, task| !task.is_finished());
        let task = tokio::spawn(answering);
        self.open.insert(id, task.abort_handle());
        drop(tokio::spawn(async move {
            commands.answer(id, task.await.unwrap_or_else(|_| unanswered()));
        }));
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn withdrawn(&mut self, id: EffectId) {
        self.open.remove(&id).into_iter().for_each(|task| task.abort());
    }
}

/// What the model reads where nobody has answered.
fn unanswered() -> Answer {
    Answer::Deny { reason: "nobody answered; decide for yourself, and say what you assumed".into() }
}

impl fmt::Debug for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (approves, answers) = (self.approves(), self.answers());
        f.debug_struct("People").field("approves", &approves).field("answers", &answers).finish()
    }
}
