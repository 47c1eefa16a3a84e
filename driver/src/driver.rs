//! A session with the effects that are in flight for it. A driver works as the session does: it
//! takes what happened, returns what follows, and does no I/O. Between host and session it masks
//! keys, encodes the log, records or replays model traffic, and answers the questions for which the
//! host has nobody. Each input that counts is in the log, so that the log alone gives the session.

use crate::{
    endpoints::EndpointTable,
    firewall::{SessionFirewall, UntrustedFrame, salted},
    in_flight::InFlightEffect,
    journal::SessionLogEncoder,
    kept_results::KeptResults,
    mask_assembled, mask_input,
    masking::SecretKeys,
    options::{DriverOptions, ModelSource},
    output::{DriverOutput, DriverOutputBatch},
    playback,
    secret_key::ApiKey,
    traffic::{TrafficError, said},
    unattended::HostCapabilities,
};
use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use core::mem;
use innerloop_core::{
    Session, SessionBlueprint,
    config::{ConfigError, SessionConfig},
    event::EventKind,
    id::{AgentId, ById, EffectId, SessionId},
    input::{Command, HttpInput, Input, RejectedInput, ToolInput},
    output::{Effect, HttpRequest, Output as SessionOutput, OutputBatch as SessionOutputs},
    status::AgentState,
    time::{SessionInstant, UnixMillis},
    tool::Job,
};
use innerloop_json::IntoList;

/// A session with the effects that are in flight for it.
#[derive(Debug)]
pub struct Driver {
    session: Session,
    endpoints: EndpointTable,
    firewall: SessionFirewall,
    models: ModelSource,
    people: HostCapabilities,
    journal: SessionLogEncoder,
    /// The effects that have been issued and have no answer yet.
    open: ById<EffectId, InFlightEffect>,
    /// The outputs of tools of which the model has read only a part.
    results: KeptResults,
    /// The outputs that follow from the opening, until [`Driver::start`].
    opening: Option<Box<OpeningOutputs>>,
    replay_error: Option<Box<TrafficError>>,
    was_idle: bool,
    /// True if the session has assembled a key from pieces that hold none.
    pub(crate) holds_key: bool,
    /// The first effect that a restored session has issued since; absent if it was not restored.
    /// Answers to earlier effects that are not open here may still count, since those may have
    /// been cancelled before the restart.
    first_own: Option<EffectId>,
}

/// The outputs that follow from the opening.
#[derive(Debug)]
pub(crate) struct OpeningOutputs {
    pub(crate) log: String,
    pub(crate) outputs: SessionOutputs,
    pub(crate) owed: OwedEffects,
}

/// The effects among the opening's outputs that were issued before a restart, perhaps to a host
/// that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwedEffects {
    /// None: the session is new.
    Nothing,
    /// All; tools' runs are reported as lost.
    LostRuns,
    /// All; the host knows what became of tools' runs.
    #[cfg(feature = "log")]
    Runs,
}

/// The work that one input leads to: the inputs still to be handled, and the outputs so far.
struct InputWorklist {
    now: SessionInstant,
    queue: Vec<Input>,
    outputs: DriverOutputBatch,
}

