//! One session's host in the page: its driver, and the tasks of its effects. All inputs come
//! through [`SessionHost::tell`] and [`SessionHost::report`]. Waiting tasks hold the host only
//! weakly, so that it is dropped with its last handle, and the tasks with it.

use crate::{
    approvals::UserCallbacks,
    clock::SessionClock,
    files::MemoryFiles,
    hooks::HookTable,
    http,
    tool::{self, LONGEST_MS, Tool},
    watchers::EventSubscribers,
};
use futures::future::{AbortHandle, abortable};
use gloo_timers::callback::Timeout;
use innerloop_core::{
    action::Outcome,
    id::{AgentId, EffectId},
    input::{Input, RejectedInput, ToolInput},
    time::SessionInstant,
    tool::{Job, ToolRun, ToolSpec},
};
use innerloop_driver::{
    ApiKey, Driver, DriverOutput, DriverOutputBatch, HostCapabilities as Asked, custom_tool_outcome,
};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    rc::{Rc, Weak},
    sync::Arc,
};
use wasm_bindgen_futures::spawn_local;

/// The resources that a session shares with its forks.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionResources {
    pub(crate) files: MemoryFiles,
    pub(crate) tools: Vec<Tool>,
    pub(crate) people: UserCallbacks,
    pub(crate) hooks: HookTable,
    /// The key that has replaced the first one, if any.
    pub(crate) key: Option<ApiKey>,
}

impl SessionResources {
    /// Returns the questions and hooks for which the page has functions.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            approve: self.people.approves(),
            answer: self.people.answers(),
            hooks: self.hooks.points(),
        }
    }

    /// Returns the specifications of the page's own tools, as the model sees them.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }
}

/// One session with its host's state.
pub(crate) struct SessionHost {
    pub(crate) driver: RefCell<Driver>,
    pub(crate) site: RefCell<SessionResources>,
    pub(crate) watchers: RefCell<EventSubscribers>,
    clock: SessionClock,
    has_begun: Cell<bool>,
    open: RefCell<BTreeMap<EffectId, PageTask>>,
    timer: RefCell<Option<WakeTimer>>,
    own: Weak<Self>,
}

/// A task of the page, which is aborted on drop.
struct PageTask {
    abort: AbortHandle,
    /// True if it is a tool's run, which must answer even if it is stopped.
    is_run: bool,
}

impl Drop for PageTask {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// The timer by which the page wakes the host. Dropping it cancels it.
struct WakeTimer {
    at: SessionInstant,
    _timeout: Timeout,
}

impl SessionHost {
    /// Creates the host of a driver that has not been started. The session begins on the next turn
    /// of the page's event loop, or with the first command, so that a caller can subscribe before
    /// its first event.
    pub(crate) fn new(driver: Driver, site: SessionResources) -> Rc<Self> {
        let clock = SessionClock::at(driver.session().now());
        let host = Rc::new_cyclic(|own| Self {
            driver: driver.into(),
            site: site.into(),
            watchers: RefCell::default(),
            clock,
            has_begun: Cell::new(false),
            open: RefCell::default(),
            timer: RefCell::default(),
            own: own.clone(),
        });
        // Without a command a restored session would never go on with its run.
        let own = host.own.clone();
        spawn_local(async move { own.upgrade().into_iter().for_each(|host| host.begin()) });
        host
    }

    /// Carries out the outputs of the opening or the restart, once.
    fn begin(&self) {
        if !self.has_begun.replace(true) {
            let outputs = self.driver.borrow_mut().start();
            self.follow(outputs);
        }
    }

    /// Handles an input of the caller.
    ///
    /// # Errors
    /// The session's refusal.
    #[expect(clippy::result_large_err, reason = "the refused input comes back to the caller")]
    pub(crate) fn tell(&self, input: Input) -> Result<(), RejectedInput> {
        self.begin();
        let now = self.clock.now();
        let outputs = self.driver.borrow_mut().handle(input, now)?;
        self.follow(outputs);
        Ok(())
    }

    /// Handles a report on an effect.
    fn report(&self, input: Input) {
        let heard = self.tell(input);
        debug_assert!(heard.is_ok(), "{heard:?}");
    }

    /// Carries out a step's outputs, and the outputs of the steps that follow.
    fn follow(&self, outputs: DriverOutputBatch) {
        let mut answers = VecDeque::new();
        self.carry_out_all(outputs, &mut answers);
        while let Some(answer) = answers.pop_front() {
            let now = self.clock.now();
            // In a statement of its own: carrying out effects borrows the driver again.
            let heard = self.driver.borrow_mut().handle(answer, now);
            debug_assert!(heard.is_ok(), "{heard:?}");
            if let Ok(outputs) = heard {
                self.carry_out_all(outputs, &mut answers);
            }
        }
        self.arm();
    }

    fn carry_out_all(&self, outputs: DriverOutputBatch, answers: &mut VecDeque<Input>) {
        for output in outputs.list {
            answers.extend(self.carry_out(output));
        }
    }

