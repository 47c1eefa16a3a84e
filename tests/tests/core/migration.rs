//! Snapshots and logs of earlier versions go on: each fixture was written by the version that its
//! folder names, and comes to what that version made of it.

use expect_test::{ExpectFile, expect_file};
use innerloop_core::{
    REPLAY_VERSION, Session,
    action::Outcome,
    digest::Digest,
    id::AgentId,
    input::{Answer, Command, HookReply, Input},
    log,
    output::{Ask, Effect},
    time::UnixMillis,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, name, text},
};
use std::fmt::Write;

/// How many effects are answered before a restored session is left alone.
const MOST_ANSWERS: usize = 40;

/// An open effect in a line that does not depend on the JSON of its version.
fn owed(effect: &Effect) -> String {
    match effect {
        Effect::Http { id, agent, request, .. } => {
            let body = Digest::of(&request.body.0).0;
            format!("{id} of {agent}: POST {} {body:016x}", request.path)
        }
        Effect::RunTool { id, agent, run } => {
            assert_eq!(run.folder, "", "no agent of that version worked in a folder");
            let run = format!("{run:?}").replace("folder: \"\", ", "");
            format!("{id} of {agent}: run {run}")
        }
        Effect::Ask { id, agent, ask: Ask::Approval { call_id, name, arguments, .. } } => {
            format!("{id} of {agent}: may {name} run ({call_id})? {}", arguments.text())
        }
        Effect::Ask { id, agent, ask } => format!("{id} of {agent}: ask {ask:?}"),
        Effect::RunHook { id, agent, hook } => {
            format!("{id} of {agent}: hook at {:?}: {}", hook.point, hook.payload.text())
        }
        Effect::Cancel { id, .. } => format!("{id}: cancel"),
    }
}

/// What there is to see of a session from outside.
fn shown(session: &Session) -> String {
    let mut out = format!("now {:?}, deadline {:?}\n", session.now(), session.deadline());
    for number in 0.. {
        let agent = AgentId(number);
        let Some(status) = session.status(agent) else { break };
        let _ = writeln!(out, "{agent}: {status:?}");
        for turn in session.history(agent).unwrap().turns() {
            let _ = writeln!(out, "  {turn:?}");
        }
    }
    for effect in session.owed().effects() {
        let _ = writeln!(out, "owed: {}", owed(effect));
    }
    out
}

/// Answers all that is open in the order of its ids until nothing is, and tells what follows.
fn finished(session: Session) -> String {
    let mut host = TestHost::around(session, String::new());
    host.now = host.session.now().0;
    for _ in 0..MOST_ANSWERS {
        let next = host.session.owed().effects().next().cloned();
        match next {
            Some(Effect::Http { id, .. }) => {
                host.calls = vec![id];
                host.reply(&Message::text("All done."));
            }
            Some(Effect::RunTool { id, .. }) => {
                let _ = host.done(id, Outcome::text("as asked"));
            }
            Some(Effect::Ask { id, .. }) => {
                let _ = host.input(Input::Answer { id, answer: Answer::Allow });
            }
            Some(Effect::RunHook { id, .. }) => {
                let _ = host.input(Input::Hook { id, reply: HookReply::Allow });
            }
            Some(Effect::Cancel { .. }) => panic!("a cancel is never owed"),
            None if host.session.deadline().is_some() => {
                let _ = host.wait();
            }
            None => break,
        }
    }
    let events: Vec<String> = host
        .events
        .iter()
        .map(|event| format!("{}:{}", event.agent.0, name(&event.kind)))
        .collect();
    format!("events: {}\n{}", events.join(" "), shown(&host.session))
}

#[test]
fn snapshots_of_version_2_come_to_what_that_version_made_of_them() {
    let wall = UnixMillis(EPOCH.0 + 60_000);
    for (snapshot, expected) in version_2() {
        let restored = Session::restore(snapshot.as_bytes(), wall).unwrap();
        let again = Session::restore(&restored.snapshot(), wall).unwrap();
        assert_eq!(again.snapshot(), restored.snapshot());
        let text = format!("{}-- answered --\n{}", shown(&restored), finished(restored));
        expected.assert_eq(&text);
        assert_eq!(format!("{}-- answered --\n{}", shown(&again), finished(again)), text);
    }
}

#[test]
fn a_log_of_version_2_goes_on_from_its_newest_snapshot() {
    let text = include_str!("../../fixtures/version2/session.log.jsonl");
    let resumed = log::resume(text, UnixMillis(EPOCH.0 + 60_000)).unwrap();
    let behind = if REPLAY_VERSION == 2 { 0 } else { 1 };
    assert_eq!(resumed.left_out, behind);
    assert_eq!(resumed.session.owed().0.len(), 1 - behind);
    let turns = resumed.session.history(AgentId::ROOT).unwrap().turns();
    assert_eq!(turns.len(), 9 - behind);
    let first = text.lines().next().unwrap().to_owned() + "\n";
    assert_eq!(log::resume(&first, EPOCH).is_ok(), REPLAY_VERSION == 2);
    assert_eq!(log::replay(text).is_ok(), REPLAY_VERSION == 2);
}

