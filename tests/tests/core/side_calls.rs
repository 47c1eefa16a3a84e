//! A model call of another purpose, beside the run: it owns its route, and its news reach it
//! whatever phase the agent stands in. The seam through which it is made is none of the interface.

use innerloop_core::{
    Session,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Command, HttpInput, Input, ResponseHead},
    log,
    output::{Effect, Outputs, Purpose},
    status::AgentState,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{self, EPOCH, TestHost},
};
use serde_json::{Value, json};

/// Has another model sum up; returns the effect and the request's body.
fn summarize(host: &mut TestHost) -> (EffectId, Value) {
    let outputs = host.command(test_host::summarize());
    let [Effect::Http { id, request, purpose: Purpose::Summary, .. }] =
        outputs.effects().collect::<Vec<_>>()[..]
    else {
        panic!("{outputs:?}")
    };
    (*id, serde_json::from_slice(&request.body).unwrap())
}

fn head(host: &mut TestHost, id: EffectId) {
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let head = ResponseHead { status: 200, headers, at: EPOCH };
    let _ = host.input(Input::Http { id, input: HttpInput::Head(head) });
}

fn stream(host: &mut TestHost, id: EffectId, message: &Message) -> Outputs {
    let body = message.events().concat().into_bytes();
    let _ = host.input(Input::Http { id, input: HttpInput::Chunk(body.into()) });
    host.input(Input::Http { id, input: HttpInput::End })
}

fn warnings(host: &TestHost) -> Vec<String> {
    host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.clone()),
        _ => None,
    })
}

fn state(host: &TestHost) -> AgentState {
    host.session.status(AgentId::ROOT).unwrap().state
}

/// A session whose tool runs while another model sums up.
fn in_a_round() -> (TestHost, EffectId) {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let (id, body) = summarize(&mut host);
    assert_eq!(body["model"], "mock-summary");
    let messages = body["messages"].to_string();
    assert!(messages.contains("go") && messages.contains("Sum up"), "{messages}");
    assert!(!messages.contains("list_dir"), "an open call is no part of it: {messages}");
    (host, id)
}

/// Answers the tool and both models, their streams one inside the other.
fn answered(mut host: TestHost, id: EffectId) -> TestHost {
    head(&mut host, id);
    let run = *host.runs.keys().next().unwrap();
    let _ = host.done(run, innerloop_core::action::Outcome::text("a"));
    let reply = host.call();
    assert_ne!(reply, id);
    head(&mut host, reply);
    let outputs = stream(&mut host, id, &Message::text("It was short."));
    assert_eq!(state(&host), AgentState::Processing);
    assert_eq!(outputs.events().count(), 1, "nobody watches a summary: {outputs:?}");
    assert_eq!(warnings(&host), ["the summary: It was short."]);
    let _ = stream(&mut host, reply, &Message::text("Done."));
    assert_eq!(state(&host), AgentState::Idle);
    host
}

#[test]
fn a_call_of_another_purpose_goes_on_beside_a_round_and_a_reply() {
    let (host, id) = in_a_round();
    let host = answered(host, id);
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 4);
}

#[test]
fn it_survives_a_restart_from_the_snapshot_and_from_the_log() {
    let (host, id) = in_a_round();
    let replayed = log::replay(&host.log).unwrap().session;
    let resumed = log::resume(&host.log, EPOCH).unwrap().session;
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    for session in [replayed, resumed, restored] {
        assert_eq!(session.snapshot(), host.session.snapshot());
        assert_eq!(session.owed(), host.session.owed());
        assert_eq!(session.owed().effects().count(), 2);
        let mut again = TestHost::around(session, String::new());
        again.runs = host.runs.clone();
        let again = answered(again, id);
        let (host, _) = in_a_round();
        let expected = answered(host, id);
        assert_eq!(again.session.snapshot(), expected.session.snapshot());
    }
}

#[test]
fn both_calls_stay_what_they_were_whatever_is_configured() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let (id, _) = summarize(&mut host);
    let owed = host.session.owed();
    let patch = innerloop_core::json::from_str(r#"{"model":{"name":"mock-2"}}"#).unwrap();
    let _ = host.command(Command::Configure { patch });
    assert_eq!(host.session.owed(), owed);
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.owed(), owed);
    // A try again of the reply takes the new model, one of the summary its own.
    for effect in owed.effects() {
        let _ = host.input(Input::Lost { id: effect.id() });
    }
    let deadline = host.session.deadline().unwrap();
    host.now = deadline.at.0 + 10_000;
    let _ = host.input(Input::Tick);
    let models: Vec<String> = host.requests[host.requests.len() - 2..]
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["model"].to_string())
        .collect();
    assert_eq!(models.len(), 2);
    assert!(models.iter().any(|model| model.contains("mock-2")), "{models:?}");
    assert!(models.iter().any(|model| model.contains("mock-summary")), "{models:?}");
    assert!(host.session.owed().effects().all(|effect| effect.id() != id));
}

#[test]
fn an_idle_agent_sums_up_and_an_interrupt_ends_that_too() {
    let mut host = TestHost::default();
    let (id, _) = summarize(&mut host);
    assert_eq!(state(&host), AgentState::Idle);
    let _ = host.submit("go");
    let _ = host.command(Command::Interrupt);
    assert_eq!(host.cancelled.len(), 2);
    assert!(host.cancelled.contains(&id));
    assert!(host.session.owed().is_empty());
    let (_, body) = summarize(&mut host);
    assert!(body["messages"].to_string().contains("interrupted the run here"));
    let _ = host.command(Command::Close);
    assert!(host.session.owed().is_empty());
}
