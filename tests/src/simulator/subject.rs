//! The session under test, or a mutant of it: a session with a fault put around it, by which the
//! checker shows that it bites.

use crate::test_host::EPOCH;
use innerloop_core::{
    Session,
    bytes::BodyBytes,
    config::{ExecMode, HookPoint, SessionConfig},
    corrections::ReplyFault,
    event::{Event, EventKind},
    id::{AgentId, EffectId},
    input::{Command, HookReply, Input, RejectedInput},
    json::Map,
    message::{FoldKind, Part, Turn, TurnKind},
    output::{Deadline, DeadlineReason, Effect, HttpRequest, Output, OutputBatch},
    time::{SessionInstant, UnixMillis},
};
use serde_json::Value;
use std::sync::Arc;

/// A fault put around a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A steer is accepted and forgotten.
    LostSteer,
    /// A follow-up is accepted and forgotten.
    LostFollowUp,
    /// A request answers a call twice.
    DoubleResult,
    /// A request leaves a call without its answer.
    DanglingCall,
    /// A request gives the answers of a reply in another order.
    SwappedResults,
    /// A request rewrites what an earlier one said.
    RewrittenPrefix,
    /// The time of events goes back.
    ClockBack,
    /// A number is left out between events.
    NumberGap,
    /// An effect comes out twice.
    EffectTwice,
    /// A settled effect is asked for again.
    EffectAgain,
    /// A snapshot forgets what waits to be said.
    ForgetfulSnapshot,
    /// A snapshot forgets a turn.
    ForgottenTurn,
    /// An open effect is not among those that are owed.
    NotOwed,
    /// A run ends without saying so.
    SilentEnd,
    /// A call ends without saying so.
    SilentCall,
    /// A deadline stays after its tick.
    StuckDeadline,
    /// Something comes out after the session has closed.
    LateWord,
    /// A refused input changes something all the same.
    RefusalActs,
    /// What writes runs beside other calls, and before those that a person looks at.
    Overtaking,
    /// What a hook says of a tool's outcome goes unheard.
    DeafToHooks,
    /// What a hook says of a call that is to run goes unheard.
    DeafBefore,
    /// More agents are open than the host allows.
    MoreAgents,
    /// Agents are nested deeper than the host allows.
    DeeperAgents,
    /// Replies that were cut are counted on where they were not cut in a row.
    CountsOn,
    /// A limit stops a run that has not reached it.
    EarlyLimit,
    /// Behind a fold, a call is parted from its results.
    PartedPair,
    /// Behind a fold, the input under way is forgotten.
    ForgottenPin,
    /// A summary is shown as if the model said it to the user.
    ShownSummary,
    /// One step more is taken back than was asked for.
    UndoesMore,
    /// Steps are said to be taken back, and stay.
    FeignedUndo,
    /// That earlier requests no longer fit is not said.
    UntoldRebase,
    /// More is spent than the host allows.
    SpendsMore,
    /// A snapshot forgets what was spent.
    ForgetfulPurse,
    /// Runs take longer than the host allows.
    LateEnd,
    /// A run ends although it has not spent all that it may.
    EarlyBudget,
    /// The hook before the end sends the model back to work for ever.
    EndlessDenials,
    /// Replies are continued and corrected for ever.
    EndlessCorrections,
    /// A model that has failed is asked although another one has taken over.
    Misrouted,
}

/// How many times as much a mutant takes that takes more.
const MORE: u64 = 8;

/// Says how often replies are continued, and those after a call corrected.
fn correct_by(config: &mut SessionConfig, most: u32) {
    config.repair.continue_on_length = most;
    let policy = &mut config.corrections;
    for fault in ReplyFault::ALL.into_iter().filter(|fault| fault.is_after_calls()) {
        policy.faults.insert(fault.name().to_owned(), most);
    }
    (policy.max_after_calls, policy.max_per_run) = (most, most);
}

/// A session, or a mutant of one.
#[derive(Debug)]
pub(super) struct Subject {
    session: Session,
    mutation: Option<Mutation>,
    /// The ways of running calls that the host asked for.
    exec_modes: Map<ExecMode>,
    /// By how much the numbers of events are off.
    shift: i64,
    /// The number of the last event.
    seq: u64,
    /// A tool's run that was settled.
    settled: Option<Effect>,
    closed: bool,
}

