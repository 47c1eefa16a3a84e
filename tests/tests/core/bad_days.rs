//! Sixty replies that are all wrong, one way after the other, for each preset: the run ends with
//! the task done, or with a status that says why; the session never hangs, and never calls a reply
//! an answer that the preset corrects. A person says "Go on." where a run has ended.

use expect_test::{Expect, expect};
use innerloop_core::{
    action::{Outcome, ToolError},
    config::{SessionConfig, WireKind},
    corrections::ReplyFault,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Answer, HttpInput, Input},
    preset::ConfigPreset,
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, preset as config},
    wires,
};
use serde_json::json;

const ROUNDS: usize = 60;
/// Most of what a host may have to do until the day is over.
const STEPS: usize = 1_000;
const TASK: &str = "Write the number of files into count.txt.";
const DONE: &str = "Done: count.txt holds the number of files, which is 1.";
const FAKE: &str = "I see. [Tool Result] b.txt";
const ECHO: &str = "I will now look at the next file of it. ";
const CUT: &str = "The folder holds one file, and in it";

/// What a model does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misdeed {
    /// It says a text with this fault.
    Says(ReplyFault, &'static str),
    /// It says one sentence without end.
    Echo,
    /// It edits a file in which there is no such text.
    Edit,
    /// It makes the same call as before.
    Again,
    /// It calls a tool that there is not.
    Unknown,
    /// Its arguments do not fit, or are no object at all.
    Arguments(&'static str),
    /// It says nothing.
    Empty,
    /// It thinks, and says nothing.
    Thought,
    /// Its text is cut by its length.
    Cut,
    /// Its call is cut by its length.
    CutCall,
    /// Its provider refuses with this status and kind.
    Refused(u16, &'static str),
    /// Its stream breaks.
    Reset,
    /// Its stream is none.
    Garbage,
    /// Its window is too small for the conversation.
    Overflow,
}

use Misdeed::{
    Again, Arguments, Cut, CutCall, Echo, Edit, Empty, Garbage, Overflow, Refused, Reset, Says,
    Thought, Unknown,
};

/// What goes wrong, in turn.
const DAY: [Misdeed; 25] = [
    Says(ReplyFault::Promised, "I'll read the file first."),
    Says(ReplyFault::Claimed, "I created count.txt and it works. Done."),
    Again,
    Says(ReplyFault::FakeResult, FAKE),
    Says(ReplyFault::Greeting, "Hi there! How can I help you today?"),
    Echo,
    Edit,
    Edit,
    Edit,
    Edit,
    Unknown,
    Arguments(r#"{"file_path":5,"colour":"red"}"#),
    Arguments("[1]"),
    Empty,
    Thought,
    Cut,
    CutCall,
    Refused(429, "rate_limit_error"),
    Refused(529, "overloaded_error"),
    Reset,
    Garbage,
    Overflow,
    Again,
    Again,
    Again,
];

/// A model and the person who talks to it, with what they have done so far.
struct BadDay {
    host: TestHost,
    /// The number of replies so far.
    replies: usize,
    /// The events that were looked at.
    seen: usize,
    /// True if the file was written.
    is_written: bool,
    /// True if a tool was ever called.
    has_called: bool,
    /// How each run has ended.
    ends: Vec<String>,
}

impl BadDay {
    fn new(config: SessionConfig) -> Self {
        let mut host = TestHost::open(config);
        let _ = host.submit(TASK);
        Self { host, replies: 0, seen: 0, is_written: false, has_called: false, ends: Vec::new() }
    }

    /// Lives through the day.
    fn live(&mut self) {
        for _ in 0..STEPS {
            if let Some((id, _)) = self.host.asks.first() {
                let id = *id;
                let _ = self.host.input(Input::Answer { id, answer: Answer::Allow });
            } else if let Some((&id, run)) = self.host.runs.iter().next() {
                let outcome = match &*run.name {
                    "edit_file" => Outcome::error(ToolError::NotFound, "no such text in a.txt"),
                    _ => Outcome::text("a.txt"),
                };
                self.is_written |= run.name == "write_file";
                let _ = self.host.done(id, outcome);
            } else if let Some(&id) = self.host.calls.last() {
                self.reply(id);
            } else if self.state() == AgentState::Processing {
                let _ = self.host.wait();
            } else {
                self.end();
                if self.is_over() {
                    return;
                }
                let _ = self.host.submit("Go on.");
            }
        }
        panic!("the day does not end: {:#?}", self.ends);
    }

    fn state(&self) -> AgentState {
        self.host.session.status(AgentId::ROOT).map_or(AgentState::Closed, |status| status.state)
    }

    fn is_over(&self) -> bool {
        let is_done = self.is_written && self.ends.last().is_some_and(|end| end == "done");
        is_done || self.state() == AgentState::Closed
    }

    fn reply(&mut self, id: EffectId) {
        let number = self.replies;
        self.replies += 1;
        if number < ROUNDS {
            self.misbehave(DAY[number % DAY.len()], id);
        } else if self.is_written {
            self.say(id, &Message::text(DONE));
        } else {
            let file = json!({"file_path": "count.txt", "content": "1"});
            self.say(id, &Message::call(&format!("c{number}"), "write_file", &file));
        }
    }

    fn misbehave(&mut self, misdeed: Misdeed, id: EffectId) {
        let host = &mut self.host;
        let call = format!("c{}", self.replies);
        let list = json!({"path": "."});
        let edit = json!({"file_path": "a.txt", "old_string": call, "new_string": ""});
        let message = match misdeed {
            Says(_, text) => Message::text(text),
            Echo => Message::text(&ECHO.repeat(400)),
            Edit => Message::call(&call, "edit_file", &edit),
            Again => Message::call("same", "list_dir", &list),
            Unknown => Message::call(&call, "make_coffee", &json!({})),
            Arguments(json) => Message::text("").and_raw_call(&call, "edit_file", json),
            Empty => Message::text(""),
            Thought => Message::text("").thinking("What was it that I was asked?"),
            Cut => Message::text(CUT).stop_reason("max_tokens"),
            CutCall => Message::call(&call, "list_dir", &list).stop_reason("max_tokens"),
            Refused(status, kind) => {
                return host.refuse(status, kind, "not now", &[("retry-after", "3")]);
            }
            Overflow => {
                let why = match host.wire() {
                    WireKind::Ollama => "the input length exceeds the context length",
                    _ => "prompt is too long: 40000 tokens > 32000 maximum",
                };
                return host.refuse(400, "invalid_request_error", why, &[]);
            }
            Reset => {
                host.head(200, wires::stream_type(host.wire()));
                return host.broken();
            }
            Garbage => return host.stream(b"<html>\xff\xfe Bad gateway</html>", 7),
        };
        self.say(id, &message);
    }

    /// Answers a model call, also if it is given up in the middle.
    fn say(&mut self, id: EffectId, message: &Message) {
        let stream = wires::events(self.host.wire(), message).concat();
        self.host.head(200, wires::stream_type(self.host.wire()));
        for piece in stream.as_bytes().chunks(100) {
            if self.host.cancelled.contains(&id) {
                break;
            }
            let input = HttpInput::Chunk(piece.to_vec().into());
            let _ = self.host.input(Input::Http { id, input });
        }
        let _ = self.host.input(Input::Http { id, input: HttpInput::End });
    }

    /// Looks at how the run has ended: whether it says why, if the task is not done.
    fn end(&mut self) {
        let events = &self.host.events[self.seen..];
        self.seen = self.host.events.len();
        let mut end = None;
        let (mut errors, mut limits, mut loops) = (Vec::new(), Vec::new(), 0);
        let (mut corrected, mut replies, mut calls) = (Vec::new(), 0, 0);
        for event in events {
            match &event.kind {
                EventKind::ProcessingEnd { end: how, text, .. } => {
                    end = Some((*how, text.clone()));
                }
                EventKind::Error { kind, message } => errors.push((*kind, message.clone())),
                EventKind::TurnLimit { limit, .. } => limits.push(*limit),
                EventKind::LoopDetection { .. } => loops += 1,
                EventKind::Corrected { fault, .. } => corrected.push(*fault),
                EventKind::AssistantTextEnd { .. } => replies += 1,
                EventKind::ToolCallEnd { .. } => calls += 1,
                _ => {}
            }
        }
        let (how, text) = end.expect("a run that is over says so");
        let why = match how {
            RunEnd::Completed if text == DONE => {
                assert!(self.is_written, "what was not done is not done");
                "done".to_owned()
            }
            RunEnd::Completed => self.fault_that_stands(&text, &corrected, (replies, calls)),
            RunEnd::Limit => {
                assert!(!limits.is_empty(), "a limit without its name");
                format!("limit {limits:?}")
            }
            RunEnd::Loop => {
                assert!(loops > 0, "a loop that nobody was told of");
                "loop".to_owned()
            }
            RunEnd::Failed => {
                let (kind, message) = errors.last().expect("a failure without a message");
                assert!(message.len() > 10, "{message}");
                format!("failed: {kind:?}")
            }
            RunEnd::Incomplete => "incomplete".to_owned(),
            other => panic!("{other:?} with {text:?}"),
        };
        self.has_called |= calls > 0;
        self.ends.push(why);
    }

    /// Checks that the policy has no correction for the text that stands as an answer: none is left
    /// for its fault, or the fault does not count where it stands.
    fn fault_that_stands(
        &self,
        text: &str,
        corrected: &[ReplyFault],
        (replies, calls): (usize, usize),
    ) -> String {
        let is_it = |misdeed: &Misdeed| matches!(misdeed, Says(_, said) if text.contains(said));
        let fault = match DAY.iter().find(|misdeed| is_it(misdeed)) {
            Some(Says(fault, _)) => *fault,
            _ if text.contains(ECHO) => ReplyFault::Echo,
            // What is left of a made-up result stands as if it had been all.
            _ if FAKE.starts_with(text) && !text.is_empty() => ReplyFault::FakeResult,
            _ => panic!("{text:.200?} is no answer"),
        };
        let policy = &self.host.session.config().corrections;
        let count = |of: &dyn Fn(&ReplyFault) -> bool| {
            u32::try_from(corrected.iter().filter(|fault| of(fault)).count()).unwrap()
        };
        let counts = match fault {
            ReplyFault::Promised => calls == 0 && replies <= 3,
            ReplyFault::Claimed => calls == 0 && !self.has_called,
            other => calls > 0 || !other.is_after_calls(),
        };
        let is_used_up = count(&|other| *other == fault) >= policy.most(fault)
            || count(&|_| true) >= policy.max_per_run
            || fault.is_after_calls()
                && count(&|other| other.is_after_calls()) >= policy.max_after_calls;
        assert!(is_used_up || !counts, "{fault:?} stands, after {corrected:?}");
        format!("{} stands", fault.name())
    }
}

fn check(preset: ConfigPreset, ends: &Expect) {
    let days = [WireKind::Anthropic, WireKind::Ollama].map(|wire| {
        let mut day = BadDay::new(config(preset, wire));
        day.live();
        assert!(day.replies >= ROUNDS || day.state() == AgentState::Closed, "{:?}", day.ends);
        day.ends
    });
    assert_eq!(days[0], days[1], "whatever the protocol");
    ends.assert_eq(&days[0].join("\n"));
}

#[test]
fn a17_a_bad_day_with_the_specification_says_how_it_ends() {
    check(
        ConfigPreset::Seed001,
        &expect![[r#"
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        failed: Reply
        failed: ContextOverflow
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        failed: Reply
        failed: ContextOverflow
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        done"#]],
    );
}

#[test]
fn k9_a_bad_day_with_modern_says_how_it_ends() {
    check(
        ConfigPreset::Modern,
        &expect![[r#"
        promised stands
        greeting stands
        failed: Reply
        promised stands
        greeting stands
        failed: Reply
        promised stands
        greeting stands
        done"#]],
    );
}

#[test]
fn i7_a_bad_day_with_ollama_says_how_it_ends() {
    check(
        ConfigPreset::Ollama,
        &expect![[r#"
        greeting stands
        failed: Reply
        loop
        claimed stands
        greeting stands
        failed: Reply
        failed: ContextOverflow
        loop
        claimed stands
        greeting stands
        done"#]],
    );
}

#[test]
fn l11_a_bad_day_with_ironclaw_says_how_it_ends() {
    check(
        ConfigPreset::Ironclaw,
        &expect![[r#"
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        failed: Reply
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        failed: Reply
        failed: ContextOverflow
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        echo stands
        done"#]],
    );
}

#[test]
fn k10_a_bad_day_with_gnoma_says_how_it_ends() {
    check(
        ConfigPreset::Gnoma,
        &expect![[r#"
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        failed: Reply
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        failed: Reply
        failed: ContextOverflow
        promised stands
        claimed stands
        fake_result stands
        greeting stands
        done"#]],
    );
}
