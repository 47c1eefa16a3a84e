//! One session's host: its driver, what is under way for it, and the events on their way out. All
//! that happens comes in through [`SessionHost::report`] or [`SessionHost::tell`]. What is to be
//! done about it is carried out elsewhere, by the function that the host was made with.

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
    collections::VecDeque,
    rc::Rc,
};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// Begins a thing to do; the answer, where it is there already.
pub(crate) type CarryOut = fn(&SessionHost, DriverOutput) -> Option<Input>;

/// One session and what is under way for it.
pub(crate) struct SessionHost {
    pub(crate) callbacks: Callbacks,
    pub(crate) files: Rc<RefCell<InMemoryFiles>>,
    /// True if the files are a copy of others, with which the package keeps it together.
    pub(crate) is_copy: bool,
    pub(crate) driver: RefCell<Driver>,
    carry_out: CarryOut,
    clock: SessionClock,
    /// The programs that run.
    running: RefCell<ById<EffectId, RunningProgram>>,
    outbox: RefCell<Vec<Event>>,
    /// The changes that the session's steps have made.
    pub(crate) steps: RefCell<FileSteps>,
    pub(crate) log: LogSink,
    delivering: Cell<bool>,
    /// The time at which the package is to wake the host, as it was told.
    due: Cell<Option<SessionInstant>>,
}

/// A program that runs.
pub(crate) struct RunningProgram {
    /// The output that it has printed.
    pub(crate) capture: OutputCapture,
    /// The folder of the workspace that it sees as its root.
    pub(crate) folder: String,
}

impl SessionHost {
    /// A host for a driver that has not been started.
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

    /// Carries out what follows from opening or restoring, once.
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

    /// Hands over news of what is under way. A refusal would be a fault of this host.
    pub(crate) fn report(&self, input: Input) {
        if let Err(rejected) = self.tell(input) {
            blame(&rejected);
        }
    }

    /// The time is up for which it wanted to be woken.
    pub(crate) fn tick(&self) {
        self.due.set(None);
        let due = self.driver.borrow().deadline();
        if due.is_some_and(|due| due > self.clock.now()) {
            self.arm();
        } else {
            self.report(Input::Tick);
        }
    }

    /// The keys that nothing may show.
    pub(crate) fn keys(&self) -> SecretKeys {
        self.driver.borrow().keys().clone()
    }

    /// Notes a program that runs.
    pub(crate) fn enter(&self, id: EffectId, program: RunningProgram) {
        self.running.borrow_mut().insert(id, program);
    }

    /// Does `f` to a running program; nothing if it has ended.
    pub(crate) fn with_running<T>(
        &self,
        id: EffectId,
        f: impl FnOnce(&mut RunningProgram) -> T,
    ) -> Option<T> {
        self.running.borrow_mut().get_mut(id).map(f)
    }

    /// Takes a running program, whose end is there.
    pub(crate) fn leave(&self, id: EffectId) -> Option<RunningProgram> {
        self.running.borrow_mut().remove(id)
    }

    /// Carries out what has followed, and what follows from that in turn. Listeners hear of each
    /// step before the next one.
    fn follow(&self, outputs: DriverOutputBatch) {
        let mut answers = self.carry_out_all(outputs);
        self.deliver();
        while let Some(answer) = answers.pop_front() {
            let outputs = self.driver.borrow_mut().handle(answer, self.clock.now());
            match outputs {
                Ok(outputs) => answers.extend(self.carry_out_all(outputs)),
                Err(rejected) => blame(&rejected),
            }
            self.deliver();
        }
        self.arm();
    }

    fn carry_out_all(&self, outputs: DriverOutputBatch) -> VecDeque<Input> {
        let mut answers = VecDeque::new();
        self.log.wait(outputs);
        while let Some(DriverOutputBatch { list, .. }) = self.log.next(&self.callbacks) {
            for output in list {
                match output {
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

    /// Has itself woken at the driver's deadline, or before: each piece of a response puts it off,
    /// and it is cheaper to be woken in vain once than to be put off each time.
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

    /// Hands the waiting events to the package, one batch after the other. A listener may call
    /// back in; what follows from that waits for its turn here.
    fn deliver(&self) {
        if self.delivering.replace(true) {
            return;
        }
        loop {
            let events = std::mem::take(&mut *self.outbox.borrow_mut());
            let Some(first) = events.first() else { break };
            let epoch = first.wall.0.saturating_sub(first.at.0);
            self.callbacks.events(&event_batch::batch(&events), &first.session.0, to_f64(epoch));
        }
        self.delivering.set(false);
    }
}

fn blame(rejected: &RejectedInput) {
    console_error(&format!("innerloop: the host is at fault: {rejected}"));
}
