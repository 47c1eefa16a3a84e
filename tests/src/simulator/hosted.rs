//! A driver in the hostile world: hosts are lost and go on from log or snapshot, keys stand in
//! every place where somebody says something, cut in the middle where it comes in pieces, and
//! secrets where the firewall looks for them.

use super::{canaries::Canaries, rng::Rng, settings, world::World};
use crate::test_host::EPOCH;
use innerloop_core::{
    bytes::BodyBytes,
    firewall::FirewallPolicy,
    id::{AgentId, EffectId, EndpointId},
    input::{Answer, Command, HookReply, HttpInput, Input, ToolInput},
    log,
    message::Part,
    output::{
        Effect, HttpRequest, Output as SessionOutput, OutputBatch as SessionOutputs, RequestPurpose,
    },
    time::{SessionInstant, UnixMillis},
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions, DriverOutput, DriverOutputBatch, Endpoint, EndpointTable,
    HostCapabilities, ModelSource, providers, traffic::TrafficRecorder,
};

/// The key of the table.
const KEY: &str = "sk-simulated-0123456789/abcdef";

/// Of this length no piece of the key is anywhere.
const PIECE: usize = 12;

/// A driver under test and the world around it.
struct Hosted {
    rng: Rng,
    world: World,
    canaries: Canaries,
    driver: Driver,
    now: u64,
    log: String,
    recording: String,
    /// The number of the last event.
    seq: u64,
}

/// Runs a seed: a driver hears so many inputs, and is killed now and then.
///
/// # Errors
/// What did not hold, with the number of inputs before.
pub fn run_hosted(seed: u64, steps: usize) -> Result<(), String> {
    run(seed, steps, true)
}

/// Runs a seed without a firewall, though the secrets are looked for as if there was one.
///
/// # Errors
/// That a secret is seen, if one was said.
pub fn run_without_firewall(seed: u64, steps: usize) -> Result<(), String> {
    run(seed, steps, false)
}

fn run(seed: u64, steps: usize, has_firewall: bool) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    let mut config = settings::config(&mut rng);
    let mut shown = (seed % 7 < 2).then(|| Rng::new(seed.rotate_left(24)));
    if let Some(rng) = &mut shown {
        settings::show(&mut config, rng);
    }
    let mut canaries = Canaries::none();
    if !seed.is_multiple_of(3) {
        canaries = Canaries::new(&mut config, Rng::new(seed.rotate_left(40)));
    }
    if !has_firewall {
        config.firewall = FirewallPolicy::default();
    }
    let world = World::new(&config.model, [None, shown, None], &mut rng);
    let driver = Driver::open(config, EPOCH, parts(&mut rng)).map_err(|error| error.to_string())?;
    let (log, recording) = (String::new(), String::new());
    let mut hosted = Hosted { rng, world, canaries, driver, now: 0, log, recording, seq: 0 };
    let opening = hosted.driver.start();
    hosted.take(&opening)?;
    for step in 0..steps {
        hosted.step().map_err(|what| format!("after {step} steps: {what}"))?;
    }
    hosted.check_durable()
}

/// A table with one key, and people who are there or not.
fn parts(rng: &mut Rng) -> DriverOptions {
    let endpoint = providers::find("anthropic")
        .ok()
        .and_then(|provider| Endpoint::new(&provider, None, ApiKey::new(KEY)).ok());
    let endpoints =
        endpoint.map(|endpoint| EndpointTable::default().with(EndpointId("mock".into()), endpoint));
    let hooks = settings::POINTS.into_iter().filter(|_| rng.chance(80)).collect();
    let people = HostCapabilities { approve: rng.chance(70), answer: rng.chance(70), hooks };
    let models = ModelSource::Recorded(TrafficRecorder::default());
    DriverOptions { endpoints: endpoints.unwrap_or_default(), models, people, keeps_log: true }
}

