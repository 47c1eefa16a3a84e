//! Agents that an agent starts.

use innerloop_core::{
    Session,
    config::SessionConfig,
    event::EventKind,
    id::{AgentId, EffectId},
    input::Command,
    input::Input,
    output::DeadlineReason,
    status::{AgentState, SubagentInfo, SubagentState},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::{Value, json};

const CHILD: AgentId = AgentId(1);

fn spawn(task: &str) -> Message {
    Message::call("s", "spawn_agent", &json!({"task": task}))
}

fn wait() -> Message {
    Message::call("w", "wait", &json!({"agent_id": "agent-1"}))
}

/// A session whose agent has started another one; the first open call is the child's.
fn spawned() -> TestHost {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&spawn("write tests"));
    assert_eq!(host.calls.len(), 2, "both call their models");
    host
}

/// Answers the open call of that agent.
fn reply_as(host: &mut TestHost, agent: AgentId, message: &Message) {
    let id = call_of(host, agent);
    host.calls.retain(|call| *call != id);
    host.calls.push(id);
    host.reply(message);
}

fn call_of(host: &TestHost, agent: AgentId) -> EffectId {
    *host.calls.iter().find(|id| host.owners[*id] == agent).expect("an open call of the agent")
}

/// The newest request of that agent.
fn body_of(host: &TestHost, agent: AgentId) -> Value {
    let newest = host.requests.iter().zip(&host.askers).rev().find(|(_, asker)| **asker == agent);
    serde_json::from_slice(&newest.unwrap().0.body).unwrap()
}

fn last_result(host: &TestHost, agent: AgentId) -> String {
    let messages = body_of(host, agent)["messages"].clone();
    let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let results: Vec<&Value> =
        blocks.as_array().unwrap().iter().filter(|b| b["type"] == "tool_result").collect();
    results.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn f1_a_started_agent_works_at_once_and_its_effects_carry_its_id() {
    let host = spawned();
    assert_eq!(host.askers, [AgentId::ROOT, CHILD, AgentId::ROOT]);
    let started = host.find(|kind| match kind {
        EventKind::AgentStarted { parent, task, .. } => Some((*parent, task.clone())),
        _ => None,
    });
    assert_eq!(started, [(AgentId::ROOT, "write tests".to_owned())]);
    let result = last_result(&host, AgentId::ROOT);
    assert_eq!(result, r#"{"agent_id":"agent-1","status":"running"}"#);
}

#[test]
fn f2_it_has_the_same_tools_and_the_model_that_it_is_given() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let call = json!({"task": "t", "model": "small-1", "working_dir": "sub", "max_turns": 2});
    host.reply(&Message::call("s", "spawn_agent", &call));
    let body = body_of(&host, CHILD);
    assert_eq!(body["model"], "small-1");
    assert!(body["system"][0]["text"].as_str().unwrap().contains("Working directory: /sub"));
    assert!(body["tools"].to_string().contains("read_file"));
    reply_as(&mut host, CHILD, &Message::call("c", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Idle, "its own turn limit");
}

#[test]
fn f3_it_has_a_history_of_its_own() {
    let mut host = spawned();
    reply_as(&mut host, CHILD, &Message::text("Written."));
    let turns = |agent| host.session.history(agent).unwrap().turns().len();
    assert_eq!((turns(CHILD), turns(AgentId::ROOT)), (2, 3));
    assert!(!body_of(&host, CHILD)["messages"].to_string().contains("go"));
}

#[test]
fn f4_a_started_agent_starts_no_others_beyond_the_depth() {
    let host = spawned();
    assert!(!body_of(&host, CHILD)["tools"].to_string().contains("spawn_agent"));
    let mut none = config();
    none.subagents.max_depth = 0;
    let mut host = TestHost::open(none);
    let _ = host.submit("go");
    assert!(!host.body()["tools"].to_string().contains("spawn_agent"));
    host.reply(&spawn("x"));
    assert_eq!(last_result(&host, AgentId::ROOT), "Unknown tool: spawn_agent");
    let mut deep = config();
    deep.subagents.max_depth = 2;
    let mut host = TestHost::open(deep);
    let _ = host.submit("go");
    host.reply(&spawn("x"));
    reply_as(&mut host, CHILD, &spawn("y"));
    assert!(host.session.status(AgentId(2)).is_some());
    assert!(!body_of(&host, AgentId(2))["tools"].to_string().contains("spawn_agent"));
}

#[test]
fn f4_no_more_agents_are_open_at_once_than_allowed() {
    let few = |config: &mut SessionConfig| config.subagents.max_open = 1;
    let mut config = config();
    few(&mut config);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&spawn("a").and_call("t", "spawn_agent", &json!({"task": "b"})));
    assert!(last_result(&host, AgentId::ROOT).contains("1 agents are open already"));
    assert_eq!(host.session.status(AgentId(2)), None);
}

#[test]
fn f5_wait_gives_the_result_when_the_other_is_done() {
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &wait());
    assert_eq!(host.calls.len(), 1, "the parent waits");
    reply_as(&mut host, CHILD, &Message::text("Written."));
    let result: Value = serde_json::from_str(&last_result(&host, AgentId::ROOT)).unwrap();
    let expected = json!({"status": "completed", "output": "Written.", "success": true,
        "turns_used": 2});
    assert_eq!(result, expected);
}

#[test]
fn f5_wait_gives_the_result_at_once_where_the_other_is_done_already() {
    let mut host = spawned();
    reply_as(&mut host, CHILD, &Message::text("Written."));
    reply_as(&mut host, AgentId::ROOT, &wait());
    assert!(last_result(&host, AgentId::ROOT).contains("\"success\":true"));
}

