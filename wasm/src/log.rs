//! The destination of a session's log: kept in memory until the package asks for it, handed out
//! line by line, or neither. Lines are out before anything of their step is carried out. A build
//! without the feature `log` makes none.

use crate::callbacks::Callbacks;
use innerloop_driver::DriverOutputBatch;
use std::cell::{Cell, RefCell};

/// The destination of the lines of one session's log.
#[derive(Default)]
pub(crate) struct LogSink {
    #[cfg(feature = "log")]
    memory: Option<RefCell<innerloop_driver::MemoryLog>>,
    #[cfg(feature = "log")]
    hears_lines: bool,
    is_telling: Cell<bool>,
    /// The outputs that have not been carried out yet.
    waiting: RefCell<Vec<DriverOutputBatch>>,
}

impl LogSink {
    /// Makes the sink that the package wants.
    #[cfg(feature = "log")]
    pub(crate) fn of(callbacks: &Callbacks) -> Self {
        let memory = callbacks.keeps_log().then(RefCell::default);
        Self { memory, hears_lines: callbacks.hears_lines(), ..Self::default() }
    }

    /// Queues the outputs of a step.
    pub(crate) fn wait(&self, outputs: DriverOutputBatch) {
        self.waiting.borrow_mut().push(outputs);
    }

    /// Hands out the lines of the next outputs and returns these, to be carried out. Returns `None`
    /// while lines are being handed out: the package may call back in, and what follows from that
    /// waits for its turn.
    #[cfg_attr(not(feature = "log"), expect(unused_variables, reason = "no log is kept"))]
    pub(crate) fn next(&self, callbacks: &Callbacks) -> Option<DriverOutputBatch> {
        if self.is_telling.get() {
            return None;
        }
        let outputs = {
            let mut waiting = self.waiting.borrow_mut();
            if waiting.is_empty() {
                return None;
            }
            waiting.remove(0)
        };
        #[cfg(feature = "log")]
        self.note(&outputs.log, outputs.snapshot.as_deref(), callbacks);
        Some(outputs)
    }

    /// Returns the log as far as it is kept.
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
            // One flag for both calls: a listener that calls back in must not get newer lines
            // before the snapshot that belongs to these.
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