impl Subject {
    pub(super) fn open(
        mut config: SessionConfig,
        mutation: Option<Mutation>,
    ) -> (Self, OutputBatch) {
        let exec_modes = config.exec_modes.clone();
        if mutation == Some(Mutation::Overtaking) {
            let modes = ["write_file", "deploy"].map(|name| (name.to_owned(), ExecMode::Parallel));
            config.exec_modes.extend(modes);
        }
        let limits = &mut config.limits;
        for spend in [&mut limits.run, &mut limits.session] {
            match mutation {
                Some(Mutation::SpendsMore) => {
                    spend.tokens *= MORE;
                    spend.cost_nano_usd *= MORE;
                }
                Some(Mutation::LateEnd) => spend.ms *= MORE,
                _ => {}
            }
        }
        match mutation {
            Some(Mutation::EndlessDenials) => {
                config.hooks.points.push(HookPoint::BeforeStop);
                config.hooks.max_denials = u32::MAX;
            }
            Some(Mutation::EndlessCorrections) => correct_by(&mut config, u32::MAX),
            _ => {}
        }
        let (session, outputs) = Session::open(config, EPOCH).expect("a configuration that opens");
        let (shift, seq, settled, closed) = (0, 1, None, false);
        (Self { session, mutation, exec_modes, shift, seq, settled, closed }, outputs)
    }

    /// The configuration in force as the host asked for it: a mutant may have another.
    pub(super) fn config(&self) -> SessionConfig {
        let mut config = self.session.config().clone();
        config.exec_modes = self.exec_modes.clone();
        let least = &mut config.subagents;
        match self.mutation {
            Some(Mutation::MoreAgents) => least.max_open = least.max_open.saturating_sub(1),
            Some(Mutation::SpendsMore) => {
                for spend in [&mut config.limits.run, &mut config.limits.session] {
                    spend.tokens /= MORE;
                    spend.cost_nano_usd /= MORE;
                }
            }
            Some(Mutation::LateEnd) => {
                config.limits.run.ms /= MORE;
                config.limits.session.ms /= MORE;
            }
            Some(Mutation::EndlessDenials) => config.hooks.max_denials = 0,
            Some(Mutation::EndlessCorrections) => correct_by(&mut config, 0),
            Some(Mutation::DeeperAgents) => least.max_depth = least.max_depth.saturating_sub(1),
            _ => {}
        }
        config
    }

    /// The session itself, for questions that no mutation touches.
    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    pub(super) const fn is_mutant(&self) -> bool {
        self.mutation.is_some()
    }

    #[expect(clippy::result_large_err, reason = "the refused input is what is looked at")]
    pub(super) fn handle(
        &mut self,
        input: Input,
        now: SessionInstant,
    ) -> Result<OutputBatch, RejectedInput> {
        let forgets = match &input {
            Input::Command { command: Command::Steer { .. }, .. } => Mutation::LostSteer,
            Input::Command { command: Command::FollowUp { .. }, .. } => Mutation::LostFollowUp,
            _ => Mutation::NumberGap,
        };
        if forgets != Mutation::NumberGap && self.mutation == Some(forgets) && !self.closed {
            return Ok(OutputBatch::default());
        }
        let feigned = (self.mutation == Some(Mutation::FeignedUndo)
            && matches!(input, Input::Command { command: Command::Undo { .. }, .. }))
        .then(|| self.session.snapshot());
        match self.session.handle(self.misheard(input), now) {
            Ok(outputs) if feigned.is_some() => {
                let wall = UnixMillis(EPOCH.0 + self.session.now().0);
                let before = Session::restore(&feigned.unwrap_or_default(), wall);
                self.session = before.expect("a snapshot that was just made");
                let events = outputs.events().count();
                let outputs = self.mutate(outputs);
                self.shift += i64::try_from(events).unwrap_or(0);
                Ok(outputs)
            }
            Ok(outputs) => Ok(self.mutate(outputs)),
            Err(rejected) => {
                if self.mutation == Some(Mutation::RefusalActs) {
                    let parts = vec![innerloop_core::message::Part::text("?")];
                    let _ = self.session.handle(Input::command(Command::Steer { parts }), now);
                }
                Err(rejected)
            }
        }
    }

    /// The input as the mutant hears it.
    fn misheard(&self, mut input: Input) -> Input {
        if let Input::Command { command: Command::Undo { steps }, .. } = &mut input
            && self.mutation == Some(Mutation::UndoesMore)
        {
            *steps += 1;
        }
        let deaf_at = match self.mutation {
            Some(Mutation::DeafToHooks) => HookPoint::AfterTool,
            Some(Mutation::DeafBefore) => HookPoint::BeforeTool,
            _ => return input,
        };
        if let Input::Hook { id, reply } = &mut input {
            let is_deaf = self.session.owed().effects().any(|effect| match effect {
                Effect::RunHook { id: open, hook, .. } => open == id && hook.point == deaf_at,
                _ => false,
            });
            if is_deaf {
                *reply = HookReply::Allow;
            }
        }
        input
    }