impl Hosted {
    fn step(&mut self) -> Result<(), String> {
        if self.rng.chance(1) {
            return self.kill();
        }
        let left = self.driver.deadline().map(|at| at.0.saturating_sub(self.now));
        let (input, delay) = self.world.next(&mut self.rng, left);
        self.now = self.now.saturating_add_signed(delay);
        let mut inputs = self.canaries.plant(input).into_iter();
        let first = inputs.next().map(|input| leaked(input, &mut self.rng));
        for input in first.into_iter().flatten().chain(inputs) {
            let is_tick = input == Input::Tick;
            match self.driver.handle(input, SessionInstant(self.now)) {
                Ok(outputs) => self.take(&outputs)?,
                // What comes back is what was handed in: a piece of a key may be a piece.
                Err(rejected) if format!("{rejected:?} {rejected}").contains(KEY) => {
                    return Err(format!("the key stands in a refusal: {rejected:?}"));
                }
                Err(rejected) => {
                    self.canaries.check_new("a refusal", &format!("{rejected:?} {rejected}"))?;
                }
            }
            // The session's own clock does not go back.
            let now = self.now.max(self.driver.session().now().0);
            let due = self.driver.deadline().filter(|at| is_tick && at.0 <= now);
            if let Some(at) = due.filter(|at| at.0 <= self.now) {
                return Err(format!("{at:?} is still due after a tick at {now}"));
            }
        }
        Ok(())
    }

    /// Takes over what follows, after a look at it.
    fn take(&mut self, outputs: &DriverOutputBatch) -> Result<(), String> {
        let seen = format!("{outputs:?}");
        clean("what follows", &seen)?;
        self.canaries.check_new("what follows", &seen)?;
        self.log.push_str(&outputs.log);
        self.log.push_str(outputs.snapshot.as_deref().unwrap_or_default());
        self.recording.push_str(&outputs.recording);
        for event in outputs.events() {
            if event.seq != self.seq + 1 {
                return Err(format!("event {} is followed by {}", self.seq, event.seq));
            }
            self.seq = event.seq;
            self.canaries.hear(event)?;
        }
        let plain = outputs.list.iter().cloned().map(plain).collect();
        self.world.take(&SessionOutputs(plain), &mut self.rng);
        Ok(())
    }

    /// The host is lost: another goes on from the log or from a snapshot.
    fn kill(&mut self) -> Result<(), String> {
        self.check_durable()?;
        let wall = UnixMillis(EPOCH.0 + self.now);
        let parts = parts(&mut self.rng);
        let again = if self.rng.chance(50) {
            Driver::resume(&self.log, wall, parts).map_err(|error| error.to_string())
        } else {
            let snapshot = self.driver.session().snapshot();
            Driver::restore(&snapshot, wall, parts).map_err(|error| error.to_string())
        };
        self.driver = again?;
        self.log.clear();
        let outputs = self.driver.start();
        self.world.restart(&SessionOutputs::default(), &mut self.rng);
        self.take(&outputs)
    }

    /// The log replays to the session as it stands, and no key is in what is kept.
    fn check_durable(&self) -> Result<(), String> {
        let snapshot = self.driver.session().snapshot();
        let kept = String::from_utf8_lossy(&snapshot);
        for (what, text) in
            [("the log", &*self.log), ("the recording", &self.recording), ("the snapshot", &kept)]
        {
            clean(what, text)?;
            self.canaries.check(what, text)?;
        }
        let replayed = log::replay(&self.log).map_err(|error| error.to_string())?;
        if replayed.session.snapshot() == snapshot {
            Ok(())
        } else {
            Err("the log replays to another session".to_owned())
        }
    }
}

fn clean(what: &str, text: &str) -> Result<(), String> {
    let mut pieces = (0..=KEY.len() - PIECE).filter_map(|at| KEY.get(at..at + PIECE));
    match pieces.find_map(|piece| text.find(piece)) {
        None => Ok(()),
        Some(at) => {
            let around: String = text.chars().skip(at.saturating_sub(80)).take(160).collect();
            Err(format!("the key stands in {what}: {around}"))
        }
    }
}

