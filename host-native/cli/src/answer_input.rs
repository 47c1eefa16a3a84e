//! Lines that a person types as answers. Standard input is read only when a line is wanted: between
//! two lines it belongs to whoever else needs it, such as an editor. Where something else reads the
//! keys, it gives the lines that are wanted.

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
    /// From whoever reads the keys.
    Given(AnswerSlot),
}

impl LineSource {
    /// Those of this program's standard input.
    pub(super) fn of_terminal() -> Self {
        Self::Read(StdinLines::of_terminal())
    }

    /// The next line, without its end, as the answer to `question`; nothing when there are no
    /// more. May be given up and asked for again.
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

/// The place of an answer that is wanted. Clones are of the same one.
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

/// Empties the slot when nobody waits any more.
struct AnswerSlotGuard<'a>(&'a AnswerSlot);

impl AnswerSlot {
    /// Returns what is asked, and since when.
    pub(super) fn question(&self) -> Option<(Question, Instant)> {
        self.state().wanted.as_ref().map(|wanted| (wanted.question.clone(), wanted.since))
    }

    /// Gives the answer, if one is wanted.
    pub(super) fn give(&self, line: &str) {
        if let Some(wanted) = self.state().wanted.take() {
            drop(wanted.answer.send(line.to_owned()));
        }
    }

    /// Nobody answers what is asked.
    pub(super) fn refuse(&self) {
        self.state().wanted = None;
    }

    /// Nobody answers any more.
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
    /// That of this program.
    pub(super) fn of_terminal() -> Self {
        Self::of(|| {
            let mut line = String::new();
            let read = stdin().read_line(&mut line);
            read.is_ok_and(|length| length > 0).then_some(line)
        })
    }

    /// The lines that `read` gives, each when it is wanted.
    pub(super) fn of(mut read: impl FnMut() -> Option<String> + Send + 'static) -> Self {
        let (want, wanted) = mpsc::channel();
        let (give, got) = unbounded_channel();
        // A thread of its own: a read cannot be stopped, and must not hold up the program's end.
        thread::spawn(move || {
            for () in wanted {
                if give.send(read().map(|line| line.trim_end().to_owned())).is_err() {
                    return;
                }
            }
        });
        Self { want, got, wanted: false }
    }

    /// The next line, without its end; nothing when there are no more. May be given up and asked
    /// for again.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.want();
        let line = self.got.recv().await;
        self.wanted = false;
        line.flatten()
    }

    /// Has a line read, if none is being waited for.
    pub(super) fn want(&mut self) {
        if !self.wanted {
            self.wanted = self.want.send(()).is_ok();
        }
    }

    fn forget(&mut self) {
        if self.got.try_recv().is_ok() {
            self.wanted = false;
        }
    }
}