    pub(super) fn deadline(&self, last_tick: Option<SessionInstant>) -> Option<Deadline> {
        let stuck = last_tick.filter(|_| self.mutation == Some(Mutation::StuckDeadline));
        stuck
            .map(|at| Deadline { at, reason: DeadlineReason::Wait })
            .or_else(|| self.session.deadline())
    }

    pub(super) fn owed(&self) -> OutputBatch {
        let mut owed = self.session.owed();
        if self.mutation == Some(Mutation::NotOwed) {
            owed.0.pop();
        }
        owed
    }

    pub(super) fn snapshot(&self) -> Vec<u8> {
        let snapshot = self.session.snapshot();
        if self.mutation == Some(Mutation::ForgetfulPurse) {
            return without_purse(&snapshot);
        }
        let forgets = [Mutation::ForgetfulSnapshot, Mutation::ForgottenTurn, Mutation::CountsOn];
        if !self.mutation.is_some_and(|mutation| forgets.contains(&mutation)) {
            return snapshot;
        }
        let mut state = crate::snapshot::state(&snapshot);
        if self.mutation == Some(Mutation::CountsOn) {
            state["agents"][0]["run"]["repairs"]["cut"] = 3.into();
        } else if self.mutation == Some(Mutation::ForgetfulSnapshot) {
            for queue in ["steering", "follow_ups"] {
                state["agents"][0][queue] = Value::Array(Vec::new());
            }
        } else if let Some(turns) = state["agents"][0]["turns"].as_array_mut() {
            turns.pop();
        }
        crate::snapshot::with_state(&snapshot, &state.to_string())
    }

