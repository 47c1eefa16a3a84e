//! A model call of another purpose, beside the run: it owns its route, and its news reach it
//! whatever phase the agent stands in. The seam through which it is made is none of the interface.

use innerloop_core::{
    Session,
    config::ConfigPatch,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Command, HttpInput, Input, ResponseHead},
    log,
    output::{Effect, Outputs, Purpose},
    status::AgentState,
};
use innerloop_tests::{
    anthropic::Message,
    desk::{self, Desk, EPOCH},
};
use serde_json::{Value, json};

/// Has another model sum up; returns the effect and the request's body.
fn summarize(desk: &mut Desk) -> (EffectId, Value) {
    let outputs = desk.command(desk::summarize());
    let [Effect::Http { id, request, purpose: Purpose::Summary, .. }] =
        outputs.effects().collect::<Vec<_>>()[..]
    else {
        panic!("{outputs:?}")
    };
    (*id, serde_json::from_slice(&request.body).unwrap())
}

fn head(desk: &mut Desk, id: EffectId) {
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let head = ResponseHead { status: 200, headers, at: EPOCH };
    let _ = desk.input(Input::Http { id, input: HttpInput::Head(head) });
}

fn stream(desk: &mut Desk, id: EffectId, message: &Message) -> Outputs {
    let body = message.events().concat().into_bytes();
    let _ = desk.input(Input::Http { id, input: HttpInput::Chunk(body.into()) });
    desk.input(Input::Http { id, input: HttpInput::End })
}

fn warnings(desk: &Desk) -> Vec<String> {
    desk.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.clone()),
        _ => None,
    })
}

fn state(desk: &Desk) -> AgentState {
    desk.session.status(AgentId::ROOT).unwrap().state
}

/// A session whose tool runs while another model sums up.
fn in_a_round() -> (Desk, EffectId) {
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    desk.reply(&Message::call("c", "list_dir", &json!({})));
    let (id, body) = summarize(&mut desk);
    assert_eq!(body["model"], "mock-summary");
    let messages = body["messages"].to_string();
    assert!(messages.contains("go") && messages.contains("Sum up"), "{messages}");
    assert!(!messages.contains("list_dir"), "an open call is no part of it: {messages}");
    (desk, id)
}

/// Answers the tool and both models, their streams one inside the other.
fn answered(mut desk: Desk, id: EffectId) -> Desk {
    head(&mut desk, id);
    let run = *desk.runs.keys().next().unwrap();
    let _ = desk.done(run, innerloop_core::action::Outcome::text("a"));
    let reply = desk.call();
    assert_ne!(reply, id);
    head(&mut desk, reply);
    let outputs = stream(&mut desk, id, &Message::text("It was short."));
    assert_eq!(state(&desk), AgentState::Processing);
    assert_eq!(outputs.events().count(), 1, "nobody watches a summary: {outputs:?}");
    assert_eq!(warnings(&desk), ["the summary: It was short."]);
    let _ = stream(&mut desk, reply, &Message::text("Done."));
    assert_eq!(state(&desk), AgentState::Idle);
    desk
}

#[test]
fn a_call_of_another_purpose_goes_on_beside_a_round_and_a_reply() {
    let (desk, id) = in_a_round();
    let desk = answered(desk, id);
    assert_eq!(desk.session.history(AgentId::ROOT).unwrap().turns().len(), 4);
}

#[test]
fn it_survives_a_restart_from_the_snapshot_and_from_the_log() {
    let (desk, id) = in_a_round();
    let replayed = log::replay(&desk.log).unwrap().session;
    let resumed = log::resume(&desk.log, EPOCH).unwrap().session;
    let restored = Session::restore(&desk.session.snapshot(), EPOCH).unwrap();
    for session in [replayed, resumed, restored] {
        assert_eq!(session.snapshot(), desk.session.snapshot());
        assert_eq!(session.owed(), desk.session.owed());
        assert_eq!(session.owed().effects().count(), 2);
        let mut again = Desk::around(session, String::new());
        again.runs = desk.runs.clone();
        let again = answered(again, id);
        let (desk, _) = in_a_round();
        let expected = answered(desk, id);
        assert_eq!(again.session.snapshot(), expected.session.snapshot());
    }
}

#[test]
fn both_calls_stay_what_they_were_whatever_is_configured() {
    let mut desk = Desk::default();
    let _ = desk.submit("go");
    let (id, _) = summarize(&mut desk);
    let owed = desk.session.owed();
    let patch = ConfigPatch { model: Some("mock-2".into()), ..Default::default() };
    let _ = desk.command(Command::Configure { patch });
    assert_eq!(desk.session.owed(), owed);
    let restored = Session::restore(&desk.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.owed(), owed);
    // A try again of the reply takes the new model, one of the summary its own.
    for effect in owed.effects() {
        let _ = desk.input(Input::Lost { id: effect.id() });
    }
    let deadline = desk.session.deadline().unwrap();
    desk.now = deadline.at.0 + 10_000;
    let _ = desk.input(Input::Tick);
    let models: Vec<String> = desk.requests[desk.requests.len() - 2..]
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["model"].to_string())
        .collect();
    assert_eq!(models.len(), 2);
    assert!(models.iter().any(|model| model.contains("mock-2")), "{models:?}");
    assert!(models.iter().any(|model| model.contains("mock-summary")), "{models:?}");
    assert!(desk.session.owed().effects().all(|effect| effect.id() != id));
}

#[test]
fn an_idle_agent_sums_up_and_an_interrupt_ends_that_too() {
    let mut desk = Desk::default();
    let (id, _) = summarize(&mut desk);
    assert_eq!(state(&desk), AgentState::Idle);
    let _ = desk.submit("go");
    let _ = desk.command(Command::Interrupt);
    assert_eq!(desk.cancelled.len(), 2);
    assert!(desk.cancelled.contains(&id));
    assert!(desk.session.owed().is_empty());
    let (_, body) = summarize(&mut desk);
    assert!(body["messages"].to_string().contains("interrupted the run here"));
    let _ = desk.command(Command::Close);
    assert!(desk.session.owed().is_empty());
}
