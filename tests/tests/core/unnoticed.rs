//! Single faults that no other test would notice: one test for each, at the place where the fault
//! makes a difference to the user.

use innerloop_core::{
    action::{Outcome, ToolError},
    config::{
        ApprovalPolicy, ApprovalRule, AskAbout, GitFacts, HookPoint, LoopStep, ProfileKind,
        ProgramFacts, SessionConfig, VocabularyKind,
    },
    event::{ErrorKind, EventKind},
    id::{AgentId, EffectId, SessionId},
    input::{Answer, Command, HookReply, Input, RejectionReason, ToolInput},
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::{Value, json};

const CHILD: AgentId = AgentId(1);

fn with(change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    change(&mut config);
    TestHost::open(config)
}

fn list(id: &str) -> Message {
    Message::call(id, "list_dir", &json!({}))
}

/// A model calls a tool and is answered.
fn round(host: &mut TestHost, id: &str) {
    host.reply(&list(id));
    let _ = host.answer("a");
}

fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

fn hook(host: &mut TestHost, reply: HookReply) {
    let id = host.hooks[0].0;
    let _ = host.input(Input::Hook { id, reply });
}

/// The results in the newest request: what the model reads, and whether it is an error.
fn results(host: &TestHost) -> Vec<(String, bool)> {
    let messages = host.body()["messages"].clone();
    let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
    let results = blocks.as_array().unwrap().iter().filter(|b| b["type"] == "tool_result");
    results.map(|b| (b["content"].as_str().unwrap().to_owned(), b["is_error"] == true)).collect()
}

/// Asks about changes, but for writes to paths with this beginning.
fn allowing_writes(start: &str) -> ApprovalPolicy {
    let starting = [("file_path".to_owned(), start.to_owned())].into();
    let allow = vec![ApprovalRule { tool: "write_file".into(), starting }];
    ApprovalPolicy { ask: AskAbout::Changes, allow }
}

fn write(path: &str) -> Value {
    json!({"file_path": path, "content": "x"})
}

fn last_words(host: &TestHost) -> String {
    host.body()["messages"].as_array().unwrap().last().unwrap().to_string()
}

fn call_of(host: &mut TestHost, agent: AgentId) -> EffectId {
    let id = *host.calls.iter().find(|id| host.owners[*id] == agent).expect("an open call");
    host.calls.retain(|call| *call != id);
    host.calls.push(id);
    id
}

#[test]
fn b1_a_steer_while_the_stop_hook_looks_on_is_answered_in_the_same_run() {
    let mut host = with(|config| config.hooks.points = vec![HookPoint::BeforeStop]);
    let _ = host.submit("go");
    host.reply(&Message::text("Done."));
    let _ = host.steer("and the tests?");
    hook(&mut host, HookReply::Allow);
    assert_eq!(ends(&host), []);
    assert!(last_words(&host).contains("and the tests?"));
}

#[test]
fn a5_a_follow_up_has_rounds_of_its_own() {
    let mut host = with(|config| config.limits.max_tool_rounds_per_input = 2);
    let _ = host.submit("go");
    round(&mut host, "a");
    let _ = host.command(Command::follow_up(text("then this")));
    host.reply(&Message::text("Done."));
    round(&mut host, "b");
    host.reply(&Message::text("Done, too."));
    let [(end, said)] = &ends(&host)[..] else { panic!("{:?}", ends(&host)) };
    assert_eq!((*end, said.as_str()), (RunEnd::Completed, "Done, too."));
}

#[test]
fn hook_after_a_tool_may_deny_what_the_model_would_read() {
    let mut host = with(|config| config.hooks.points = vec![HookPoint::AfterTool]);
    let _ = host.submit("go");
    host.reply(&list("a"));
    let _ = host.answer("secret");
    hook(&mut host, HookReply::Deny { reason: "not for you".into() });
    assert_eq!(results(&host), [("The call was denied: not for you".into(), true)]);
}

#[test]
fn a_lost_run_is_an_error_that_says_to_look_first() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&list("a"));
    let id = *host.runs.keys().next().unwrap();
    let _ = host.input(Input::Lost { id });
    let [(said, true)] = &results(&host)[..] else { panic!("{:?}", results(&host)) };
    assert!(said.contains("may or may not have taken effect"), "{said}");
    let kinds = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.error),
        _ => None,
    });
    assert_eq!(kinds, [Some(ToolError::Interrupted)]);
}

