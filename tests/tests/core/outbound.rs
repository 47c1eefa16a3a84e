//! The host's hook sees what a run has come to before it goes out.

use innerloop_core::{
    Session,
    config::{AnswerConfig, HookPoint, LimitAction, SessionConfig},
    event::EventKind,
    id::AgentId,
    input::{Command, HookReply, Input},
    json::Json,
    output::Effect,
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::json;

fn hooked() -> SessionConfig {
    let mut config = config();
    config.hooks.points = vec![HookPoint::Outbound];
    config
}

/// What the hook is shown.
fn shown(host: &TestHost) -> String {
    let (_, hook) = &host.hooks[0];
    assert_eq!(hook.point, HookPoint::Outbound);
    serde_json::from_str(hook.payload.text()).unwrap()
}

fn reply(host: &mut TestHost, reply: HookReply) {
    let id = host.hooks[0].0;
    let _ = host.input(Input::Hook { id, reply });
}

fn replace(json: &str) -> HookReply {
    HookReply::Replace(Json::parse(json).unwrap())
}

fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

fn last_said(host: &TestHost) -> String {
    let turns = host.session.history(AgentId::ROOT).unwrap().turns();
    serde_json::to_string(turns.last().unwrap()).unwrap()
}

#[test]
fn j21_the_result_passes_is_replaced_or_is_withheld() {
    for (answer, end, result) in [
        (HookReply::Allow, RunEnd::Completed, "The key is 7."),
        (replace("\"The key is hidden.\""), RunEnd::Completed, "The key is hidden."),
        (HookReply::Deny { reason: "no keys".into() }, RunEnd::Denied, ""),
        (HookReply::Failed { message: "crash".into() }, RunEnd::Completed, "The key is 7."),
    ] {
        let mut host = TestHost::open(hooked());
        let _ = host.submit("go");
        host.reply(&Message::text("The key is 7."));
        assert_eq!((shown(&host).as_str(), ends(&host).len()), ("The key is 7.", 0));
        assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::Processing);
        reply(&mut host, answer);
        assert_eq!(ends(&host), [(end, result.to_owned())]);
        assert!(last_said(&host).contains("The key is 7."), "the history keeps the model's words");
        // The next input is free again.
        let _ = host.submit("more");
        host.reply(&Message::text("Done."));
        assert_eq!(shown(&host), "Done.");
    }
}

#[test]
fn j21_a_hook_that_breaks_withholds_only_where_that_is_wanted() {
    let mut config = hooked();
    config.hooks.fail_closed = true;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::text("The key is 7."));
    let id = host.hooks[0].0;
    let _ = host.input(Input::Lost { id });
    assert_eq!(ends(&host), [(RunEnd::Denied, String::new())]);
}

#[test]
fn j21_a_final_answer_passes_the_hook_before_it_is_told() {
    let with = |answer: HookReply| {
        let mut config = hooked();
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let schema = Json::parse(schema.to_string()).unwrap();
        config.answer = Some(AnswerConfig { schema, retries: 0 });
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
        assert_eq!(shown(&host), r#"{"n":1}"#);
        let again = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
        let owed = again.owed();
        let hook = owed.effects().find_map(|effect| match effect {
            Effect::RunHook { hook, .. } => Some(hook.clone()),
            _ => None,
        });
        assert_eq!(hook.as_ref(), Some(&host.hooks[0].1), "a killed session asks again");
        reply(&mut host, answer);
        let given = host.find(|kind| match kind {
            EventKind::FinalAnswer { value } => Some(value.text().to_owned()),
            _ => None,
        });
        (given, ends(&host))
    };
    let completed = |text: &str| vec![(RunEnd::Completed, text.to_owned())];
    let denied = vec![(RunEnd::Denied, String::new())];
    let one = r#"{"n":1}"#;
    assert_eq!(with(HookReply::Allow), (vec![one.into()], completed(one)));
    let two = r#"{"n":2}"#;
    assert_eq!(with(replace(two)), (vec![two.into()], completed(two)));
    assert_eq!(with(replace(r#"{"n":"two"}"#)), (vec![], denied.clone()));
    assert_eq!(with(HookReply::Deny { reason: "no".into() }), (vec![], denied));
}

#[test]
fn what_is_said_while_the_hook_looks_is_done_before_the_run_ends() {
    let mut host = TestHost::open(hooked());
    let _ = host.submit("go");
    host.reply(&Message::text("One."));
    let _ = host.command(Command::follow_up(text("and then?")));
    reply(&mut host, HookReply::Allow);
    assert_eq!((ends(&host).len(), host.calls.len()), (0, 1));
    host.reply(&Message::text("Two."));
    assert_eq!(shown(&host), "Two.");
    reply(&mut host, HookReply::Allow);
    assert_eq!(ends(&host), [(RunEnd::Completed, "Two.".into())]);
}

#[test]
fn partial_results_go_past_the_hook_and_what_is_interrupted_meanwhile_stays_in() {
    let mut config = hooked();
    config.limits.max_tool_rounds_per_input = 1;
    config.limits.action = LimitAction::Partial;
    let mut host = TestHost::open(config);
    let call = Message::text("I look.").and_call("r", "read_file", &json!({"file_path": "a"}));
    let _ = host.submit("go");
    host.reply(&call);
    let _ = host.answer("text of a");
    assert_eq!(shown(&host), "I look.");
    let _ = host.command(Command::Interrupt);
    assert_eq!(ends(&host), [(RunEnd::Interrupted, String::new())]);
    assert_eq!(host.cancelled.len(), 1);
}

#[test]
fn what_other_agents_say_is_not_asked_about() {
    let mut host = TestHost::open(hooked());
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "Look around."})));
    let child = host.owners.iter().find(|(_, agent)| agent.0 == 1).map(|(id, _)| *id).unwrap();
    let at = host.calls.iter().position(|id| *id == child).unwrap();
    let open = host.calls.remove(at);
    host.calls.push(open);
    host.reply(&Message::text("Nothing here."));
    assert_eq!((host.hooks.len(), ends(&host).len()), (0, 1));
}

#[test]
fn the_time_of_a_run_that_the_hook_holds_is_told_to_be_up_once() {
    for before in [true, false] {
        let mut config = hooked();
        config.limits.run.ms = 1_000;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        if before {
            host.reply(&Message::text("The key is 7."));
        } else {
            let _ = host.wait();
        }
        host.now += 5_000;
        let _ = host.input(Input::Tick);
        assert_eq!((host.hooks.len(), host.session.deadline()), (1, None), "{:?}", host.hooks);
        reply(&mut host, HookReply::Allow);
        let end = if before { RunEnd::Completed } else { RunEnd::Budget };
        assert_eq!(ends(&host)[0].0, end);
    }
}