#[test]
fn snapshots_of_versions_3_and_4_say_nothing_of_a_view_or_of_what_was_spent() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c", "list_dir", &serde_json::json!({})));
    let snapshot = host.session.snapshot();
    let state = innerloop_tests::snapshot::state(&snapshot);
    let spent = &state["purse"]["spent"]["tokens"];
    assert_eq!(
        *spent,
        serde_json::json!(host.session.status(AgentId::ROOT).unwrap().usage.tokens())
    );
    let text = String::from_utf8(snapshot.clone()).unwrap();
    let (from, to) = (text.find(r#""purse":"#).unwrap(), text.find(r#""agents":"#).unwrap());
    let begin = text.find(r#""state":"#).unwrap() + 8;
    let state = text[begin..from].to_owned() + &text[to..text.len() - 1];
    let older = innerloop_tests::snapshot::with_state(&snapshot, &state);
    for version in ["3", "4"] {
        let older = String::from_utf8(older.clone()).unwrap();
        let older = older.replacen(r#""version":5"#, &format!(r#""version":{version}"#), 1);
        // What the agents have used says what was spent.
        assert_eq!(Session::restore(older.as_bytes(), EPOCH).unwrap().snapshot(), snapshot);
    }
}

#[test]
fn an_input_that_waits_in_a_snapshot_of_version_4_has_no_options() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let _ = host.command(Command::follow_up(text("later")));
    let snapshot = host.session.snapshot();
    let text = String::from_utf8(snapshot.clone()).unwrap();
    let (_, state) = text.split_once(r#","state":"#).unwrap();
    let state = state.strip_suffix('}').unwrap();
    let parts = r#"[{"type":"text","text":"later"}]"#;
    let older = state.replace(&format!(r#"[{{"parts":{parts}}}]"#), &format!("[{parts}]"));
    assert_ne!(older, state);
    let older = innerloop_tests::snapshot::with_state(&snapshot, &older);
    let older = String::from_utf8(older).unwrap();
    let older = older.replacen(r#""version":5"#, r#""version":4"#, 1);
    assert_eq!(Session::restore(older.as_bytes(), EPOCH).unwrap().snapshot(), snapshot);
}

/// Each snapshot with what version 2 made of it.
fn version_2() -> [(&'static str, ExpectFile); 16] {
    [
        (
            include_str!("../../fixtures/version2/idle.json"),
            expect_file!["../../fixtures/version2/idle.txt"],
        ),
        (
            include_str!("../../fixtures/version2/call_under_another_configuration.json"),
            expect_file!["../../fixtures/version2/call_under_another_configuration.txt"],
        ),
        (
            include_str!("../../fixtures/version2/whole_reply.json"),
            expect_file!["../../fixtures/version2/whole_reply.txt"],
        ),
        (
            include_str!("../../fixtures/version2/retry.json"),
            expect_file!["../../fixtures/version2/retry.txt"],
        ),
        (
            include_str!("../../fixtures/version2/round.json"),
            expect_file!["../../fixtures/version2/round.txt"],
        ),
        (
            include_str!("../../fixtures/version2/agents.json"),
            expect_file!["../../fixtures/version2/agents.txt"],
        ),
        (
            include_str!("../../fixtures/version2/epilogue.json"),
            expect_file!["../../fixtures/version2/epilogue.txt"],
        ),
        (
            include_str!("../../fixtures/version2/repetition.json"),
            expect_file!["../../fixtures/version2/repetition.txt"],
        ),
        (
            include_str!("../../fixtures/version2/asked.json"),
            expect_file!["../../fixtures/version2/asked.txt"],
        ),
        (
            include_str!("../../fixtures/version2/hook_at_submit.json"),
            expect_file!["../../fixtures/version2/hook_at_submit.txt"],
        ),
        (
            include_str!("../../fixtures/version2/hook_before_model.json"),
            expect_file!["../../fixtures/version2/hook_before_model.txt"],
        ),
        (
            include_str!("../../fixtures/version2/hook_before_stop.json"),
            expect_file!["../../fixtures/version2/hook_before_stop.txt"],
        ),
        (
            include_str!("../../fixtures/version2/hook_before_answer.json"),
            expect_file!["../../fixtures/version2/hook_before_answer.txt"],
        ),
        (
            include_str!("../../fixtures/version2/cancelled.json"),
            expect_file!["../../fixtures/version2/cancelled.txt"],
        ),
        (
            include_str!("../../fixtures/version2/closing.json"),
            expect_file!["../../fixtures/version2/closing.txt"],
        ),
        (
            include_str!("../../fixtures/version2/closed.json"),
            expect_file!["../../fixtures/version2/closed.txt"],
        ),
    ]
}