    /// Begins an effect, and returns its answer if it is already known.
    fn carry_out(&self, output: DriverOutput) -> Option<Input> {
        match output {
            DriverOutput::Event(event) => self.watchers.borrow_mut().tell(&event),
            DriverOutput::Send { id, request } => {
                let own = self.own.clone();
                let report = move |input| report_to(&own, Input::Http { id, input });
                self.spawn(id, false, async move {
                    Input::Http { id, input: http::exchange(request, report).await }
                });
            }
            DriverOutput::Run { id, run, .. } => return self.run_tool(id, run),
            DriverOutput::Ask { id, agent, ask } => {
                let people = self.site.borrow().people.clone();
                self.spawn(id, false, async move {
                    Input::Answer { id, answer: people.answer(agent, ask).await }
                });
            }
            DriverOutput::Hook { id, hook, .. } => {
                let hooks = self.site.borrow().hooks.clone();
                self.spawn(
                    id,
                    false,
                    async move { Input::Hook { id, reply: hooks.reply(hook).await } },
                );
            }
            DriverOutput::Cancel { id } => {
                // Removed before it is answered, so that the task can no longer report: each effect
                // has one terminal answer.
                let stopped = self.open.borrow_mut().remove(&id);
                return stopped
                    .filter(|task| task.is_run)
                    .map(|_| done(id, custom_tool_outcome::interrupted()));
            }
        }
        None
    }

    /// Runs a tool: a built-in one over the files at once, or one of the page's own. Returns its
    /// answer if it is already known.
    fn run_tool(&self, id: EffectId, run: Arc<ToolRun>) -> Option<Input> {
        let site = self.site.borrow();
        let arguments = match &run.job {
            Job::Builtin(action) => {
                let known = run.known.as_deref();
                return Some(done(id, site.files.perform(&run.folder, action, known)));
            }
            Job::Custom(arguments) => arguments.clone(),
            // The driver answers these, and hands none on.
            Job::Kept(_) => return None,
        };
        let tool = site.tools.iter().find(|tool| tool.spec().name == run.name).cloned();
        let own = self.own.clone();
        let on_delta = Rc::new(move |text: &str| {
            let input = Input::Tool { id, input: ToolInput::Delta(text.to_owned()) };
            report_to(&own, input);
        });
        self.spawn(id, true, async move {
            done(id, tool::carry_out(tool, run, arguments, on_delta).await)
        });
        None
    }

    /// Spawns a task that ends with the answer of an effect.
    fn spawn(&self, id: EffectId, is_run: bool, work: impl Future<Output = Input> + 'static) {
        let (work, abort) = abortable(work);
        self.open.borrow_mut().insert(id, PageTask { abort, is_run });
        let own = self.own.clone();
        spawn_local(async move {
            // The host is looked for only when the work is done: a task that kept it alive would
            // make the page pay for an agent that nobody holds any more.
            if let Ok(answer) = work.await
                && let Some(host) = own.upgrade()
                && host.open.borrow_mut().remove(&id).is_some()
            {
                host.report(answer);
            }
        });
    }

    /// Sets the timer to the driver's deadline, or earlier. Each piece of a response postpones the
    /// deadline, and one unnecessary wake-up is cheaper than a new timer each time.
    fn arm(&self) {
        let due = self.driver.borrow().deadline();
        let armed = self.timer.borrow().as_ref().map(|timer| timer.at);
        let is_armed = match (armed, due) {
            (Some(armed), Some(due)) => armed <= due,
            (armed, due) => armed == due,
        };
        if is_armed {
            return;
        }
        let timer = due.map(|at| {
            // Woken early by a timer that cannot take as long, the host sets it again.
            let ms = at.ms_since(self.clock.now()).min(LONGEST_MS);
            let own = self.own.clone();
            let wake = move || own.upgrade().into_iter().for_each(|host| host.wake());
            let ms = u32::try_from(ms).unwrap_or(u32::MAX);
            WakeTimer { at, _timeout: Timeout::new(ms, wake) }
        });
        drop(self.timer.replace(timer));
    }

    /// Sends a tick if the driver's deadline has passed, otherwise sets the timer again.
    fn wake(&self) {
        drop(self.timer.take());
        let due = self.driver.borrow().deadline();
        match due {
            Some(due) if due <= self.clock.now() => self.report(Input::Tick),
            _ => self.arm(),
        }
    }
}

/// Passes reports on an effect to its host, as long as the effect is open.
fn report_to(host: &Weak<SessionHost>, input: Input) {
    let (Input::Http { id, .. } | Input::Tool { id, .. }) = &input else { return };
    if let Some(host) = host.upgrade()
        && host.open.borrow().contains_key(id)
    {
        host.report(input);
    }
}

const fn done(id: EffectId, outcome: Outcome) -> Input {
    Input::Tool { id, input: ToolInput::Done(outcome) }
}

/// The session's own agent, which takes prompts.
pub(crate) const ROOT: AgentId = AgentId::ROOT;
