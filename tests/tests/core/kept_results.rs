//! Outputs that are kept whole: what the model is told of them, and how it asks for the rest
//! (`docs/decisions.md#kept-results`).

use innerloop_core::{
    action::Outcome,
    config::{ApprovalPolicy, AskAbout, HookPoint, SessionConfig},
    event::EventKind,
    input::{HookReply, Input},
    json::Json,
    steps,
    tool::{Job, ResultPolicy, ResultQuery},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::json;

fn keeping(preview_chars: u32) -> SessionConfig {
    let results = Some(ResultPolicy { preview_chars });
    SessionConfig { results, ..config() }
}

/// The last result in the newest request.
fn said(host: &TestHost) -> String {
    let body = host.body();
    let blocks = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let mut results = blocks.as_array().unwrap().iter().filter(|b| b["type"] == "tool_result");
    results.next_back().unwrap()["content"].as_str().unwrap().to_owned()
}

/// The outputs that are kept: id, tool, characters, text.
fn kept(host: &TestHost) -> Vec<(String, String, u64, String)> {
    host.find(|kind| match kind {
        EventKind::ResultKept { id, name, chars, text, .. } => {
            Some((id.clone(), name.clone(), *chars, text.clone()))
        }
        _ => None,
    })
}

fn look(host: &mut TestHost, output: &str) {
    host.reply(&Message::call("", "read_file", &json!({"file_path": "a"})));
    let _ = host.answer(output);
}

#[test]
fn k24_only_what_is_cut_is_kept_and_the_model_is_told_where() {
    let mut host = TestHost::open(keeping(2_000));
    let _ = host.submit("go");
    look(&mut host, "short");
    assert_eq!((said(&host).as_str(), kept(&host).len()), ("short", 0));
    let long = "0123456789".repeat(6_000);
    look(&mut host, &long);
    let read = said(&host);
    assert!(read.ends_with("\n[whole output: result-2, 60,000 characters; read_result]"), "{read}");
    assert!(read.len() < 2_600, "{}", read.len());
    assert_eq!(kept(&host), [("result-2".into(), "read_file".into(), 60_000, long)]);
}

#[test]
fn k24_the_number_of_an_output_costs_no_more_in_a_long_log() {
    let mut host = TestHost::open(keeping(100));
    let _ = host.submit("go");
    let mut costs = Vec::new();
    for number in 0..120 {
        if number % 40 == 0 {
            costs.push(steps());
        }
        host.reply(&Message::call("", "read_file", &json!({"file_path": format!("{number:03}")})));
        let _ = host.answer(&format!("{number:03}").repeat(20_000));
    }
    costs.push(steps());
    assert_eq!(kept(&host).len(), 120);
    let [_, first, _, last] = costs[..] else { panic!("{costs:?}") };
    assert!(last < first + first / 10, "{costs:?}");
}

#[test]
fn k24_without_a_preview_as_much_is_shown_as_ever_and_off_nothing_is_kept() {
    let long = "é".repeat(60_000);
    let mut host = TestHost::open(keeping(0));
    let _ = host.submit("go");
    look(&mut host, &long);
    assert!(said(&host).chars().count() > 50_000);
    assert_eq!(kept(&host)[0].2, 60_000);
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let names: Vec<_> = host.body()["tools"].as_array().unwrap().clone();
    assert!(names.iter().all(|tool| tool["name"] != "read_result"));
    look(&mut host, &long);
    assert!(kept(&host).is_empty() && said(&host).ends_with('é'));
}

#[test]
fn k24_what_a_hook_puts_in_its_place_is_kept_and_not_the_output() {
    let mut config = keeping(2_000);
    config.hooks.points = vec![HookPoint::AfterTool];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    look(&mut host, &"secret".repeat(10_000));
    let (id, _) = host.hooks[0].clone();
    let clean = "****** ".repeat(10_000);
    let _ = host.input(Input::Hook { id, reply: HookReply::Replace(Json::of(&clean)) });
    assert_eq!(kept(&host)[0].3, clean);
}

#[test]
fn k27_the_model_asks_for_a_list_or_a_part_and_nobody_approves() {
    let mut config = keeping(2_000);
    config.approval = ApprovalPolicy { ask: AskAbout::Everything, ..ApprovalPolicy::default() };
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    host.reply(&Message::call("", "list_results", &json!({"tool": "shell"})).and_call(
        "",
        "read_result",
        &json!({"id": "result-2", "offset": 5, "limit": 7}),
    ));
    assert!(host.asks.is_empty(), "{:?}", host.asks);
    let jobs: Vec<Job> = host.runs.values().map(|run| run.job.clone()).collect();
    let list = ResultQuery { tool: Some("shell".into()), ..ResultQuery::default() };
    let read = ResultQuery { id: Some("result-2".into()), offset: 5, limit: 7, tool: None };
    assert_eq!(jobs, [Job::Kept(list), Job::Kept(read)]);
    // A part is not kept once more, however long it is.
    for id in host.runs.keys().copied().collect::<Vec<_>>() {
        let _ = host.done(id, Outcome::text("x".repeat(60_000)));
    }
    assert!(kept(&host).is_empty() && said(&host).len() > 50_000, "{}", said(&host));
}

#[test]
fn k27_a_fork_gives_no_id_that_its_turns_have_given() {
    let mut host = TestHost::open(keeping(2_000));
    let _ = host.submit("go");
    look(&mut host, &"a".repeat(60_000));
    host.reply(&Message::text("Done."));
    let turns = host.session.history(innerloop_core::id::AgentId::ROOT).unwrap().turns().len();
    let fork = host.session.fork(
        innerloop_core::id::SessionId("fork".into()),
        turns,
        innerloop_tests::test_host::EPOCH,
    );
    let mut fork = TestHost::around(fork.unwrap().0, String::new());
    let _ = fork.submit("again");
    look(&mut fork, &"b".repeat(60_000));
    assert_eq!(kept(&fork)[0].0, "result-2");
}
