//! One session's host: its driver, its running programs, and the events on their way out. All that
//! happens comes in through [`SessionHost::report`] or [`SessionHost::tell`]; effects are carried
//! out by the function that the host was made with. Any call into JavaScript may lead back in here,
//! so that no `RefCell` is borrowed across one.

use crate::{
    callbacks::Callbacks,
    clock::{SessionClock, to_f64},
    event_batch,
    files::RawFiles,
    log::LogSink,
};
use innerloop_core::{
    event::Event,
    id::{ById, EffectId},
    input::{Input, RejectedInput},
    time::SessionInstant,
};
use innerloop_driver::{
    Driver, DriverOutput, DriverOutputBatch, FileSteps, SecretKeys, capture::OutputCapture,
};
use innerloop_tools::InMemoryFiles;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// A function that begins an effect, and returns its answer if that is there already.
pub(crate) type CarryOut = fn(&SessionHost, DriverOutput) -> Option<Input>;

/// One session with all that its host holds for it.
pub(crate) struct SessionHost {
    pub(crate) callbacks: Callbacks,
    pub(crate) files: Rc<RefCell<InMemoryFiles>>,
    /// True if the files are a copy of others, with which the package keeps it together.
    pub(crate) is_copy: bool,
    pub(crate) driver: RefCell<Driver>,
    carry_out: CarryOut,
    clock: SessionClock,
    /// The programs that are running.
    running: RefCell<ById<EffectId, RunningProgram>>,
    outbox: RefCell<Vec<Event>>,
    /// The changes to files that the session's steps have made.
    pub(crate) steps: RefCell<FileSteps>,
    pub(crate) log: LogSink,
    delivering: Cell<bool>,
    /// The time for which the host has asked the package to wake it.
    due: Cell<Option<SessionInstant>>,
}

/// A program that is running.
pub(crate) struct RunningProgram {
    /// The output that it has printed.
    pub(crate) capture: OutputCapture,
    /// The folder of the workspace that it sees as its root.
    pub(crate) folder: String,
}

impl SessionHost {
    /// Makes the host of a driver that has not been started.
    pub(crate) fn new(
        driver: Driver,
        callbacks: Callbacks,
        files: &RawFiles,
        carry_out: CarryOut,
    ) -> Self {
        Self {
            #[cfg(feature = "log")]
            log: LogSink::of(&callbacks),
            #[cfg(not(feature = "log"))]
            log: LogSink::default(),
            callbacks,
            files: files.memory(),
            is_copy: files.is_copy,
            carry_out,
            clock: SessionClock::at(driver.session().now()),
            driver: RefCell::new(driver),
            running: RefCell::default(),
            outbox: RefCell::default(),
            steps: RefCell::default(),
            delivering: Cell::new(false),
            due: Cell::new(None),
        }
    }

    /// Carries out what follows from the opening or the restart, once.
    pub(crate) fn start(&self) {
        let outputs = self.driver.borrow_mut().start();
        self.follow(outputs);
    }

    /// Hands over an input of the caller.
    ///
    /// # Errors
    /// The session's refusal.
    #[allow(clippy::result_large_err, reason = "the refused input comes back to the caller")]
    pub(crate) fn tell(&self, input: Input) -> Result<(), RejectedInput> {
        let now = self.clock.now();
        let outputs = self.driver.borrow_mut().handle(input, now)?;
        self.follow(outputs);
        Ok(())
    }

    /// Hands over news of an effect. A refusal would be a fault of this host, and is written to the
    /// console.
    pub(crate) fn report(&self, input: Input) {
        if let Err(rejected) = self.tell(input) {
            blame(&rejected);
        }
    }

    /// Takes in that the time has come for which the host has asked to be woken.
    pub(crate) fn tick(&self) {
        self.due.set(None);
        // The deadline may have been put off since, see `arm`.
        let due = self.driver.borrow().deadline();
        if due.is_some_and(|due| due > self.clock.now()) {
            self.arm();
        } else {
            self.report(Input::Tick);
        }
    }

    /// Returns the keys that must not be shown.
    pub(crate) fn keys(&self) -> SecretKeys {
        self.driver.borrow().keys().clone()
    }

    /// Notes a program that has been started.
    pub(crate) fn enter(&self, id: EffectId, program: RunningProgram) {
        self.running.borrow_mut().insert(id, program);
    }

    /// Applies `f` to a running program; `None` if it has ended.
    pub(crate) fn with_running<T>(
        &self,
        id: EffectId,
        f: impl FnOnce(&mut RunningProgram) -> T,
    ) -> Option<T> {
        self.running.borrow_mut().get_mut(id).map(f)
    }

    /// Removes a running program, which has ended.
    pub(crate) fn leave(&self, id: EffectId) -> Option<RunningProgram> {
        self.running.borrow_mut().remove(id)
    }

    /// Carries out a step's outputs, and what follows from them in turn. Listeners get the events
    /// of each step before the next one.
    fn follow(&self, outputs: DriverOutputBatch) {
        let mut answers = self.carry_out_all(outputs);
        self.deliver();
        while !answers.is_empty() {
            for answer in std::mem::take(&mut answers) {
                // In a statement of its own: in the `match`, the driver would stay borrowed while
                // effects call into JavaScript.
                let outputs = self.driver.borrow_mut().handle(answer, self.clock.now());
                match outputs {
                    Ok(outputs) => answers.append(&mut self.carry_out_all(outputs)),
                    Err(rejected) => blame(&rejected),
                }
                self.deliver();
            }
        }
        self.arm();
    }

    fn carry_out_all(&self, outputs: DriverOutputBatch) -> Vec<Input> {
        let mut answers = Vec::new();
        // Through the log's queue: lines reach the package before anything of their step is done,
        // also when a listener of lines calls back in.
        self.log.wait(outputs);
        while let Some(DriverOutputBatch { list, .. }) = self.log.next(&self.callbacks) {
            for output in list {
                match output {
                    // Events are gathered, since crossing into JavaScript costs more than they do.
                    DriverOutput::Event(event) => {
                        self.steps.borrow_mut().on_event(&event);
                        self.outbox.borrow_mut().push(event);
                    }
                    output => answers.extend((self.carry_out)(self, output)),
                }
            }
        }
        answers
    }

    /// Asks to be woken at the driver's deadline, or before. Each piece of a response puts the
    /// deadline off, and being woken in vain once is cheaper than a new timer each time.
    fn arm(&self) {
        let due = self.driver.borrow().deadline();
        let is_armed = match (self.due.get(), due) {
            (Some(armed), Some(due)) => armed <= due,
            (armed, due) => armed == due,
        };
        if !is_armed {
            self.due.set(due);
            let now = self.clock.now();
            self.callbacks.wake(due.map_or(-1.0, |at| to_f64(at.ms_since(now))));
        }
    }

    /// Hands the waiting events to the package, one batch after the other. If a listener calls back
    /// in, the events that follow wait for their turn here, so that listeners get them in order.
    fn deliver(&self) {
        if self.delivering.replace(true) {
            return;
        }
        loop {
            let events = std::mem::take(&mut *self.outbox.borrow_mut());
            let Some(first) = events.first() else { break };
            // Wall time minus session time is the same for all events of a session, so that the
            // package can add the wall time by itself.
            let epoch = first.wall.0.saturating_sub(first.at.0);
            self.callbacks.events(&event_batch::batch(&events), &first.session.0, to_f64(epoch));
        }
        self.delivering.set(false);
    }
}

fn blame(rejected: &RejectedInput) {
    console_error(&format!("innerloop: the host is at fault: {rejected}"));
}
