//! A session under a driver: its log, what nobody answers, what is cancelled, restored, recorded
//! and played.

use crate::stage::{Stage, named, parts};
use innerloop_core::{
    action::Outcome,
    config::{AskAbout, HookPoint},
    event::EventKind,
    id::SessionId,
    input::{Answer, Command, HttpInput, Input, RejectionReason, ResponseHead, ToolInput},
    log,
    time::{SessionInstant, UnixMillis},
};
use innerloop_driver::{
    Driver, DriverOptions, DriverOutput, HostCapabilities, ModelSource,
    traffic::{TrafficError, TrafficPlayer, TrafficRecorder},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, config},
};
use serde_json::json;

fn kinds(stage: &Stage) -> Vec<&'static str> {
    let kinds = stage.seen.iter().map(|output| match output {
        DriverOutput::Event(_) => "event",
        DriverOutput::Send { .. } => "send",
        DriverOutput::Run { .. } => "run",
        DriverOutput::Ask { .. } => "ask",
        DriverOutput::Hook { .. } => "hook",
        DriverOutput::Cancel { .. } => "cancel",
    });
    kinds.filter(|kind| *kind != "event").collect()
}

fn call() -> Message {
    Message::call("c1", "write_file", &json!({"file_path": "a", "content": "b"}))
}

fn player(recording: &str, pace_ms: u64) -> DriverOptions {
    let player = TrafficPlayer::parse(recording).unwrap();
    DriverOptions { models: ModelSource::Replayed { player, pace_ms }, ..parts() }
}

/// A recorded session of two model calls around a tool's run.
fn recorded() -> Stage {
    let mut stage = Stage::new(DriverOptions {
        models: ModelSource::Recorded(TrafficRecorder::default()),
        ..parts()
    });
    stage.submit("go");
    stage.reply(&call());
    let id = stage.run();
    stage.input(Input::Tool { id, input: ToolInput::Done(Outcome::text("written")) });
    stage.reply(&Message::text("done"));
    stage
}

#[test]
fn the_log_is_there_before_what_follows_and_replays_to_the_same() {
    let stage = recorded();
    let replayed = log::replay(&stage.log).unwrap();
    assert_eq!(replayed.session.snapshot(), stage.driver.session().snapshot());
    let events: Vec<_> = replayed.outputs.iter().flat_map(|outputs| outputs.events()).collect();
    let seen: Vec<_> = stage.events().collect();
    assert!(events.iter().map(|event| &event.kind).eq(seen));
    assert_eq!(stage.snapshots, 1, "one where the session became idle");
    let last = stage.log.lines().last().unwrap();
    assert!(last.starts_with("{\"snapshot\":"), "{last}");
    // What stands between the first line and the newest snapshot may be dropped.
    let short = format!("{}\n{last}\n", stage.log.lines().next().unwrap());
    let resumed = log::resume(&short, EPOCH).unwrap();
    assert_eq!(resumed.session.snapshot(), stage.driver.session().snapshot());
}

#[test]
fn a_log_that_nobody_keeps_is_not_made() {
    let mut stage = Stage::new(DriverOptions { keeps_log: false, ..parts() });
    stage.submit("go");
    stage.reply(&Message::text("done"));
    assert_eq!((stage.log.as_str(), stage.snapshots), ("", 0));
}

#[test]
fn news_that_come_too_late_leave_no_trace() {
    let mut stage = Stage::new(parts());
    stage.submit("go");
    stage.reply(&call());
    let (http, run) = (stage.call(), stage.run());
    stage.input(Input::Tool { id: run, input: ToolInput::Done(Outcome::text("a")) });
    let (log, seen) = (stage.log.clone(), stage.seen.len());
    stage.now += 5;
    stage.input(Input::Lost { id: run });
    stage.input(Input::Tool { id: run, input: ToolInput::Done(Outcome::text("b")) });
    stage.input(Input::Http { id: http, input: HttpInput::End });
    assert_eq!((&log, seen), (&stage.log, stage.seen.len()));
    let never = innerloop_core::id::EffectId(99);
    let rejected = stage.offer(Input::Lost { id: never }).unwrap_err();
    assert_eq!(rejected.reason, RejectionReason::UnknownEffect(never));
}