    /// Goes on from a snapshot at session time `now`.
    pub(super) fn restart(&mut self, snapshot: &[u8], now: SessionInstant) -> Result<(), String> {
        let wall = UnixMillis(EPOCH.0 + now.0);
        self.session = Session::restore(snapshot, wall).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Goes on with a session that was made again.
    pub(super) fn become_session(&mut self, session: Session) {
        self.session = session;
    }

    fn mutate(&mut self, outputs: OutputBatch) -> OutputBatch {
        let Some(mutation) = self.mutation else { return outputs };
        let now = self.session.now();
        let mut mutated = Vec::new();
        for output in outputs {
            match output {
                Output::Event(event) => self.mutate_event(mutation, event, &mut mutated),
                Output::Effect(effect) => self.mutate_effect(mutation, effect, &mut mutated),
            }
        }
        if mutation == Mutation::LateWord && self.closed {
            let kind = EventKind::Warning { message: "late".into() };
            self.shift += 1;
            let seq = self.seq + 1;
            let session = Arc::new(self.session.id().clone());
            let (wall, agent, effect) = (UnixMillis(0), AgentId::ROOT, None);
            mutated.push(Output::Event(Event { seq, at: now, wall, session, agent, effect, kind }));
        }
        OutputBatch(mutated)
    }

    fn mutate_event(&mut self, mutation: Mutation, mut event: Event, out: &mut Vec<Output>) {
        let is_dropped = match &event.kind {
            EventKind::ProcessingEnd { .. } => mutation == Mutation::SilentEnd,
            EventKind::ToolCallEnd { .. } => mutation == Mutation::SilentCall,
            EventKind::PrefixRebased { .. } => mutation == Mutation::UntoldRebase,
            _ => false,
        };
        if let EventKind::SessionEnd { .. } = event.kind {
            self.closed = true;
        }
        if is_dropped {
            self.shift -= 1;
            return;
        }
        if mutation == Mutation::NumberGap && event.seq == 20 {
            self.shift += 1;
        }
        if let EventKind::TurnLimit { value, .. } = &mut event.kind
            && mutation == Mutation::EarlyLimit
        {
            *value += 1;
        }
        if let EventKind::BudgetLimit { limit, .. } = &mut event.kind
            && mutation == Mutation::EarlyBudget
        {
            *limit *= 2;
        }
        if mutation == Mutation::ClockBack && event.seq.is_multiple_of(20) {
            event.at = SessionInstant(event.at.0.saturating_sub(1));
        }
        event.seq = event.seq.saturating_add_signed(self.shift);
        self.seq = event.seq;
        let summary = match &event.kind {
            EventKind::Compacted { kind: FoldKind::Summary, text, .. } => text.clone(),
            _ => None,
        };
        let shown = summary.filter(|_| mutation == Mutation::ShownSummary).map(|text| {
            self.shift += 1;
            let kind = EventKind::AssistantTextDelta { text };
            Event { seq: event.seq + 1, kind, ..event.clone() }
        });
        out.push(Output::Event(event));
        out.extend(shown.map(Output::Event));
    }

    fn mutate_effect(&mut self, mutation: Mutation, effect: Effect, out: &mut Vec<Output>) {
        let effect = match effect {
            Effect::Http { id, agent, mut request, purpose } => {
                if mutation == Mutation::Misrouted {
                    request.endpoint = self.session.config().model.endpoint.clone();
                }
                let request = self.refolded(mutation, agent, mutate_request(mutation, request));
                Effect::Http { id, agent, request, purpose }
            }
            other => other,
        };
        if let Effect::RunTool { .. } = effect {
            if mutation == Mutation::EffectTwice {
                out.push(Output::Effect(effect.clone()));
            }
            if mutation == Mutation::EffectAgain {
                let before = self.settled.replace(effect.clone());
                let is_settled = |id: EffectId| !self.is_owed(id);
                if let Some(before) = before.filter(|before| is_settled(before.id())) {
                    out.push(Output::Effect(before));
                }
            }
        }
        out.push(Output::Effect(effect));
    }

    /// A request behind a fold, as the mutant makes it.
    fn refolded(&self, mutation: Mutation, agent: AgentId, request: HttpRequest) -> HttpRequest {
        let turns = self.session.history(agent).map_or(&[][..], |history| history.turns());
        let is_fold = |turn: &Turn| matches!(&turn.kind, TurnKind::Folded(fold) if fold.upto > 0);
        if !turns.iter().any(is_fold) {
            return request;
        }
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let text = match mutation {
            Mutation::PartedPair => without_results(&text),
            Mutation::ForgottenPin => {
                let input = turns.iter().rev().find_map(|turn| match &turn.kind {
                    TurnKind::User(parts) => parts.first().and_then(Part::as_text),
                    _ => None,
                });
                let json = serde_json::to_string(input.unwrap_or_default()).unwrap_or_default();
                text.replace(json.trim_matches('"'), "?")
            }
            _ => return request,
        };
        HttpRequest { body: BodyBytes(text.into_bytes()), ..request }
    }

    fn is_owed(&self, id: EffectId) -> bool {
        self.session.owed().effects().any(|effect| effect.id() == id)
    }
}

/// The snapshot without what was spent.
fn without_purse(snapshot: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(snapshot);
    // The configuration has agents, too: those that have a name.
    let places = [r#""state":"#, r#""purse":"#, r#""agents":[{"id":0"#].map(|key| text.find(key));
    let [Some(state), Some(purse), Some(agents)] = places else { return snapshot.to_vec() };
    // What is cancelled stands between them.
    let behind = text[purse..agents].find(r#""cancelled":"#).map_or(agents, |at| purse + at);
    let (before, after) = (&text[state + 8..purse], &text[behind..text.len() - 1]);
    crate::snapshot::with_state(snapshot, &format!("{before}\"purse\":{{}},{after}"))
}

fn mutate_request(mutation: Mutation, request: HttpRequest) -> HttpRequest {
    let mut text = String::from_utf8_lossy(&request.body).into_owned();
    let start = "{\"type\":\"tool_result\"";
    let Some(first) = text.find(start) else { return request };
    let second = text[first + 1..].find(start).map(|at| first + 1 + at);
    match (mutation, second) {
        (Mutation::DoubleResult, _) => {
            text.insert_str(first, &format!("{},", result(&text, first)));
        }
        (Mutation::DanglingCall, Some(second)) => text.replace_range(first..second, ""),
        (Mutation::SwappedResults, Some(second)) => {
            let (one, two) = (result(&text, first), result(&text, second));
            text.replace_range(second..second + two.len(), &one);
            text.replace_range(first..first + one.len(), &two);
        }
        (Mutation::RewrittenPrefix, _) => {
            text = text.replacen("\"role\":\"user\"", "\"role\": \"user\"", 1);
        }
        _ => return request,
    }
    HttpRequest { body: BodyBytes(text.into_bytes()), ..request }
}

/// The body without the first answer to a call.
fn without_results(text: &str) -> String {
    match text.find("{\"type\":\"tool_result\"") {
        Some(first) => text.replacen(&result(text, first), "{\"type\":\"note\"}", 1),
        None => text.to_owned(),
    }
}

/// The object that starts at `at`.
fn result(text: &str, at: usize) -> String {
    let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    let _ = values.next();
    text[at..at + values.byte_offset()].to_owned()
}
