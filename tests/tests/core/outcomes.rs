//! What an outcome tells of a run: how long it took, and both outputs of a program.

use innerloop_core::{
    REPLAY_VERSION, Session,
    action::{DeniedBy, Outcome, ToolError},
    config::{ApprovalPolicy, AskAbout, HookPoint, SessionConfig},
    event::EventKind,
    input::{Answer, Command, HookReply, Input, ToolInput},
    log,
    message::Part,
    output::Effect,
    tool::ToolSpec,
};
use innerloop_tests::{
    anthropic::Message,
    snapshot,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::{Value, json};

fn asking() -> SessionConfig {
    let mut config = config();
    config.approval = ApprovalPolicy { ask: AskAbout::Changes, allow: Vec::new() };
    config
}

fn write(id: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": id, "content": "x"}))
}

/// A session in which one call runs since 5,000 ms.
fn running() -> TestHost {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.now = 5_000;
    host.reply(&write("a"));
    assert_eq!(host.runs.len(), 1);
    host
}

/// Of each call that has ended, its id and how long its run took.
fn durations(host: &TestHost) -> Vec<(&str, Option<u64>)> {
    host.find(|kind| match kind {
        EventKind::ToolCallEnd { call_id, outcome, .. } => {
            Some((call_id.as_str(), outcome.duration_ms))
        }
        _ => None,
    })
}

fn answer(host: &mut TestHost, now: u64, answer: Answer) {
    host.now = now;
    let id = host.asks[0].0;
    let _ = host.input(Input::Answer { id, answer });
}

fn end(host: &mut TestHost, call_id: &str, now: u64) {
    host.now = now;
    let run = host.runs.iter().find(|(_, run)| run.call_id == call_id);
    let id = *run.unwrap_or_else(|| panic!("{call_id} does not run")).0;
    let _ = host.done(id, Outcome::text("ok"));
}

/// What the model reads of the one result in the newest request.
fn read(host: &TestHost) -> Value {
    let messages = host.body()["messages"].clone();
    messages.as_array().unwrap().last().unwrap()["content"][0]["content"].clone()
}

#[test]
fn d2_the_time_from_launch_to_end_is_told_and_not_the_wait_for_a_person() {
    let mut host = TestHost::open(asking());
    let _ = host.submit("go");
    host.now = 1_000;
    host.reply(&write("a").and_call("b", "list_dir", &json!({})));
    end(&mut host, "b", 1_030);
    answer(&mut host, 61_000, Answer::Allow);
    end(&mut host, "a", 61_250);
    assert_eq!(durations(&host), [("b", Some(30)), ("a", Some(250))]);
}

#[test]
fn d2_calls_that_wait_for_one_another_are_measured_each_for_itself() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.now = 100;
    host.reply(&write("a").and_call("b", "write_file", &json!({"file_path": "b", "content": ""})));
    end(&mut host, "a", 400);
    end(&mut host, "b", 450);
    assert_eq!(durations(&host), [("a", Some(300)), ("b", Some(50))]);
}

#[test]
fn d2_a_host_that_measures_is_believed_and_own_tools_are_measured() {
    let spec = json!({"name": "dice", "description": "Throws.", "parameters": {"type": "object"}});
    let mut config = config();
    config.tools = vec![serde_json::from_str::<ToolSpec>(&spec.to_string()).unwrap()];
    for (said, told) in [(None, 70), (Some(12), 12), (Some(0), 0)] {
        let mut host = TestHost::open(config.clone());
        let _ = host.submit("go");
        host.now = 10;
        host.reply(&Message::call("c", "dice", &json!({})));
        host.now = 80;
        let id = *host.runs.keys().next().unwrap();
        let _ = host.done(id, Outcome { duration_ms: said, ..Outcome::text("6") });
        assert_eq!(durations(&host), [("c", Some(told))]);
        assert_eq!(read(&host), "6", "the model reads nothing of it");
    }
}

#[test]
fn d2_what_never_ran_took_no_time() {
    let mut host = TestHost::open(asking());
    let _ = host.submit("go");
    let calls = write("denied").and_call("unknown", "no_such_tool", &json!({})).and_call(
        "invalid",
        "read_file",
        &json!({"file_path": 1}),
    );
    host.reply(&calls);
    answer(&mut host, 900, Answer::deny(""));
    let mut told = durations(&host);
    told.sort_unstable();
    assert_eq!(told, [("denied", None), ("invalid", None), ("unknown", None)]);

    // Interrupted before it began: a person was still asked.
    host.reply(&write("asked"));
    host.now = 2_000;
    let _ = host.command(Command::Interrupt);
    assert_eq!(durations(&host).last(), Some(&("asked", None)));
}

#[test]
fn d2_a_run_that_is_interrupted_took_until_then() {
    let mut host = running();
    host.now = 5_600;
    let _ = host.command(Command::Interrupt);
    assert_eq!(durations(&host), [("a", Some(600))]);
}

#[test]
fn d2_a_run_that_cannot_be_parked_goes_on_being_measured() {
    let mut host = running();
    let id = *host.runs.keys().next().unwrap();
    host.now = 5_100;
    let parked = ToolInput::Parked { handle: "job".into(), outcome: Outcome::text("on") };
    assert!(host.offer(Input::Tool { id, input: parked }).is_err());
    assert_eq!(durations(&host), []);
    end(&mut host, "a", 5_900);
    assert_eq!(durations(&host), [("a", Some(900))]);
}