#[test]
fn a_task_that_broke_is_lost() {
    let mut stage = Stage::new(parts());
    stage.submit("go");
    stage.reply(&call());
    let id = stage.run();
    stage.input(Input::Lost { id });
    assert!(stage.body().contains("\"is_error\":true"), "{}", stage.body());
}

#[test]
fn without_anybody_to_ask_the_model_reads_why() {
    let mut config = config();
    config.approval.ask = AskAbout::Changes;
    config.ask_user = true;
    let mut stage = Stage::open(config.clone(), parts());
    stage.submit("go");
    stage.reply(&call());
    let body = stage.body();
    assert!(body.contains("it needs a person's approval, and nobody is here to give it"), "{body}");
    stage.reply(&Message::call("c2", "ask_user", &json!({"question": "Which?"})));
    let body = stage.body();
    assert!(body.contains("nobody is here to answer; decide for yourself"), "{body}");
    assert_eq!(kinds(&stage), ["send"; 3]);
    assert!(log::replay(&stage.log).is_ok());

    let people = HostCapabilities { approve: true, answer: true, hooks: Vec::new() };
    let mut stage = Stage::open(config, DriverOptions { people, ..parts() });
    stage.submit("go");
    stage.reply(&call());
    let id = stage.newest(|output| match output {
        DriverOutput::Ask { id, .. } => Some(*id),
        _ => None,
    });
    stage.input(Input::Answer { id, answer: Answer::Allow });
    assert_eq!(kinds(&stage), ["send", "ask", "run"]);
}

#[test]
fn a_hook_that_the_host_does_not_have_fails_as_configured() {
    for (fail_closed, runs) in [(false, true), (true, false)] {
        let mut config = config();
        config.hooks.points = vec![HookPoint::BeforeTool];
        config.hooks.fail_closed = fail_closed;
        let mut stage = Stage::open(config.clone(), parts());
        stage.submit("go");
        stage.reply(&call());
        assert_eq!(kinds(&stage).contains(&"run"), runs);
        assert!(!kinds(&stage).contains(&"hook"));
        let hooks = vec![HookPoint::BeforeTool];
        let people = HostCapabilities { hooks, ..HostCapabilities::default() };
        let mut stage = Stage::open(config, DriverOptions { people, ..parts() });
        stage.submit("go");
        stage.reply(&call());
        assert_eq!(kinds(&stage), ["send", "hook"]);
    }
}

#[test]
fn what_is_no_longer_needed_is_cancelled() {
    let mut config = config();
    config.approval.ask = AskAbout::Changes;
    let people = HostCapabilities { approve: true, ..HostCapabilities::default() };
    let mut stage = Stage::open(config, DriverOptions { people, ..parts() });
    stage.submit("go");
    stage.reply(&call());
    stage.input(Input::command(Command::Interrupt));
    assert_eq!(kinds(&stage), ["send", "ask", "cancel"]);
    stage.submit("again");
    stage.input(Input::command(Command::Close));
    assert_eq!(kinds(&stage), ["send", "ask", "cancel", "send", "cancel"]);
    // Neither waits for an answer of the host's.
    assert!(matches!(stage.events().last(), Some(EventKind::SessionEnd { .. })));
}

#[test]
fn a_run_that_is_cancelled_still_answers() {
    let mut stage = Stage::new(parts());
    stage.submit("go");
    stage.reply(&call());
    stage.input(Input::command(Command::Close));
    assert_eq!(kinds(&stage), ["send", "run", "cancel"]);
    assert!(!stage.events().any(|kind| matches!(kind, EventKind::SessionEnd { .. })));
    let id = stage.run();
    stage.input(Input::Tool { id, input: ToolInput::Done(Outcome::text("half")) });
    assert!(stage.events().any(|kind| matches!(kind, EventKind::SessionEnd { .. })));
}

