//! The server of sessions for hosts in any language: a request of bytes in, lines of JSON out, no
//! I/O (`docs/protocol.md#lines`). Each session has a [`Driver`], so that such a host has all that
//! the others have. A request is answered or refused as a whole, and a refused one changes nothing.

mod answer;
mod docs;
mod request;
mod room;
#[cfg(feature = "schema")]
mod schema;
mod undoing;

use crate::{
    catalogue::Catalogue,
    driver::Driver,
    endpoints::{Endpoint, EndpointTable},
    file_undo::{FileSteps, imported},
    options::{DriverOptions, ModelSource},
    output::{DriverOutput, DriverOutputBatch},
    providers::{self, Provider},
    secret_key::ApiKey,
    settings::{FallbackModel, SessionSettings},
    traffic::{TrafficPlayer, TrafficRecorder, said},
    unattended::HostCapabilities,
};
use alloc::{format, string::String, vec::Vec};
use answer::{AnswerBuffer, AnswerLine, RequestError};
use core::mem;
use docs::DocsAnswer;
use innerloop_core::{
    History, SessionBlueprint,
    bytes::BodyBytes,
    config::SessionConfig,
    doc_names,
    id::{AgentId, ById, EffectId, EndpointId},
    input::{HttpInput, Input},
    log,
    message::Turn,
    time::{SessionInstant, UnixMillis},
};
use innerloop_json::{IntoList, Map};
use request::{
    ConfigRequest, EndpointSpec, FallbackSpec, LineRequest, OpenRequest, ReplaySpec, SetupSpec,
};
#[cfg(feature = "schema")]
pub use schema::{line_schema, request_schema};
use undoing::undone;

/// The sessions and blueprints of a host that speaks in lines.
#[derive(Debug, Default)]
pub struct LineServer {
    sessions: ById<u32, LineSession>,
    blueprints: ById<u32, SharedSetup>,
    /// The newest number of a session or blueprint. None is given twice, so that a request for a
    /// closed session never reaches another one.
    count: u32,
    answer: AnswerBuffer,
    /// The number of bytes of the largest answer since there are sessions: the next one may be as
    /// large, and has to have room.
    largest: usize,
}

/// The parts that sessions of one configuration share.
#[derive(Debug)]
struct SharedSetup {
    blueprint: SessionBlueprint,
    parts: DriverOptions,
    /// True if its sessions keep the changes of files.
    undo: bool,
}

/// The number of cancelled effects of which late news are taken, the newest: a host need not answer
/// any of them.
const MOST_CANCELLED: usize = 1_000;

/// A session with the facts that only hosts in lines need.
#[derive(Debug)]
struct LineSession {
    driver: Driver,
    /// The effects that the host was told to stop and has not answered since, no more than
    /// [`MOST_CANCELLED`]. Its news of them may have been on the way, and are no mistake.
    cancelled: Vec<EffectId>,
    /// The number of bytes that each response in flight has brought; its reply is made of them.
    gathered: Vec<(EffectId, usize)>,
    /// The changes of files, if the host may undo them: their texts take memory.
    steps: Option<FileSteps>,
}

impl LineServer {
    /// Takes a request and answers it in lines, which stay until the next request. Bytes that are
    /// not a request, or too large for the memory that there is, are answered by an `error` line;
    /// an input that the session refuses by a `rejected` line. Either changes nothing.
    pub fn call(&mut self, request: &[u8]) -> &str {
        // Taken out, since `carry_out` borrows the whole server; its memory serves every answer.
        let mut answer = mem::take(&mut self.answer);
        answer.empty();
        // The room is checked before the request is even read: reading it takes memory, too, and a
        // module without memory traps with every session in it.
        let done = room::check(request, self.largest)
            .and_then(|()| LineRequest::read(request))
            .and_then(|(request, bytes)| self.carry_out(request, bytes, &mut answer));
        if let Err(fault) = done {
            // An error stands alone, even if it came after the first lines.
            answer.0.clear();
            answer.line(&AnswerLine::Error(&fault));
        }
        // Without sessions the memory is free again, and a large past must not refuse what is new.
        let is_empty = self.sessions.is_empty();
        self.largest = if is_empty { 0 } else { self.largest.max(answer.0.len()) };
        self.answer = answer;
        &self.answer.0
    }

