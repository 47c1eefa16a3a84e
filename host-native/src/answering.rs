//! How the task of an effect answers: news as they come, and when it is over, in whatever way.

use crate::sandbox::OnDelta;
use innerloop_core::{
    action::Outcome,
    id::EffectId,
    input::{HttpInput, Input, ToolInput},
};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The task's end of an effect. Dropped, it says that nothing more comes: the driver ignores that
/// where the answer was given, and otherwise no session waits for a task that broke.
#[derive(Debug)]
pub(crate) struct Answering {
    id: EffectId,
    inbox: UnboundedSender<Input>,
}

impl Answering {
    pub(crate) const fn new(id: EffectId, inbox: UnboundedSender<Input>) -> Self {
        Self { id, inbox }
    }

    /// News of an HTTP exchange.
    pub(crate) fn http(&self, input: HttpInput) {
        self.send(Input::Http { id: self.id, input });
    }

    /// The end of a tool's run.
    pub(crate) fn done(&self, outcome: Outcome) {
        self.send(Input::Tool { id: self.id, input: ToolInput::Done(outcome) });
    }

    /// Takes a tool's output while it runs.
    pub(crate) fn deltas(&self) -> OnDelta {
        let (id, inbox) = (self.id, self.inbox.clone());
        Arc::new(move |text: &str| {
            drop(inbox.send(Input::Tool { id, input: ToolInput::Delta(text.to_owned()) }));
        })
    }

    fn send(&self, input: Input) {
        // The host is gone when its session is over, and then nobody waits for an answer.
        drop(self.inbox.send(input));
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.send(Input::Lost { id: self.id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn a_task_that_breaks_answers_all_the_same() {
        let (sender, mut inbox) = unbounded_channel();
        let lost = || Input::Lost { id: EffectId(7) };
        drop(Answering::new(EffectId(7), sender.clone()));
        assert_eq!(inbox.try_recv().unwrap(), lost());
        Answering::new(EffectId(7), sender).done(Outcome::text("x"));
        assert!(matches!(inbox.try_recv().unwrap(), Input::Tool { .. }));
        assert_eq!(inbox.try_recv().unwrap(), lost(), "the driver ignores it");
    }
}
