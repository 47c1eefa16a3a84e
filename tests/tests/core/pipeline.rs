//! From a call to its result.

use innerloop_core::{
    action::{Action, LineNumbering, NoticePosition, Outcome, ToolError},
    config::{ExecMode, ProfileKind, ProgramFacts, SessionConfig, VocabularyKind, WireKind},
    event::EventKind,
    id::AgentId,
    input::{Answer, Input, ToolInput},
    message::Part,
    output::Effect,
    status::AgentState,
    tool::{Job, ToolSpec},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::json;
use std::sync::Arc;

fn spec(name: &str, parameters: &serde_json::Value, read_only: bool) -> ToolSpec {
    let json = json!({
        "name": name, "description": "A test tool.", "read_only": read_only,
        "parameters": parameters
    });
    serde_json::from_str(&json.to_string()).unwrap()
}

fn desk_with(tools: Vec<ToolSpec>) -> TestHost {
    let mut config = config();
    config.tools = tools;
    config.facts.programs =
        vec![ProgramFacts { name: "qjs".into(), description: "Runs JavaScript.".into() }];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host
}

/// The result blocks of the newest request.
fn results(host: &TestHost) -> Vec<serde_json::Value> {
    let messages = host.body()["messages"].clone();
    messages.as_array().unwrap().last().unwrap()["content"].as_array().unwrap().clone()
}

#[test]
fn c5_a_tool_of_the_host_is_offered_and_called_with_its_own_arguments() {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let mut host = desk_with(vec![spec("dice", &parameters, true)]);
    let tools = host.body()["tools"].clone();
    assert_eq!(tools.as_array().unwrap().last().unwrap()["name"], "dice");
    host.reply(&Message::call("c1", "dice", &json!({"n": 6})));
    let (_, run) = host.runs.first_key_value().unwrap();
    let Job::Custom(arguments) = &run.job else { panic!("{run:?}") };
    assert_eq!(arguments.text(), r#"{"n":6}"#);
}

#[test]
fn c5_a_tool_of_the_host_has_the_time_that_it_names_and_no_parameter_for_more() {
    let tool =
        |timeout_ms| ToolSpec { timeout_ms, ..spec("dice", &json!({"type": "object"}), true) };
    for (named, given) in [(None, 120_000), (Some(45_000), 45_000), (Some(u64::MAX), 600_000)] {
        let mut host = desk_with(vec![tool(named)]);
        host.reply(&Message::call("c1", "dice", &json!({})));
        let (&id, run) = host.runs.first_key_value().unwrap();
        assert_eq!(run.timeout_ms, given);
        let late = Outcome { timed_out: true, ..Outcome::error(ToolError::Timeout, "so far") };
        let _ = host.done(id, late);
        let note =
            format!("[ERROR: Command timed out after {given}ms. Partial output is shown above.]");
        assert_eq!(results(&host)[0]["content"].to_string().matches(&note).count(), 1);
    }
}

#[test]
fn c6_the_latest_of_equal_names_wins_in_its_place() {
    let parameters = json!({"type": "object"});
    let mut host = desk_with(vec![spec("read_file", &parameters, true)]);
    let tools = host.body()["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names[0], "read_file");
    assert_eq!(names.iter().filter(|name| **name == "read_file").count(), 1);
    host.reply(&Message::call("c1", "read_file", &json!({"anything": 1})));
    assert!(matches!(host.runs.first_key_value().unwrap().1.job, Job::Custom(_)));
}

#[test]
fn c8_c9_c10_calls_of_the_profiles_tools_become_canonical_actions() {
    let cases = [
        (
            "read_file",
            json!({"file_path": "a", "offset": 3}),
            Action::Read {
                path: "a".into(),
                offset: Some(3),
                limit: Some(2_000),
                numbering: LineNumbering::Pipe,
                line_chars: None,
                notice: NoticePosition::Below,
            },
        ),
        ("write_file", json!({"file_path": "a", "content": "b"}), Action::write("a", "b")),
        (
            "edit_file",
            json!({"file_path": "a", "old_string": "b", "new_string": "c"}),
            Action::Edit {
                path: "a".into(),
                old: "b".into(),
                new: "c".into(),
                all: false,
                salt: None,
            },
        ),
        ("list_dir", json!({}), Action::list(None, 1)),
        ("glob", json!({"pattern": "*"}), Action::glob("*", None)),
        (
            "run_program",
            json!({"program": "qjs", "args": ["-m", "t.mjs"]}),
            Action::RunProgram {
                program: "qjs".into(),
                args: vec!["-m".into(), "t.mjs".into()],
                stdin: None,
            },
        ),
    ];
    for (name, arguments, action) in cases {
        let mut host = desk_with(Vec::new());
        host.reply(&Message::call("c1", name, &arguments));
        assert_eq!(host.runs.first_key_value().unwrap().1.job, Job::Builtin(action));
    }
}

#[test]
fn c17_every_tool_has_a_name_a_description_and_a_schema_of_an_object() {
    let host = desk_with(Vec::new());
    let tools = host.body()["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 7 + 5, "the profile's tools and those for other agents");
    for tool in tools {
        assert_eq!(tool["input_schema"]["type"], "object", "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
    }
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let names = host.body()["tools"].to_string();
    assert!(!names.contains("run_program"), "without a program the tool is absent");
}

#[test]
fn c18_a_call_is_looked_up_checked_run_announced_and_answered() {
    let mut host = desk_with(Vec::new());
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    assert_eq!(host.names(2), ["assistant_text_end", "tool_call_start"]);
    let _ = host.answer("a/");
    assert_eq!(host.names(6), ["tool_call_end"]);
    assert_eq!(results(&host)[0]["content"], "a/");
}

#[test]
fn c19_each_call_goes_to_the_tool_of_its_name() {
    let parameters = json!({"type": "object"});
    let mut host = desk_with(vec![spec("one", &parameters, true), spec("two", &parameters, true)]);
    let calls = Message::call("c1", "two", &json!({})).and_call("c2", "one", &json!({}));
    host.reply(&calls);
    let names: Vec<_> = host.runs.values().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["two", "one"]);
}

#[test]
fn c20_an_unknown_tool_is_an_error_result_and_the_run_goes_on() {
    let mut host = desk_with(Vec::new());
    host.reply(&Message::call("c1", "teleport", &json!({})));
    assert!(host.runs.is_empty());
    let result = &results(&host)[0];
    assert_eq!(
        (&result["content"], &result["is_error"]),
        (&json!("Unknown tool: teleport"), &json!(true))
    );
}

#[test]
fn c21_arguments_that_do_not_fit_never_reach_the_host() {
    for (arguments, says) in [
        (json!({}), "`file_path` is required"),
        (json!({"file_path": 1}), "`file_path` must be string, not number"),
        (json!({"file_path": "a", "offset": 0}), "`offset` must be at least 1, not 0"),
        (json!({"file_path": "a", "x": 1}), "`x` is not a known property"),
        (json!([]), "the arguments must be object, not array"),
    ] {
        let mut host = desk_with(Vec::new());
        host.reply(&Message::call("c1", "read_file", &arguments));
        assert!(host.runs.is_empty(), "{arguments}");
        let said = results(&host)[0]["content"].as_str().unwrap().to_owned();
        assert!(said.starts_with("Invalid arguments for tool: read_file"), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn c21_a_whole_number_may_be_written_with_a_fraction_of_zero() {
    for (offset, read) in [("3", Some(3)), ("3.0", Some(3)), ("1e2", Some(100)), ("3.5", None)] {
        let mut host = desk_with(Vec::new());
        let arguments = format!("{{\"file_path\":\"a\",\"offset\":{offset}}}");
        host.reply(&Message::call("c1", "read_file", &serde_json::from_str(&arguments).unwrap()));
        let offsets = host.runs.values().map(|run| match &run.job {
            Job::Builtin(Action::Read { offset, .. }) => *offset,
            job => panic!("{job:?}"),
        });
        assert_eq!(offsets.collect::<Vec<_>>(), read.map(Some).as_slice(), "{offset}");
    }
}

#[test]
fn c18_a_run_is_shared_between_the_effect_and_what_is_owed() {
    let mut host = desk_with(Vec::new());
    let write = json!({"file_path": "a", "content": "x".repeat(1 << 20)});
    host.reply(&Message::call("c1", "write_file", &write));
    let (_, given) = host.runs.first_key_value().unwrap();
    let owed = host.session.owed();
    let Some(Effect::RunTool { run, .. }) = owed.effects().next() else { panic!("{owed:?}") };
    assert!(Arc::ptr_eq(run, given), "the file's content exists once");
}

#[test]
fn c21_arguments_are_bent_to_their_schema_only_where_that_is_asked_for() {
    let parameters = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"},
        "s": {"type": "string"}, "l": {"type": "array", "items": {"type": "integer"}}
    }});
    let given = json!({"n": "30000", "x": "0.5", "b": "true", "s": 7, "l": "[1, \"2\"]"});
    for coerce in [false, true] {
        let mut config = config();
        config.tools = vec![spec("tool", &parameters, true)];
        config.repair.coerce_arguments = coerce;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        host.reply(&Message::call("c", "tool", &given));
        if !coerce {
            assert!(host.runs.is_empty() && results(&host)[0]["is_error"] == true);
            continue;
        }
        let Job::Custom(arguments) = &host.runs.first_key_value().unwrap().1.job else { panic!() };
        assert_eq!(arguments.text(), r#"{"b":true,"l":[1,2],"n":30000,"s":"7","x":0.5}"#);
    }
    let mut config = config();
    config.tools = vec![spec("tool", &parameters, true)];
    config.repair.coerce_arguments = true;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("c", "tool", &json!({"n": "many"})));
    assert!(host.runs.is_empty(), "what is not plainly meant is not guessed");
}

#[test]
fn c20_a_call_that_cannot_be_sent_back_is_sent_in_a_form_that_can() {
    for (name, arguments) in [("a.b c", "{}"), ("", "{}"), ("read_file", r#"{"x":"\ud83d"}"#)] {
        let mut host = desk_with(Vec::new());
        let message = Message::call("c1", "list_dir", &json!({})).events().concat();
        let odd = message.replace("\"name\":\"list_dir\"", &format!("\"name\":\"{name}\""));
        let escaped = arguments.replace('\\', "\\\\").replace('"', "\\\"");
        let odd =
            odd.replace("\"partial_json\":\"{}\"", &format!("\"partial_json\":\"{escaped}\""));
        host.stream(odd.as_bytes(), usize::MAX);
        let block = host.body()["messages"][1]["content"][0].clone();
        let sent = block["name"].as_str().unwrap();
        assert!(!sent.is_empty() && sent.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        assert!(results(&host)[0]["is_error"] == true && block["input"].is_object(), "{block}");
    }
}

#[test]
fn c22_a_failing_tool_is_an_error_result() {
    let mut host = desk_with(Vec::new());
    host.reply(&Message::call("c1", "read_file", &json!({"file_path": "a"})));
    let id = *host.runs.keys().next().unwrap();
    let _ = host.done(id, Outcome::error(ToolError::NotFound, "there is no file a"));
    let result = &results(&host)[0];
    assert_eq!(result["content"], "Tool error (read_file): there is no file a");
    assert_eq!(result["is_error"], true);
}

#[test]
fn c23_reads_run_side_by_side_writes_alone_and_results_keep_the_order() {
    let mut host = desk_with(Vec::new());
    let read = |n| json!({"file_path": format!("r{n}")});
    let write = json!({"file_path": "w", "content": ""});
    let reply = Message::call("c1", "read_file", &read(1))
        .and_call("c2", "read_file", &read(2))
        .and_call("c3", "write_file", &write)
        .and_call("c4", "read_file", &read(3));
    host.reply(&reply);
    let running = |host: &TestHost| -> Vec<String> {
        host.runs.values().map(|run| run.call_id.clone()).collect()
    };
    assert_eq!(running(&host), ["c1", "c2"]);
    let second = *host.runs.keys().nth(1).unwrap();
    let _ = host.done(second, Outcome::text("two"));
    assert_eq!(running(&host), ["c1"]);
    let _ = host.answer("one");
    assert_eq!(running(&host), ["c3"]);
    let _ = host.answer("three");
    assert_eq!(running(&host), ["c4"]);
    let _ = host.answer("four");
    let said: Vec<_> = results(&host).iter().map(|result| result["content"].clone()).collect();
    assert_eq!(said, ["one", "two", "three", "four"]);
}

#[test]
fn k21_reads_run_side_by_side_writes_one_by_one_and_results_stand_in_call_order() {
    let mut host = desk_with(Vec::new());
    let read = |n| json!({"file_path": format!("r{n}")});
    let write = |n| json!({"file_path": format!("w{n}"), "content": ""});
    let reply = Message::call("w1", "write_file", &write(1))
        .and_call("r1", "read_file", &read(1))
        .and_call("u", "teleport", &json!({}))
        .and_call("r2", "read_file", &read(2))
        .and_call("w2", "write_file", &write(2))
        .and_call("w3", "write_file", &write(3))
        .and_call("r3", "read_file", &read(3));
    host.reply(&reply);
    let mut together = Vec::new();
    while !host.runs.is_empty() {
        let running: Vec<String> = host.runs.values().map(|run| run.call_id.clone()).collect();
        // The newest is done first: the order of their ends is not that of the calls.
        let (&id, run) = host.runs.last_key_value().unwrap();
        let said = format!("of {}", run.call_id);
        together.push(running.join(" "));
        let _ = host.done(id, Outcome::text(said));
    }
    assert_eq!(together, ["w1", "r1 r2", "r1", "w2", "w3", "r3"]);
    let ids: Vec<_> = results(&host).iter().map(|result| result["tool_use_id"].clone()).collect();
    assert_eq!(ids, ["w1", "r1", "u", "r2", "w2", "w3", "r3"]);
    let said: Vec<_> = results(&host).iter().map(|result| result["content"].clone()).collect();
    let unknown = "Unknown tool: teleport";
    assert_eq!(said, ["of w1", "of r1", unknown, "of r2", "of w2", "of w3", "of r3"]);
}

/// The session's agent may make no parallel calls; it makes those of `reply`.
fn one_by_one(
    wire: WireKind,
    reply: &Message,
    change: impl FnOnce(&mut SessionConfig),
) -> TestHost {
    let mut config = config();
    config.model.wire = wire;
    config.ask_user = true;
    change(&mut config);
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(reply);
    host
}

#[test]
fn c23_without_parallel_calls_all_run_one_after_the_other() {
    let read = |n| json!({"file_path": format!("r{n}")});
    let reply = Message::call("c1", "read_file", &read(1))
        .and_call("c2", "ask_user", &json!({"question": "which?"}))
        .and_call("c3", "read_file", &read(3))
        .and_call("c4", "spawn_agent", &json!({"task": "t"}))
        .and_call("c5", "read_file", &read(5));
    let running = |host: &TestHost| -> Vec<String> {
        host.runs.values().map(|run| run.call_id.clone()).collect()
    };
    let mut host = one_by_one(WireKind::Anthropic, &reply, |config| {
        config.model.parallel_tool_calls = Some(false);
        config.exec_modes.insert("read_file".into(), ExecMode::Parallel);
    });
    assert_eq!(running(&host), ["c1"]);
    assert!(host.asks.is_empty(), "asked before its turn");
    let _ = host.answer("one");
    assert!(running(&host).is_empty());
    assert_eq!(host.session.status(AgentId::ROOT).unwrap().state, AgentState::AwaitingInput);
    let id = host.asks[0].0;
    let _ = host.input(Input::Answer { id, answer: Answer::Text("two".into()) });
    assert_eq!(running(&host), ["c3"]);
    assert_eq!(host.session.status(AgentId(1)), None, "started before its turn");
    let _ = host.answer("three");
    assert_eq!(running(&host), ["c5"]);
    let _ = host.answer("five");
    let said: Vec<_> = results(&host).iter().map(|result| result["content"].clone()).collect();
    let started = r#"{"agent_id":"agent-1","status":"running"}"#;
    assert_eq!(said, ["one", "two", "three", started, "five"]);
}

#[test]
fn c23_a_profile_without_parallel_calls_says_so_where_the_protocol_can() {
    let read = |n| json!({"file_path": format!("r{n}")});
    let reply = Message::call("c1", "read_file", &read(1)).and_call("c2", "read_file", &read(2));
    let small = |config: &mut SessionConfig| config.model.profile = ProfileKind::Small;
    let both = |config: &mut SessionConfig| {
        config.model.profile = ProfileKind::Small;
        config.model.parallel_tool_calls = Some(true);
    };
    for (wire, path, said) in [
        (WireKind::OpenaiChat, "/parallel_tool_calls", json!(false)),
        (WireKind::OpenaiResponses, "/parallel_tool_calls", json!(false)),
        (WireKind::Anthropic, "/tool_choice/disable_parallel_tool_use", json!(true)),
    ] {
        let host = one_by_one(wire, &reply, small);
        assert_eq!(host.runs.len(), 1, "{wire:?}");
        assert_eq!(host.body().pointer(path), Some(&said), "{wire:?}");
        let host = one_by_one(wire, &reply, both);
        assert_eq!(host.runs.len(), 2, "the host says that this model can");
        assert_ne!(host.body().pointer(path), Some(&said), "{wire:?}");
    }
}

#[test]
fn b11_the_event_carries_the_whole_output_the_model_reads_a_part() {
    let mut host = desk_with(Vec::new());
    host.reply(&Message::call("c1", "run_program", &json!({"program": "qjs"})));
    let id = *host.runs.keys().next().unwrap();
    let delta = ToolInput::Delta("x".into());
    let _ = host.input(Input::Tool { id, input: delta });
    let _ = host.done(id, Outcome::text("x".repeat(100_000)));
    let whole = host.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text().len()),
        _ => None,
    });
    assert_eq!(whole, [100_000]);
    let read = results(&host)[0]["content"].as_str().unwrap().to_owned();
    assert!(read.len() < 31_000 && read.contains("[WARNING: Tool output was truncated."));
}

#[test]
fn e7_the_timeout_that_is_told_is_the_one_that_the_call_asked_for() {
    let mut host = desk_with(Vec::new());
    let call = json!({"program": "qjs", "timeout_ms": 1_500});
    host.reply(&Message::call("c1", "run_program", &call));
    let (&id, run) = host.runs.first_key_value().unwrap();
    assert_eq!(run.timeout_ms, 1_500);
    let error = Some(ToolError::Timeout);
    let _ = host.done(id, Outcome { timed_out: true, error, ..Outcome::text("so far") });
    let said = results(&host)[0]["content"].clone();
    assert_eq!(said[0]["text"], "so far");
    let told = said[1]["text"].as_str().unwrap();
    assert!(told.starts_with("[ERROR: Command timed out after 1500ms."), "{told}");
}

#[test]
fn d4_time_limits_are_the_profiles_the_calls_and_never_more_than_the_most() {
    for (asked, given) in [
        (json!({"program": "q"}), 120_000),
        (json!({"program": "q", "timeout_ms": 9_999_999}), 600_000),
    ] {
        let mut host = desk_with(Vec::new());
        host.reply(&Message::call("c1", "run_program", &asked));
        assert_eq!(host.runs.first_key_value().unwrap().1.timeout_ms, given);
    }
}

#[test]
fn d4_a_time_limit_that_is_configured_goes_before_the_profiles_and_the_model_is_told() {
    let shell = ProgramFacts { name: "bash".into(), description: String::new() };
    for (kind, name) in [
        (ProfileKind::Anthropic, "Bash"),
        (ProfileKind::Openai, "shell_command"),
        (ProfileKind::Gemini, "run_shell_command"),
    ] {
        let mut config = config();
        config.model.profile = kind;
        config.model.vocabulary = VocabularyKind::Native;
        config.facts.programs = vec![shell.clone()];
        config.timeouts.default_command_ms = 7_777;
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        let tools = host.body()["tools"].as_array().unwrap().clone();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap().to_string();
        assert!(!tool.contains("if absent, at") || tool.contains("7777 if absent"), "{tool}");
        host.reply(&Message::call("c1", name, &json!({"command": "true"})));
        assert_eq!(host.runs.first_key_value().unwrap().1.timeout_ms, 7_777, "{name}");
    }
}

#[test]
fn calls_of_a_reply_that_was_cut_by_length_are_not_run() {
    let mut host = desk_with(Vec::new());
    let call = Message::call("c1", "write_file", &json!({"file_path": "a", "content": "b"}));
    host.reply(&call.stop_reason("max_tokens"));
    assert!(host.runs.is_empty());
    assert!(results(&host)[0]["content"].as_str().unwrap().contains("was cut by a limit"));
}

#[test]
fn calls_with_the_same_id_get_ids_of_their_own() {
    let mut host = desk_with(Vec::new());
    let reply = Message::call("c", "list_dir", &json!({}))
        .and_call("c", "list_dir", &json!({}))
        .and_call("", "list_dir", &json!({}));
    host.reply(&reply);
    let ids: std::collections::BTreeSet<_> =
        host.runs.values().map(|run| run.call_id.clone()).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn an_image_in_a_result_reaches_the_model() {
    let mut host = desk_with(Vec::new());
    host.reply(&Message::call("c1", "read_file", &json!({"file_path": "a.png"})));
    let id = *host.runs.keys().next().unwrap();
    let image = Part::Image { media_type: "image/png".into(), data: "aWs=".into() };
    let _ = host.done(id, Outcome { parts: vec![image], ..Outcome::default() });
    let block = &results(&host)[0]["content"][0];
    assert_eq!(block["source"]["media_type"], "image/png");
}

#[test]
fn a_thousand_calls_in_one_reply_are_all_answered() {
    let mut host = desk_with(Vec::new());
    let mut reply = Message::call("c0", "list_dir", &json!({}));
    for n in 1..1_000 {
        reply = reply.and_call(&format!("c{n}"), "list_dir", &json!({}));
    }
    host.reply(&reply);
    assert_eq!(host.runs.len(), 1_000);
    while !host.runs.is_empty() {
        let _ = host.answer("ok");
    }
    let answered = results(&host).iter().filter(|block| block["type"] == "tool_result").count();
    assert_eq!(answered, 1_000);
}
