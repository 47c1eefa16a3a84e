//! The desk: one session, what is under way for it, and the events on their way out. All that
//! happens goes through [`Desk::report`] or [`Desk::tell`]; what follows is carried out here,
//! without knowing what it is for.

use crate::{
    capture::Capture,
    clock::{Clock, Sleep},
    endpoint::Endpoint,
    host::Host,
    http,
    replay::{self, Fault, Replay},
    tool,
};
use futures::{
    channel::oneshot,
    future::{AbortHandle, abortable},
};
use innerloop_core::{
    Session,
    event::Event,
    id::{AgentId, EffectId, EndpointId},
    input::{Input, Rejected},
    output::{Effect, HttpRequest, Output, Outputs},
    time::Instant,
};
use innerloop_driver::traffic;
use innerloop_tools::Memory;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// One session and its driver.
pub(crate) struct Desk {
    pub(crate) host: Host,
    pub(crate) files: RefCell<Memory>,
    pub(crate) session: RefCell<Session>,
    clock: Clock,
    endpoint: Endpoint,
    replay: Option<Replay>,
    /// What is under way; dropping a sender stops it.
    open: RefCell<BTreeMap<EffectId, oneshot::Sender<()>>>,
    /// What running programs have printed.
    captures: RefCell<BTreeMap<EffectId, Capture>>,
    outbox: RefCell<Vec<Event>>,
    delivering: Cell<bool>,
    timer: RefCell<Option<Timer>>,
    fault: RefCell<Option<Fault>>,
}

/// The wait for the session's deadline.
struct Timer {
    at: Instant,
    stop: AbortHandle,
}

impl Desk {
    /// A desk for a session whose time is `now`.
    pub(crate) fn new(
        host: Host,
        session: Session,
        now: Instant,
        endpoint: Endpoint,
        replay: Option<Replay>,
    ) -> Self {
        Self {
            host,
            files: RefCell::new(Memory::new()),
            session: RefCell::new(session),
            clock: Clock::at(now),
            endpoint,
            replay,
            open: RefCell::default(),
            captures: RefCell::default(),
            outbox: RefCell::default(),
            delivering: Cell::new(false),
            timer: RefCell::default(),
            fault: RefCell::default(),
        }
    }

    /// Hands an input of the caller to the session.
    ///
    /// # Errors
    /// The session's refusal.
    #[allow(clippy::result_large_err, reason = "the refused input comes back to the caller")]
    pub(crate) fn tell(self: &Rc<Self>, input: Input) -> Result<(), Rejected> {
        let now = self.clock.now();
        let outputs = self.session.borrow_mut().handle(input, now)?;
        self.follow(outputs);
        Ok(())
    }

    /// Hands the session news of an effect. A refusal would be a fault of this driver.
    pub(crate) fn report(self: &Rc<Self>, input: Input) {
        if let Err(rejected) = self.tell(input) {
            console_error(&format!("innerloop: the driver is at fault: {rejected}"));
        }
    }

    /// Reports the terminal answer to an effect.
    pub(crate) fn settle(self: &Rc<Self>, id: EffectId, answer: Input) {
        self.open.borrow_mut().remove(&id);
        self.captures.borrow_mut().remove(&id);
        self.report(answer);
    }

    /// Carries out what follows from an input, and hands the events on.
    pub(crate) fn follow(self: &Rc<Self>, outputs: Outputs) {
        for output in outputs {
            match output {
                Output::Event(event) => self.outbox.borrow_mut().push(event),
                Output::Effect(effect) => self.carry_out(effect),
            }
        }
        self.arm();
        self.deliver();
    }

    /// The endpoint of that name.
    pub(crate) fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        Some(&self.endpoint).filter(|endpoint| endpoint.is(id))
    }

    /// Keeps why the recording does not fit.
    pub(crate) fn record_fault(&self, fault: Fault) {
        *self.fault.borrow_mut() = Some(fault);
    }

    /// Takes why the recording did not fit.
    pub(crate) fn take_fault(&self) -> Option<Fault> {
        self.fault.borrow_mut().take()
    }

    /// Does `f` to the output of a running program; nothing if it has ended.
    pub(crate) fn with_capture(&self, id: EffectId, f: impl FnOnce(&mut Capture)) {
        if self.open.borrow().contains_key(&id) {
            f(self.captures.borrow_mut().entry(id).or_default());
        }
    }

    /// Takes what a program has printed.
    pub(crate) fn take_capture(&self, id: EffectId) -> Capture {
        self.captures.borrow_mut().remove(&id).unwrap_or_default()
    }

    fn carry_out(self: &Rc<Self>, effect: Effect) {
        match effect {
            Effect::Http { id, agent, request, .. } => self.exchange(id, agent, request),
            Effect::RunTool { id, run, .. } => {
                let cancel = self.enter(id);
                spawn_local(tool::run(self.clone(), id, run, cancel));
            }
            Effect::Cancel { id, .. } => {
                // Dropping the sender fires the other end; a settled effect has none.
                let _stopped = self.open.borrow_mut().remove(&id);
            }
            Effect::Ask { id, .. } | Effect::RunHook { id, .. } => {
                let desk = self.clone();
                spawn_local(async move { desk.report(Input::Lost { id }) });
            }
        }
    }

    fn exchange(self: &Rc<Self>, id: EffectId, agent: AgentId, request: HttpRequest) {
        let cancel = self.enter(id);
        let Some(replay) = &self.replay else {
            spawn_local(http::exchange(self.clone(), id, request, cancel));
            return;
        };
        let said = self.session.borrow().history(agent).map(traffic::said);
        let answer = replay.next(&said.unwrap_or_default());
        spawn_local(replay::play(self.clone(), id, answer, replay.pace_ms(), cancel));
    }

    fn enter(&self, id: EffectId) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        self.open.borrow_mut().insert(id, stop);
        stopped
    }

    /// Sets the timer to the session's deadline.
    fn arm(self: &Rc<Self>) {
        let due = self.session.borrow().deadline().map(|deadline| deadline.at);
        if self.timer.borrow().as_ref().map(|timer| timer.at) == due {
            return;
        }
        let earlier = self.timer.borrow_mut().take();
        if let Some(timer) = earlier {
            timer.stop.abort();
        }
        let Some(at) = due else { return };
        let desk = Rc::downgrade(self);
        let wait = at.ms_since(self.clock.now());
        let (ring, stop) = abortable(async move {
            Sleep::new(wait).await;
            if let Some(desk) = desk.upgrade() {
                desk.timer.borrow_mut().take();
                desk.report(Input::Tick);
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
            if events.is_empty() {
                break;
            }
            match serde_json::to_string(&events) {
                Ok(batch) => self.host.events(&batch),
                Err(error) => console_error(&format!("innerloop: an event is no JSON: {error}")),
            }
        }
        self.delivering.set(false);
    }
}
