//! Snapshots of earlier versions go on.

use innerloop_core::{Session, id::AgentId, input::Command};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, text},
};

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
    let (from, to) =
        (text.find(r#""purse":"#).unwrap(), text.rfind(r#""agents":[{"id":0"#).unwrap());
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