    fn carry_out(
        &mut self,
        request: LineRequest<'_>,
        bytes: &[u8],
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        match request {
            LineRequest::Providers => answer.line(&AnswerLine::Providers(providers::all())),
            LineRequest::Model { provider, name } => {
                let wanted = ConfigRequest { provider, model: name, ..ConfigRequest::default() };
                answer.line(&AnswerLine::Model(&config_of(&wanted)?.model));
            }
            LineRequest::DocNames { profile } => {
                answer.line(&AnswerLine::DocNames(doc_names(profile)));
            }
            LineRequest::Docs(known) => answer.line(&AnswerLine::Docs(DocsAnswer::find(&known))),
            LineRequest::Config(wanted) => answer.line(&AnswerLine::Config(&config_of(&wanted)?)),
            LineRequest::Blueprint { config, parts } => self.prepare(*config, parts, answer)?,
            LineRequest::Discard { blueprint } => {
                self.blueprints.remove(blueprint).ok_or_else(|| no_blueprint(blueprint))?;
            }
            LineRequest::Open(opening) => {
                let (driver, undo) = self.open(opening)?;
                self.enter(driver, undo, answer);
            }
            LineRequest::Resume { parts, wall, owe_runs } => {
                let undo = parts.undo;
                self.enter_again(resumed(bytes, wall, parts)?, owe_runs, undo, answer);
            }
            LineRequest::Restore { parts, wall, owe_runs } => {
                let undo = parts.undo;
                let driver = Driver::restore(bytes, wall, parts_of(parts)?)?;
                self.enter_again(driver, owe_runs, undo, answer);
            }
            LineRequest::Fork { session, id, turns, parts, wall } => {
                let (turns, undo) = (turns.unwrap_or(usize::MAX), parts.undo);
                let fork = self.driver(session)?.fork(id, turns, wall, parts_of(parts)?)?;
                self.enter(fork, undo, answer);
            }
            LineRequest::Handle { session, at, input } => {
                self.entered(session)?.hear(*input, at, answer)?;
            }
            LineRequest::Chunk { session, at, id } => {
                let input = HttpInput::Chunk(BodyBytes(bytes.into()));
                self.entered(session)?.hear(Input::Http { id, input }, at, answer)?;
            }
            LineRequest::Rekey { session, key } => {
                self.entered(session)?.driver.rekey(ApiKey::new(&key));
            }
            LineRequest::Snapshot { session } => {
                answer.bare(&self.driver(session)?.snapshot());
            }
            LineRequest::Owed { session } => {
                let driver = self.driver(session)?;
                answer.step(driver, driver.owed());
            }
            LineRequest::Status { session, agent } => self.status(session, agent, answer)?,
            LineRequest::Context { session, agent } => self.context(session, agent, answer)?,
            LineRequest::Overview { session, agent } => self.overview(session, agent, answer)?,
            LineRequest::History { session, agent, from } => {
                self.turns(session, agent, from, answer)?;
            }
            LineRequest::Seen { session, agent } => self.seen(session, agent, answer)?,
            LineRequest::Undone { session, texts } => self.undone(session, &texts, answer)?,
            LineRequest::Said { session, agent } => self.said(session, agent, answer)?,
            LineRequest::Replay => replay(bytes, answer)?,
            LineRequest::Close { session } => self.close(session)?,
        }
        Ok(())
    }

    fn status(
        &self,
        session: u32,
        agent: AgentId,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        answer.line(&AnswerLine::Status(self.driver(session)?.session().status(agent)));
        Ok(())
    }

    fn context(
        &self,
        session: u32,
        agent: AgentId,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        answer.line(&AnswerLine::Context(self.driver(session)?.session().context(agent)));
        Ok(())
    }

    fn overview(
        &self,
        session: u32,
        agent: AgentId,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let driver = self.driver(session)?;
        let overview = driver.session().overview(agent);
        answer.shown(driver, &AnswerLine::Overview(&overview));
        Ok(())
    }

    fn turns(
        &self,
        session: u32,
        agent: AgentId,
        from: usize,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let driver = self.driver(session)?;
        let history = driver.session().history(agent).map(|all| turns_from(all, from));
        answer.shown(driver, &AnswerLine::History(history));
        Ok(())
    }

    fn seen(
        &self,
        session: u32,
        agent: AgentId,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let driver = self.driver(session)?;
        let history = driver.session().history(agent);
        answer.shown(driver, &AnswerLine::Seen(history.map(|all| all.seen().into_list())));
        Ok(())
    }

    fn said(
        &self,
        session: u32,
        agent: AgentId,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let driver = self.driver(session)?;
        answer.shown(driver, &AnswerLine::Said(driver.session().history(agent).map(said)));
        Ok(())
    }

    fn undone(
        &mut self,
        session: u32,
        texts: &Map<Option<String>>,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let entry = self.entered(session)?;
        let steps = entry.steps.as_mut().ok_or_else(no_changes)?;
        answer.line(&AnswerLine::Undone(undone(steps, entry.driver.firewall(), texts)));
        Ok(())
    }

    fn prepare(
        &mut self,
        config: SessionConfig,
        parts: SetupSpec,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        let (undo, parts) = (parts.undo, parts_of(parts)?);
        let blueprint = Driver::blueprint(config, &parts)?;
        let number = self.next_number();
        self.blueprints.insert(number, SharedSetup { blueprint, parts, undo });
        answer.line(&AnswerLine::Blueprint(number));
        Ok(())
    }

