//! Agents that are started by a name, and several that are started by one call.

use innerloop_core::{
    Session,
    config::{ConfigError, NamedAgent, ProfileKind, SessionConfig},
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Command, Input},
    output::DeadlineReason,
    status::{AgentState, SubagentState},
    tool::BuiltinTools,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::{Value, json};

const CHILD: AgentId = AgentId(1);

fn agents(named: &Value) -> SessionConfig {
    let mut config = config();
    let named: std::collections::BTreeMap<String, NamedAgent> =
        serde_json::from_value(named.clone()).unwrap();
    config.agents.extend(named);
    config
}

/// A session with a reviewer that reads and does no more.
fn with_reviewer() -> TestHost {
    let reviewer = json!({
        "description": "Reviews changes.", "prompt": "You review.", "model": "mock-2",
        "tools": ["read_file", "grep"], "max_turns": 2,
    });
    TestHost::open(agents(&json!({ "reviewer": reviewer, "writer": {"description": "Writes."} })))
}

/// The answer of the agent's newest open call.
fn reply_as(host: &mut TestHost, agent: AgentId, message: &Message) {
    let is_its = |id: &&EffectId| host.owners[*id] == agent;
    let id = *host.calls.iter().find(is_its).expect("an open call of the agent");
    host.calls.retain(|call| *call != id);
    host.calls.push(id);
    host.reply(message);
}

/// The newest request of that agent.
fn body_of(host: &TestHost, agent: AgentId) -> Value {
    let newest = host.requests.iter().zip(&host.askers).rev().find(|(_, asker)| **asker == agent);
    serde_json::from_slice(&newest.unwrap().0.body).unwrap()
}

fn tools_of(host: &TestHost, agent: AgentId) -> Vec<String> {
    let tools = body_of(host, agent)["tools"].clone();
    let names = tools.as_array().into_iter().flatten().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn tool(host: &TestHost, name: &str) -> Value {
    let tools = body_of(host, AgentId::ROOT)["tools"].clone();
    tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone()
}

fn last_result(host: &TestHost, agent: AgentId) -> String {
    let messages = body_of(host, agent)["messages"].clone();
    let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let result = blocks.as_array().unwrap().iter().rfind(is_result).unwrap();
    result["content"].as_str().unwrap().to_owned()
}

fn refusal(config: SessionConfig) -> ConfigError {
    Session::open(config, EPOCH).unwrap_err()
}

#[test]
fn n17_the_names_stand_in_the_schema_and_their_descriptions_in_the_tool() {
    let mut host = with_reviewer();
    let _ = host.submit("go");
    for (name, place) in [
        ("spawn_agent", "/input_schema/properties/agent"),
        ("spawn_agents", "/input_schema/properties/tasks/items/properties/agent"),
    ] {
        let tool = tool(&host, name);
        assert_eq!(tool.pointer(place).unwrap()["enum"], json!(["reviewer", "writer"]));
        let description = tool["description"].as_str().unwrap();
        assert!(description.ends_with("\n- reviewer: Reviews changes.\n- writer: Writes."));
    }
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let tool = tool(&host, "spawn_agent");
    assert_eq!(tool["input_schema"]["properties"].get("agent"), None);
}

#[test]
fn n17_it_has_its_own_prompt_model_tools_and_limit() {
    let mut host = with_reviewer();
    let _ = host.submit("go");
    let call = json!({"task": "look", "agent": "reviewer", "model": "mock-9", "max_turns": 7});
    host.reply(&Message::call("s", "spawn_agent", &call));
    let body = body_of(&host, CHILD);
    assert!(body["system"][0]["text"].as_str().unwrap().starts_with("You review.\n"));
    assert_eq!(body["model"], "mock-2", "the user's choice goes before the model's");
    assert_eq!(tools_of(&host, CHILD), ["read_file", "grep"]);
    let started = host.find(|kind| match kind {
        EventKind::AgentStarted { name, model, .. } => Some((name.as_str(), model.as_str())),
        _ => None,
    });
    assert_eq!(started, [("reviewer", "mock-2")]);
    reply_as(&mut host, CHILD, &Message::call("c", "write_file", &json!({"file_path": "a"})));
    let refused = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text()),
        _ => None,
    });
    assert!(refused.contains(&"Unknown tool: write_file".to_owned()), "{refused:?}");
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Idle, "its own turn limit");
    assert_eq!(host.session.subagents()[0].name, "reviewer");
}

