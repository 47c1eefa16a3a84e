//! The page's functions that decide on calls and answer the model's questions.

use futures::future::LocalBoxFuture;
use innerloop_core::{id::AgentId, input::Answer, output::Ask};
use innerloop_face::{ApprovalDecision, ApprovalRequest, unanswered};
use std::{fmt, rc::Rc};

type ApprovalFunction = Rc<dyn Fn(ApprovalRequest) -> LocalBoxFuture<'static, ApprovalDecision>>;
type AnswerFunction = Rc<dyn Fn(String) -> LocalBoxFuture<'static, Option<String>>>;

/// The functions that decide on calls and answer the model's questions.
#[derive(Clone, Default)]
pub(crate) struct UserCallbacks {
    approve: Option<ApprovalFunction>,
    answer: Option<AnswerFunction>,
}

impl UserCallbacks {
    pub(crate) fn set_approve(
        &mut self,
        approve: impl AsyncFn(ApprovalRequest) -> ApprovalDecision + 'static,
    ) {
        // An `AsyncFn`'s future borrows the function, so that each call has a share of it.
        let approve = Rc::new(approve);
        self.approve = Some(Rc::new(move |call| {
            let approve = Rc::clone(&approve);
            Box::pin(async move { approve(call).await })
        }));
    }

    pub(crate) fn set_answer(&mut self, answer: impl AsyncFn(String) -> Option<String> + 'static) {
        let answer = Rc::new(answer);
        self.answer = Some(Rc::new(move |question| {
            let answer = Rc::clone(&answer);
            Box::pin(async move { answer(question).await })
        }));
    }

    pub(crate) const fn approves(&self) -> bool {
        self.approve.is_some()
    }

    pub(crate) const fn answers(&self) -> bool {
        self.answer.is_some()
    }

    /// Asks the page's function, and returns its answer, or the answer that nobody is there.
    pub(crate) async fn answer(self, agent: AgentId, ask: Ask) -> Answer {
        match (ApprovalRequest::of(agent, &ask), ask, self.approve, self.answer) {
            (Some(call), _, Some(approve), _) => approve(call).await.into(),
            (_, Ask::Question { text }, _, Some(answer)) => {
                answer(text).await.map_or_else(unanswered, Answer::Text)
            }
            _ => unanswered(),
        }
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
