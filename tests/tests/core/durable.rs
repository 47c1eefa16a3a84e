//! The log is the session, a snapshot is the session, and the encoded prefix does not change.

use innerloop_core::{
    REPLAY_VERSION, RestoreError, Session,
    action::Outcome,
    id::AgentId,
    input::{Command, HttpInput, Input},
    log::{self, LogError},
    output::{Effect, OutputBatch},
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    snapshot,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::json;

/// A session with all that the thin loop knows: tools, a retry, steering, an interrupt.
fn eventful() -> (TestHost, Vec<OutputBatch>) {
    let mut host = TestHost::default();
    let mut outputs = Vec::new();
    let mut now = 0;
    let mut tick = |host: &mut TestHost| {
        now += 7;
        host.now = now;
    };
    outputs.push(host.submit("mend it"));
    tick(&mut host);
    host.refuse(529, "overloaded_error", "Overloaded", &[]);
    let _ = host.wait();
    let two = Message::call("c1", "read_file", &json!({"file_path": "a"}))
        .thinking("let me see")
        .and_call("c2", "write_file", &json!({"file_path": "b", "content": "é\u{0}"}));
    host.reply(&two);
    let _ = host.steer("quick");
    let _ = host.answer("1 | a");
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, Outcome::text("2 bytes"));
    host.head(200, "text/event-stream");
    let _ = host.http(HttpInput::Chunk(vec![0xff, b'\n'].into()));
    let _ = host.command(Command::Interrupt);
    let _ = host.submit("go on");
    host.reply(&Message::text("Done."));
    (host, outputs)
}

fn bytes(outputs: &[OutputBatch]) -> String {
    outputs.iter().map(|outputs| serde_json::to_string(outputs).unwrap() + "\n").collect()
}