#[test]
fn n17_one_without_tools_or_prompt_of_its_own_has_those_of_the_session() {
    let mut host = with_reviewer();
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "w", "agent": "writer"})));
    let (own, child) = (body_of(&host, AgentId::ROOT), body_of(&host, CHILD));
    assert_eq!(child["model"], own["model"]);
    assert!(tools_of(&host, CHILD).contains(&"write_file".to_owned()));
    let prompt = |body: &Value| body["system"][0]["text"].as_str().unwrap()[..200].to_owned();
    assert_eq!(prompt(&child), prompt(&own));
}

#[test]
fn n17_its_tools_are_among_those_that_the_session_has() {
    let mut config = agents(&json!({"x": {"tools": ["read_file", "write_file"]}}));
    config.builtin_tools = BuiltinTools::Except(vec!["write_file".into()]);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t", "agent": "x"})));
    assert_eq!(tools_of(&host, CHILD), ["read_file"]);
    let mut host = TestHost::open(agents(&json!({"x": {"tools": []}})));
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t", "agent": "x"})));
    assert_eq!(tools_of(&host, CHILD), [""; 0], "it only thinks");
}

#[test]
fn n17_who_has_a_name_starts_others_of_its_kind() {
    let kind = json!({"tools": ["spawn_agent", "read_file"]});
    let mut config = agents(&json!({ "x": kind, "y": {} }));
    config.subagents.max_depth = 3;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t", "agent": "x"})));
    reply_as(&mut host, CHILD, &Message::call("s", "spawn_agent", &json!({"task": "u"})));
    assert_eq!(tools_of(&host, AgentId(2)), ["read_file", "spawn_agent"]);
    let named = json!({"task": "v", "agent": "y"});
    reply_as(&mut host, AgentId(2), &Message::call("s", "spawn_agent", &named));
    assert!(tools_of(&host, AgentId(3)).contains(&"write_file".to_owned()));
}

#[test]
fn n17_what_cannot_work_is_refused() {
    let unknown = refusal(agents(&json!({"x": {"tools": ["read_file", "nope"]}})));
    assert_eq!(unknown.field, "agents.x.tools");
    assert!(unknown.message.contains("no tool \"nope\"; there are read_file"), "{unknown}");
    assert_eq!(refusal(agents(&json!({" ": {}}))).field, "agents");
    let mut config = agents(&json!({"x": {"model": "mock-2"}}));
    config.model.price = Some(innerloop_core::config::Price::default());
    config.limits.run.cost_nano_usd = 9;
    assert!(refusal(config).message.contains("the price of mock-2 is not known"));
    let mut host = with_reviewer();
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t", "agent": "nobody"})));
    let names = "there is no agent of the name nobody; there are: reviewer, writer";
    assert!(last_result(&host, AgentId::ROOT).contains(names));
}

#[test]
fn n17_a_restored_one_works_as_before_whatever_the_configuration_says_by_then() {
    let mut host = with_reviewer();
    let _ = host.submit("go");
    let call = Message::call("s", "spawn_agent", &json!({"task": "t", "agent": "reviewer"}));
    host.reply(&call);
    let patch = serde_json::from_value(json!({"agents": {"reviewer": null}})).unwrap();
    let _ = host.command(Command::Configure { patch });
    assert!(host.session.config().agents.get("reviewer").is_none());
    let bytes = host.session.snapshot();
    let restored = Session::restore(&bytes, EPOCH).unwrap();
    assert_eq!(restored.snapshot(), bytes);
    assert_eq!(restored.owed(), host.session.owed());
    assert_eq!(restored.subagents()[0].name, "reviewer");
    let mut host = TestHost { session: restored, ..host };
    reply_as(&mut host, CHILD, &Message::call("c", "read_file", &json!({"file_path": "a"})));
    let _ = host.answer("text");
    let replayed = innerloop_core::log::replay(&host.log).unwrap();
    assert_eq!(replayed.session.snapshot(), host.session.snapshot());
}

fn batch(tasks: &Value) -> Message {
    Message::call("b", "spawn_agents", &json!({ "tasks": tasks }))
}

/// A session that has started two agents by one call.
fn two() -> TestHost {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&batch(&json!([{"task": "one"}, {"task": "two", "working_dir": "sub"}])));
    host
}

