//! `cargo xtask bench`: what the session core costs, beside the physical limit measured in the
//! same run (the goals follow from what the fastest peers need). It asserts nothing: a clock
//! in a test would only measure the machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench that meets what it does not expect is to fail at once"
)]

use innerloop_core::{
    Blueprint, Session,
    action::{Action, Outcome},
    bytes::Bytes,
    id::{EffectId, SessionId},
    input::{Command, HttpInput, Input, ResponseHead, ToolInput},
    message::Part,
    output::{Effect, Outputs},
    time::{Instant as SessionTime, UnixMillis},
};
use innerloop_tests::{anthropic::Message, desk::config};
use innerloop_tools::{Files, Memory, WorkspacePath, perform};
use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

const TURNS: usize = 1_000;
const SESSIONS: usize = 10_000;

fn main() {
    let replies = Replies::new();
    one_tool_session(&replies);
    many_turns(&replies);
    idle_sessions(&replies);
    patches();
}

/// The bytes of the model's replies, made once.
struct Replies {
    call: Bytes,
    done: Bytes,
}

impl Replies {
    fn new() -> Self {
        let input = serde_json::json!({"file_path": "src/cart.js"});
        let call = Message::call("toolu_01", "read_file", &input).events().concat();
        let done = Message::text("The tests pass now.").events().concat();
        Self { call: Bytes(call.into_bytes()), done: Bytes(done.into_bytes()) }
    }
}

/// A session and the effect that is open.
struct Driven {
    session: Session,
    open: Option<EffectId>,
    body: usize,
}

impl Driven {
    fn submit(session: Session) -> Self {
        let mut driven = Self { session, open: None, body: 0 };
        let parts = vec![Part::text("Make the tests pass")];
        driven.give(Input::command(Command::Submit { parts }));
        driven
    }

    fn give(&mut self, input: Input) {
        let outputs = self.session.handle(input, SessionTime(0)).expect("an input that fits");
        self.take(&outputs);
        black_box(&outputs);
    }

    fn take(&mut self, outputs: &Outputs) {
        for effect in outputs.effects() {
            self.open = Some(effect.id());
            if let Effect::Http { request, .. } = effect {
                self.body = request.body.len();
            }
        }
    }

    fn reply(&mut self, body: &Bytes) {
        let id = self.open.take().expect("a model call is open");
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let head = ResponseHead { status: 200, headers, ..ResponseHead::default() };
        self.give(Input::Http { id, input: HttpInput::Head(head) });
        self.give(Input::Http { id, input: HttpInput::Chunk(body.clone()) });
        self.give(Input::Http { id, input: HttpInput::End });
    }

    fn tool(&mut self) {
        let id = self.open.take().expect("a run is open");
        let outcome = Outcome::text("1 | export const total = (a, b) => a + b;\n");
        self.give(Input::Tool { id, input: ToolInput::Done(outcome) });
    }
}

fn open(blueprint: &Blueprint, number: usize) -> Session {
    blueprint.open(SessionId(format!("s{number}")), UnixMillis(0)).expect("a session").0
}

fn blueprint() -> Blueprint {
    let mut config = config();
    config.loops.detect = false;
    Blueprint::new(config).expect("a configuration that works")
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

fn many_turns(replies: &Replies) {
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

/// Patches of a file of 50,000 lines and 2.1 MB, with lines as the file has them, and with ones
/// that are found only when white space, or punctuation too, is left aside.
fn patches() {
    const LINES: usize = 50_000;
    let line = |n: usize| format!("    let value_{n:05} = compute(\"{n}\"); ");
    let file: String = (0..LINES).map(|n| line(n) + "\n").collect();
    let path = WorkspacePath::parse("large.rs").unwrap();
    let exact: fn(&str) -> String = str::to_owned;
    let spaces: fn(&str) -> String = |line| format!("{}   ", line.trim());
    let quotes: fn(&str) -> String = |line| line.replace('"', "\u{201d}");
    for (hunks, what, spelt, goal) in [
        (1, "exact", exact, ""),
        (50, "exact", exact, ""),
        (500, "exact", exact, " (goal ≤ 6 ms)"),
        (500, "white space", spaces, " (goal ≤ 40 ms)"),
        (500, "punctuation", quotes, " (goal ≤ 40 ms)"),
    ] {
        let step = LINES / (hunks + 1);
        let mut patch = String::from("*** Begin Patch\n*** Update File: large.rs\n");
        for hunk in 1..=hunks {
            patch.push_str("@@\n");
            for n in hunk * step - 3..=hunk * step + 3 {
                let mark = if n == hunk * step { '-' } else { ' ' };
                patch.push_str(&format!("{mark}{}\n", spelt(&line(n))));
                if mark == '-' {
                    patch.push_str("+    let value = None;\n");
                }
            }
        }
        patch.push_str("*** End Patch\n");
        let action = Action::Patch { patch, unread: Vec::new() };
        let times = (0..15).map(|_| {
            let mut files = Memory::new();
            files.write(&path, file.clone().into_bytes()).unwrap();
            let start = Instant::now();
            let outcome = perform(&mut files, &action);
            let time = start.elapsed();
            assert_eq!(outcome.error, None, "{}", outcome.joined_text());
            black_box(&files);
            time
        });
        let time = median(times.collect()).as_secs_f64() * 1e3;
        println!("patch of {hunks} hunks, {what}: {time:.2} ms{goal}");
    }
    let size = file.len();
    println!("    limit: {:.2} ms to copy the file of {size} bytes", copy_us(size) / 1e3);
}

/// The resident memory of this process.
fn resident_bytes() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("a Linux machine");
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// How long a copy of that many bytes takes, in microseconds.
fn copy_us(bytes: usize) -> f64 {
    let source = vec![1_u8; bytes.max(1)];
    let times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            black_box(source.clone());
            start.elapsed()
        })
        .collect();
    median(times).as_secs_f64() * 1e6
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn report(name: &str, time: Duration, goal: &str) {
    println!("{name}: {:.1} µs ({goal})", time.as_secs_f64() * 1e6);
}