#[test]
fn a_redirect_is_refused() {
    for status in [301, 302, 303, 307, 308] {
        let mut stage = Stage::new(parts());
        stage.submit("go");
        stage.http(HttpInput::Head(ResponseHead { status, ..ResponseHead::default() }));
        assert_eq!(kinds(&stage), ["send", "cancel"]);
        let told = stage.newest(|output| match output {
            DriverOutput::Event(event) => match &event.kind {
                EventKind::Error { message, .. } => Some(message.clone()),
                _ => None,
            },
            _ => None,
        });
        let start = format!("https://api.anthropic.com answered {status}, and redirects are not");
        assert!(told.contains(&start), "{told}");
    }
}

#[test]
fn a_restored_session_sends_again_and_reports_runs_as_lost() {
    let mut stage = Stage::new(parts());
    stage.submit("go");
    stage.http(HttpInput::Head(ResponseHead { status: 200, ..ResponseHead::default() }));
    stage.now = 70;
    let snapshot = stage.driver.session().snapshot();
    let mut again = Stage::around(Driver::restore(&snapshot, EPOCH, parts()).unwrap());
    assert_eq!(kinds(&again), ["send"]);
    again.reply(&call());
    assert_eq!(kinds(&again), ["send", "run"]);
    assert!(log::replay(&again.log).is_ok(), "a log of its own");

    let mut again = Stage::around(Driver::resume(&again.log, EPOCH, parts()).unwrap());
    assert_eq!(kinds(&again), ["send"], "the run is lost, and the model hears of it");
    assert!(again.body().contains("\"is_error\":true"));
    again.reply(&Message::text("well"));
    let end = log::replay(&again.log).unwrap();
    assert_eq!(end.session.snapshot(), again.driver.session().snapshot());
    assert_eq!(again.snapshots, 1);
}

#[test]
fn a_restored_session_asks_again_and_runs_hooks_again() {
    let mut config = config();
    config.approval.ask = AskAbout::Changes;
    config.hooks.points = vec![HookPoint::Submit];
    let hooks = vec![HookPoint::Submit];
    let parts = || {
        let people = HostCapabilities { approve: true, answer: true, hooks: hooks.clone() };
        DriverOptions { people, ..parts() }
    };
    let again = |stage: &Stage| {
        let snapshot = stage.driver.session().snapshot();
        Stage::around(Driver::restore(&snapshot, EPOCH, parts()).unwrap())
    };
    let mut stage = Stage::open(config, parts());
    stage.submit("go");
    let mut stage = again(&stage);
    assert_eq!(kinds(&stage), ["hook"]);
    let id = stage.newest(|output| match output {
        DriverOutput::Hook { id, .. } => Some(*id),
        _ => None,
    });
    stage.input(Input::Hook { id, reply: innerloop_core::input::HookReply::Allow });
    stage.reply(&call());
    assert_eq!(kinds(&again(&stage)), ["ask"]);
}

#[test]
fn a_fork_has_a_log_of_its_own() {
    let stage = recorded();
    let fork = stage.driver.fork(SessionId("fork".into()), 1, EPOCH, parts()).unwrap();
    let mut fork = Stage::around(fork);
    fork.submit("otherwise");
    assert!(fork.body().contains("go") && !fork.body().contains("written"));
    fork.reply(&Message::text("well"));
    let replayed = log::replay(&fork.log).unwrap();
    assert_eq!(replayed.session.id(), &SessionId("fork".into()));
    assert_eq!(replayed.session.snapshot(), fork.driver.session().snapshot());
    let error = stage.driver.fork(SessionId("test".into()), 1, EPOCH, parts()).unwrap_err();
    assert_eq!(error.field, "id");
}

