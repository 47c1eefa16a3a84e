//! The table of providers: every one the issue names, each with the first request that a session
//! over it makes (`docs/wires.md#chat-completions`).

use innerloop_core::{
    Session,
    config::{ModelConfig, ProfileKind, SessionConfig, TextCalls, VocabularyKind, WireKind},
    id::SessionId,
    input::{Command, Input},
    message::Part,
    output::{Effect, HttpRequest, Output},
    time::{SessionInstant, UnixMillis},
};
use innerloop_driver::providers::{self, Provider};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const NAMES: [&str; 24] = [
    "anthropic",
    "openai",
    "gemini",
    "openrouter",
    "deepseek",
    "mistral",
    "xai",
    "groq",
    "together",
    "fireworks",
    "moonshot",
    "zai",
    "dashscope",
    "cerebras",
    "azure",
    "openai-compatible",
    "openai-chat",
    "gemini-openai",
    "anthropic-openai",
    "ollama",
    "ollama-v1",
    "llamacpp",
    "lmstudio",
    "vllm",
];

fn provider(name: &str) -> Provider {
    providers::find(name).unwrap()
}

/// The first request of a session over this model, and its body.
fn request(model: ModelConfig) -> (HttpRequest, Value) {
    let config = SessionConfig { id: SessionId("s".into()), model, ..SessionConfig::default() };
    let (mut session, _) = Session::open(config, UnixMillis(0)).unwrap();
    let submit = Command::submit(vec![Part::text("hello")]);
    let outputs = session.handle(Input::command(submit), SessionInstant(0)).unwrap();
    let request = outputs.into_iter().find_map(|output| match output {
        Output::Effect(Effect::Http { request, .. }) => Some(request),
        _ => None,
    });
    let request = request.unwrap();
    let body = serde_json::from_slice(&request.body.0).unwrap();
    (request, body)
}

fn body(name: &str, adjust: impl FnOnce(&mut ModelConfig)) -> Value {
    let mut model = provider(name).model("some-model", VocabularyKind::Native);
    adjust(&mut model);
    request(model).1
}

#[test]
fn the_table_has_every_provider_once_and_whole() {
    let all = providers::all();
    let names: Vec<&str> = all.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, NAMES);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for provider in &all {
        let name = &provider.name;
        let url = provider.base_url.as_ref().or(provider.base_url_example.as_ref()).unwrap();
        let is_local = url.starts_with("http://localhost:");
        assert!(url.starts_with("https://") || is_local, "{name}: {url}");
        assert!(!url.ends_with('/'), "{name}: {url}");
        assert_eq!(provider.key_optional, is_local, "{name}");
        assert_eq!(provider.profile == ProfileKind::Small, is_local, "{name}");
        assert!(!provider.key_variables.is_empty(), "{name}");
        for variable in provider.key_variables.iter().chain([&provider.base_url_variable]) {
            let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            assert!(variable.chars().all(fits), "{name}: {variable}");
        }
        let is_header = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(provider.auth.header.chars().all(is_header), "{name}");
        assert!(["", "Bearer "].contains(&provider.auth.prefix.as_str()), "{name}");
    }
}

#[test]
fn an_unknown_provider_is_told_with_those_that_there_are() {
    let error = providers::find("anthropics").unwrap_err();
    let want = format!("unknown provider \"anthropics\"; known: {}", NAMES.join(", "));
    assert_eq!(error.to_string(), want);
}