    /// Opens a session; also returns whether it keeps the changes of files.
    fn open(&self, opening: OpenRequest) -> Result<(Driver, bool), RequestError> {
        let OpenRequest { config, parts, blueprint, id, wall } = opening;
        match (config, blueprint, id, parts) {
            (Some(config), None, None, parts) => {
                let parts = parts.unwrap_or_default();
                let undo = parts.undo;
                Ok((Driver::open(*config, wall, parts_of(parts)?)?, undo))
            }
            (None, Some(number), Some(id), None) => {
                let found = self.blueprints.get(number);
                let shared = found.ok_or_else(|| no_blueprint(number))?;
                let driver = Driver::open_as(&shared.blueprint, id, wall, shared.parts.clone())?;
                Ok((driver, shared.undo))
            }
            _ => Err(RequestError::bad_request(
                "`open` takes a `config`, perhaps with `parts`, or a `blueprint` with an `id`",
            )),
        }
    }

    fn enter_again(
        &mut self,
        mut driver: Driver,
        owe_runs: bool,
        undo: bool,
        answer: &mut AnswerBuffer,
    ) {
        if owe_runs {
            driver.owe_runs();
        }
        self.enter(driver, undo, answer);
    }

    /// Adds a session and answers with what follows from its opening.
    fn enter(&mut self, driver: Driver, undo: bool, answer: &mut AnswerBuffer) {
        // Numbered only now that it is open: a refused opening changes nothing.
        let steps = undo.then(FileSteps::default);
        let mut entered =
            LineSession { driver, cancelled: Vec::new(), gathered: Vec::new(), steps };
        let outputs = entered.driver.start();
        let number = self.next_number();
        answer.line(&AnswerLine::Session(number));
        answer.line(&AnswerLine::Now(entered.driver.session().now()));
        entered.follow(outputs, answer);
        self.sessions.insert(number, entered);
    }

    fn close(&mut self, session: u32) -> Result<(), RequestError> {
        self.sessions.remove(session).ok_or_else(|| not_open(session))?;
        Ok(())
    }

    fn entered(&mut self, session: u32) -> Result<&mut LineSession, RequestError> {
        self.sessions.get_mut(session).ok_or_else(|| not_open(session))
    }

    fn driver(&self, session: u32) -> Result<&Driver, RequestError> {
        let entered = self.sessions.get(session).ok_or_else(|| not_open(session))?;
        Ok(&entered.driver)
    }

    const fn next_number(&mut self) -> u32 {
        self.count = self.count.wrapping_add(1);
        self.count
    }
}

impl LineSession {
    fn hear(
        &mut self,
        input: Input,
        at: SessionInstant,
        answer: &mut AnswerBuffer,
    ) -> Result<(), RequestError> {
        // Before the session hears the input: for want of memory it is refused whole.
        self.gather(&input)?;
        let effect = input.effect();
        // Asked before `handle`, which settles the effect of a last answer.
        let is_late = |id: &EffectId| !self.driver.expects(*id) && !self.cancelled.contains(id);
        let late = effect.filter(is_late);
        let answered = input.answered();
        let inputs = match &input {
            Input::Command { agent, command } if *agent == AgentId::ROOT => imported(command),
            _ => 0,
        };
        // Late news go to the driver all the same, where they have no effect: it knows whether the
        // effect was ever issued, which is another mistake with another answer.
        match (self.driver.handle(input, at), late) {
            (Err(rejected), _) => answer.rejected(&rejected),
            (Ok(_), Some(id)) => {
                return Err(RequestError::new("answered", format!("{id} has its answer already")));
            }
            (Ok(outputs), None) => {
                self.cancelled.retain(|id| Some(*id) != answered);
                // Counted only if the session takes them: what is refused begins no steps.
                if let Some(steps) = &mut self.steps {
                    steps.on_import(inputs);
                }
                self.follow(outputs, answer);
            }
        }
        Ok(())
    }

    /// Counts the bytes that responses have brought so far.
    ///
    /// # Errors
    /// There may be no memory for the replies that are made of them. A failure, which ends a
    /// response without a reply, is never refused.
    fn gather(&mut self, input: &Input) -> Result<(), RequestError> {
        // Swept with each input, since an effect may end in many ways: an answer, a cancellation,
        // an interruption.
        let driver = &self.driver;
        self.gathered.retain(|(id, _)| driver.expects(*id));
        let Input::Http { id, input: news } = input else { return Ok(()) };
        match news {
            HttpInput::Chunk(bytes) if driver.expects(*id) => {
                let found = self.gathered.iter_mut().find(|(of, _)| of == id);
                match found {
                    Some((_, gathered)) => *gathered = gathered.saturating_add(bytes.0.len()),
                    None => self.gathered.push((*id, bytes.0.len())),
                }
            }
            HttpInput::End => {}
            _ => return Ok(()),
        }
        let gathered = self.gathered.iter().map(|(_, bytes)| *bytes);
        room::check_gathered(gathered.fold(0, usize::saturating_add))
    }

