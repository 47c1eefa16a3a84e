//! The checker: it sees every input and all that follows from it, and says what does not hold.
//! It keeps books of its own and believes nothing that the session says of itself.

mod batches;
mod bounds;
mod durable;
mod effects;
mod events;
mod folds;
mod hooks;
mod order;
mod repairs;
mod requests;
mod results;
mod routing;
mod seen;
mod spending;
mod views;
mod words;

use super::subject::Subject;
use crate::snapshot;
use batches::Batches;
use bounds::Bounds;
use durable::Durable;
use effects::{Effects, Expected};
use events::Events;
use folds::Folds;
use hooks::Hooks;
use innerloop_core::{
    Session,
    config::SessionConfig,
    id::AgentId,
    input::{Command, Input, RejectedInput, RejectionReason},
    output::{Effect, Output, OutputBatch},
    status::AgentState,
    time::SessionInstant,
};
use order::Order;
use repairs::Repairs;
use requests::Requests;
use results::Results;
use seen::{Seen, require};
use spending::Spending;
use views::{Views, changes_view};
use words::Words;

/// Every so many steps, what takes a while is checked.
const OFTEN: u64 = 4;

/// Every so many steps, what takes long is checked too.
const SELDOM: u64 = 8;

/// All books of one run.
#[derive(Debug)]
pub(super) struct Checker {
    config: SessionConfig,
    now: SessionInstant,
    steps: u64,
    batches: Batches,
    bounds: Bounds,
    effects: Effects,
    events: Events,
    folds: Folds,
    hooks: Hooks,
    order: Order,
    repairs: Repairs,
    requests: Requests,
    results: Results,
    spending: Spending,
    views: Views,
    words: Words,
    durable: Durable,
    /// The snapshot before an input that may be refused, and where the agent stood.
    before: Option<Vec<u8>>,
    state: Option<AgentState>,
}

impl Checker {
    pub(super) fn open(subject: &Subject, outputs: &OutputBatch) -> Result<Self, String> {
        let config = subject.config();
        let mut checker = Self {
            durable: Durable::new(&config, outputs),
            config,
            now: SessionInstant(0),
            steps: 0,
            batches: Batches::default(),
            bounds: Bounds::default(),
            effects: Effects::default(),
            events: Events::default(),
            folds: Folds::default(),
            hooks: Hooks::default(),
            order: Order::default(),
            repairs: Repairs::default(),
            requests: Requests::default(),
            results: Results::default(),
            spending: Spending::default(),
            views: Views::default(),
            words: Words::default(),
            before: None,
            state: None,
        };
        let input = Input::Tick;
        let config = checker.config.clone();
        let seen = Seen { input: &input, outputs, now: checker.now, subject, config: &config };
        checker.events.on_outputs(&seen)?;
        Ok(checker)
    }

    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn log(&self) -> &str {
        self.durable.log()
    }

    /// Looks at the session before an input.
    pub(super) fn before(&mut self, input: &Input, subject: &Subject) {
        let may_be_refused = self.effects.expected(input) == Expected::Refusal
            || (matches!(input, Input::Command { .. }) && self.steps.is_multiple_of(4));
        self.before = may_be_refused.then(|| subject.snapshot());
        self.state = subject.session().status(AgentId::ROOT).map(|status| status.state);
    }

    /// Looks at what came of an input.
    pub(super) fn after(
        &mut self,
        input: &Input,
        at: SessionInstant,
        result: &Result<OutputBatch, RejectedInput>,
        subject: &Subject,
    ) -> Result<(), String> {
        self.steps += 1;
        let expected = self.effects.expected(input);
        let outputs = match result {
            Err(rejected) => return self.on_refusal(input, rejected, expected, subject),
            Ok(outputs) => outputs,
        };
        require(expected != Expected::Refusal, || "accepted what must be refused".into())?;
        let is_fit = expected != Expected::Nothing || outputs.is_empty();
        require(is_fit, || format!("a settled effect is answered, and then: {outputs:?}"))?;
        self.now = self.now.max(at);
        self.on_command(input, subject)?;
        let config = self.config.clone();
        let seen = Seen { input, outputs, now: self.now, subject, config: &config };
        self.on_accepted(&seen, at)
    }

