//! Pages of the web, which the host may offer to read.

use innerloop_core::{
    Profile,
    action::{Action, Outcome},
    config::{AskAbout, EnvironmentFacts, ProfileKind, SessionConfig, VocabularyKind},
    input::{Answer, Input},
    tool::{BuiltinTools, Job},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
};
use serde_json::{Value, json};

fn offering(profile: ProfileKind, vocabulary: VocabularyKind) -> SessionConfig {
    let mut config = config();
    (config.model.profile, config.model.vocabulary) = (profile, vocabulary);
    config.web_fetch = true;
    config
}

fn tools(config: SessionConfig) -> Vec<String> {
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let body = host.body();
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn c16_a_host_that_reads_the_web_offers_it_to_every_large_family() {
    use ProfileKind::{Anthropic, Gemini, Openai, Small};
    for (profile, vocabulary, name) in [
        (Anthropic, VocabularyKind::Seed, "web_fetch"),
        (Anthropic, VocabularyKind::Native, "WebFetch"),
        (Openai, VocabularyKind::Seed, "web_fetch"),
        (Openai, VocabularyKind::Native, "web_fetch"),
        (Gemini, VocabularyKind::Seed, "web_fetch"),
        (Gemini, VocabularyKind::Native, "web_fetch"),
    ] {
        let with = offering(profile, vocabulary);
        let without = SessionConfig { web_fetch: false, ..with.clone() };
        assert!(tools(with.clone()).iter().any(|tool| tool == name), "{profile:?}");
        assert!(!tools(without).iter().any(|tool| tool == name), "{profile:?}");
        // It reaches out of the workspace: no session that only reads has it.
        let reading = SessionConfig { builtin_tools: BuiltinTools::ReadOnly, ..with };
        assert!(!tools(reading).iter().any(|tool| tool == name), "{profile:?}");
    }
    let mut gemini = TestHost::open(offering(Gemini, VocabularyKind::Native));
    let _ = gemini.submit("go");
    assert!(gemini.body().to_string().contains("Read pages of the web"), "several at once");
    assert!(!tools(offering(Small, VocabularyKind::Seed)).iter().any(|tool| tool == "web_fetch"));
}

#[test]
fn c16_gemini_names_the_addresses_in_the_prompt() {
    let profile = Profile::new(ProfileKind::Gemini, VocabularyKind::Native);
    let asked = |prompt: &str| {
        let arguments = json!({ "prompt": prompt }).to_string();
        profile.translate(&EnvironmentFacts::default(), "web_fetch", &arguments).unwrap().action
    };
    let prompt = "Compare https://a.example/x?y=1, (http://b.example/) and <https://c.example>.";
    let urls = ["https://a.example/x?y=1", "http://b.example/", "https://c.example"];
    let expected =
        Action::Fetch { urls: urls.map(str::to_owned).to_vec(), prompt: Some(prompt.into()) };
    assert_eq!(asked(prompt), expected);
    let many = "https://a.example/ ".repeat(30);
    let Action::Fetch { urls, .. } = asked(&many) else { panic!() };
    assert_eq!(urls.len(), 20);
}

#[test]
fn c16_the_host_reads_and_the_model_is_told() {
    let mut config = offering(ProfileKind::Anthropic, VocabularyKind::Native);
    config.approval.ask = AskAbout::Programs;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let arguments: Value = json!({"url": "https://a.example/", "prompt": "The title"});
    host.reply(&Message::call("c1", "WebFetch", &arguments));
    assert!(host.runs.is_empty(), "a person is asked first");
    let (id, _) = host.asks[0].clone();
    let _ = host.input(Input::Answer { id, answer: Answer::Allow });
    let (&id, run) = host.runs.first_key_value().unwrap();
    let urls = vec!["https://a.example/".to_owned()];
    let expected = Action::Fetch { urls, prompt: Some("The title".into()) };
    assert_eq!(run.job, Job::Builtin(expected));
    let _ = host.done(id, Outcome::text("A title"));
    assert!(host.body().to_string().contains("A title"));
}
