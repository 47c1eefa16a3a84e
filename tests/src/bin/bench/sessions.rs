//! Whole sessions: short ones, one of many turns, many idle ones.

use crate::limits::{copy_us, median, report};
use innerloop_core::{
    Session, SessionBlueprint,
    action::Outcome,
    bytes::BodyBytes,
    compaction::{CompactionPolicy, CompactionTier, WindowFullness},
    config::{SessionConfig, WireKind},
    id::{AgentId, EffectId, SessionId},
    input::{Command, HttpInput, Input, ResponseHead, ToolInput},
    message::{FoldKind, Part, TurnKind},
    output::{Effect, OutputBatch},
    time::{SessionInstant as SessionTime, UnixMillis},
};
use innerloop_tests::{anthropic::Message, test_host::config};
use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

const TURNS: usize = 1_000;
const SESSIONS: usize = 10_000;

/// All of them.
pub(super) fn run() {
    let replies = Replies::new();
    one_tool_session(&replies);
    let plain = many_turns(&replies);
    folded_turns(&replies, plain);
    fold(&replies);
    idle_sessions(&replies);
}

/// The bytes of the model's replies, made once.
struct Replies {
    call: BodyBytes,
    done: BodyBytes,
}

impl Replies {
    fn new() -> Self {
        let input = serde_json::json!({"file_path": "src/cart.js"});
        let call = Message::call("toolu_01", "read_file", &input).events().concat();
        let done = Message::text("The tests pass now.").events().concat();
        Self { call: BodyBytes(call.into_bytes()), done: BodyBytes(done.into_bytes()) }
    }
}

/// A session and the effect that is open.
pub(super) struct Driven {
    session: Session,
    open: Option<EffectId>,
    body: usize,
}

impl Driven {
    /// A session that waits for the model's first reply.
    pub(super) fn submit(session: Session) -> Self {
        let mut driven = Self { session, open: None, body: 0 };
        let parts = vec![Part::text("Make the tests pass")];
        driven.give(Input::command(Command::submit(parts)));
        driven
    }

    fn give(&mut self, input: Input) {
        let outputs = self.session.handle(input, SessionTime(0)).expect("an input that fits");
        self.take(&outputs);
        black_box(&outputs);
    }

    fn take(&mut self, outputs: &OutputBatch) {
        for effect in outputs.effects() {
            self.open = Some(effect.id());
            if let Effect::Http { request, .. } = effect {
                self.body = request.body.len();
            }
        }
    }

    fn reply(&mut self, body: &BodyBytes) {
        self.reply_in(vec![body.clone()]);
    }

    /// A response in network chunks.
    pub(super) fn reply_in(&mut self, chunks: Vec<BodyBytes>) {
        let id = self.open.take().expect("a model call is open");
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let head = ResponseHead { status: 200, headers, ..ResponseHead::default() };
        self.give(Input::Http { id, input: HttpInput::Head(head) });
        for chunk in chunks {
            self.give(Input::Http { id, input: HttpInput::Chunk(chunk) });
        }
        self.give(Input::Http { id, input: HttpInput::End });
    }

    fn tool(&mut self) {
        let id = self.open.take().expect("a run is open");
        let outcome = Outcome::text("1 | export const total = (a, b) => a + b;\n");
        self.give(Input::Tool { id, input: ToolInput::Done(outcome) });
    }
}

/// A new session.
pub(super) fn open(blueprint: &SessionBlueprint, number: usize) -> Session {
    blueprint.open(SessionId(format!("s{number}")), UnixMillis(0)).expect("a session").0
}

fn blueprint() -> SessionBlueprint {
    blueprint_of(WireKind::Anthropic)
}

/// For sessions over that protocol.
pub(super) fn blueprint_of(wire: WireKind) -> SessionBlueprint {
    SessionBlueprint::new(config_of(wire)).expect("a configuration that works")
}

/// The configuration of these.
pub(super) fn config_of(wire: WireKind) -> SessionConfig {
    let mut config = config();
    config.model.wire = wire;
    config.loops.detect = false;
    config
}

fn run_one_tool(session: Session, replies: &Replies) -> Session {
    let mut driven = Driven::submit(session);
    driven.reply(&replies.call);
    driven.tool();
    driven.reply(&replies.done);
    driven.session
}

