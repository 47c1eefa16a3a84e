//! How the task of an effect answers: news as they come and exactly one terminal answer, also if
//! the task breaks.

use crate::{
    sandbox::OnDelta,
    secret::{Key, Masking},
};
use innerloop_core::{
    action::Outcome,
    id::EffectId,
    input::{Command, HttpInput, Input, ToolInput},
};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// The task's end of an effect. Dropped without a terminal answer it says that the effect is
/// lost, so that no session waits for a task that broke.
#[derive(Debug)]
pub(crate) struct Answering {
    id: EffectId,
    inbox: UnboundedSender<Input>,
    answered: bool,
}

impl Answering {
    pub(crate) const fn new(id: EffectId, inbox: UnboundedSender<Input>) -> Self {
        Self { id, inbox, answered: false }
    }

    /// News of an HTTP exchange.
    pub(crate) fn http(&mut self, input: HttpInput) {
        self.answered |= input.is_terminal();
        self.send(Input::Http { id: self.id, input });
    }

    /// The end of a tool's run.
    pub(crate) fn done(&mut self, outcome: Outcome) {
        self.answered = true;
        self.send(Input::Tool { id: self.id, input: ToolInput::Done(outcome) });
    }

    /// Takes a tool's output while it runs, without the key.
    pub(crate) fn deltas(&self, key: Key) -> OnDelta {
        let (id, inbox) = (self.id, self.inbox.clone());
        let masking = Mutex::new(Masking::new(key));
        Arc::new(move |text: &str| {
            let masked =
                masking.lock().unwrap_or_else(PoisonError::into_inner).push(text.as_bytes());
            let text = String::from_utf8_lossy(&masked).into_owned();
            drop(inbox.send(Input::Tool { id, input: ToolInput::Delta(text) }));
        })
    }

    fn send(&self, input: Input) {
        // The driver is gone when its session is over, and then nobody waits for an answer.
        drop(self.inbox.send(input));
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if !self.answered {
            self.send(Input::Lost { id: self.id });
        }
    }
}

/// The input without the key in what a tool or the user says. HTTP news come without it.
pub(crate) fn without_key(input: Input, key: &Key) -> Input {
    match input {
        Input::Tool { id, input } => Input::Tool { id, input: masked(input, key) },
        Input::Command { agent, command } => {
            Input::Command { agent, command: masked::<Command>(command, key) }
        }
        other => other,
    }
}

/// A value whose JSON holds the key is read again from the masked JSON.
fn masked<T: Serialize + DeserializeOwned>(value: T, key: &Key) -> T {
    if key.is_empty() {
        return value;
    }
    let text = serde_json::to_string(&value).unwrap_or_default();
    let masked = key.masked(&text).and_then(|text| serde_json::from_str(&text).ok());
    masked.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::action::{Change, ChangeKind};
    use tokio::sync::mpsc::unbounded_channel;

    const KEY: &str = "sk-ant-0123456789";

    #[test]
    fn a_task_that_breaks_answers_all_the_same() {
        let (sender, mut inbox) = unbounded_channel();
        drop(Answering::new(EffectId(7), sender.clone()));
        assert_eq!(inbox.try_recv().unwrap(), Input::Lost { id: EffectId(7) });
        Answering::new(EffectId(8), sender).done(Outcome::text("x"));
        assert!(matches!(inbox.try_recv().unwrap(), Input::Tool { .. }));
        assert!(inbox.try_recv().is_err());
    }

    #[test]
    fn the_key_leaves_outcomes_deltas_and_commands() {
        let text = format!("ANTHROPIC_API_KEY={KEY}\n");
        let change = Change {
            path: ".env".to_owned(),
            kind: ChangeKind::Created,
            before: None,
            after: Some(text.clone()),
        };
        let outcome = Outcome { changes: vec![change], ..Outcome::text(&text) };
        let id = EffectId(1);
        let input = Input::Tool { id, input: ToolInput::Done(outcome) };
        let shown = format!("{:?}", without_key(input, &Key::new(KEY)));
        assert!(shown.contains("ANTHROPIC_API_KEY=***") && !shown.contains(KEY), "{shown}");

        let (sender, mut inbox) = unbounded_channel();
        let answering = Answering::new(id, sender);
        let deltas = answering.deltas(Key::new(KEY));
        let (first, second) = text.split_at(24);
        deltas(first);
        deltas(second);
        let shown = format!("{:?}{:?}", inbox.try_recv().unwrap(), inbox.try_recv().unwrap());
        assert!(shown.contains("***") && !shown.contains("0123456789"), "{shown}");

        let parts = vec![innerloop_core::message::Part::text(text)];
        let input = Input::command(Command::Submit { parts });
        let shown = format!("{:?}", without_key(input, &Key::new(KEY)));
        assert!(shown.contains("***") && !shown.contains(KEY), "{shown}");
    }
}