#[test]
fn hook_before_the_stop_that_denies_the_final_answer_leaves_no_answer() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let mut host = with(|config| {
        config.hooks.points = vec![HookPoint::BeforeStop];
        config.answer = serde_json::from_value(json!({"schema": schema})).unwrap();
    });
    let _ = host.submit("go");
    host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    hook(&mut host, HookReply::Deny { reason: "count again".into() });
    assert!(!host.names(0).contains(&"final_answer".to_owned()));
    assert!(last_words(&host).contains("count again"));
    host.reply(&Message::call("g", "final_answer", &json!({"n": 2})));
    hook(&mut host, HookReply::Allow);
    assert_eq!(ends(&host), [(RunEnd::Completed, r#"{"n":2}"#.to_owned())]);
}

#[test]
fn m5_a_write_does_not_overtake_one_that_a_person_looks_at() {
    let mut host = with(|config| config.approval = allowing_writes("b"));
    let _ = host.submit("go");
    host.reply(&Message::call("1", "write_file", &write("a")).and_call(
        "2",
        "write_file",
        &write("b"),
    ));
    assert_eq!((host.asks.len(), host.runs.len()), (1, 0), "the second waits");
    let id = host.asks[0].0;
    let _ = host.input(Input::Answer { id, answer: Answer::Allow });
    let running = |host: &TestHost| -> Vec<String> {
        host.runs.values().map(|run| run.call_id.clone()).collect()
    };
    assert_eq!(running(&host), ["1"]);
    let _ = host.answer("written");
    assert_eq!(running(&host), ["2"]);
}

#[test]
fn f2_a_child_gets_no_more_turns_than_the_host_allows() {
    let mut host = with(|config| config.limits.max_turns = 4);
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t", "max_turns": 100})));
    for n in 0..3 {
        let _ = call_of(&mut host, CHILD);
        host.reply(&list(&format!("c{n}")));
        if host.session.status(CHILD).unwrap().state == AgentState::Idle {
            break;
        }
        let _ = host.answer("a");
    }
    assert_eq!(host.session.status(CHILD).unwrap().state, AgentState::Idle);
    assert!(host.session.status(CHILD).unwrap().turns <= 4);
}

#[test]
fn r1_a_lost_question_about_a_loop_does_not_count_as_yes() {
    let mut host = with(|config| {
        config.loops.same_args = 3;
        config.loops.ladder = vec![LoopStep::AskUser];
    });
    let _ = host.submit("go");
    (0..3).for_each(|n| round(&mut host, &format!("c{n}")));
    let requests = host.requests.len();
    let id = host.asks[0].0;
    let _ = host.input(Input::Lost { id });
    assert_eq!(ends(&host).last().unwrap().0, RunEnd::Loop);
    assert_eq!(host.requests.len(), requests, "no further call");
}

#[test]
fn r1_the_ladder_begins_anew_once_the_pattern_is_broken() {
    let mut host = with(|config| {
        config.loops.same_args = 3;
        config.loops.ladder = vec![LoopStep::Warn, LoopStep::Stop];
    });
    let _ = host.submit("go");
    (0..3).for_each(|n| round(&mut host, &format!("c{n}")));
    host.reply(&Message::call("x", "glob", &json!({"pattern": "*"})));
    let _ = host.answer("a");
    (3..6).for_each(|n| round(&mut host, &format!("c{n}")));
    assert_eq!(ends(&host), [], "a second pattern is warned of first");
    (6..9).for_each(|n| {
        if !host.calls.is_empty() {
            host.reply(&list(&format!("c{n}")));
        }
        if !host.runs.is_empty() {
            let _ = host.answer("a");
        }
    });
    assert_eq!(ends(&host)[0].0, RunEnd::Loop, "and then stopped");
}

#[test]
fn a_fork_counts_the_turns_that_it_has_heard() {
    let mut host = with(|config| config.limits.max_turns = 4);
    let _ = host.submit("go");
    host.reply(&Message::text("Hello."));
    let fork = host.session.fork(SessionId("fork".into()), usize::MAX, EPOCH).unwrap().0;
    assert_eq!(fork.status(AgentId::ROOT).unwrap().turns, 2);
    let mut fork = TestHost::around(fork, String::new());
    let _ = fork.submit("again");
    fork.reply(&list("a"));
    let _ = fork.answer("a");
    assert_eq!(ends(&fork)[0].0, RunEnd::Limit);
}

#[test]
fn replies_that_are_cut_now_and_then_do_not_add_up() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    for n in 0..8 {
        host.reply(&list(&format!("cut{n}")).stop_reason("max_tokens"));
        round(&mut host, &format!("whole{n}"));
        assert_eq!(ends(&host), [], "after {n}");
    }
}

#[test]
fn a15_the_configuration_of_a_child_is_the_sessions() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t"})));
    let patch = innerloop_core::json::from_str(r#"{"model":{"name":"other"}}"#).unwrap();
    let input = Input::Command { agent: CHILD, command: Command::Configure { patch } };
    let rejected = host.offer(input).unwrap_err();
    assert!(matches!(rejected.reason, RejectionReason::Unsupported(_)), "{rejected:?}");
}

#[test]
fn e8_what_the_model_has_written_fills_the_window_too() {
    let mut host = with(|config| config.model.context_window = 20_000);
    let _ = host.submit("go");
    host.reply(&Message::text("Long.").costing(10_000, 8_000));
    let _ = host.submit("on");
    let warned = host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(warned, ["Context usage at ~90% of context window"]);
}

#[test]
fn e12_the_prompt_counts_what_is_changed_and_untracked() {
    let (modified, untracked) = (Some(3), Some(7));
    let git = GitFacts { branch: "topic".into(), modified, untracked, recent_commits: Vec::new() };
    let mut host = with(|config| config.facts.git = Some(git));
    let _ = host.submit("go");
    let system = host.body()["system"][0]["text"].as_str().unwrap().to_owned();
    let line = |word: &str, number: &str| {
        system.lines().any(|line| line.to_lowercase().contains(word) && line.contains(number))
    };
    assert!(line("modified", "3") && line("untracked", "7"), "{system}");
}

#[test]
fn m6_the_guard_sees_through_dots_in_paths() {
    let mut host = with(|config| config.guard.read_before_write = true);
    let _ = host.submit("go");
    host.reply(&Message::call("r", "read_file", &json!({"file_path": "src/x/../a.rs"})));
    let _ = host.answer("1 | x");
    let edit = |path: &str| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let calls = Message::call("1", "edit_file", &edit("./src//a.rs"));
    host.reply(&calls.and_call("2", "edit_file", &edit("src/x/a.rs")));
    let running: Vec<_> = host.runs.values().map(|run| run.call_id.as_str()).collect();
    assert_eq!(running, ["1"]);
    let _ = host.answer("edited");
    assert_eq!(
        results(&host)[1],
        ("Tool error (edit_file): Read src/x/a.rs before you edit it.".into(), true)
    );
}

#[test]
fn m6_the_guard_rests_where_files_are_read_by_the_shell() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch";
    for (shell, runs) in [("bash", 1), ("qjs", 0)] {
        let mut host = with(|config| {
            config.guard.read_before_write = true;
            config.model.profile = ProfileKind::Openai;
            config.model.vocabulary = VocabularyKind::Native;
            let program = ProgramFacts { name: shell.into(), description: "runs".into() };
            config.facts.programs = vec![program];
        });
        let _ = host.submit("go");
        host.reply(&Message::call("1", "apply_patch", &json!({"input": patch})));
        assert_eq!(host.runs.len(), runs, "{shell}");
    }
}