    fn follow(&mut self, outputs: DriverOutputBatch, answer: &mut AnswerBuffer) {
        let cancelled = outputs.list.iter().filter_map(|output| match output {
            DriverOutput::Cancel { id } => Some(*id),
            _ => None,
        });
        self.cancelled.extend(cancelled);
        self.cancelled.drain(..self.cancelled.len().saturating_sub(MOST_CANCELLED));
        if let Some(steps) = &mut self.steps {
            for output in &outputs.list {
                if let DriverOutput::Event(event) = output {
                    steps.on_event(event);
                }
            }
        }
        answer.step(&self.driver, outputs);
    }
}

fn not_open(session: u32) -> RequestError {
    RequestError::new("unknown_session", format!("session {session} is not open"))
}

fn turns_from(history: &History, from: usize) -> &[Turn] {
    history.turns().get(from..).unwrap_or_default()
}

/// Resumes the session of a log.
fn resumed(log: &[u8], wall: UnixMillis, parts: SetupSpec) -> Result<Driver, RequestError> {
    // In a sound log only a last line that was cut is not UTF-8, and such a line does not count.
    let log = String::from_utf8_lossy(log);
    Ok(Driver::resume(&log, wall, parts_of(parts)?)?)
}

fn no_changes() -> RequestError {
    RequestError::bad_option("no changes are kept: open the session with `undo` in its parts")
}

fn no_blueprint(blueprint: u32) -> RequestError {
    RequestError::new("unknown_blueprint", format!("there is no blueprint {blueprint}"))
}

fn replay(log: &[u8], answer: &mut AnswerBuffer) -> Result<(), RequestError> {
    let text = String::from_utf8_lossy(log);
    log::replay_each(&text, &mut |outputs| answer.line(&AnswerLine::Outputs(&outputs)))?;
    Ok(())
}

/// Returns the configuration that a user's settings come to.
fn config_of(wanted: &ConfigRequest<'_>) -> Result<SessionConfig, RequestError> {
    let catalogue = match &wanted.models {
        Some(models) => Catalogue::parse(models.text()).map_err(RequestError::bad_option)?,
        None => Catalogue::standard(),
    };
    let patches: Vec<&str> = wanted.patches.iter().map(|patch| patch.text()).into_list();
    let mut fallbacks = Vec::new();
    for FallbackSpec { provider, endpoint, model, cheap, tasks } in &wanted.fallbacks {
        let provider = providers::find(provider)?;
        let endpoint = endpoint.clone().unwrap_or_else(|| provider.endpoint());
        let (model, tasks) = (model.clone(), tasks.clone());
        fallbacks.push(FallbackModel { provider, endpoint, model, cheap: *cheap, tasks });
    }
    let settings = SessionSettings {
        id: &wanted.id,
        provider: &providers::find(&wanted.provider)?,
        model: wanted.model.as_deref(),
        fallbacks: &fallbacks,
        catalogue: &catalogue,
        preset: wanted.preset,
        facts: &wanted.facts,
        tools: &wanted.tools,
        patches: &patches,
    };
    Ok(settings.config()?)
}

/// Returns the driver's options for what the host has.
fn parts_of(given: SetupSpec) -> Result<DriverOptions, RequestError> {
    let models = match given.replay {
        Some(ReplaySpec { traffic, pace_ms }) => {
            ModelSource::Replayed { player: TrafficPlayer::parse(&traffic)?, pace_ms }
        }
        None if given.record => ModelSource::Recorded(TrafficRecorder::default()),
        None => ModelSource::Live,
    };
    let mut endpoints = EndpointTable::default();
    for place in given.endpoints {
        let provider = providers::find(&place.provider)?;
        let name = place.name.clone().map_or_else(|| provider.endpoint(), EndpointId);
        endpoints = endpoints.with(name, endpoint(place, &provider)?);
    }
    let people =
        HostCapabilities { approve: given.approve, answer: given.answer, hooks: given.hooks };
    Ok(DriverOptions { endpoints, models, people, keeps_log: given.entries })
}

fn endpoint(place: EndpointSpec, provider: &Provider) -> Result<Endpoint, RequestError> {
    let EndpointSpec { base_url, key, keyless, headers, .. } = place;
    let new = if keyless { Endpoint::without_check } else { Endpoint::new };
    Ok(new(provider, base_url.as_deref(), ApiKey::new(&key))?.with_headers(headers))
}
