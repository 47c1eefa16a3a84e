//! What fills an agent's context window, by part: estimates that add up to what the gauge says.

use innerloop_core::{
    Session,
    config::{ProfileKind, ProjectDoc, SessionConfig, TokenEstimator},
    id::AgentId,
    input::Command,
    json::{JsonObject, from_str},
    status::ContextUsage,
    tool::BuiltinTools,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
};
use serde_json::json;

fn doc(path: &str, text: &str) -> ProjectDoc {
    ProjectDoc { path: path.into(), text: text.into(), private: false }
}

/// The context of an agent, whose parts add up.
fn context(session: &Session, agent: AgentId) -> ContextUsage {
    let usage = session.context(agent).unwrap();
    let parts = [usage.system, usage.documents, usage.tools, usage.history, usage.results];
    assert_eq!(parts.iter().sum::<u64>(), usage.total, "{usage:?}");
    assert_eq!(usage.free, usage.window.saturating_sub(usage.total), "{usage:?}");
    usage
}

fn root(host: &TestHost) -> ContextUsage {
    context(&host.session, AgentId::ROOT)
}

/// A reply of the model's, counted by the provider.
fn counted(message: Message, input: u64) -> Message {
    message.costing(input, 100)
}

#[test]
fn n19_each_part_is_what_was_given() {
    for estimator in [TokenEstimator::Chars, TokenEstimator::CodeAndProse, TokenEstimator::Words] {
        let open = |docs: Vec<ProjectDoc>, tools: bool| {
            let mut config = SessionConfig { estimator, ..config() };
            config.facts.project_docs = docs;
            if !tools {
                config.builtin_tools = BuiltinTools::None;
            }
            root(&TestHost::open(config))
        };
        let (plain, bare) = (open(Vec::new(), true), open(Vec::new(), false));
        assert_eq!((plain.documents, plain.history, plain.results), (0, 0, 0));
        assert!(plain.system > 100 && plain.tools > 100, "{plain:?}");
        assert_eq!(bare.tools, 0, "{bare:?}");
        let with = open(vec![doc("AGENTS.md", &"Be brief. ".repeat(400))], true);
        // Nothing else has changed by the document but what rounding moves.
        assert!(with.system.abs_diff(plain.system) <= 2, "{with:?} {plain:?}");
        assert!(with.tools.abs_diff(plain.tools) <= 2, "{with:?} {plain:?}");
        assert!((900..1_100).contains(&with.documents), "{with:?}");
        assert_eq!(with.window, 200_000);
    }
}

#[test]
fn n19_the_total_is_the_providers_count_and_what_came_since() {
    let mut host = TestHost::default();
    let _ = host.submit("Read it.");
    let asked = root(&host);
    assert!(asked.history > 0 && asked.results == 0, "{asked:?}");
    host.reply(&counted(Message::call("c1", "read_file", &json!({"file_path": "a.txt"})), 4_000));
    assert_eq!(root(&host).total, 4_100, "as the provider has counted it");
    let _ = host.answer(&"x".repeat(40_000));
    let read = root(&host);
    assert!(read.total > 4_100 + 5_000, "{read:?}");
    assert!(read.results > read.history, "{read:?}");
    host.reply(&counted(Message::text("Read."), 15_000));
    let done = root(&host);
    assert_eq!(done.total, 15_100);
    // The same after a restart, and for nobody where there is no such agent.
    let restored = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!(context(&restored, AgentId::ROOT), done);
    assert_eq!(host.session.context(AgentId(1)), None);
    assert_eq!(host.session.overview(AgentId(1)).pending, None);
    let overview = host.session.overview(AgentId::ROOT);
    assert_eq!(overview.pending, host.session.pending(AgentId::ROOT));
    assert_eq!(overview.config, host.session.own_config());
}

#[test]
fn n19_a_document_that_is_shown_on_the_way_is_one() {
    let mut config = config();
    config.model.profile = ProfileKind::Anthropic;
    config.facts.nested_docs = vec![doc("pkg/AGENTS.md", &"Be brief. ".repeat(400))];
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let before = root(&host);
    let call = Message::call("c1", "read_file", &json!({"file_path": "pkg/a.txt"}));
    host.reply(&counted(call, before.total));
    let _ = host.answer("text");
    let after = root(&host);
    assert!(after.documents > before.documents + 900, "{before:?} {after:?}");
    assert!(after.history < before.history + 100, "{before:?} {after:?}");
}

#[test]
fn n19_the_window_in_force_counts_and_may_be_exceeded() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&counted(Message::text("Done."), 50_000));
    let patch = r#"{"model": {"context_window": 40000, "max_output_tokens": 1000}}"#;
    let patch: JsonObject = from_str(patch).unwrap();
    let _ = host.command(Command::Configure { patch });
    let usage = root(&host);
    assert_eq!((usage.window, usage.free), (40_000, 0), "{usage:?}");
}

#[test]
fn n19_an_agent_that_was_started_has_a_context_of_its_own() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let call = json!({"task": "Look around. ".repeat(200)});
    host.reply(&Message::call("s", "spawn_agent", &call));
    let child = context(&host.session, AgentId(1));
    assert!(child.history > 600 && child.results == 0, "{child:?}");
    assert!(child.tools > 0 && child.total < child.window, "{child:?}");
}