#[test]
fn d2_a_hook_behind_the_run_adds_no_time() {
    let mut config = config();
    config.hooks.points = vec![HookPoint::BeforeTool, HookPoint::AfterTool];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&write("a"));
    for now in [400, 900] {
        host.now = now;
        let id = host.hooks[0].0;
        let _ = host.input(Input::Hook { id, reply: HookReply::Allow });
        if now == 400 {
            end(&mut host, "a", 450);
        }
    }
    assert_eq!(durations(&host), [("a", Some(50))]);
}

#[test]
fn d2_a_snapshot_keeps_when_a_run_was_launched() {
    let mut host = running();
    host.now = 5_200;
    let _ = host.steer("noted");
    let bytes = host.session.snapshot();
    let mut old = snapshot::state(&bytes);
    let since = old["agents"][0]["phase"]["calls"][0].as_object_mut().unwrap().remove("since");
    assert_eq!(since, Some(json!(5_000)));
    let old = snapshot::with_state(&bytes, &old.to_string());
    for (bytes, told) in [(&bytes, Some(700)), (&old, None)] {
        let mut other = TestHost::around(Session::restore(bytes, EPOCH).unwrap(), String::new());
        other.now = 5_700;
        let owed = other.session.owed();
        let id = owed.effects().find_map(|effect| match effect {
            Effect::RunTool { id, .. } => Some(*id),
            _ => None,
        });
        let _ = other.done(id.unwrap(), Outcome::text("ok"));
        assert_eq!(durations(&other), [("a", told)]);
    }
}

#[test]
fn d2_of_a_run_that_was_lost_nobody_knows_how_long_it_took() {
    let mut host = running();
    let id = *host.runs.keys().next().unwrap();
    host.now = 9_000;
    let _ = host.input(Input::Lost { id });
    assert_eq!(durations(&host), [("a", None)]);
}

#[test]
fn d2_a_replay_measures_the_same() {
    let mut host = running();
    end(&mut host, "a", 5_042);
    assert!(host.log.contains(&format!("\"replay\":{REPLAY_VERSION}")));
    let replayed = log::replay(&host.log).unwrap();
    let events = replayed.outputs.iter().flat_map(|outputs| outputs.events());
    let told: Vec<_> = events
        .filter_map(|event| match &event.kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(outcome.duration_ms),
            _ => None,
        })
        .collect();
    assert_eq!(told, [Some(42)]);
}

fn program(out: &str, err: &str, rest: &[&str]) -> Outcome {
    let texts = [out, err].into_iter().chain(rest.iter().copied());
    Outcome { parts: texts.map(Part::text).collect(), streams: true, ..Outcome::default() }
}

#[test]
fn d2_the_model_reads_both_outputs_as_one_text() {
    let crashed = Outcome { error: Some(ToolError::Crashed), ..program("a", "b", &["[c]"]) };
    for (outcome, text) in [
        (program("a", "b\n", &[]), "a\nstandard error:\nb\n"),
        (program("", "b", &["[c]"]), "standard error:\nb\n[c]"),
        (program("", "", &[]), "(no output)"),
        (crashed, "Tool error (write_file): a\nstandard error:\nb\n[c]"),
    ] {
        let mut host = running();
        let id = *host.runs.keys().next().unwrap();
        let _ = host.done(id, outcome);
        assert_eq!(read(&host), text);
    }
}

#[test]
fn d2_both_outputs_are_cut_for_the_model_as_the_one_text_that_they_are() {
    let mut host = running();
    let id = *host.runs.keys().next().unwrap();
    let (out, err) = ("o".repeat(200_000), "e".repeat(200_000));
    let _ = host.done(id, program(&out, &err, &[]));
    let mut apart = running();
    let id = *apart.runs.keys().next().unwrap();
    let _ = apart.done(id, Outcome::text(format!("{out}\nstandard error:\n{err}")));
    assert_eq!(read(&host), read(&apart));
    assert!(read(&host).as_str().unwrap().len() < 100_000);
}

#[test]
fn m5_a_denied_call_says_who_denied_it() {
    let denied = |before: &dyn Fn(&mut SessionConfig), deny: &dyn Fn(&mut TestHost)| {
        let mut config = asking();
        config.ask_user = true;
        before(&mut config);
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        deny(&mut host);
        let told = host.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => Some((outcome.error, outcome.denied_by)),
            _ => None,
        });
        let [(error, by)] = told[..] else { panic!("{told:?}") };
        assert_eq!(error, Some(ToolError::Denied));
        by
    };
    let deny = |host: &mut TestHost, by: Answer| {
        host.reply(&write("a"));
        answer(host, 1, by);
    };
    let hook = |config: &mut SessionConfig| config.hooks.points = vec![HookPoint::BeforeTool];
    let by_hook = |host: &mut TestHost| {
        host.reply(&write("a"));
        let reply = HookReply::Deny { reason: "no".into() };
        let _ = host.input(Input::Hook { id: host.hooks[0].0, reply });
    };
    let question = |host: &mut TestHost| {
        host.reply(&Message::call("q", "ask_user", &json!({"question": "Which one?"})));
        answer(host, 1, Answer::nobody("gone"));
    };
    let by = |by: Answer| denied(&|_| {}, &|host| deny(host, by.clone()));
    assert_eq!(by(Answer::deny("no")), Some(DeniedBy::Person));
    assert_eq!(by(Answer::Text("no".into())), Some(DeniedBy::Person));
    assert_eq!(by(Answer::nobody("gone")), Some(DeniedBy::Nobody));
    assert_eq!(denied(&hook, &by_hook), Some(DeniedBy::Hook));
    assert_eq!(denied(&|_| {}, &question), None, "a question needs no yes");
}