    fn on_accepted(&mut self, seen: &Seen<'_>, at: SessionInstant) -> Result<(), String> {
        let (Input::Hook { id, .. } | Input::Lost { id }) = seen.input else {
            self.words.on_input(seen, None);
            return self.on_outputs(seen, at);
        };
        let hook = self.effects.open_hook(*id, Words::point());
        let payload = hook.map(|(_, hook)| hook.payload.text().to_owned());
        self.words.on_input(seen, payload.as_deref());
        self.on_outputs(seen, at)
    }

    fn on_outputs(&mut self, seen: &Seen<'_>, at: SessionInstant) -> Result<(), String> {
        self.effects.on_input(seen);
        self.effects.on_outputs(seen)?;
        self.effects.check_answer(seen)?;
        let ends = self.events.on_outputs(seen)?;
        for end in &ends {
            self.effects.on_call_end(end.agent, &end.call_id);
        }
        self.batches.on_outputs(seen, &ends)?;
        self.folds.on_outputs(seen)?;
        self.bounds.on_outputs(seen, &self.batches)?;
        self.words.on_outputs(seen, &ends);
        Words::check_completed(seen)?;
        self.hooks.on_outputs(seen, &ends)?;
        self.order.on_outputs(seen)?;
        self.repairs.on_outputs(seen);
        self.spending.on_input(seen, self.state == Some(AgentState::Idle))?;
        self.spending.on_outputs(seen)?;
        self.results.on_outputs(seen, &ends, &mut self.hooks)?;
        self.views.on_outputs(seen)?;
        self.requests
            .on_outputs(seen.config.model.wire, seen.outputs, |agent| seen.turns(agent))?;
        routing::check(seen)?;
        self.durable.on_step(seen, seen.input, at)?;
        self.check_time(seen)?;
        if self.steps.is_multiple_of(OFTEN) {
            self.effects.check_owed(seen)?;
        }
        if self.steps.is_multiple_of(SELDOM) {
            self.check_state(seen)?;
            if !seen.subject.is_mutant() {
                Durable::check_snapshot(seen)?;
            }
        }
        Ok(())
    }

    /// What a snapshot says fits the books.
    fn check_state(&self, seen: &Seen<'_>) -> Result<(), String> {
        let state = snapshot::state(&seen.subject.snapshot());
        self.words.check(seen, &state)?;
        self.repairs.check(seen, &state)
    }

    fn on_command(&mut self, input: &Input, subject: &Subject) -> Result<(), String> {
        let Input::Command { agent, command } = input else { return Ok(()) };
        if let Command::Import { turns } = command {
            self.events.on_import(*agent, turns);
        }
        let is_closed = self.state == Some(AgentState::Closed);
        require(!is_closed, || "a command is accepted after Close".into())?;
        if *agent == AgentId::ROOT {
            let is_idle = self.state == Some(AgentState::Idle);
            match command {
                Command::Submit { .. } => {
                    require(is_idle, || "a submit is accepted while busy".into())?;
                    self.events.on_run();
                }
                Command::FollowUp { .. } if is_idle => self.events.on_run(),
                _ if changes_view(input) => {
                    require(is_idle, || "the view changes while busy".into())?;
                }
                _ => {}
            }
        }
        if let Command::Configure { .. } = command {
            self.config = subject.config();
        }
        Ok(())
    }

    fn on_refusal(
        &self,
        input: &Input,
        rejected: &RejectedInput,
        expected: Expected,
        subject: &Subject,
    ) -> Result<(), String> {
        let reason = &rejected.reason;
        require(rejected.input == *input, || "another input comes back".into())?;
        let is_fit = matches!(expected, Expected::Refusal | Expected::Anything);
        require(is_fit, || format!("refused without need: {reason}"))?;
        if let Input::Command { agent: AgentId::ROOT, command } = input {
            let is_closed = self.state == Some(AgentState::Closed);
            let is_idle = self.state == Some(AgentState::Idle);
            let is_fit = match (command, reason) {
                (_, RejectionReason::Closed) => is_closed,
                (Command::Submit { .. } | Command::Compact { .. }, RejectionReason::Busy) => {
                    !is_idle
                }
                (
                    Command::Compact { .. },
                    RejectionReason::Nothing(_) | RejectionReason::Budget,
                ) => is_idle,
                (_, RejectionReason::Busy) => changes_view(input) && !is_idle,
                (_, RejectionReason::Nothing(_)) => self.views.has_nothing(command, subject),
                (Command::Import { .. }, RejectionReason::Import(_)) => true,
                (
                    Command::Submit { options: Some(_), .. }
                    | Command::FollowUp { options: Some(_), .. }
                    | Command::Configure { .. },
                    RejectionReason::Config(_),
                ) => true,
                (_, RejectionReason::Empty) => true,
                _ => false,
            };
            require(is_fit, || format!("refused without need: {reason}"))?;
        }
        let Some(before) = &self.before else { return Ok(()) };
        require(*before == subject.snapshot(), || "a refused input changed something".into())
    }