impl Driver {
    /// Opens a session; session time starts at 0, which is `wall`. Keys of the endpoints are masked
    /// in the configuration.
    ///
    /// # Errors
    /// The field of the configuration that cannot work, and why.
    pub fn open(
        config: SessionConfig,
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, ConfigError> {
        let id = config.id.clone();
        Self::open_as(&Self::blueprint(config, &parts)?, id, wall, parts)
    }

    /// Returns what sessions of one configuration share, for drivers that work with these options.
    ///
    /// # Errors
    /// As [`Driver::open`].
    pub fn blueprint(
        config: SessionConfig,
        parts: &DriverOptions,
    ) -> Result<SessionBlueprint, ConfigError> {
        let config = salted(config);
        let firewall = SessionFirewall::new(&parts.endpoints, &config.firewall);
        SessionBlueprint::new(mask_input::masked_config(&firewall, config)?)
    }

    /// Opens a session of a blueprint, under an id of its own.
    ///
    /// # Errors
    /// An empty id.
    pub fn open_as(
        blueprint: &SessionBlueprint,
        id: SessionId,
        wall: UnixMillis,
        parts: DriverOptions,
    ) -> Result<Self, ConfigError> {
        let (session, outputs) = blueprint.open(id, wall)?;
        let log = parts.journal().header(&session, wall);
        let opening = OpeningOutputs { log, outputs, owed: OwedEffects::Nothing };
        Ok(Self::with(session, opening, parts))
    }

    pub(crate) fn with(session: Session, opening: OpeningOutputs, parts: DriverOptions) -> Self {
        let journal = parts.journal();
        let DriverOptions { endpoints, models, people, .. } = parts;
        Self {
            firewall: SessionFirewall::new(&endpoints, &session.config().firewall),
            was_idle: is_idle(&session),
            session,
            endpoints,
            models,
            people,
            journal,
            open: ById::new(),
            results: KeptResults::default(),
            opening: Some(Box::new(opening)),
            replay_error: None,
            holds_key: false,
            first_own: None,
        }
    }

    /// Returns what follows from the opening, once. A restored session sends its open requests
    /// again, asks its questions again and runs its hooks again. Its tools' runs are reported as
    /// lost, since they may have taken effect, unless the host knows what became of them.
    pub fn start(&mut self) -> DriverOutputBatch {
        // The session's own time, not the host's clock: what the opening leads to is in the log,
        // and must replay to the same bytes.
        let mut work = InputWorklist::at(self.session.now());
        let owed = self.opening.as_ref().map_or(OwedEffects::Nothing, |opening| opening.owed);
        if let Some(opening) = self.opening.take() {
            work.outputs.log = opening.log;
            for output in opening.outputs {
                match output {
                    SessionOutput::Effect(Effect::RunTool { id, .. })
                        if owed == OwedEffects::LostRuns =>
                    {
                        self.open.insert(id, InFlightEffect::run(&self.firewall, None));
                        work.queue.push(Input::Lost { id });
                    }
                    output => self.follow(output, &mut work),
                }
            }
        }
        // Only now, behind the opening's outputs: those effects were issued before the restart, and
        // `follow` would take the first of them for one of the session's own.
        self.first_own = (owed != OwedEffects::Nothing).then_some(EffectId(u64::MAX));
        // All inputs here are the driver's own, and the session refuses none of those.
        let heard = self.hear_all(&mut work);
        debug_assert!(heard.is_ok(), "{heard:?}");
        self.ended(work)
    }

    /// Makes [`Driver::start`] issue the tools' runs of a restored session again instead of
    /// reporting them as lost. The host has a journal of its own that says which have not begun.
    #[cfg(feature = "log")]
    pub(crate) fn owe_runs(&mut self) {
        if let Some(opening) = &mut self.opening {
            opening.owed = OwedEffects::Runs;
        }
    }

    /// Takes in what happened at `now` and returns all that follows. An effect that the host can no
    /// longer answer, for example because a task panicked, is reported as [`Input::Lost`], which is
    /// ignored if the effect has its answer already.
    ///
    /// # Errors
    /// A mistake of the host: the input comes back with keys masked, and the session is unchanged.
    #[expect(
        clippy::result_large_err,
        reason = "only a host's mistake pays for the input's return"
    )]
    pub fn handle(
        &mut self,
        input: Input,
        now: SessionInstant,
    ) -> Result<DriverOutputBatch, RejectedInput> {
        let mut work = InputWorklist::at(now);
        let mut input = input;
        // Before anything else looks at the input: a refused one goes back to the host as it is
        // here, and hosts log it.
        if let Err(reason) = mask_input::mask(&self.firewall, &mut input) {
            return Err(RejectedInput { input, reason });
        }
        match input {
            Input::Tick => self.on_tick(&mut work),
            Input::Http { id, input: HttpInput::Head(head) } if self.redirects(id, head.status) => {
                self.refuse_redirect(id, head.status, &mut work);
            }
            input => match input_id(&input).and_then(|id| self.open.get_mut(id)) {
                Some(open) => open.mask(input, &self.firewall, &mut work.queue),
                None => {
                    let mut input = input;
                    mask_input::mask_stray(&self.firewall, &mut input);
                    work.queue.push(input);
                }
            },
        }
        self.hear_all(&mut work)?;
        Ok(self.ended(work))
    }

    /// Returns when to send [`Input::Tick`] if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<SessionInstant> {
        let played = self.open.values().filter_map(InFlightEffect::next_piece);
        played.chain(self.session.deadline().map(|deadline| deadline.at)).min()
    }

    /// Returns whether news of an effect may count: it is open, or was issued before the restart.
    #[cfg(feature = "log")]
    pub(crate) fn expects(&self, id: EffectId) -> bool {
        self.open.get(id).is_some() || self.first_own.is_some_and(|first| id < first)
    }

    /// Returns every open effect of the host again, whole and under its id, for a host that has
    /// lost them.
    pub fn owed(&self) -> DriverOutputBatch {
        let outputs = self.session.owed().into_iter();
        DriverOutputBatch {
            list: outputs.filter_map(|output| self.held(output)).into_list(),
            ..DriverOutputBatch::default()
        }
    }

    fn held(&self, output: SessionOutput) -> Option<DriverOutput> {
        let SessionOutput::Effect(effect) = output else { return None };
        // The session owes replayed answers, too, but it is the driver that gives them.
        self.open.get(effect.id()).filter(|open| open.is_with_host())?;
        Some(match effect {
            Effect::Http { id, request, .. } => {
                DriverOutput::Send { id, request: self.endpoints.request(request).ok()? }
            }
            Effect::RunTool { id, agent, run } => DriverOutput::Run { id, agent, run },
            Effect::Ask { id, agent, ask } => DriverOutput::Ask { id, agent, ask },
            Effect::RunHook { id, agent, hook } => DriverOutput::Hook { id, agent, hook },
            Effect::Cancel { id, .. } => DriverOutput::Cancel { id },
        })
    }

    /// Returns the session in its present state. It may hold an assembled key until it is idle:
    /// show its JSON through [`Driver::shown`], and store [`Driver::snapshot`].
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    #[cfg(feature = "log")]
    pub(crate) fn replace(&mut self, session: Session) {
        self.session = session;
    }

    /// Masks the keys in JSON of the session, such as its history. Only a key that the session has
    /// assembled itself can be there.
    #[must_use]
    pub fn shown(&self, json: String) -> String {
        // A history may be megabytes long, and hardly any holds a key: most are not searched.
        if self.holds_key { self.keys().masked_json(&json).unwrap_or(json) } else { json }
    }

    /// Returns the keys that must not be shown, for text that a host shows beside the session's.
    #[must_use]
    pub const fn keys(&self) -> &SecretKeys {
        &self.firewall.keys
    }

    /// Returns all that is masked in text of the workspace, for text that a host shows beside the
    /// session's.
    #[must_use]
    pub const fn firewall(&self) -> &SessionFirewall {
        &self.firewall
    }

    /// Gives the session's endpoint another key for all further requests; the one before stays
    /// masked. The key is not checked: one that cannot stand in a header fails when a request is
    /// sent.
    pub fn rekey(&mut self, key: ApiKey) {
        self.endpoints.rekey(&self.session.config().model.endpoint, key);
        self.firewall.keys = self.endpoints.keys();
    }

    /// Returns the endpoints that requests go to.
    #[must_use]
    pub const fn endpoints(&self) -> &EndpointTable {
        &self.endpoints
    }

    /// Adds endpoints, to which the session's configuration may then change. The keys of the
    /// endpoints before stay masked.
    pub fn reach(&mut self, endpoints: EndpointTable) {
        self.endpoints.extend(endpoints);
        self.firewall.keys = self.endpoints.keys();
    }

    /// Returns why the recording had no answer, if it had none, and forgets it.
    pub fn take_replay_error(&mut self) -> Option<TrafficError> {
        self.replay_error.take().map(|error| *error)
    }

    /// Handles the inputs in the queue and those that follow from them.
    ///
    /// # Errors
    /// The session refuses the first input, which is the host's.
    #[expect(clippy::result_large_err, reason = "see `handle`")]
    fn hear_all(&mut self, work: &mut InputWorklist) -> Result<(), RejectedInput> {
        let mut is_first = true;
        // Batch after batch of a list: the order is that of a double-ended queue, which would be
        // code of its own in the page's module (`docs/decisions.md#the-pages-module`).
        while !work.queue.is_empty() {
            for input in mem::take(&mut work.queue) {
                let heard = self.hear(input, work);
                debug_assert!(is_first || heard.is_ok(), "{heard:?}");
                if is_first {
                    heard?;
                }
                is_first = false;
            }
        }
        Ok(())
    }

    #[expect(clippy::result_large_err, reason = "see `handle`")]
    fn hear(&mut self, input: Input, work: &mut InputWorklist) -> Result<(), RejectedInput> {
        let id = input_id(&input);
        // News of an effect that has its answer already, or was never issued, leave no trace. A
        // restored session's ledger may still wait for effects that were cancelled before the
        // restart, which are not open here: their last answers count.
        let answered = input.answered();
        let ends = |id| answered.is_some() && self.first_own.is_some_and(|first| id < first);
        let counts = id.is_none_or(|id| self.open.get(id).is_some() || ends(id));
        // An input without a line in the log must not advance the session's clock either: a replay
        // of the log would stand at another time, and write other bytes.
        let at = if counts { work.now } else { self.session.now() };
        // Encoded first, since `handle` consumes the input, and kept only if it was accepted.
        let line = counts.then(|| self.journal.entry(&input, at)).flatten();
        if cfg!(feature = "recorder")
            && let Some(open) = id.and_then(|id| self.open.get_mut(id))
        {
            open.record(&input, &mut work.outputs.recording);
        }
        let configures = matches!(input, Input::Command { command: Command::Configure { .. }, .. });
        let outputs = self.session.handle(input, at)?;
        if configures {
            let policy = &self.session.config().firewall;
            self.firewall = SessionFirewall::new(&self.endpoints, policy);
        }
        work.outputs.log.push_str(&line.unwrap_or_default());
        if let Some(id) = answered {
            self.open.remove(id);
        }
        outputs.into_iter().for_each(|output| self.follow(output, work));
        Ok(())
    }

    fn follow(&mut self, output: SessionOutput, work: &mut InputWorklist) {
        if let SessionOutput::Effect(effect) = &output
            && !matches!(effect, Effect::Cancel { .. })
        {
            self.first_own = self.first_own.map(|first| first.min(effect.id()));
        }
        let list = &mut work.outputs.list;
        match output {
            SessionOutput::Event(mut event) => {
                // Masked input is not enough: a key that came in pieces, or escaped, is whole only
                // here, after the model's decoder.
                self.holds_key |= mask_assembled::mask(self.keys(), &mut event.kind);
                if let EventKind::ResultKept { id, name, chars, text, .. } = &mut event.kind {
                    // Moved, not copied: hosts have the whole output of `tool_call_end` already.
                    self.results.keep(id, name, *chars, mem::take(text));
                }
                list.push(DriverOutput::Event(event));
            }
            SessionOutput::Effect(Effect::Http { id, agent, request, .. }) => {
                self.begin_exchange(id, agent, request, work);
            }
            SessionOutput::Effect(Effect::RunTool { id, agent, run }) => {
                let frame = UntrustedFrame::of(&run, self.session.config());
                self.open.insert(id, InFlightEffect::run(&self.firewall, frame));
                let Job::Kept(query) = &run.job else {
                    return list.push(DriverOutput::Run { id, agent, run });
                };
                // Open all the same, as a question that nobody is there to answer: only then does
                // the answer get its line in the log.
                let input = ToolInput::Done(self.results.answer(query));
                let mut input = Input::Tool { id, input };
                // The text may be older than a key that the driver was given since.
                let masked = mask_input::mask(&self.firewall, &mut input);
                debug_assert!(masked.is_ok(), "{masked:?}");
                work.queue.push(input);
            }
            SessionOutput::Effect(Effect::Ask { id, agent, ask }) => {
                // Open even where the driver answers at once: only then does the answer get its
                // line in the log, without which a replay would wait for a person.
                self.open.insert(id, InFlightEffect::Ask);
                match self.people.absent(id, &ask) {
                    Some(answer) => work.queue.push(answer),
                    None => list.push(DriverOutput::Ask { id, agent, ask }),
                }
            }
            SessionOutput::Effect(Effect::RunHook { id, agent, hook }) => {
                self.open.insert(id, InFlightEffect::Hook);
                match self.people.unhooked(id, &hook) {
                    Some(reply) => work.queue.push(reply),
                    None => list.push(DriverOutput::Hook { id, agent, hook }),
                }
            }
            SessionOutput::Effect(Effect::Cancel { id, .. }) => {
                // The effect stays open: the answer that settles it is in the queue, or owed by
                // the host where it is a run, which may have changed files.
                if let Some(open) = self.open.get(id) {
                    list.extend(open.is_with_host().then_some(DriverOutput::Cancel { id }));
                    work.queue.extend(open.cancelled(id));
                }
            }
        }
    }

    fn begin_exchange(
        &mut self,
        id: EffectId,
        agent: AgentId,
        request: HttpRequest,
        work: &mut InputWorklist,
    ) {
        let history = self.session.history(agent);
        // Lazy: masking what varies costs as much as the text is long, and live traffic needs none.
        let said = || history.map(said).unwrap_or_default();
        let recorded = match &mut self.models {
            _ if !cfg!(feature = "recordings") => None,
            ModelSource::Replayed { player, pace_ms } => {
                let answer = player.next(&said());
                let pace_ms = *pace_ms;
                let news = answer.map(|exchange| playback::news(exchange, &self.firewall));
                return self.play(id, news, pace_ms, work);
            }
            ModelSource::Recorded(recorder) if cfg!(feature = "recorder") => {
                Some(recorder.begin(&said()))
            }
            ModelSource::Recorded(_) | ModelSource::Live => None,
        };
        let base = self.endpoints.find(&request.endpoint).map(|endpoint| endpoint.base().clone());
        // Before the table can refuse the request: the failure is then an answer like any other,
        // with a line in the log and in the recording.
        self.open.insert(id, InFlightEffect::exchange(self.keys(), base, recorded));
        match self.endpoints.request(request) {
            Ok(request) => work.outputs.list.push(DriverOutput::Send { id, request }),
            Err(failure) => {
                work.queue.push(Input::Http { id, input: HttpInput::Failed(failure) });
            }
        }
    }

    /// Replays the recording's answer, or fails the request with the reason why there is none.
    fn play(
        &mut self,
        id: EffectId,
        answer: Result<Vec<HttpInput>, TrafficError>,
        pace_ms: u64,
        work: &mut InputWorklist,
    ) {
        let news = answer.unwrap_or_else(|error| {
            let failed = HttpInput::Failed(playback::failure(&error, self.keys()));
            self.replay_error = Some(Box::new(error));
            vec![failed]
        });
        self.open.insert(id, InFlightEffect::playback(news.into_iter(), pace_ms, work.now));
        self.play_on(work);
    }

    /// Queues the pieces of recorded answers that are due.
    fn play_on(&mut self, work: &mut InputWorklist) {
        for (id, open) in self.open.iter_mut() {
            for input in open.take_pieces(work.now) {
                work.queue.push(Input::Http { id, input });
            }
        }
    }

    fn on_tick(&mut self, work: &mut InputWorklist) {
        self.play_on(work);
        // A tick that was meant for a replay's next piece is no news for the session: it would fill
        // the log with lines from which nothing follows.
        if self.session.deadline().is_some_and(|deadline| deadline.at <= work.now) {
            work.queue.push(Input::Tick);
        }
    }

    /// Returns whether the response to an open request is a redirect.
    fn redirects(&self, id: EffectId, status: u16) -> bool {
        // The statuses that HTTP clients follow. A host must follow none, since clients send a
        // header such as `x-api-key` along to the new origin; here its answer fails in words.
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        is_redirect && self.open.get(id).is_some_and(InFlightEffect::is_exchange)
    }

    fn refuse_redirect(&mut self, id: EffectId, status: u16, work: &mut InputWorklist) {
        let Some(open) = self.open.get(id) else { return };
        let message = format!(
            "{} answered {status}, and redirects are not followed, since the key would go along; \
             give the final address as the base URL (--base-url, baseUrl)",
            open.place()
        );
        let failure = crate::endpoints::refused(message);
        // The failure below removes the effect, so the host has to be told here to drop the body.
        work.outputs.list.push(DriverOutput::Cancel { id });
        work.queue.push(Input::Http { id, input: HttpInput::Failed(failure) });
    }

    /// Returns the outputs, with a snapshot if the session has become idle.
    fn ended(&mut self, work: InputWorklist) -> DriverOutputBatch {
        let mut outputs = work.outputs;
        // Nothing may be in flight either: forgetting keys restores the session from a snapshot, in
        // which no response is half read.
        let is_idle = self.open.is_empty() && is_idle(&self.session);
        // Before the snapshot, which is stored and must not hold the key.
        #[cfg(feature = "log")]
        if is_idle && mem::take(&mut self.holds_key) {
            self.forget_keys();
        }
        if is_idle && !self.was_idle {
            outputs.snapshot = self.journal.snapshot(&self.session);
        }
        self.was_idle = is_idle;
        outputs
    }
}

impl InputWorklist {
    fn at(now: SessionInstant) -> Self {
        Self { now, queue: Vec::new(), outputs: DriverOutputBatch::default() }
    }
}

fn is_idle(session: &Session) -> bool {
    session.status(AgentId::ROOT).is_some_and(|status| status.state == AgentState::Idle)
}

/// Returns the effect that an input is news of.
const fn input_id(input: &Input) -> Option<EffectId> {
    match input {
        Input::Http { id, .. }
        | Input::Tool { id, .. }
        | Input::Answer { id, .. }
        | Input::Hook { id, .. }
        | Input::Lost { id } => Some(*id),
        Input::Command { .. } | Input::Tick => None,
    }
}