#[test]
fn m5_a_rule_speaks_of_the_beginning_of_an_argument() {
    let mut host = with(|config| config.approval = allowing_writes("docs/"));
    let _ = host.submit("go");
    let calls = Message::call("1", "write_file", &write("src/docs/a"));
    host.reply(&calls.and_call("2", "write_file", &write("docs/a")));
    assert_eq!(host.asks.len(), 1, "only what begins with it passes");
}

#[test]
fn a12_a_child_cannot_ask_the_user() {
    let mut host = with(|config| config.ask_user = true);
    let _ = host.submit("go");
    assert!(host.body()["tools"].to_string().contains("\"ask_user\""));
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "t"})));
    let place = host.askers.iter().position(|asker| *asker == CHILD).unwrap();
    let body: Value = serde_json::from_slice(&host.requests[place].body).unwrap();
    assert!(!body["tools"].to_string().contains("ask_user"));
    let _ = call_of(&mut host, CHILD);
    host.reply(&Message::call("a", "ask_user", &json!({"question": "May I?"})));
    assert_eq!(host.asks, []);
}

#[test]
fn g2_a_delay_of_nothing_is_over_in_the_same_tick() {
    let mut host = with(|config| (config.retry.base_ms, config.retry.max_ms) = (0, 0));
    let _ = host.submit("go");
    // Nothing comes: the call is given up, and the next try is due at once.
    let _ = host.wait();
    assert_eq!(host.requests.len(), 2);
}

