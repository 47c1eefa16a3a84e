//! The lines that a person types as answers: read from standard input, or given by the conversation
//! that reads the keys. Standard input is read only while an answer is wanted; in between it
//! belongs to others, such as an editor.

use super::question::Question;
use std::{
    io::stdin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Instant,
};
use tokio::sync::{
    mpsc::{UnboundedReceiver, unbounded_channel},
    oneshot,
};

/// The source of lines.
#[derive(Debug)]
pub(super) enum LineSource {
    /// From standard input.
    Read(StdinLines),
    /// From the conversation that reads the keys.
    Given(AnswerSlot),
}

impl LineSource {
    /// Returns the lines of this program's standard input.
    pub(super) fn of_terminal() -> Self {
        Self::Read(StdinLines::of_terminal())
    }

    /// Waits for the next line, without its end, as the answer to `question`; none at the end of
    /// the input. Cancelling loses nothing.
    pub(super) async fn next(&mut self, question: &Question) -> Option<String> {
        match self {
            Self::Read(input) => input.next().await,
            Self::Given(slot) => slot.next(question).await,
        }
    }

    /// Drops the line that was typed for a question that is no longer asked.
    pub(super) fn forget(&mut self) {
        if let Self::Read(input) = self {
            input.forget();
        }
    }
}

/// The slot for the answer to the open question; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerSlot(Arc<Mutex<AnswerSlotState>>);

#[derive(Debug, Default)]
struct AnswerSlotState {
    wanted: Option<PendingQuestion>,
    /// True if nobody answers any more.
    is_closed: bool,
}

#[derive(Debug)]
struct PendingQuestion {
    question: Question,
    since: Instant,
    answer: oneshot::Sender<String>,
}

/// A guard that empties the slot when nobody waits for the answer any more.
struct AnswerSlotGuard<'a>(&'a AnswerSlot);

impl AnswerSlot {
    /// Returns the open question, and the time since which it is open.
    pub(super) fn question(&self) -> Option<(Question, Instant)> {
        self.state().wanted.as_ref().map(|wanted| (wanted.question.clone(), wanted.since))
    }

    /// Gives the answer, if one is wanted.
    pub(super) fn give(&self, line: &str) {
        if let Some(wanted) = self.state().wanted.take() {
            drop(wanted.answer.send(line.to_owned()));
        }
    }

    /// Leaves the open question without an answer.
    pub(super) fn refuse(&self) {
        self.state().wanted = None;
    }

    /// Leaves this and all later questions without an answer.
    pub(super) fn close(&self) {
        *self.state() = AnswerSlotState { wanted: None, is_closed: true };
    }

    async fn next(&self, question: &Question) -> Option<String> {
        let (answer, line) = oneshot::channel();
        let wanted = PendingQuestion { question: question.clone(), since: Instant::now(), answer };
        {
            let mut state = self.state();
            if state.is_closed {
                return None;
            }
            state.wanted = Some(wanted);
        }
        let waiting = AnswerSlotGuard(self);
        let line = line.await.ok();
        drop(waiting);
        line
    }

    fn state(&self) -> MutexGuard<'_, AnswerSlotState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AnswerSlotGuard<'_> {
    fn drop(&mut self) {
        self.0.refuse();
    }
}

/// The lines of standard input.
#[derive(Debug)]
pub(super) struct StdinLines {
    want: mpsc::Sender<()>,
    got: UnboundedReceiver<Option<String>>,
    /// True if a line is being waited for already.
    wanted: bool,
}

impl StdinLines {
    /// Returns the lines of this program's standard input.
    pub(super) fn of_terminal() -> Self {
        Self::of(|| {
            let mut line = String::new();
            let read = stdin().read_line(&mut line);
            read.is_ok_and(|length| length > 0).then_some(line)
        })
    }

    /// Returns the lines that `read` gives; it is called only when one is wanted.
    pub(super) fn of(mut read: impl FnMut() -> Option<String> + Send + 'static) -> Self {
        let (want, wanted) = mpsc::channel();
        let (give, got) = unbounded_channel();
        // A blocking read can't be cancelled. On a plain thread, unlike a blocking task of the
        // runtime, it does not hold up the program's end either.
        thread::spawn(move || {
            for () in wanted {
                if give.send(read().map(|line| line.trim_end().to_owned())).is_err() {
                    return;
                }
            }
        });
        Self { want, got, wanted: false }
    }

    /// Waits for the next line, without its end; none at the end of the input. Cancelling loses
    /// nothing: the next call gets the line.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.want();
        let line = self.got.recv().await;
        self.wanted = false;
        line.flatten()
    }

    /// Begins to read a line, unless one is being read already.
    pub(super) fn want(&mut self) {
        if !self.wanted {
            self.wanted = self.want.send(()).is_ok();
        }
    }

    // Only a line that has arrived is dropped. One that is still being read answers the next
    // question, since the read can't be undone.
    fn forget(&mut self) {
        if self.got.try_recv().is_ok() {
            self.wanted = false;
        }
    }
}