#[test]
fn f5_a_failed_agent_is_a_failed_result_and_the_parent_goes_on() {
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &wait());
    host.refuse(400, "invalid_request_error", "bad", &[]);
    assert!(last_result(&host, AgentId::ROOT).contains("\"status\":\"failed\""));
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::Processing);
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Closed);
}

#[test]
fn f6_a_wait_ends_with_its_time_or_a_steer() {
    let timed = Message::call("w", "wait", &json!({"agent_id": "agent-1", "timeout_ms": 50}));
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &timed);
    assert_eq!(host.session.deadline().unwrap().reason, DeadlineReason::Wait);
    let _ = host.wait();
    assert!(last_result(&host, AgentId::ROOT).contains("the time to wait is over"));
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &wait());
    let _ = host.steer("come back");
    let messages = body_of(&host, AgentId::ROOT)["messages"].to_string();
    assert!(messages.contains("ended by a message of the user") && messages.contains("come back"));
}

#[test]
fn f6_send_input_reaches_one_that_works_and_wakes_one_that_is_done() {
    let send = Message::call("i", "send_input", &json!({"agent_id": "agent-1", "message": "more"}));
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &send);
    reply_as(&mut host, CHILD, &Message::text("Written."));
    assert!(body_of(&host, CHILD)["messages"].to_string().contains("more"), "as a steer");
    reply_as(&mut host, CHILD, &Message::text("And more."));
    reply_as(&mut host, AgentId::ROOT, &send);
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Processing);
}

#[test]
fn f6_close_agent_ends_it_and_says_how_it_stood() {
    let close = Message::call("x", "close_agent", &json!({"agent_id": "agent-1"}));
    let mut host = spawned();
    let child = call_of(&host, CHILD);
    reply_as(&mut host, AgentId::ROOT, &close);
    assert!(last_result(&host, AgentId::ROOT).contains("\"status\":\"running\""));
    assert_eq!(host.cancelled, [child]);
    let _ = host.input(Input::Lost { id: child });
    assert!(host.names(0).contains(&"agent_ended".to_owned()));
    reply_as(&mut host, AgentId::ROOT, &wait());
    assert!(last_result(&host, AgentId::ROOT).contains("\"status\":\"closed\""));
    let unknown = Message::call("y", "close_agent", &json!({"agent_id": "agent-9"}));
    reply_as(&mut host, AgentId::ROOT, &unknown);
    assert!(last_result(&host, AgentId::ROOT).contains("there is no agent agent-9"));
}

#[test]
fn interrupt_and_close_go_down_the_tree_and_the_brackets_stand_once() {
    let mut host = spawned();
    let _ = host.command(Command::Interrupt);
    assert_eq!(host.cancelled.len(), 2);
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Idle);
    let _ = host.command(Command::Close);
    assert!(!host.names(0).contains(&"session_end".to_owned()), "two answers are owed");
    let _ = host.wait();
    let names = host.names(0);
    assert_eq!(names.iter().filter(|name| *name == "session_end").count(), 1);
    assert_eq!(names.iter().filter(|name| *name == "agent_ended").count(), 1);
    assert_eq!(names.last().unwrap(), "session_end");
}

#[test]
fn a_command_may_go_to_a_started_agent() {
    let mut host = spawned();
    let steer = Command::Steer { parts: text("only the core") };
    let _ = host.input(Input::Command { agent: CHILD, command: steer });
    reply_as(&mut host, CHILD, &Message::call("c", "list_dir", &json!({})));
    let _ = host.answer("a");
    assert!(body_of(&host, CHILD)["messages"].to_string().contains("only the core"));
}

#[test]
fn a_session_with_agents_survives_snapshot_and_log() {
    let mut host = spawned();
    reply_as(&mut host, AgentId::ROOT, &wait());
    let bytes = host.session.snapshot();
    let restored = Session::restore(&bytes, EPOCH).unwrap();
    assert_eq!(restored.snapshot(), bytes);
    assert_eq!(restored.owed(), host.session.owed());
    let replayed = innerloop_core::log::replay(&host.log).unwrap();
    assert_eq!(replayed.session.snapshot(), bytes);
}

#[test]
fn a2_a_session_tells_of_the_agents_that_were_started() {
    let mut host = TestHost::default();
    assert_eq!(host.session.subagents(), []);
    let _ = host.submit("go");
    let call = json!({"task": "write tests", "model": "small-1", "working_dir": "sub"});
    host.reply(&Message::call("s", "spawn_agent", &call));
    let child = |state, output: &str| SubagentInfo {
        id: CHILD,
        parent: AgentId::ROOT,
        state,
        task: "write tests".into(),
        output: output.into(),
        folder: "sub".into(),
        model: Some("small-1".into()),
        name: String::new(),
    };
    assert_eq!(host.session.subagents(), [child(SubagentState::Running, "")]);
    reply_as(&mut host, CHILD, &Message::text("Written."));
    let ended = [child(SubagentState::Completed, "Written.")];
    assert_eq!(host.session.subagents(), ended);
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.subagents(), ended, "a restored session says the same");
    let more = json!({"agent_id": "agent-1", "message": "and more"});
    reply_as(&mut host, AgentId::ROOT, &Message::call("m", "send_input", &more));
    assert_eq!(host.session.subagents(), [child(SubagentState::Running, "Written.")]);
    let close = json!({"agent_id": "agent-1"});
    reply_as(&mut host, AgentId::ROOT, &Message::call("c", "close_agent", &close));
    assert_eq!(host.session.subagents()[0].state, SubagentState::Closed);
}
