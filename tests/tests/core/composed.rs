//! Agents that a user composes: which tools of the profile there are, what the prompt begins with,
//! and what of it changes in a session.

use innerloop_core::{
    Session,
    config::{AnswerConfig, ProfileKind, ProjectDoc, SessionConfig, VocabularyKind},
    event::EventKind,
    input::{Command, Input, RejectionReason},
    json::Json,
    tool::{BuiltinTools, Job, ToolSpec},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
    wires,
};
use serde_json::{Value, json};

fn with(change: impl FnOnce(&mut SessionConfig)) -> TestHost {
    let mut config = config();
    change(&mut config);
    TestHost::open(config)
}

/// The names of the tools in the newest request.
fn offered(host: &TestHost) -> Vec<String> {
    let body = host.body();
    let tools = body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn offered_with(tools: BuiltinTools) -> Vec<String> {
    let mut host = with(|config| config.builtin_tools = tools);
    let _ = host.submit("go");
    offered(&host)
}

fn system(host: &TestHost) -> String {
    host.body()["system"][0]["text"].as_str().unwrap().to_owned()
}

fn configure(host: &mut TestHost, config: &Value) {
    let patch = serde_json::from_value(config.clone()).unwrap();
    let _ = host.command(Command::Configure { patch });
}

/// Why a change of the configuration is refused.
fn refusal(host: &mut TestHost, config: &Value) -> String {
    let patch = serde_json::from_value(config.clone()).unwrap();
    let rejected = host.offer(Input::command(Command::Configure { patch })).unwrap_err();
    assert!(matches!(rejected.reason, RejectionReason::Config(_)));
    rejected.reason.to_string()
}

fn weather() -> ToolSpec {
    ToolSpec {
        read_only: true,
        ..ToolSpec::new(
            "weather",
            "The weather. In a city.",
            Json::parse(r#"{"type":"object"}"#).unwrap(),
        )
    }
}

#[test]
fn a_session_says_which_of_the_profiles_tools_there_are() {
    let all = offered_with(BuiltinTools::All);
    assert!(all.len() > 8, "{all:?}");
    assert_eq!(offered_with(BuiltinTools::None), [""; 0]);
    let reading = offered_with(BuiltinTools::ReadOnly);
    assert_eq!(reading, ["read_file", "list_dir", "glob", "grep"]);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let only = BuiltinTools::Only(names(&["write_file", "wait", "read_file"]));
    assert_eq!(offered_with(only), ["read_file", "write_file", "wait"]);
    let left = offered_with(BuiltinTools::Except(names(&["write_file", "spawn_agent"])));
    let expected: Vec<_> =
        all.into_iter().filter(|name| name != "write_file" && name != "spawn_agent").collect();
    assert_eq!(left, expected);
}

#[test]
fn the_tools_are_named_as_the_model_is_shown_them() {
    for (kind, vocabulary, name) in [
        (ProfileKind::Anthropic, VocabularyKind::Native, "Read"),
        (ProfileKind::Gemini, VocabularyKind::Native, "replace"),
        (ProfileKind::Openai, VocabularyKind::Native, "update_plan"),
        (ProfileKind::Small, VocabularyKind::Seed, "write_file"),
    ] {
        let wanted = BuiltinTools::Only(vec![name.into()]);
        let mut host = with(|config| {
            config.model.profile = kind;
            config.model.vocabulary = vocabulary;
            config.builtin_tools = wanted.clone();
        });
        let _ = host.submit("go");
        assert_eq!(offered(&host), [name], "{kind:?}");
    }
    let mut config = config();
    config.builtin_tools = BuiltinTools::Except(vec!["read_file".into(), "Read".into()]);
    let error = Session::open(config, EPOCH).unwrap_err();
    assert_eq!(error.field, "builtin_tools");
    assert!(error.message.starts_with(r#"there is no tool "Read"; there are read_file, "#));
}

#[test]
fn a_tool_that_is_not_shown_is_not_run() {
    let mut host = with(|config| config.builtin_tools = BuiltinTools::ReadOnly);
    let _ = host.submit("go");
    host.reply(&Message::call("c", "write_file", &json!({"file_path": "a", "content": "b"})));
    assert!(host.runs.is_empty());
    let read = host.body()["messages"].to_string();
    assert!(read.contains("write_file") && read.contains("is_error\":true"), "{read}");
}

#[test]
fn questions_and_final_answers_have_switches_of_their_own() {
    let mut host = with(|config| {
        config.builtin_tools = BuiltinTools::None;
        config.ask_user = true;
        let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
        config.answer = Some(AnswerConfig { schema, retries: 1 });
    });
    let _ = host.submit("go");
    assert_eq!(offered(&host), ["ask_user", "final_answer"]);
}

#[test]
fn subagents_have_no_more_tools_than_their_parent() {
    let names = ["spawn_agent", "read_file"].map(String::from);
    let mut host = with(|config| config.builtin_tools = BuiltinTools::Only(names.to_vec()));
    let _ = host.submit("go");
    host.reply(&Message::call("c", "spawn_agent", &json!({"task": "look"})));
    let bodies: Vec<Value> = host
        .requests
        .iter()
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    let child = bodies.iter().find(|body| body["messages"].to_string().contains("look")).unwrap();
    assert_eq!(child["tools"][0]["name"], "read_file");
    assert_eq!(child["tools"].as_array().unwrap().len(), 1);
}

/// An agent that has nothing to do with code: words and a tool of its user's, and no workspace.
#[test]
fn an_agent_that_has_nothing_to_do_with_code_can_be_built() {
    let mut host = with(|config| {
        config.base_prompt = Some("You tell the weather.\n".into());
        config.builtin_tools = BuiltinTools::None;
        config.tools = vec![weather()];
        config.facts.working_directory = "/work".into();
        config.facts.platform = "linux".into();
        config.facts.date = "2027-01-15".into();
    });
    let _ = host.submit("Will it rain in Rome?");
    assert_eq!(
        system(&host),
        "You tell the weather.\n\n<environment>\nToday's date: 2027-01-15\nModel: mock-1\n\
         </environment>\n\n# Tools\n\n- weather: The weather."
    );
    host.reply(&Message::call("c", "weather", &json!({"city": "Rome"})));
    let job = &host.runs.values().next().unwrap().job;
    assert!(matches!(job, Job::Custom(arguments) if arguments.text().contains("Rome")));
    let _ = host.answer("rain");
    host.reply(&Message::text("Yes."));
    let texts = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, ["Yes."]);
}

#[test]
fn i10_without_tools_the_prompt_has_no_words_about_them() {
    for wire in wires::WIRES {
        let prompt = |builtin_tools| {
            let mut config = config();
            wires::speak(&mut config.model, wire);
            config.builtin_tools = builtin_tools;
            let mut host = TestHost::open(config);
            let _ = host.submit("go");
            String::from_utf8(host.requests[0].body.0.clone()).unwrap()
        };
        let without = prompt(BuiltinTools::None);
        assert!(without.contains("You are Innerloop"), "{without}");
        assert!(!without.contains("tool") && !without.contains("workspace"), "{without}");
        assert!(prompt(BuiltinTools::ReadOnly).contains("tool"), "{wire:?}");
    }
}

#[test]
fn a15_what_the_model_is_shown_changes_in_a_session() {
    let mut host = with(|_| ());
    let _ = host.submit("go");
    let before = system(&host);
    assert!(offered(&host).contains(&"write_file".to_owned()));
    host.reply(&Message::call("c", "list_dir", &json!({})));
    let doc = ProjectDoc { path: "AGENTS.md".into(), text: "Be brief.".into(), private: false };
    configure(
        &mut host,
        &json!({
            "base_prompt": "You are somebody else.",
            "builtin_tools": "read_only",
            "tools": [weather()],
            "facts": {"project_docs": [doc]},
            "model": {"options": {"temperature": 0.5}},
            "timeouts": {"default_command_ms": 5000},
            "approval": {"ask": "everything"},
            "limits": {"max_tool_rounds_per_input": 7}
        }),
    );
    assert_eq!(host.names(2).last().unwrap(), "prefix_rebased");
    let _ = host.answer("a");
    let (after, tools) = (system(&host), offered(&host));
    assert_ne!(before, after);
    assert!(after.starts_with("You are somebody else."), "{after}");
    assert!(after.contains("Be brief."), "{after}");
    assert!(tools.contains(&"weather".to_owned()) && !tools.contains(&"write_file".to_owned()));
    assert_eq!(host.body()["temperature"], 0.5);
    host.reply(&Message::call("d", "weather", &json!({})));
    assert_eq!(host.asks.len(), 1, "a tool of the host needs a yes now");
    let now = host.session.config();
    assert_eq!((now.timeouts.default_command_ms, now.limits.max_tool_rounds_per_input), (5000, 7));
}

#[test]
fn a15_what_a_session_is_stays() {
    let mut host = with(|_| ());
    let _ = host.submit("go");
    let before = host.session.snapshot();
    for (patch, why) in [
        (json!({"id": "other"}), "id: it cannot change in a session"),
        (json!({"limits": {"max": 1}}), "limits.max: unknown field `max`, expected one of"),
        (json!({"builtin_tools": {"only": ["x"]}}), r#"builtin_tools: there is no tool "x""#),
        (json!({"timeouts": {"default_command_ms": 0}}), "timeouts.default_command_ms: is 0"),
    ] {
        let found = refusal(&mut host, &patch);
        assert!(found.starts_with(why), "{found}");
    }
    assert_eq!(host.session.snapshot(), before);
}

#[test]
fn c17_a_tool_is_registered_replaced_and_removed_in_a_session() {
    let mut host = with(|_| ());
    let _ = host.submit("go");
    let names = |host: &mut TestHost, tools: &[ToolSpec]| {
        host.reply(&Message::call("c", "list_dir", &json!({})));
        configure(host, &json!({ "tools": tools }));
        let _ = host.answer("a");
        offered(host)
    };
    let grep = ToolSpec { name: "grep".into(), ..weather() };
    let before = offered(&host);
    let added = names(&mut host, &[weather(), grep.clone()]);
    assert_eq!(added, [before.clone(), vec!["weather".into()]].concat());
    let description = |host: &TestHost| {
        let body = host.body();
        let tools = body["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == "grep").unwrap()["description"].clone()
    };
    assert_eq!(description(&host), grep.description);
    assert_eq!(names(&mut host, &[]), before);
    assert_ne!(description(&host), grep.description);
}
