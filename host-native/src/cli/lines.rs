//! Lines that a person types. Standard input is read only when a line is wanted: between two
//! lines it belongs to whoever else needs it, such as an editor.

use std::{io::stdin, sync::mpsc, thread};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines of standard input.
#[derive(Debug)]
pub(super) struct Lines {
    want: mpsc::Sender<()>,
    got: UnboundedReceiver<Option<String>>,
    /// Whether a line is being waited for already.
    wanted: bool,
}

impl Lines {
    /// Those of this program's standard input.
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

    /// Drops the line that was typed for a question that is no longer asked.
    pub(super) fn forget(&mut self) {
        if self.got.try_recv().is_ok() {
            self.wanted = false;
        }
    }
}