    /// The deadline moves on, and nobody waits for what cannot come.
    fn check_time(&self, seen: &Seen<'_>) -> Result<(), String> {
        let tick = (*seen.input == Input::Tick).then_some(seen.now);
        let deadline = seen.subject.deadline(tick);
        if let Some(deadline) = deadline.filter(|_| tick.is_some()) {
            require(deadline.at > seen.now, || {
                format!("after a tick at {} the deadline is {deadline:?}", seen.now.0)
            })?;
        }
        let can_go_on = self.effects.open().next().is_some() || deadline.is_some();
        for agent in (0..).map(AgentId) {
            let Some(status) = seen.session().status(agent) else { break };
            let is_root = agent == AgentId::ROOT;
            let waits = match status.state {
                AgentState::Processing | AgentState::AwaitingInput => true,
                AgentState::Closed => is_root && !self.events.is_ended(),
                AgentState::Idle => false,
            };
            require(!waits || can_go_on, || {
                format!("{agent} is {:?}, and nothing can happen any more", status.state)
            })?;
        }
        let is_over = self.events.is_ended() && self.effects.is_any_left();
        require(!is_over, || "the session ended with an effect open".into())
    }

    /// Before and after the session is killed, and at the end: the log and the snapshot give the
    /// session again. Returns the log's session where the subject is none of the mutants. At
    /// `place`, log and snapshot are damaged besides.
    pub(super) fn check_durable(
        &self,
        subject: &Subject,
        place: usize,
    ) -> Result<Option<Session>, String> {
        let (input, outputs) = (Input::Tick, OutputBatch::default());
        let seen =
            Seen { input: &input, outputs: &outputs, now: self.now, subject, config: &self.config };
        self.check_state(&seen)?;
        self.effects.check_owed(&seen)?;
        if subject.is_mutant() {
            return Ok(None);
        }
        Durable::check_snapshot(&seen)?;
        self.durable.check_damaged(&seen, place)?;
        self.durable.replay(subject).map(Some)
    }

    /// After the session was killed and goes on.
    pub(super) fn on_restart(&mut self, subject: &Subject) -> Result<(), String> {
        let (input, outputs) =
            (Input::Lost { id: innerloop_core::id::EffectId(0) }, OutputBatch::default());
        let config = self.config.clone();
        let seen =
            Seen { input: &input, outputs: &outputs, now: self.now, subject, config: &config };
        self.check_state(&seen)?;
        self.effects.check_owed(&seen)?;
        self.durable.check_same(&seen)?;
        self.check_time(&seen)
    }

    /// A fork at any turn can ask a provider at once.
    pub(super) fn check_fork(&self, subject: &Subject, turns: usize) -> Result<(), String> {
        let id = innerloop_core::id::SessionId("fork".into());
        let wall = crate::test_host::EPOCH;
        let wire = self.config.model.wire;
        let (mut fork, _) =
            subject.session().fork(id, turns, wall).map_err(|error| error.to_string())?;
        let input = Input::command(Command::submit(crate::test_host::text("go on")));
        let outputs = fork.handle(input, SessionInstant(0)).map_err(|error| error.to_string())?;
        for output in &outputs {
            if let Output::Effect(Effect::Http { request, .. }) = output {
                let body = String::from_utf8_lossy(&request.body);
                requests::check_body(wire, &body, false)
                    .map_err(|fault| format!("{fault}, in the fork's request {body}"))?;
            }
        }
        Ok(())
    }

    /// To undo and redo is nothing, and to undo is to fork at that turn: the next request is the
    /// same, byte for byte.
    pub(super) fn check_undo(&self, subject: &Subject) -> Result<(), String> {
        if subject.is_mutant() || self.state != Some(AgentState::Idle) {
            return Ok(());
        }
        views::check_undo(subject, self.config.model.wire)
    }

    /// The session has closed, and nothing is owed any more.
    pub(super) fn check_closed(&self) -> Result<(), String> {
        require(self.events.is_ended(), || "the session does not end".into())?;
        require(!self.effects.is_any_left(), || "an effect was never settled".into())
    }
}
