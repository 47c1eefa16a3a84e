//! The session's log, as far as the package wants it: kept until it is asked for, handed out line
//! by line, or neither. A build without the feature `log` has none.

use crate::callbacks::Callbacks;
use innerloop_driver::DriverOutputBatch;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

/// The destination of the lines of one session's log.
#[derive(Default)]
pub(crate) struct LogSink {
    #[cfg(feature = "log")]
    memory: Option<RefCell<innerloop_driver::MemoryLog>>,
    #[cfg(feature = "log")]
    hears_lines: bool,
    is_telling: Cell<bool>,
    /// The outputs that have followed and were not carried out yet.
    waiting: RefCell<VecDeque<DriverOutputBatch>>,
}

impl LogSink {
    /// As the package wants it.
    #[cfg(feature = "log")]
    pub(crate) fn of(callbacks: &Callbacks) -> Self {
        let memory = callbacks.keeps_log().then(RefCell::default);
        Self { memory, hears_lines: callbacks.hears_lines(), ..Self::default() }
    }

    /// Takes what has followed.
    pub(crate) fn wait(&self, outputs: DriverOutputBatch) {
        self.waiting.borrow_mut().push_back(outputs);
    }

    /// The next outputs to carry out, their lines noted; nothing while the package is told lines:
    /// it may call back in, and what follows from that waits for its turn.
    #[cfg_attr(not(feature = "log"), expect(unused_variables, reason = "no log is kept"))]
    pub(crate) fn next(&self, callbacks: &Callbacks) -> Option<DriverOutputBatch> {
        if self.is_telling.get() {
            return None;
        }
        let outputs = self.waiting.borrow_mut().pop_front()?;
        #[cfg(feature = "log")]
        self.note(&outputs.log, outputs.snapshot.as_deref(), callbacks);
        Some(outputs)
    }

    /// The log as far as it is kept.
    #[cfg(feature = "log")]
    pub(crate) fn text(&self) -> String {
        self.memory.as_ref().map(|memory| memory.borrow().text()).unwrap_or_default()
    }

    #[cfg(feature = "log")]
    fn note(&self, lines: &str, snapshot: Option<&str>, callbacks: &Callbacks) {
        if let Some(memory) = &self.memory {
            memory.borrow_mut().push(lines, snapshot);
        }
        if self.hears_lines {
            self.is_telling.set(true);
            for lines in [lines, snapshot.unwrap_or_default()] {
                if !lines.is_empty() {
                    callbacks.lines(lines);
                }
            }
            self.is_telling.set(false);
        }
    }
}
