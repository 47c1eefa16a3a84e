//! What holds for one input only: its tools, its paths, its tool choice and temperature.

use innerloop_core::{
    Session,
    action::{Outcome, ToolError},
    config::{
        AnswerConfig, ApprovalPolicy, AskAbout, HookPoint, LimitAction, SessionConfig, ToolChoice,
        WireKind,
    },
    event::EventKind,
    id::AgentId,
    input::{Answer, Command, HookReply, Input, RejectionReason, TurnOptions},
    json::Json,
    message::Part,
    status::RunEnd,
    tool::ToolSpec,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::{Value, json};

fn options(json: &Value) -> Option<Box<TurnOptions>> {
    Some(Box::new(serde_json::from_str(&json.to_string()).unwrap()))
}

fn submit(host: &mut TestHost, said: &str, own: &Value) {
    let _ = host.command(Command::Submit { parts: text(said), options: options(own) });
}

/// The names of the tools that the newest request shows.
fn shown(host: &TestHost) -> Vec<String> {
    let body = host.body();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn own(name: &str, read_only: bool, paths: &[&str]) -> ToolSpec {
    let properties: serde_json::Map<_, _> =
        paths.iter().map(|path| ((*path).to_owned(), json!({"type": "string"}))).collect();
    let spec = json!({
        "name": name, "description": "Of the host.", "read_only": read_only, "paths": paths,
        "parameters": {"type": "object", "properties": properties},
    });
    serde_json::from_str(&spec.to_string()).unwrap()
}

fn read(path: &str) -> Message {
    Message::call("r", "read_file", &json!({"file_path": path}))
}

#[test]
fn k1_a_tool_that_is_not_listed_is_refused_in_words_and_the_head_stays() {
    let mut host = TestHost::default();
    let _ = host.submit("one");
    let before = shown(&host);
    host.reply(&Message::text("Done."));
    submit(&mut host, "two", &json!({"tools": ["read_file", "grep"]}));
    assert_eq!((shown(&host), host.rebases()), (before, 0));
    host.reply(&read("a").and_call("w", "write_file", &json!({"nonsense": true})));
    let _ = host.answer("text of a");
    assert_eq!(
        host.results(),
        [
            "text of a",
            "write_file may not be called for this input. You may call: read_file, grep."
        ],
    );
    // The next input may do all again.
    host.reply(&Message::text("Done."));
    let _ = host.submit("three");
    host.reply(&Message::call("w2", "write_file", &json!({"file_path": "a", "content": "x"})));
    assert_eq!((host.runs.len(), host.rebases()), (1, 0));
}

#[test]
fn k1_hidden_tools_leave_the_head_and_come_back_and_both_are_told() {
    let mut host = TestHost::default();
    let _ = host.submit("one");
    let all = shown(&host);
    host.reply(&Message::text("Done."));
    let hidden = json!({"tools": ["read_file"], "hide": true});
    submit(&mut host, "two", &hidden);
    assert_eq!((shown(&host), host.rebases()), (vec!["read_file".to_owned()], 1));
    assert!(!host.body()["system"].to_string().contains("write_file"));
    host.reply(&read("a"));
    let _ = host.answer("text of a");
    assert_eq!((shown(&host), host.rebases()), (vec!["read_file".to_owned()], 1));
    host.reply(&Message::text("Done."));
    // The same again begins as before.
    submit(&mut host, "three", &hidden);
    assert_eq!(host.rebases(), 1);
    host.reply(&Message::text("Done."));
    let _ = host.submit("four");
    assert_eq!((shown(&host), host.rebases()), (all, 2));
}

#[test]
fn l1_i10_without_tools_an_input_is_a_single_shot() {
    let mut host = TestHost::default();
    submit(&mut host, "Only think.", &json!({"tools": [], "hide": true}));
    assert_eq!(shown(&host), Vec::<String>::new());
    assert!(!host.body()["system"].to_string().contains("Working directory"));
    host.reply(&read("a"));
    assert_eq!(
        host.results(),
        ["read_file may not be called for this input. Answer without tools."]
    );
    host.reply(&Message::text("I think so."));
    assert_eq!(end(&host), (RunEnd::Completed, "I think so.".into()));
}

#[test]
fn l1_what_was_said_stands_when_the_rounds_are_used_up() {
    let mut config = config();
    config.limits.max_tool_rounds_per_input = 1;
    config.limits.action = LimitAction::Partial;
    let mut host = TestHost::open(config);
    submit(&mut host, "go", &json!({"tools": ["read_file"]}));
    host.reply(&Message::text("I look.").and_call("r", "read_file", &json!({"file_path": "a"})));
    let _ = host.answer("text of a");
    assert_eq!(end(&host), (RunEnd::Limit, "I look.".into()));
}

fn end(host: &TestHost) -> (RunEnd, String) {
    let ends = host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    });
    ends.last().cloned().unwrap()
}

