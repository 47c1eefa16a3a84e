//! Which tools a request shows: many that are found by a search, or a few at a time
//! (`docs/decisions.md#tools-shown`).

use innerloop_core::{
    Session,
    action::ToolError,
    config::{SessionConfig, TextCalls, ToolChoice},
    event::EventKind,
    input::{Command, TurnOptions},
    json::Json,
    preset::ConfigPreset,
    status::RunEnd,
    tool::{BuiltinTools, Job, ToolSpec, ToolsShown},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config, text},
};
use serde_json::{Value, json};

fn own(name: &str, description: &str) -> ToolSpec {
    let parameters =
        r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#;
    ToolSpec::new(name, description, Json::parse(parameters).unwrap())
}

/// A configuration with so many tools of the host's, of which four have a meaning.
fn many(count: usize) -> SessionConfig {
    let mut tools: Vec<_> =
        (4..count).map(|at| own(&format!("other_{at}"), "Does something else.")).collect();
    tools.push(own("github__create_issue", "Opens a new issue in a repository."));
    tools.push(own("github__list_issues", "Shows the issues of a repository."));
    tools.push(own("github__close_pr", "Closes a pull request."));
    tools.push(own("mail__send", "Sends a letter about an issue."));
    SessionConfig { tools, builtin_tools: BuiltinTools::None, ..config() }
}