#[test]
fn k27_a_batch_gives_its_results_in_the_order_of_the_tasks() {
    let mut host = two();
    assert_eq!(host.calls.len(), 2, "both work, and the one who asked waits");
    let long = "x".repeat(5_000);
    reply_as(&mut host, AgentId(2), &Message::text("Second."));
    assert_eq!(host.askers.iter().filter(|asker| **asker == AgentId::ROOT).count(), 1);
    reply_as(&mut host, CHILD, &Message::text(&long));
    let text = last_result(&host, AgentId::ROOT);
    let results: Vec<Value> = serde_json::from_str(&text).unwrap();
    let first = results[0]["output"].as_str().unwrap();
    assert!(first.contains("3000 characters were removed") && first.len() < 2_500, "{first}");
    let expected =
        json!({"status": "completed", "output": "Second.", "success": true, "turns_used": 2});
    assert_eq!(results[1], expected);
    let ended = host.find(|kind| matches!(kind, EventKind::AgentEnded { .. }).then_some(()));
    assert_eq!(ended.len(), 2, "nobody could wait for them later");
    let states: Vec<_> = host.session.subagents().iter().map(|agent| agent.state).collect();
    assert_eq!(states, [SubagentState::Completed; 2]);
}

#[test]
fn k27_failures_stand_in_their_place() {
    let mut config = agents(&json!({"x": {}}));
    config.subagents.max_open = 2;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&batch(&json!([
        {"task": "one", "working_dir": "../up"},
        {"task": "two", "agent": "x"},
        {"task": "three"},
        {"task": "four"},
    ])));
    reply_as(&mut host, AgentId(2), &Message::text("Third."));
    host.refuse(400, "invalid_request_error", "bad", &[]);
    let text = last_result(&host, AgentId::ROOT);
    let results: Vec<Value> = serde_json::from_str(&text).unwrap();
    let states: Vec<_> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["failed", "failed", "completed", "failed"]);
    assert!(results[0]["output"].as_str().unwrap().contains("not in your working directory"));
    assert!(results[3]["output"].as_str().unwrap().contains("2 agents are open already"));
    host.reply(&batch(&json!([{"task": "five"}, {"task": "six"}])));
    assert_eq!(host.calls.len(), 2, "those of the first batch are open no more");
}

#[test]
fn k27_no_more_than_ten_tasks_at_once_and_none_without_a_task() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for tasks in [vec![json!({"task": "t"}); 11], Vec::new(), vec![json!({"task": " "})]] {
        host.reply(&batch(&json!(tasks)));
        assert!(last_result(&host, AgentId::ROOT).starts_with("Invalid arguments"), "{tasks:?}");
    }
    assert_eq!(host.session.subagents().len(), 0);
}

#[test]
fn k27_a_batch_ends_with_its_time() {
    let mut host = two();
    reply_as(&mut host, CHILD, &Message::text("First."));
    let deadline = host.session.deadline().unwrap();
    assert_eq!((deadline.reason, deadline.at.0), (DeadlineReason::Wait, 300_000));
    host.head(200, "text/event-stream");
    // The model call is idle for as long; one tick fires both.
    let _ = host.wait();
    let text = last_result(&host, AgentId::ROOT);
    let (results, note) = text.rsplit_once('\n').unwrap();
    let results: Vec<Value> = serde_json::from_str(results).unwrap();
    assert_eq!(results[0]["output"], "First.");
    assert_eq!((&results[1]["status"], &results[1]["success"]), (&json!("failed"), &json!(false)));
    assert!(note.starts_with("The time was over"), "{note}");
    let mut config = config();
    config.subagents.batch_ms = 0;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&batch(&json!([{"task": "one"}])));
    assert_ne!(host.session.deadline().unwrap().reason, DeadlineReason::Wait);
}

#[test]
fn k27_a_steer_waits_for_the_batch_and_an_interrupt_ends_it() {
    let mut host = two();
    let _ = host.steer("hurry");
    assert_eq!(host.calls.len(), 2, "it still waits");
    let snapshot = host.session.snapshot();
    let restored = Session::restore(&snapshot, EPOCH).unwrap();
    assert_eq!(restored.snapshot(), snapshot);
    assert_eq!(restored.deadline(), host.session.deadline());
    let _ = host.command(Command::Interrupt);
    for id in core::mem::take(&mut host.cancelled) {
        let _ = host.input(Input::Lost { id });
    }
    let state = |agent| host.session.status(agent).unwrap().state;
    assert_eq!([state(AgentId::ROOT), state(CHILD)], [AgentState::Idle, AgentState::Closed]);
    let _ = host.submit("again");
    assert!(body_of(&host, AgentId::ROOT)["messages"].to_string().contains("a part of their"));
    let replayed = innerloop_core::log::replay(&host.log).unwrap();
    assert_eq!(replayed.session.snapshot(), host.session.snapshot());
}

