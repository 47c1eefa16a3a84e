//! One session's host: its driver, what is under way for it, and the events on their way out. All
//! that happens comes in through [`Host::report`] or [`Host::tell`]. What is to be done about it
//! is carried out elsewhere, by the function that the host was made with.

use crate::{
    callbacks::Callbacks,
    clock::{Clock, Sleep},
};
use futures::{
    channel::oneshot,
    future::{AbortHandle, abortable},
};
use innerloop_core::{
    event::{Event, EventKind},
    id::{AgentId, ById, EffectId},
    input::{Input, Rejected},
    time::Instant,
};
use innerloop_driver::{Driver, Keys, Output, Outputs, capture::Capture};
use innerloop_json::{ToJson, to_string};
use innerloop_tools::Memory;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// Carries out a thing to do.
pub(crate) type CarryOut = fn(&Rc<Host>, Output);

/// One session and what is under way for it.
pub(crate) struct Host {
    pub(crate) callbacks: Callbacks,
    pub(crate) files: Rc<RefCell<Memory>>,
    pub(crate) driver: RefCell<Driver>,
    carry_out: CarryOut,
    clock: Clock,
    /// What is under way; dropping a sender stops it.
    open: RefCell<ById<EffectId, oneshot::Sender<()>>>,
    /// What running programs have printed.
    captures: RefCell<ById<EffectId, Capture>>,
    outbox: RefCell<Vec<Event>>,
    /// The session's log, if the driver keeps one.
    pub(crate) log: RefCell<String>,
    delivering: Cell<bool>,
    timer: RefCell<Option<Timer>>,
}

/// An event without what is the same for all of a batch.
#[derive(ToJson)]
struct Told<'a> {
    seq: u64,
    at: Instant,
    #[json(skip_serializing_if = "Option::is_none")]
    effect: Option<EffectId>,
    agent: AgentId,
    #[json(flatten)]
    kind: &'a EventKind,
}

/// The wait for the driver's deadline.
struct Timer {
    at: Instant,
    stop: AbortHandle,
}

impl Host {
    /// A host for a driver that has not been started.
    pub(crate) fn new(
        driver: Driver,
        callbacks: Callbacks,
        files: Rc<RefCell<Memory>>,
        carry_out: CarryOut,
    ) -> Self {
        Self {
            callbacks,
            files,
            carry_out,
            clock: Clock::at(driver.session().now()),
            driver: RefCell::new(driver),
            open: RefCell::default(),
            captures: RefCell::default(),
            outbox: RefCell::default(),
            log: RefCell::default(),
            delivering: Cell::new(false),
            timer: RefCell::default(),
        }
    }

    /// Carries out what follows from opening or restoring, once.
    pub(crate) fn start(self: &Rc<Self>) {
        let outputs = self.driver.borrow_mut().start();
        self.follow(outputs);
    }

    /// Hands over an input of the caller.
    ///
    /// # Errors
    /// The session's refusal.
    #[allow(clippy::result_large_err, reason = "the refused input comes back to the caller")]
    pub(crate) fn tell(self: &Rc<Self>, input: Input) -> Result<(), Rejected> {
        let now = self.clock.now();
        let outputs = self.driver.borrow_mut().handle(input, now)?;
        self.follow(outputs);
        Ok(())
    }

    /// Hands over news of what is under way. A refusal would be a fault of this host.
    pub(crate) fn report(self: &Rc<Self>, input: Input) {
        if let Err(rejected) = self.tell(input) {
            console_error(&format!("innerloop: the host is at fault: {rejected}"));
        }
    }

    /// Reports the terminal answer to an effect.
    pub(crate) fn settle(self: &Rc<Self>, id: EffectId, answer: Input) {
        self.open.borrow_mut().remove(id);
        self.captures.borrow_mut().remove(id);
        self.report(answer);
    }

    /// Notes that something is under way. What is returned fires when it is to stop.
    pub(crate) fn enter(&self, id: EffectId) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        self.open.borrow_mut().insert(id, stop);
        stopped
    }

    /// Stops what is under way under that id, if it is.
    pub(crate) fn stop(&self, id: EffectId) {
        // Dropping the sender fires the other end.
        let _stopped = self.open.borrow_mut().remove(id);
    }

    /// The keys that nothing may show.
    pub(crate) fn keys(&self) -> Keys {
        self.driver.borrow().keys().clone()
    }

    /// Begins to keep what a program prints.
    pub(crate) fn keep_output(&self, id: EffectId, capture: Capture) {
        self.captures.borrow_mut().insert(id, capture);
    }

    /// Does `f` to the output of a running program; nothing if it has ended.
    pub(crate) fn with_output<T>(
        &self,
        id: EffectId,
        f: impl FnOnce(&mut Capture) -> T,
    ) -> Option<T> {
        self.captures.borrow_mut().get_mut(id).map(f)
    }

    /// Takes what a program has printed.
    pub(crate) fn take_output(&self, id: EffectId) -> Option<Capture> {
        self.captures.borrow_mut().remove(id)
    }

    fn follow(self: &Rc<Self>, outputs: Outputs) {
        let Outputs { log, snapshot, list, recording: _ } = outputs;
        self.log.borrow_mut().push_str(&log);
        self.log.borrow_mut().push_str(&snapshot.unwrap_or_default());
        for output in list {
            match output {
                Output::Event(event) => self.outbox.borrow_mut().push(event),
                output => (self.carry_out)(self, output),
            }
        }
        self.arm();
        self.deliver();
    }

    /// Sets the timer to the driver's deadline.
    fn arm(self: &Rc<Self>) {
        let due = self.driver.borrow().deadline();
        if self.timer.borrow().as_ref().map(|timer| timer.at) == due {
            return;
        }
        let earlier = self.timer.borrow_mut().take();
        if let Some(timer) = earlier {
            timer.stop.abort();
        }
        let Some(at) = due else { return };
        let host = Rc::downgrade(self);
        let wait = at.ms_since(self.clock.now());
        let (ring, stop) = abortable(async move {
            Sleep::new(wait).await;
            if let Some(host) = host.upgrade() {
                host.timer.borrow_mut().take();
                host.report(Input::Tick);
            }
        });
        *self.timer.borrow_mut() = Some(Timer { at, stop });
        spawn_local(async move {
            // It ends by ringing or by being stopped; either is well.
            let _ended = ring.await;
        });
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
            let told: Vec<Told<'_>> = events.iter().map(Told::of).collect();
            let epoch = first.wall.0.saturating_sub(first.at.0);
            #[expect(clippy::cast_precision_loss, reason = "milliseconds stay far below 2^53")]
            self.callbacks.events(&to_string(&told), &first.session.0, epoch as f64);
        }
        self.delivering.set(false);
    }
}

impl<'a> Told<'a> {
    const fn of(event: &'a Event) -> Self {
        let Event { seq, at, wall: _, session: _, effect, agent, kind } = event;
        Self { seq: *seq, at: *at, effect: *effect, agent: *agent, kind }
    }
}