#[test]
fn a_model_call_that_is_given_up_holds_up_no_write() {
    let mut host = with(|_| {});
    let _ = host.submit("one");
    let _ = host.command(Command::Interrupt);
    let _ = host.submit("two");
    host.reply(&Message::call("w", "write_file", &write("a")));
    assert_eq!(host.runs.len(), 1, "the host has not answered the cancellation yet");
}

#[test]
fn f1_an_agent_is_started_in_its_turn() {
    let mut host = with(|_| {});
    let _ = host.submit("go");
    let calls = Message::call("w", "write_file", &write("a"));
    host.reply(&calls.and_call("s", "spawn_agent", &json!({"task": "Look around"})));
    let started = |host: &TestHost| {
        host.find(|kind| matches!(kind, EventKind::AgentStarted { .. }).then_some(())).len()
    };
    assert_eq!(started(&host), 0, "what changes files runs alone");
    let _ = host.answer("written");
    assert_eq!(started(&host), 1);
}

#[test]
fn c1_codexs_models_read_of_programs_as_of_commands() {
    let program = ProgramFacts { name: "qjs".into(), description: "Runs JavaScript.".into() };
    let mut host = with(|config| {
        (config.model.profile, config.model.vocabulary) =
            (ProfileKind::Openai, VocabularyKind::Native);
        config.facts.programs = vec![program];
    });
    let _ = host.submit("go");
    host.reply(&Message::call("r", "run_program", &json!({"program": "qjs"})));
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, Outcome { exit: Some(3), ..Outcome::text("oops") });
    assert_eq!(results(&host), [("Exit code: 3\nOutput:\noops".into(), false)]);
}

#[test]
fn a_refusal_is_told_and_not_asked_for_again() {
    for text in ["I would rather not.", ""] {
        let mut host = with(|_| {});
        let _ = host.submit("go");
        host.reply(&Message::text(text).stop_reason("refusal"));
        assert_eq!(ends(&host), [(RunEnd::Refused, text.to_owned())]);
        let told = host.find(|kind| match kind {
            EventKind::Error { kind, message } => Some((*kind, message.clone())),
            _ => None,
        });
        assert_eq!(told, [(ErrorKind::Refusal, "the model refused".to_owned())]);
        assert_eq!(host.requests.len(), 1);
    }
}

#[test]
fn what_a_cancelled_tool_still_says_is_not_its_end() {
    let mut host = with(|_| {});
    let _ = host.submit("one");
    host.reply(&Message::call("1", "write_file", &write("a")));
    let id = *host.runs.keys().next().unwrap();
    let _ = host.command(Command::Interrupt);
    let _ = host.input(Input::Tool { id, input: ToolInput::Delta("still at it".into()) });
    let _ = host.submit("two");
    host.reply(&Message::call("2", "write_file", &write("a")));
    let runs = |host: &TestHost| host.runs.values().filter(|run| run.call_id == "2").count();
    assert_eq!(runs(&host), 0, "the first may still be writing");
    let _ = host.input(Input::Tool { id, input: ToolInput::Done(Outcome::text("late")) });
    assert_eq!(runs(&host), 1);
}