#[test]
fn every_provider_is_asked_at_its_own_address() {
    let want = [
        ("anthropic", "https://api.anthropic.com/v1/messages"),
        ("openai", "https://api.openai.com/v1/responses"),
        ("openai-chat", "https://api.openai.com/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
        ("groq", "https://api.groq.com/openai/v1/chat/completions"),
        (
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        (
            "gemini-openai",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
        ("anthropic-openai", "https://api.anthropic.com/v1/chat/completions"),
        ("ollama", "http://localhost:11434/api/chat"),
        ("ollama-v1", "http://localhost:11434/v1/chat/completions"),
    ];
    for (name, url) in want {
        let provider = provider(name);
        let (request, _) = request(provider.model("m", VocabularyKind::Native));
        let base = provider.base_url.unwrap();
        assert_eq!(format!("{base}{}", request.path), url, "{name}");
        assert_eq!(request.endpoint.0, name);
    }
    assert_eq!(provider("azure").base_url, None);
    assert_eq!(provider("openai-compatible").base_url, None);
}

#[test]
fn every_provider_gets_a_request_that_it_understands() {
    for provider in providers::all() {
        let name = provider.name.clone();
        let model = provider.model("some-model", VocabularyKind::Native);
        assert_eq!(model.vocabulary == VocabularyKind::Seed, model.profile == ProfileKind::Small);
        let (_, body) = request(model);
        if provider.wire != WireKind::OpenaiChat {
            continue;
        }
        let is_openai = ["openai-chat", "azure"].contains(&name.as_str());
        let role = if is_openai { "developer" } else { "system" };
        assert_eq!(body["messages"][0]["role"], role, "{name}");
        assert_eq!(body.get("store").is_some(), name == "openai-chat", "{name}");
        let usage = name != "mistral";
        assert_eq!(body.get("stream_options").is_some(), usage, "{name}");
        let completion = is_openai || ["xai", "groq", "cerebras"].contains(&name.as_str());
        assert_eq!(body.get("max_completion_tokens").is_some(), completion, "{name}");
        assert_eq!(body.get("max_tokens").is_some(), !completion, "{name}");
        let custom = body["tools"].as_array().unwrap().iter().any(|tool| tool["type"] == "custom");
        assert_eq!(custom, name == "openai-chat", "{name}");
    }
}

#[test]
fn a_gateway_gets_the_plainest_request() {
    let mut model = provider("openai-compatible").model("m", VocabularyKind::Native);
    model.parallel_tool_calls = Some(true);
    let (_, body) = request(model);
    let fields: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["max_tokens", "messages", "model", "stream", "stream_options", "tools"]);
    assert_eq!(body["messages"][0]["role"], "system");
    let kinds: BTreeSet<String> =
        body["tools"].as_array().unwrap().iter().map(|tool| tool["type"].to_string()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["\"function\""]);
}

#[test]
fn effort_is_asked_for_in_the_endpoints_own_way() {
    let effort = |name| {
        let body = body(name, |model| model.reasoning_effort = Some("high".into()));
        ["reasoning", "reasoning_effort", "chat_template_kwargs", "think", "output_config"]
            .into_iter()
            .find_map(|field| body.get(field).map(|value| json!({field: value})))
    };
    assert_eq!(effort("openrouter"), Some(json!({"reasoning": {"effort": "high"}})));
    assert_eq!(effort("deepseek"), Some(json!({"reasoning_effort": "high"})));
    let on = json!({"chat_template_kwargs": {"enable_thinking": true}});
    assert_eq!(effort("llamacpp"), Some(on));
    assert_eq!(effort("anthropic-openai"), None);
    assert_eq!(effort("openai-compatible"), Some(json!({"reasoning_effort": "high"})));
}

#[test]
fn local_servers_models_are_small_and_may_write_calls_as_text() {
    for provider in providers::all() {
        let model = provider.model("qwen3:8b", VocabularyKind::Native);
        let want = if provider.key_optional { TextCalls::Fallback } else { TextCalls::Never };
        assert_eq!(model.text_calls, want, "{}", provider.name);
    }
}

#[test]
fn a_provider_of_many_families_shows_each_model_its_own_tools() {
    let family = |model| provider("openrouter").family(model);
    assert_eq!(family("anthropic/claude-sonnet-5.5"), ProfileKind::Anthropic);
    assert_eq!(family("openai/GPT-6.1-sol"), ProfileKind::Openai);
    assert_eq!(family("google/gemini-3.8-flash"), ProfileKind::Gemini);
    assert_eq!(family("z-ai/glm-5.1"), ProfileKind::Anthropic);
    assert_eq!(provider("groq").family("openai/gpt-oss-120b"), ProfileKind::Openai);
}

#[test]
fn a_page_says_to_anthropic_that_it_is_one() {
    let header = ("anthropic-dangerous-direct-browser-access".into(), "true".into());
    for provider in providers::all() {
        let is_anthropic = provider.name.starts_with("anthropic");
        assert_eq!(provider.page_headers.contains(&header), is_anthropic, "{}", provider.name);
    }
}
