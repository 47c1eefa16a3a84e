//! The program's functions that decide on calls and answer the model's questions. Each question is
//! a task of its own, so that the session goes on; without a function, the answer says that nobody
//! is there.

use innerloop_core::{
    id::{AgentId, EffectId},
    input::Answer,
    output::Ask,
};
use innerloop_face::{ApprovalDecision, ApprovalRequest, unanswered};
use innerloop_host::host::CommandSender;
use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};
use tokio::task::AbortHandle;

type DecisionFuture = Pin<Box<dyn Future<Output = ApprovalDecision> + Send>>;
type AnswerFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// The functions that decide on calls and answer the model's questions, and the open questions.
#[derive(Clone, Default)]
pub(crate) struct UserCallbacks {
    approve: Option<Arc<dyn Fn(ApprovalRequest) -> DecisionFuture + Send + Sync>>,
    answer: Option<Arc<dyn Fn(String) -> AnswerFuture + Send + Sync>>,
    open: BTreeMap<EffectId, AbortHandle>,
}

impl UserCallbacks {
    pub(crate) fn set_approve<R>(
        &mut self,
        approve: impl Fn(ApprovalRequest) -> R + Send + Sync + 'static,
    ) where
        R: Future<Output = ApprovalDecision> + Send + 'static,
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

    /// Asks the program's function in a task of its own. A panic counts as a denial.
    pub(crate) fn asked(
        &mut self,
        commands: &CommandSender,
        id: EffectId,
        agent: AgentId,
        ask: &Ask,
    ) {
        let (approve, answer, ask) = (self.approve.clone(), self.answer.clone(), ask.clone());
        let answering = async move {
            // The function is called within the task: one that panics before it returns a future
            // must not stop the session either.
            match (ApprovalRequest::of(agent, &ask), ask, approve, answer) {
                (Some(call), _, Some(approve), _) => approve(call).await.into(),
                (_, Ask::Question { text }, _, Some(answer)) => {
                    answer(text).await.map_or_else(unanswered, Answer::Text)
                }
                _ => unanswered(),
            }
        };
        let commands = commands.clone();
        self.open.retain(|_, task| !task.is_finished());
        // Two tasks: a panic ends the first, and the second learns of it by its handle, so that the
        // session gets an answer in any case.
        let task = tokio::spawn(answering);
        self.open.insert(id, task.abort_handle());
        drop(tokio::spawn(async move {
            commands.answer(id, task.await.unwrap_or_else(|_| unanswered()));
        }));
    }

    /// Stops a question whose answer is no longer needed.
    pub(crate) fn withdrawn(&mut self, id: EffectId) {
        self.open.remove(&id).into_iter().for_each(|task| task.abort());
    }
}

impl fmt::Debug for UserCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (approves, answers) = (self.approves(), self.answers());
        f.debug_struct("UserCallbacks")
            .field("approves", &approves)
            .field("answers", &answers)
            .finish()
    }
}