#[test]
fn a_log_gives_the_same_outputs_and_the_same_state() {
    let (host, _) = eventful();
    let first = log::replay(&host.log).unwrap();
    let second = log::replay(&host.log).unwrap();
    assert_eq!(bytes(&first.outputs), bytes(&second.outputs));
    assert_eq!(first.session.snapshot(), host.session.snapshot());
    let requests: Vec<_> = first
        .outputs
        .iter()
        .flat_map(OutputBatch::effects)
        .filter_map(|effect| match effect {
            Effect::Http { request, .. } => Some(request.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(requests, host.requests);
}

/// The golden log: where its outputs change, `REPLAY_VERSION` must be raised and the file made
/// anew with `UPDATE_EXPECT=1`.
#[test]
fn the_golden_log_still_gives_the_golden_outputs() {
    let (host, _) = eventful();
    expect_test::expect_file!["../../fixtures/golden.log.jsonl"].assert_eq(&host.log);
    let replayed = log::replay(include_str!("../../fixtures/golden.log.jsonl")).unwrap();
    let outputs = bytes(&replayed.outputs);
    expect_test::expect_file!["../../fixtures/golden.outputs.jsonl"].assert_eq(&outputs);
}

#[test]
fn a_log_that_was_cut_in_its_last_line_replays_what_is_whole() {
    let (host, _) = eventful();
    let whole = host.log.lines().count();
    let cut = &host.log[..host.log.len() - 9];
    assert_eq!(log::replay(cut).unwrap().outputs.len(), whole - 1);
}

#[test]
fn a_damaged_or_foreign_log_is_refused_with_its_line() {
    let (host, _) = eventful();
    assert!(matches!(log::replay(""), Err(LogError::Unreadable { line: 1, .. })));
    assert!(matches!(log::replay("{}\n"), Err(LogError::Unreadable { line: 1, .. })));
    let newer = host.log.replacen(&format!("\"replay\":{REPLAY_VERSION}"), "\"replay\":99", 1);
    let version = LogError::Version { found: 99, expected: REPLAY_VERSION };
    assert_eq!(log::replay(&newer).unwrap_err(), version);
    let mut lines: Vec<&str> = host.log.lines().collect();
    lines[3] = "rubbish";
    let error = log::replay(&(lines.join("\n") + "\n")).unwrap_err();
    assert!(matches!(error, LogError::Unreadable { line: 4, .. }), "{error}");
    lines.remove(3);
    lines.remove(1);
    let error = log::replay(&(lines.join("\n") + "\n")).unwrap_err();
    assert!(matches!(error, LogError::Refused { line: 2, .. }), "{error}");
}

#[test]
fn a_snapshot_at_any_moment_restores_to_a_session_that_goes_on_the_same() {
    let (host, _) = eventful();
    let lines: Vec<&str> = host.log.lines().collect();
    for cut in 1..lines.len() {
        let until = lines[..cut].join("\n") + "\n";
        let session = log::replay(&until).unwrap().session;
        let bytes = session.snapshot();
        let restored = Session::restore(&bytes, EPOCH).unwrap();
        assert_eq!(restored.snapshot(), bytes, "after line {cut}");
        assert_eq!(restored.owed(), session.owed(), "after line {cut}");
        assert_eq!(restored.deadline(), session.deadline(), "after line {cut}");
    }
}

#[test]
fn a_restored_session_names_what_is_owed_and_takes_it_under_the_old_ids() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let asked = host.requests[0].clone();
    let mut session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let owed: Vec<Effect> = session.owed().effects().cloned().collect();
    let [Effect::Http { id, request, .. }] = owed.as_slice() else { panic!("{owed:?}") };
    assert_eq!(*request, asked);
    let lost =
        session.handle(Input::Lost { id: *id }, innerloop_core::time::SessionInstant(0)).unwrap();
    assert_eq!(lost.events().count(), 1, "a retry: {lost:?}");

    host.reply(&Message::call("c1", "write_file", &json!({"file_path": "a", "content": "b"})));
    let mut session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let owed: Vec<Effect> = session.owed().effects().cloned().collect();
    let [Effect::RunTool { id, run, .. }] = owed.as_slice() else { panic!("{owed:?}") };
    assert_eq!(run.call_id, "c1");
    let outputs = session.handle(Input::Lost { id: *id }, innerloop_core::time::SessionInstant(0));
    let outputs = outputs.unwrap();
    let Some(Effect::Http { request, .. }) = outputs.effects().next() else { panic!() };
    let body = String::from_utf8(request.body.0.clone()).unwrap();
    assert!(body.contains("may or may not have taken effect"), "{body}");
}

#[test]
fn a_foreign_or_damaged_snapshot_is_refused() {
    let restore = |bytes: &[u8]| Session::restore(bytes, UnixMillis(0)).unwrap_err();
    assert!(matches!(restore(b""), RestoreError::Damaged(_)));
    assert!(matches!(restore(b"{}"), RestoreError::Damaged(_)));
    let text = String::from_utf8(TestHost::default().session.snapshot()).unwrap();
    for other in [1, 6] {
        let text = text.replacen(r#""version":5"#, &format!(r#""version":{other}"#), 1);
        let version = RestoreError::Version { found: other, expected: 5 };
        assert_eq!(restore(text.as_bytes()), version);
    }
    // Damage that is still JSON.
    let other = text.replacen("mock-1", "mock-7", 1);
    let error = restore(other.as_bytes()).to_string();
    assert!(error.contains("its digest is another one"), "{error}");
    for end in 0..text.len() {
        let _ = restore(&text.as_bytes()[..end]);
    }
}

#[test]
fn the_bytes_of_earlier_turns_stay_the_same_from_request_to_request() {
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    let mut host = TestHost::default();
    for run in 0..4 {
        let _ = host.submit(&format!("input {run}"));
        host.reply(&Message::call("c", "list_dir", &json!({})));
        let _ = host.answer("a/");
        let _ = host.steer("note");
        host.reply(&Message::text("Done."));
        host.reply(&Message::text("Noted."));
    }
    let bodies: Vec<String> = host
        .requests
        .iter()
        .map(|request| String::from_utf8(request.body.0.clone()).unwrap())
        .collect();
    assert_eq!(bodies.len(), 12);
    for pair in bodies.windows(2) {
        for body in pair {
            assert!(body.matches(marker).count() <= 4, "{body}");
        }
        let before = pair[0].replace(marker, "");
        let stem = before.strip_suffix("]}]}").unwrap();
        assert!(pair[1].replace(marker, "").starts_with(stem));
    }
    let last: serde_json::Value = serde_json::from_str(bodies.last().unwrap()).unwrap();
    let messages = last["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
}

#[test]
fn an_idle_session_keeps_no_encoded_turns_and_makes_the_same_bytes_again() {
    let mut host = TestHost::default();
    let _ = host.submit("one");
    host.reply(&Message::text("1"));
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    let mut other = TestHost::around(restored, String::new());
    let _ = host.submit("two");
    let _ = other.submit("two");
    assert_eq!(host.requests.last(), other.requests.last());
}

#[test]
fn the_log_grows_with_what_was_said_only() {
    let mut host = TestHost::open(config());
    let mut sizes = Vec::new();
    for _ in 0..20 {
        let before = host.log.len();
        let _ = host.command(Command::submit(text("again")));
        host.reply(&Message::text("ok"));
        sizes.push(host.log.len() - before);
    }
    // The numbers of effects get longer, nothing else does.
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(most - least <= 8, "{sizes:?}");
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 40);
}

#[test]
fn a_schema_of_several_lines_takes_one_line_of_the_log() {
    let mut config = config();
    let parameters = "{\n  \"type\": \"object\",\r\n  \"properties\": {}\n}";
    config.tools = vec![innerloop_core::tool::ToolSpec {
        read_only: true,
        ..innerloop_core::tool::ToolSpec::new(
            "dice",
            "Throws dice.",
            innerloop_core::json::Json::parse(parameters).unwrap(),
        )
    }];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    assert_eq!(host.log.lines().count(), 2);
    assert_eq!(log::replay(&host.log).unwrap().session.snapshot(), host.session.snapshot());
}

#[test]
fn a_log_with_snapshots_goes_on_from_the_newest() {
    let mut host = TestHost::default();
    let _ = host.submit("first");
    host.reply(&Message::text("Done."));
    let header = host.log.lines().next().unwrap().to_owned() + "\n";
    let before = host.log.len();
    let line = log::snapshot(&host.session);
    let _ = host.submit("second");
    let behind = host.log[before..].to_owned();
    let whole = format!("{}{line}{behind}", &host.log[..before]);
    let short = format!("{header}{line}{behind}");
    let expected = host.session.snapshot();
    for text in [&whole, &short, &host.log] {
        assert_eq!(log::replay(text).unwrap().session.snapshot(), expected);
        let resumed = log::resume(text, UnixMillis(EPOCH.0 + 5_000)).unwrap();
        assert_eq!((resumed.session.snapshot(), resumed.left_out), (expected.clone(), 0));
        assert_eq!(resumed.session.owed(), host.session.owed());
    }
    // A log of another version goes on from its snapshot, without what came after.
    let other = short.replacen("\"replay\":", "\"replay\":9", 1);
    assert!(matches!(log::replay(&other), Err(LogError::Version { .. })));
    let resumed = log::resume(&other, EPOCH).unwrap();
    assert_eq!((resumed.left_out, resumed.session.owed().0.len()), (1, 0));
    let damaged = short.replacen("Done.", "Gone.", 1);
    let error = log::resume(&damaged, EPOCH).unwrap_err().to_string();
    assert!(error.starts_with("line 2 of the log: this is not an Innerloop snapshot"), "{error}");
}

#[test]
fn what_breaks_behind_the_terminal_marker_costs_nothing_also_after_a_restore() {
    for restores in [false, true] {
        let mut host = TestHost::default();
        let _ = host.submit("go");
        host.head(200, "text/event-stream");
        let body = Message::text("All done.").events().concat();
        let _ = host.http(HttpInput::Chunk(body.as_str().into()));
        if restores {
            host.session = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
        }
        host.broken();
        assert_eq!(host.names(0).last().unwrap(), "processing_end", "restored: {restores}");
        assert!(!host.names(0).contains(&"retry".to_owned()));
    }
}

#[test]
fn what_is_owed_is_what_was_asked_for_whatever_was_configured_since() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let owed = host.session.owed();
    let patch = json!({"model": {"name": "mock-2"}, "instructions": "Be brief."});
    let patch = serde_json::from_value(patch).unwrap();
    let _ = host.command(Command::Configure { patch });
    assert_eq!(host.session.owed(), owed);
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.owed(), owed);
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(host.body()["model"], "mock-2");
}

#[test]
fn a_snapshot_whose_effects_do_not_fit_together_is_refused() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let whole = host.session.snapshot();
    let cancelled = json!([{"id": 1, "agent": 0, "kind": "http", "until": 9}]);
    let round = json!({"type": "round", "calls": []});
    let child = json!([{"id": 1, "state": "running"}]);
    for (field, value, why) in [
        ("/effects", json!(0), "open effects do not fit"),
        ("/cancelled", cancelled, "open effects do not fit"),
        ("/agents/0/phase", json!({"type": "idle"}), "do not fit its phase"),
        ("/agents/0/calls", json!([]), "do not fit its phase"),
        ("/agents/0/phase", round, "calls of a round"),
        ("/agents/0/children", child, "not known to the one that started it"),
        ("/agents/0/spawned", json!({"parent": 0}), "has no parent"),
        ("/agents/0/id", json!(1), "started by nobody"),
    ] {
        let mut state = snapshot::state(&whole);
        let (parent, name) = field.rsplit_once('/').unwrap();
        state.pointer_mut(parent).unwrap()[name] = value;
        let torn = snapshot::with_state(&whole, &state.to_string());
        let error = Session::restore(&torn, EPOCH).unwrap_err();
        assert!(error.to_string().contains(why), "{field}: {error}");
    }
}