fn one_tool_session(replies: &Replies) {
    let blueprint = blueprint();
    let times: Vec<Duration> = (0..2_000)
        .map(|number| {
            let start = Instant::now();
            black_box(run_one_tool(open(&blueprint, number), replies));
            start.elapsed()
        })
        .collect();
    let bytes = replies.call.len() + replies.done.len();
    report("one-tool session", median(times), "goal ≤ 100 µs");
    println!("    limit: {:.1} µs to copy its {bytes} bytes of replies", copy_us(bytes));
}

/// The time of all turns.
fn many_turns(replies: &Replies) -> Duration {
    let blueprint = blueprint();
    let mut driven = Driven::submit(open(&blueprint, 0));
    let (mut times, mut bodies) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let start = Instant::now();
        driven.reply(&replies.call);
        driven.tool();
        times.push(start.elapsed());
        bodies.push(driven.body);
    }
    let total: Duration = times.iter().sum();
    let copied: usize = bodies.iter().sum();
    report(&format!("{TURNS} turns with a tool call each"), total, "goal ≤ 60 ms");
    let limit: f64 = bodies.iter().map(|&body| copy_us(body)).sum();
    println!("    limit: {:.1} ms to copy the {copied} bytes of bodies", limit / 1e3);
    let own = |range: std::ops::Range<usize>| {
        let time = median(times[range.clone()].to_vec());
        let body = bodies[range.clone()].iter().sum::<usize>() / range.len();
        (time.as_secs_f64() * 1e6 - copy_us(body)).max(0.01)
    };
    let (early, late) = (own(5..105), own(900..TURNS));
    println!(
        "turn 10: {early:.2} µs, turn {TURNS}: {late:.2} µs beside the copy: {:.2}× (goal ≤ 1.2×)",
        late / early
    );
    total
}

/// The same turns where the oldest are left out again and again.
fn folded_turns(replies: &Replies, plain: Duration) {
    let mut config = config();
    config.loops.detect = false;
    let (from, to) = (WindowFullness::percent(90), WindowFullness::percent(60));
    let tier = CompactionTier { from, to, step: FoldKind::Truncate, inputs: None };
    config.compaction =
        CompactionPolicy { auto: vec![tier], max_messages: 400, ..CompactionPolicy::default() };
    let blueprint = SessionBlueprint::new(config).expect("a configuration that works");
    let mut driven = Driven::submit(open(&blueprint, 0));
    let start = Instant::now();
    for _ in 0..TURNS {
        driven.reply(&replies.call);
        driven.tool();
    }
    let total = start.elapsed();
    let log = driven.session.history(AgentId::ROOT).expect("a history").turns();
    let folds = log.iter().filter(|turn| matches!(turn.kind, TurnKind::Folded(_))).count();
    report(&format!("{TURNS} turns, {folds} times made shorter"), total, "");
    println!(
        "    {:.2}× the turns that are not (goal ≤ 1.3×)",
        total.as_secs_f64() / plain.as_secs_f64()
    );
}

/// One summary of a long conversation: the cut, the transcript, and what comes of it.
fn fold(replies: &Replies) {
    let blueprint = blueprint();
    let mut driven = Driven::submit(open(&blueprint, 0));
    for _ in 0..TURNS / 2 {
        driven.reply(&replies.call);
        driven.tool();
    }
    driven.reply(&replies.done);
    let start = Instant::now();
    driven.give(Input::command(Command::Compact { instructions: None }));
    driven.reply(&replies.done);
    report(&format!("a fold of {TURNS} turns"), start.elapsed(), "goal ≤ 10 ms");
}

fn idle_sessions(replies: &Replies) {
    let blueprint = blueprint();
    let mut sessions = Vec::with_capacity(SESSIONS);
    black_box(run_one_tool(open(&blueprint, 0), replies));
    let before = resident_bytes();
    for number in 0..SESSIONS {
        sessions.push(run_one_tool(open(&blueprint, number), replies));
    }
    let each = (resident_bytes() - before) / SESSIONS;
    let said: usize = sessions[0].snapshot().len();
    println!("idle session after a run, of {SESSIONS}: {each} bytes resident (goal ≤ 2048)");
    println!("    its snapshot: {said} bytes; `Session` itself: {} bytes", size_of::<Session>());
    black_box(&sessions);
}

/// The resident memory of this process.
fn resident_bytes() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("a Linux machine");
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