#[test]
fn k26_a_waiting_input_has_its_own_options_and_a_steer_those_of_the_input_under_way() {
    let mut host = TestHost::default();
    submit(&mut host, "one", &json!({"tools": ["read_file"]}));
    let later =
        Command::FollowUp { parts: text("two"), options: options(&json!({"paths": ["b"]})) };
    let _ = host.command(later);
    let _ = host.command(Command::follow_up(text("three")));
    let glob = |id: &str| Message::call(id, "glob", &json!({"pattern": "*"}));
    host.reply(&glob("g1"));
    assert_eq!(host.results().len(), 1);
    host.reply(&Message::text("Done."));
    host.reply(&glob("g2"));
    assert_eq!(
        host.results(),
        ["Tool error (glob): the whole folder: only these paths may be used for this input, from \
          the root on: b."]
    );
    // A killed session goes on with the options of the input under way and of those that wait.
    let again = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(again.snapshot(), host.session.snapshot());
    let mut host = TestHost { session: again, ..host };
    host.reply(&read("a"));
    assert_eq!(host.call_errors().last(), Some(&Some(ToolError::PermissionDenied)));
    host.reply(&Message::text("Done."));
    host.reply(&glob("g3"));
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn paths_hold_after_the_hook_and_before_a_person_is_asked_and_for_what_they_edit() {
    let mut config = config();
    config.approval = ApprovalPolicy { ask: AskAbout::Everything, allow: Vec::new() };
    config.hooks.points = vec![HookPoint::BeforeTool, HookPoint::AfterTool];
    let mut host = TestHost::open(config);
    submit(&mut host, "go", &json!({"paths": ["texts", "notes.md"]}));
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    let hook = |host: &mut TestHost, reply: HookReply| {
        let id = host.hooks[0].0;
        let _ = host.input(Input::Hook { id, reply });
    };
    let replaced = |path: &str| HookReply::Replace(Json::parse(write(path).to_string()).unwrap());

    // VALIDATE goes first: no hook sees what does not fit.
    host.reply(&Message::call("a", "write_file", &json!({"file_path": 7})));
    assert!(host.hooks.is_empty());
    assert_eq!(host.call_errors(), [Some(ToolError::InvalidArguments)]);
    // The hook sees the call before its paths do, and what it puts there is validated again.
    host.reply(&Message::call("b", "write_file", &write("src/a.rs")));
    assert_eq!((host.hooks.len(), host.asks.len()), (1, 0));
    hook(&mut host, HookReply::Replace(Json::parse(r#"{"file_path":7}"#).unwrap()));
    assert_eq!(host.call_errors().last(), Some(&Some(ToolError::InvalidArguments)));
    // Then the paths: nobody is asked about a call that does not keep to them.
    host.reply(&Message::call("c", "write_file", &write("texts/a.md")));
    hook(&mut host, replaced("src/a.rs"));
    assert_eq!(host.call_errors().last(), Some(&Some(ToolError::PermissionDenied)));
    assert!(host.asks.is_empty());
    // Then the person, whose arguments go the same way.
    host.reply(&Message::call("d", "write_file", &write("src/a.rs")));
    hook(&mut host, replaced("texts/a.md"));
    let (id, _) = host.asks[0];
    let edited = Json::parse(write("src/b.rs").to_string()).unwrap();
    let _ = host.input(Input::Answer { id, answer: Answer::AllowEdited(edited) });
    assert_eq!(host.call_errors().last(), Some(&Some(ToolError::PermissionDenied)));
    assert!(host.runs.is_empty());
    // Then the run, whose outcome is told before the hook behind it is asked.
    host.reply(&Message::call("e", "write_file", &write("notes.md")));
    hook(&mut host, HookReply::Allow);
    let (id, _) = host.asks[0];
    let _ = host.input(Input::Answer { id, answer: Answer::Allow });
    let id = *host.runs.first_key_value().unwrap().0;
    let _ = host.done(id, Outcome::text("written"));
    assert_eq!(host.call_errors().last(), Some(&None));
    assert_eq!(host.hooks[0].1.point, HookPoint::AfterTool);
    hook(&mut host, HookReply::Replace(Json::parse("\"seen\"").unwrap()));
    assert_eq!(host.results(), ["seen"]);
}

#[test]
fn k22_tools_of_the_hosts_are_refused_unless_they_read_or_say_what_their_paths_are() {
    let mut config = config();
    config.tools =
        vec![own("look", true, &[]), own("act", false, &[]), own("copy", false, &["from", "to"])];
    let mut host = TestHost::open(config);
    submit(&mut host, "go", &json!({"paths": ["texts"]}));
    let copy = |to: &str| json!({"from": "texts/a", "to": to});
    host.reply(
        &Message::call("1", "look", &json!({}))
            .and_call("2", "act", &json!({}))
            .and_call("3", "copy", &copy("src"))
            .and_call("4", "copy", &copy("texts/b")),
    );
    let _ = host.answer("looked");
    let _ = host.answer("copied");
    let results = host.results();
    let refused = ": only these paths may be used for this input, from the root on: texts.";
    assert_eq!(results[1], format!("Tool error (act): tools that may change any{refused}"));
    assert_eq!(results[2], format!("Tool error (copy): src{refused}"));
    assert_eq!((results[0].as_str(), results[3].as_str()), ("looked", "copied"));
}

#[test]
fn agents_that_are_started_keep_to_the_tools_and_paths_of_the_input() {
    let mut host = TestHost::default();
    submit(
        &mut host,
        "go",
        &json!({"tools": ["spawn_agent", "read_file", "send_input"], "paths": ["texts"]}),
    );
    host.reply(&Message::call("s", "spawn_agent", &json!({"task": "Look around."})));
    let child = host.owners.iter().find(|(_, agent)| agent.0 == 1).map(|(id, _)| *id).unwrap();
    let calls = read("src/a.rs").and_call("w", "write_file", &json!({}));
    let at = host.calls.iter().position(|id| *id == child).unwrap();
    let open = host.calls.remove(at);
    host.calls.push(open);
    host.reply(&calls);
    assert_eq!(
        host.call_errors()[1..],
        [Some(ToolError::PermissionDenied), Some(ToolError::Denied)]
    );
}

#[test]
fn a_call_that_must_be_made_must_be_made_once() {
    let mut host = TestHost::default();
    submit(&mut host, "go", &json!({"tool_choice": {"tool": "read_file"}}));
    let choice = |host: &TestHost| host.body()["tool_choice"].clone();
    assert_eq!(choice(&host), json!({"type": "tool", "name": "read_file"}));
    host.reply(&read("a"));
    let _ = host.answer("text of a");
    assert_eq!((choice(&host), host.rebases()), (Value::Null, 1));
    host.reply(&Message::text("Done."));
    assert_eq!(end(&host).0, RunEnd::Completed);
}

#[test]
fn the_temperature_stands_where_each_protocol_wants_it() {
    for wire in WireKind::ALL {
        let mut config = config();
        config.model.wire = wire;
        let other = Json::parse(r#"{"top_k":5}"#).unwrap();
        config.model.options.insert("generationConfig".into(), other.clone());
        config.model.options.insert("options".into(), other);
        let mut host = TestHost::open(config);
        submit(&mut host, "go", &json!({"temperature": 0.25}));
        let body = host.body();
        let place = match wire {
            WireKind::Gemini => &body["generationConfig"],
            WireKind::Ollama => &body["options"],
            _ => &body,
        };
        assert_eq!(place["temperature"], json!(0.25), "{wire:?}");
        if matches!(wire, WireKind::Gemini | WireKind::Ollama) {
            assert_eq!(place["top_k"], 5, "{wire:?}");
        }
        host.reply(&Message::text("Done."));
        let _ = host.submit("again");
        assert!(!host.body().to_string().contains("temperature"), "{wire:?}");
    }
}

#[test]
fn options_that_cannot_work_are_refused_by_name() {
    let mut host = TestHost::default();
    for (own, why) in [
        (
            json!({"tools": ["read_file", "nope"]}),
            "options.tools[1]: there is no tool \"nope\"; there are: read_file",
        ),
        (
            json!({"tool_choice": {"tool": "nope"}}),
            "options.tool_choice: there is no tool \"nope\"",
        ),
        (
            json!({"tools": ["grep"], "tool_choice": {"tool": "glob"}}),
            "options.tool_choice: \"glob\" is not among the tools of this input",
        ),
        (
            json!({"tools": [], "tool_choice": "required"}),
            "options.tool_choice: no tool could be called",
        ),
        (json!({"paths": ["texts", "../etc"]}), "options.paths[1]: leads out of the workspace"),
        (json!({"paths": [""]}), "options.paths[0]: is empty: . stands for the whole workspace"),
        (json!({"temperature": -1}), "options.temperature: must be a number, 0 or more"),
        (json!({"temperature": "hot"}), "options.temperature: must be a number, 0 or more"),
    ] {
        for command in [
            Command::Submit { parts: text("go"), options: options(&own) },
            Command::FollowUp { parts: text("go"), options: options(&own) },
        ] {
            let refused = host.offer(Input::command(command.clone())).unwrap_err();
            assert!(matches!(refused.reason, RejectionReason::Config(_)));
            assert!(refused.reason.to_string().starts_with(why), "{}", refused.reason);
            assert_eq!(refused.input, Input::command(command), "nothing is lost");
        }
    }
    assert!(host.requests.is_empty());
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 0);
}

#[test]
fn the_final_answer_can_be_given_whatever_the_tools_are() {
    let mut config = config();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let schema = Json::parse(schema.to_string()).unwrap();
    config.answer = Some(AnswerConfig { schema, retries: 0 });
    let mut host = TestHost::open(config);
    submit(&mut host, "go", &json!({"tools": [], "hide": true}));
    assert_eq!(shown(&host), ["final_answer"]);
    host.reply(&Message::call("f", "final_answer", &json!({"n": 1})));
    assert_eq!(end(&host), (RunEnd::Completed, r#"{"n":1}"#.into()));
}

#[test]
fn a_choice_of_the_configuration_does_not_force_what_the_input_leaves_out() {
    let with = |choice| {
        let mut config: SessionConfig = config();
        config.model.tool_choice = choice;
        let mut host = TestHost::open(config);
        submit(&mut host, "go", &json!({"tools": []}));
        host.body()["tool_choice"].clone()
    };
    assert_eq!(with(ToolChoice::Required), Value::Null);
    assert_eq!(with(ToolChoice::Tool("grep".into())), Value::Null);
    assert_eq!(with(ToolChoice::None), json!({"type": "none"}));
}

#[test]
fn a_tool_names_only_arguments_that_it_has() {
    let mut config = config();
    let mut tool = own("copy", false, &["from"]);
    tool.paths.push("to".into());
    config.tools = vec![tool];
    let error = Session::open(config, EPOCH).unwrap_err();
    assert_eq!(error.to_string(), "tools[0].paths: copy: there is no argument \"to\"");
}

#[test]
fn k1_import_and_turn_options_go_together() {
    let mut host = TestHost::default();
    let turns = vec![innerloop_core::message::Turn {
        at: EPOCH,
        kind: innerloop_core::message::TurnKind::User(vec![Part::text("Said elsewhere.")]),
    }];
    let _ = host.command(Command::Import { turns });
    submit(&mut host, "go", &json!({"tools": ["grep"], "hide": true}));
    assert_eq!((shown(&host), host.rebases()), (vec!["grep".to_owned()], 1));
}