#[test]
fn k27_an_agent_waits_for_several() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let spawn = Message::call("s", "spawn_agent", &json!({"task": "one"}));
    host.reply(&spawn.and_call("t", "spawn_agent", &json!({"task": "two"})));
    let ids = json!({"agent_ids": ["agent-2", "agent-1"], "timeout_ms": 9_000});
    reply_as(&mut host, AgentId::ROOT, &Message::call("w", "wait", &ids));
    reply_as(&mut host, CHILD, &Message::text("First."));
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(restored.snapshot(), host.session.snapshot());
    let _ = host.wait();
    let text = last_result(&host, AgentId::ROOT);
    let (message, results) = text.split_once('\n').unwrap();
    assert!(message.ends_with("the time to wait is over."), "{message}");
    let results: Vec<Value> = serde_json::from_str(results).unwrap();
    assert_eq!(
        (&results[0]["status"], &results[1]["output"]),
        (&json!("running"), &json!("First."))
    );
    reply_as(&mut host, AgentId::ROOT, &Message::call("w", "wait", &ids));
    reply_as(&mut host, AgentId(2), &Message::text("Second."));
    let results: Vec<Value> = serde_json::from_str(&last_result(&host, AgentId::ROOT)).unwrap();
    assert_eq!(results[0]["output"], "Second.");
    reply_as(&mut host, AgentId::ROOT, &Message::call("w", "wait", &json!({})));
    assert!(last_result(&host, AgentId::ROOT).contains("`agent_id` is required"));
    let unknown = json!({"agent_ids": ["agent-1", "agent-7"]});
    reply_as(&mut host, AgentId::ROOT, &Message::call("w", "wait", &unknown));
    assert!(last_result(&host, AgentId::ROOT).contains("there is no agent agent-7"));
}

#[test]
fn n17_a_small_model_starts_agents_by_one_call_where_some_are_named() {
    let small = |config: &mut SessionConfig| config.model.profile = ProfileKind::Small;
    let mut plain = config();
    small(&mut plain);
    let mut host = TestHost::open(plain);
    let _ = host.submit("go");
    let without = tools_of(&host, AgentId::ROOT);
    let mut named = agents(&json!({"x": {"description": "Looks.", "tools": ["grep"]}}));
    small(&mut named);
    let mut host = TestHost::open(named);
    let _ = host.submit("go");
    assert_eq!(tools_of(&host, AgentId::ROOT), [&without[..], &["spawn_agents".into()]].concat());
    host.reply(&batch(&json!([{"task": "look", "agent": "x"}])));
    assert_eq!(tools_of(&host, CHILD), ["grep"]);
    reply_as(&mut host, CHILD, &Message::text("Seen."));
    assert!(last_result(&host, AgentId::ROOT).contains("Seen."));
}

#[test]
fn k20_an_input_that_asks_for_several_agents_brings_a_note_on_how_to_share_it_out() {
    let coordinating = || {
        let mut config = config();
        config.subagents.coordinate = true;
        config
    };
    let notes = |host: &TestHost| {
        let messages = body_of(host, AgentId::ROOT)["messages"].to_string();
        messages.matches("Split it into parts that do not need one another").count()
    };
    let mut host = TestHost::open(coordinating());
    let _ = host.submit("Fix the bug in the parallel sort, and the error in its tests.");
    assert_eq!(notes(&host), 0, "that is to be debugged");
    host.reply(&Message::text("Fixed."));
    let head = body_of(&host, AgentId::ROOT)["system"].clone();
    let _ = host.submit("Delegate this to subagents, in parallel.");
    assert_eq!(notes(&host), 1);
    assert_eq!(body_of(&host, AgentId::ROOT)["system"], head, "what is cached stays");
    host.reply(&Message::text("Done."));
    let _ = host.submit("Now delegate the rest to subagents.");
    assert_eq!(notes(&host), 1, "the model still sees it");
    for config in [config(), {
        let mut alone = coordinating();
        alone.subagents.max_depth = 0;
        alone
    }] {
        let mut host = TestHost::open(config);
        let _ = host.submit("Delegate this to subagents, in parallel.");
        assert_eq!(notes(&host), 0, "nobody has asked for it, or no agent can be started");
    }
}
