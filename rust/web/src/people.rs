//! Who says what calls may run, and answers the model's questions.

use futures::future::LocalBoxFuture;
use innerloop_core::{id::AgentId, input::Answer, output::Ask};
use innerloop_face::{Approval, Decision, unanswered};
use std::{fmt, rc::Rc};

type Approve = Rc<dyn Fn(Approval) -> LocalBoxFuture<'static, Decision>>;
type Reply = Rc<dyn Fn(String) -> LocalBoxFuture<'static, Option<String>>>;

/// Who is asked.
#[derive(Clone, Default)]
pub(crate) struct People {
    approve: Option<Approve>,
    answer: Option<Reply>,
}

impl People {
    pub(crate) fn set_approve(&mut self, approve: impl AsyncFn(Approval) -> Decision + 'static) {
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

    /// Asks whoever is there.
    pub(crate) async fn answer(self, agent: AgentId, ask: Ask) -> Answer {
        match (Approval::of(agent, &ask), ask, self.approve, self.answer) {
            (Some(call), _, Some(approve), _) => approve(call).await.into(),
            (_, Ask::Question { text }, _, Some(answer)) => {
                answer(text).await.map_or_else(unanswered, Answer::Text)
            }
            _ => unanswered(),
        }
    }
}

impl fmt::Debug for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (approves, answers) = (self.approves(), self.answers());
        f.debug_struct("People").field("approves", &approves).field("answers", &answers).finish()
    }
}