/// The names of the tools that the newest request shows.
fn shown(host: &TestHost) -> Vec<String> {
    let body = host.body();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The last result in the newest request.
fn said(host: &TestHost) -> String {
    host.results().pop().expect("a result")
}

fn search(query: &str) -> Message {
    Message::call("", "tool_search", &json!({"query": query}))
}

fn select(category: &str) -> Message {
    Message::call("", "select_category", &json!({"category": category}))
}

/// The names of the tools that a search has found.
fn found(host: &TestHost) -> Vec<String> {
    let lines = said(host);
    let specs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    specs.map(|spec| spec["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn n4_up_to_thirty_tools_are_all_shown_and_nothing_else() {
    let mut host = TestHost::open(many(30));
    let _ = host.submit("go");
    assert_eq!(shown(&host).len(), 30);
    assert!(!shown(&host).contains(&"tool_search".to_owned()));
}

#[test]
fn n4_a_search_answers_with_schemas_and_leaves_the_head_as_it_was() {
    let mut host = TestHost::open(many(40));
    let _ = host.submit("go");
    let head = host.body()["tools"].clone();
    assert_eq!(shown(&host).len(), 31);
    let about = head[30]["description"].as_str().unwrap();
    assert_eq!(head[30]["name"], "tool_search");
    assert!(about.contains("other_39, github__create_issue") && !about.contains("other_5,"));
    host.reply(&search("open an issue on github"));
    // The best first, at most five, each with what its arguments are.
    let names = found(&host);
    assert_eq!(names[..2], ["github__create_issue", "github__list_issues"]);
    assert!(names.len() <= 5 && said(&host).contains(r#""required":["id"]"#), "{}", said(&host));
    assert_eq!((host.body()["tools"].clone(), host.rebases()), (head.clone(), 0));
    host.reply(&Message::call("", "github__create_issue", &json!({"id": 7})));
    let run = host.runs.first_key_value().unwrap().1.clone();
    assert!(matches!(&run.job, Job::Custom(given) if given.text() == r#"{"id":7}"#), "{run:?}");
    let _ = host.answer("opened");
    assert_eq!((host.body()["tools"].clone(), host.rebases()), (head, 0));
}

#[test]
fn n4_names_come_first_and_nothing_is_said_to_be_nothing() {
    let mut host = TestHost::open(many(40));
    let _ = host.submit("go");
    for (query, want) in [
        ("other_35, mail__send", &["other_35", "mail__send"][..]),
        ("close PR", &["github__close_pr"]),
        ("LETTERS", &["mail__send"]),
    ] {
        host.reply(&search(query));
        let mut first = found(&host)[..want.len()].to_vec();
        first.sort();
        let mut want = want.to_vec();
        want.sort_unstable();
        assert_eq!(first, want, "{query}");
    }
    host.reply(&search("zzz"));
    assert!(said(&host).starts_with("No further tool fits"), "{}", said(&host));
    // Only the beginning of a query counts: its words are compared with those of each tool.
    host.reply(&search(&format!("{} mail__send", "zzz ".repeat(250))));
    assert!(said(&host).starts_with("No further tool fits"), "{}", said(&host));
    // What is shown already is not found.
    host.reply(&search("other_5"));
    assert!(!found(&host).contains(&"other_5".to_owned()));
    assert!(host.call_errors().iter().all(Option::is_none));
}

#[test]
fn k19_a_tool_that_was_not_loaded_is_checked_and_runs() {
    let mut host = TestHost::open(many(40));
    let _ = host.submit("go");
    host.reply(&Message::call("", "mail__send", &json!({"id": "seven"})));
    assert_eq!(host.call_errors(), [Some(ToolError::InvalidArguments)]);
    host.reply(&Message::call("", "mail__send", &json!({"id": 7})));
    assert_eq!(host.runs.len(), 1);
    let _ = host.answer("sent");
    assert_eq!(said(&host), "sent");
}

#[test]
fn k19_built_in_tools_are_always_shown_and_the_number_is_a_setting() {
    let all = TestHost::open(SessionConfig { builtin_tools: BuiltinTools::All, ..many(6) });
    let count = |tools_shown, builtin_tools| {
        let config = SessionConfig { tools_shown, builtin_tools, ..many(6) };
        let mut host = TestHost::open(config);
        let _ = host.submit("go");
        shown(&host).len()
    };
    let builtin = all.find(|kind| match kind {
        EventKind::SessionStart { tools, .. } => Some(tools.len() - 6),
        _ => None,
    })[0];
    assert_eq!(count(ToolsShown::Deferred(0), BuiltinTools::All), builtin + 1);
    assert_eq!(count(ToolsShown::Deferred(0), BuiltinTools::None), 1);
    assert_eq!(count(ToolsShown::Deferred(4), BuiltinTools::None), 5);
    assert_eq!(count(ToolsShown::Deferred(6), BuiltinTools::None), 6);
    assert_eq!(count(ToolsShown::All, BuiltinTools::None), 6);
}

#[test]
fn k19_what_must_be_called_is_shown_and_what_may_not_is_not_found() {
    let mut host = TestHost::open(many(40));
    let own = |own: TurnOptions| Command::Submit { parts: text("go"), options: Some(own.into()) };
    let _ = host.command(own(TurnOptions {
        tool_choice: Some(ToolChoice::Tool("mail__send".into())),
        ..TurnOptions::default()
    }));
    assert!(shown(&host).contains(&"mail__send".to_owned()));
    host.reply(&Message::text("No."));
    let tools = Some(vec!["mail__send".into()]);
    let _ = host.command(own(TurnOptions { tools: tools.clone(), ..TurnOptions::default() }));
    host.reply(&search("issue"));
    assert_eq!(found(&host), ["mail__send"]);
    host.reply(&Message::text("Done."));
    let _ = host.command(own(TurnOptions { tools, hide: true, ..TurnOptions::default() }));
    assert_eq!(shown(&host), ["mail__send"]);
}

#[test]
fn k19_a_call_in_text_may_be_of_a_tool_that_a_search_has_found() {
    let mut config = many(40);
    config.model.text_calls = TextCalls::Always;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::text(
        "<tool_call>{\"name\":\"mail__send\",\"arguments\":{\"id\":7}}</tool_call>",
    ));
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn k19_a_tool_of_the_hosts_named_as_ours_takes_its_place() {
    let mut config = many(40);
    config.tools.push(own("tool_search", "Searches in its own way."));
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    assert_eq!(shown(&host).len(), 41);
}

fn staged() -> SessionConfig {
    let mut config = ConfigPreset::Ollama.config();
    config.id = innerloop_core::id::SessionId("test".into());
    config.model = innerloop_core::config::ModelConfig {
        profile: innerloop_core::config::ProfileKind::Small,
        ..self::config().model
    };
    config.tools_shown = ToolsShown::Staged;
    config.corrections = self::config().corrections;
    config
}

#[test]
fn k18_a_category_is_chosen_first_and_then_its_tools_are_shown() {
    let mut host = TestHost::open(staged());
    let _ = host.submit("go");
    assert_eq!(shown(&host), ["select_category"]);
    assert_eq!(host.body()["tool_choice"]["type"], "any");
    let about = host.body()["tools"][0]["description"].clone();
    assert!(about.as_str().unwrap().contains("write: write_file, edit_file"), "{about}");
    host.reply(&select("read"));
    assert_eq!(said(&host), "You can call read_file now.");
    assert_eq!(shown(&host), ["read_file", "select_category"]);
    assert_ne!(host.body()["tool_choice"]["type"], "any");
    host.reply(&Message::call("", "read_file", &json!({"file_path": "a"})));
    let _ = host.answer("text of a");
    assert_eq!(
        (shown(&host), host.rebases()),
        (vec!["read_file".into(), "select_category".into()], 1)
    );
    host.reply(&select("write"));
    assert_eq!(shown(&host), ["write_file", "edit_file", "select_category"]);
    assert_eq!(host.rebases(), 2);
    // The next input begins with the choice again, and may be answered without any call.
    host.reply(&Message::text("Done."));
    let _ = host.submit("more");
    assert_eq!((shown(&host), host.rebases()), (vec!["select_category".to_owned()], 3));
    host.reply(&Message::text("Nothing to do."));
    let ends = host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, .. } => Some(*end),
        _ => None,
    });
    assert_eq!(ends, [RunEnd::Completed; 2]);
}

#[test]
fn k18_two_wrong_choices_show_all_tools() {
    for wrong in [select("fly"), select("run"), Message::call("", "nope", &json!({}))] {
        let mut host = TestHost::open(staged());
        let _ = host.submit("go");
        host.reply(&wrong);
        assert_eq!(shown(&host), ["select_category"]);
        host.reply(&wrong);
        let all = ["read_file", "write_file", "edit_file", "list_dir", "grep"];
        assert_eq!((shown(&host), host.rebases()), (all.map(str::to_owned).to_vec(), 1));
    }
}

#[test]
fn k18_a_tool_of_another_category_runs_all_the_same() {
    let mut host = TestHost::open(staged());
    let _ = host.submit("go");
    host.reply(&select("search"));
    host.reply(&Message::call("", "read_file", &json!({"file_path": "a"})));
    assert_eq!(host.runs.len(), 1);
}

#[test]
fn k18_the_stage_outlives_a_restore() {
    let mut host = TestHost::open(staged());
    let _ = host.submit("go");
    host.reply(&select("write"));
    let snapshot = host.session.snapshot();
    let restored = Session::restore(&snapshot, EPOCH).unwrap();
    assert_eq!(restored.owed(), host.session.owed());
    assert_eq!(restored.snapshot(), snapshot);
}