#[test]
fn a_recording_is_played_to_the_same_end() {
    let first = recorded();
    assert_eq!(first.recording.lines().count(), 2);
    for pace_ms in [0, 20] {
        let mut stage = Stage::open(named("other"), player(&first.recording, pace_ms));
        stage.submit("go");
        let mut waits = 0;
        while !kinds(&stage).contains(&"run") {
            stage.wait();
            waits += 1;
        }
        assert_eq!(waits > 3, pace_ms > 0, "piece by piece");
        let id = stage.run();
        stage.input(Input::Tool { id, input: ToolInput::Done(Outcome::text("written")) });
        while stage.driver.deadline().is_some() {
            stage.wait();
        }
        let names = |stage: &Stage| {
            let is_piece = |kind: &EventKind| {
                use EventKind::{AssistantTextDelta, ToolCallDelta};
                matches!(kind, AssistantTextDelta { .. } | ToolCallDelta { .. })
            };
            // The pace alone decides how long a reply takes.
            let told = |kind: &EventKind| {
                let mut told = serde_json::to_value(kind).unwrap();
                let fields = told.as_object_mut().unwrap();
                fields.retain(|name, _| !["ttft_ms", "ms"].contains(&name.as_str()));
                told
            };
            let kinds = stage.events().filter(|kind| !is_piece(kind));
            kinds.map(told).collect::<Vec<_>>()
        };
        assert_eq!(names(&stage), names(&first));
        assert_eq!(kinds(&stage), ["run"], "nothing is sent");
        assert!(log::replay(&stage.log).is_ok());
    }
}

#[test]
fn a_played_answer_is_cancelled_like_any_other() {
    let mut stage = Stage::open(named("other"), player(&recorded().recording, 20));
    stage.submit("go");
    stage.wait();
    stage.input(Input::command(Command::Close));
    assert_eq!(stage.driver.deadline(), None);
    assert!(matches!(stage.events().last(), Some(EventKind::SessionEnd { .. })));
    assert_eq!(kinds(&stage), [""; 0], "the host has nothing to stop");
}

#[test]
fn a_recording_that_does_not_fit_is_told_in_the_same_words() {
    let mut stage = Stage::open(named("other"), player(&recorded().recording, 20));
    stage.submit("stop");
    while stage.driver.deadline().is_some() {
        stage.wait();
    }
    let told = stage.newest(|output| match output {
        DriverOutput::Event(event) => match &event.kind {
            EventKind::Error { message, .. } => Some(message.clone()),
            _ => None,
        },
        _ => None,
    });
    for words in [
        "replay stopped: model call 1 differs from the recording.",
        "--- recorded:\nuser: go",
        "--- now:\nuser: stop",
        "the tools, the files or the prompt are not those of the recording",
    ] {
        assert!(told.contains(words), "{told}");
    }
    let error = stage.driver.take_replay_error();
    assert!(matches!(error, Some(TrafficError::Mismatch { call: 1, .. })), "{error:?}");
    assert_eq!(stage.driver.take_replay_error(), None);
}

#[test]
fn a_line_of_json_is_a_piece_of_its_own() {
    let mut exchange = TrafficRecorder::default().begin("user: go\n");
    exchange.head(200, &[("content-type".into(), "application/x-ndjson".into())]);
    exchange.body.0.extend_from_slice(b"{\"a\":1}\n{\"b\":2}\n{\"done\":true}\n");
    let mut stage = Stage::new(player(&exchange.line(), 5));
    stage.submit("go");
    let mut waits = 0;
    while stage.log.matches("\"chunk\"").count() < 3 {
        stage.wait();
        waits += 1;
    }
    assert_eq!(waits, 4, "the head and three lines");
}

#[test]
fn the_time_of_what_does_not_count_is_not_told() {
    let mut driver = Driver::open(config(), UnixMillis(7), parts()).unwrap();
    let _opening = driver.start();
    let late =
        driver.handle(Input::Lost { id: innerloop_core::id::EffectId(1) }, SessionInstant(500));
    assert!(late.is_err());
    assert_eq!(driver.session().now(), SessionInstant(0));
}