/// An output of the driver as the session gave it.
fn plain(output: DriverOutput) -> SessionOutput {
    SessionOutput::Effect(match output {
        DriverOutput::Event(event) => return SessionOutput::Event(event),
        DriverOutput::Send { id, request } => {
            let (endpoint, path) = (EndpointId("mock".into()), request.url);
            let (headers, body) = (request.headers, request.body);
            let request = HttpRequest { endpoint, path, headers, body };
            Effect::Http { id, agent: AgentId::ROOT, request, purpose: RequestPurpose::Model }
        }
        DriverOutput::Run { id, agent, run } => Effect::RunTool { id, agent, run },
        DriverOutput::Ask { id, agent, ask } => Effect::Ask { id, agent, ask },
        DriverOutput::Hook { id, agent, hook } => Effect::RunHook { id, agent, hook },
        DriverOutput::Cancel { id } => Effect::Cancel { id, grace_ms: 0 },
    })
}

/// The input with the key in it, in two pieces where it is a part of a stream.
fn leaked(input: Input, rng: &mut Rng) -> Vec<Input> {
    let (first, second) = KEY.split_at(1 + rng.index(KEY.len() - 1));
    match input {
        Input::Command { agent, command } => {
            let add = |mut parts: Vec<Part>| {
                parts.push(Part::text(format!("my key is {KEY}")));
                parts
            };
            let command = match command {
                Command::Submit { parts, options } => {
                    Command::Submit { parts: add(parts), options }
                }
                Command::Steer { parts } => Command::Steer { parts: add(parts) },
                Command::FollowUp { parts, options } => {
                    Command::FollowUp { parts: add(parts), options }
                }
                other => other,
            };
            vec![Input::Command { agent, command }]
        }
        Input::Http { id, input: HttpInput::Chunk(bytes) } => {
            let at = bytes.windows(8).position(|window| window == b"\"text\":\"");
            let Some((before, after)) = at.and_then(|at| bytes.split_at_checked(at + 8)) else {
                return vec![Input::Http { id, input: HttpInput::Chunk(bytes) }];
            };
            let chunk =
                |bytes: Vec<u8>| Input::Http { id, input: HttpInput::Chunk(BodyBytes(bytes)) };
            vec![
                chunk([before, first.as_bytes()].concat()),
                chunk([second.as_bytes(), after].concat()),
            ]
        }
        Input::Tool { id, input } => leaked_by_tool(id, input, [first, second]),
        Input::Answer { id, answer: Answer::Text(text) } => {
            vec![Input::Answer { id, answer: Answer::Text(format!("{text}{KEY}")) }]
        }
        Input::Answer { id, answer: Answer::Deny { reason, by } } => {
            vec![Input::Answer {
                id,
                answer: Answer::Deny { reason: format!("{reason} {KEY}"), by },
            }]
        }
        Input::Hook { id, reply: HookReply::Deny { reason } } => {
            vec![Input::Hook { id, reply: HookReply::Deny { reason: format!("{reason} {KEY}") } }]
        }
        other => vec![other],
    }
}

fn leaked_by_tool(id: EffectId, input: ToolInput, [first, second]: [&str; 2]) -> Vec<Input> {
    match input {
        ToolInput::Delta(text) => {
            let pieces = [format!("{text}{first}"), format!("{second}{text}")];
            pieces.map(|text| Input::Tool { id, input: ToolInput::Delta(text) }).into()
        }
        ToolInput::Done(mut outcome) => {
            outcome.parts.push(Part::text(format!("KEY={KEY}")));
            vec![Input::Tool { id, input: ToolInput::Done(outcome) }]
        }
        other => vec![Input::Tool { id, input: other }],
    }
}
