//! From what a host's user says to a configuration: every field can be set, and the one that does
//! not fit is named.

use innerloop_core::{
    config::{
        AskAbout, EnvironmentFacts, LimitAction, ProfileKind, SessionConfig, VocabularyKind,
        WireKind,
    },
    id::SessionId,
    preset::ConfigPreset,
};
use innerloop_driver::{
    FallbackModel, SessionSettings, SettingsError, catalogue::Catalogue, providers,
};
use innerloop_tests::patience::ends;
use serde_json::{Value, json};

fn make(
    provider: &str,
    model: Option<&str>,
    preset: impl Into<Option<ConfigPreset>>,
    patches: &[&str],
) -> Result<SessionConfig, SettingsError> {
    make_with(&[], provider, model, preset, patches)
}

fn make_with(
    fallbacks: &[FallbackModel],
    provider: &str,
    model: Option<&str>,
    preset: impl Into<Option<ConfigPreset>>,
    patches: &[&str],
) -> Result<SessionConfig, SettingsError> {
    let facts = EnvironmentFacts { platform: "test".into(), ..EnvironmentFacts::default() };
    let settings = SessionSettings {
        id: &SessionId("s".into()),
        provider: &providers::find(provider).unwrap(),
        model,
        fallbacks,
        catalogue: &Catalogue::standard(),
        preset: preset.into(),
        facts: &facts,
        tools: &[],
        patches,
    };
    settings.config()
}

fn patched(patch: &Value) -> Result<SessionConfig, SettingsError> {
    make("anthropic", None, ConfigPreset::Modern, &[&patch.to_string()])
}

#[test]
fn a_provider_a_model_and_a_preset_make_a_configuration() {
    let config = make("anthropic", None, ConfigPreset::Modern, &[]).unwrap();
    assert_eq!(config.model.name, "claude-sonnet-5-5");
    assert_eq!(config.model.endpoint.0, "anthropic");
    assert_eq!(config.model.vocabulary, VocabularyKind::Native);
    assert!(config.guard.read_before_write && config.repair.coerce_arguments);
    assert_eq!(config.model.context_window, 1_000_000, "from the catalogue");
    assert!(config.model.price.is_some());
    assert_eq!(config.facts.platform, "test");
    for preset in ConfigPreset::ALL {
        let config = make("openai", Some("gpt-6-sol"), preset, &[]).unwrap();
        assert_eq!(config.model.wire, WireKind::OpenaiResponses, "{preset:?}");
        assert_eq!(config.model.profile, ProfileKind::Openai, "{preset:?}");
        let plain = preset.config();
        assert_eq!((config.limits, config.approval), (plain.limits, plain.approval));
        assert_eq!((config.loops, config.retry), (plain.loops, plain.retry));
        assert_eq!(config.model.vocabulary, plain.model.vocabulary);
        assert_eq!(config.model.stream, plain.model.stream);
    }
    let small = make("ollama", Some("qwen3:8b"), ConfigPreset::Ollama, &[]).unwrap();
    assert_eq!((small.model.context_window, small.limits.action), (8_192, LimitAction::Summarize));
    let error = make("azure", None, ConfigPreset::Modern, &[]).unwrap_err();
    assert_eq!(error.to_string(), "azure has no model of its own choice; name one");
}

#[test]
fn n18_a_fallback_has_what_its_provider_says_of_models() {
    let provider = providers::find("ollama").unwrap();
    let fallback = FallbackModel {
        endpoint: provider.endpoint(),
        provider,
        model: Some("qwen3:8b".into()),
        cheap: false,
        tasks: Vec::new(),
    };
    let config = make_with(&[fallback], "anthropic", None, ConfigPreset::Modern, &[]).unwrap();
    let further = &config.routing.models[0].model;
    assert_eq!((further.endpoint.0.as_str(), further.max_output_tokens), ("ollama", 2_048));
    // The rest of its patch is about a session, and this one is another provider's.
    let alone = make("anthropic", None, ConfigPreset::Modern, &[]).unwrap();
    assert_eq!((config.retry, config.repair), (alone.retry, alone.repair));
}

#[test]
fn l2_ollama_has_its_window_its_limits_and_two_minutes() {
    let patch = json!({ "model": { "stream": false } }).to_string();
    let config = make("ollama", Some("qwen3:8b"), ConfigPreset::Modern, &[&patch]).unwrap();
    assert_eq!((config.model.context_window, config.model.max_output_tokens), (32_768, 2_048));
    assert_eq!(config.retry.idle_ms, 120_000);
    assert!(config.repair.grow_output && !config.model.stream);
    // What the user says comes after what the provider says.
    let patch = json!({ "model": { "max_output_tokens": 4_096 }, "retry": { "idle_ms": null } });
    let config = make("ollama", None, ConfigPreset::Modern, &[&patch.to_string()]);
    assert!(config.is_err(), "no model of its own choice");
    let config = make("ollama", Some("m"), ConfigPreset::Modern, &[&patch.to_string()]).unwrap();
    assert_eq!((config.model.max_output_tokens, config.retry.idle_ms), (4_096, 300_000));
    let other = make("lmstudio", Some("m"), ConfigPreset::Modern, &[]).unwrap();
    assert!(other.retry.idle_ms == 300_000 && !other.repair.grow_output);
}

#[test]
fn l2_a_provider_brings_its_preset_unless_another_is_named() {
    let ollama = make("ollama", Some("qwen3:8b"), None, &[]).unwrap();
    assert_eq!(ollama, make("ollama", Some("qwen3:8b"), ConfigPreset::Ollama, &[]).unwrap());
    assert_eq!((ollama.model.context_window, ollama.limits.max_tool_rounds_per_input), (8_192, 25));
    let modern = make("ollama", Some("qwen3:8b"), ConfigPreset::Modern, &[]).unwrap();
    assert_eq!(modern.limits.max_tool_rounds_per_input, 200);
    let window = r#"{"model": {"context_window": 65536}}"#;
    let wide = make("ollama", Some("qwen3:8b"), None, &[window]).unwrap();
    assert_eq!((wide.model.context_window, wide.limits), (65_536, ollama.limits));
    for provider in providers::all().iter().filter(|provider| provider.name != "ollama") {
        let config = make(&provider.name, Some("m"), None, &[]).unwrap();
        let modern = make(&provider.name, Some("m"), ConfigPreset::Modern, &[]).unwrap();
        assert_eq!(config, modern, "{}", provider.name);
    }
}

#[test]
fn e11_the_cutoff_is_the_catalogues_unless_it_is_said() {
    let cutoff = |model, patch: &str| {
        let config = make("anthropic", Some(model), None, &[patch]).unwrap();
        config.facts.knowledge_cutoff
    };
    assert_eq!(cutoff("claude-sonnet-5-5", "{}"), "2026-06");
    assert_eq!(cutoff("claude-haiku-4-5-20251001", "{}"), "2025-02", "with a date behind the name");
    assert_eq!(cutoff("nobody-knows", "{}"), "");
    let said = r#"{"facts": {"knowledge_cutoff": "2020-01"}}"#;
    assert_eq!(cutoff("claude-sonnet-5-5", said), "2020-01");
}

#[test]
fn l16_a_limited_cost_brings_the_prices_of_all_models_that_may_be_asked() {
    let limit = r#"{"limits": {"run": {"cost_nano_usd": 1}}}"#;
    let summary = r#"{"compaction": {"summary": {"model": "claude-haiku-4-5"}}}"#;
    let alone = r#"{"subagents": {"max_depth": 0}}"#;
    let made = |patches: &[&str]| make("anthropic", None, None, patches).unwrap();
    let prices = |patches: &[&str]| made(patches).prices;
    assert!(prices(&[]).is_empty());
    assert_eq!(prices(&[summary]).keys().collect::<Vec<_>>(), ["claude-haiku-4-5"]);
    assert_eq!(prices(&[limit, summary, alone]).len(), 1);
    let all = made(&[limit]);
    let input = |all: &SessionConfig, name| all.prices.get(name).unwrap().input;
    assert!(input(&all, "claude-haiku-4-5") < input(&all, "claude-opus-5"));
    assert!(all.prices.len() > 10);
    let own = r#"{"prices": {"claude-opus-5": {"input": 7}, "mine": {"input": 8}}}"#;
    let all = made(&[limit, own]);
    assert_eq!((input(&all, "claude-opus-5"), input(&all, "mine")), (7, 8));
}

/// The paths of all values of the configuration that are no objects, with a value of each.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(value, &format!("{path}/{name}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

fn at(path: &str, value: Value) -> Value {
    path.split('/')
        .skip(1)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .fold(value, |inner, name| json!({ name: inner }))
}

#[test]
fn every_field_is_reachable_and_named_where_it_is_wrong() {
    let config = serde_json::to_value(patched(&json!({})).unwrap()).unwrap();
    let mut paths = Vec::new();
    leaves(&config, "", &mut paths);
    assert!(paths.len() > 60, "{paths:?}");
    for path in paths {
        let name = format!("config{}", path.replace('/', "."));
        // No field of the configuration is a fraction.
        let error = patched(&at(&path, json!(-0.5))).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name}: ")), "{error}");
        // The value that is there fits.
        let value = config.pointer(&path).unwrap().clone();
        let again = patched(&at(&path, value)).unwrap();
        assert_eq!(serde_json::to_value(again).unwrap(), config, "{name}");
    }
}

#[test]
fn a_patch_merges_objects_and_takes_null_for_the_default() {
    let patch = json!({
        "limits": {"max_turns": 7},
        "retry": {"max_retries": null},
        "approval": {"ask": "changes"},
        "guard": null,
        "tool_output_limits": {"read": 5},
        "answer": {"schema": {"type": "object", "default": null}},
        "model": {"reasoning_effort": "high", "vocabulary": "seed"},
    });
    let config = patched(&patch).unwrap();
    assert_eq!((config.limits.max_turns, config.limits.action), (7, LimitAction::Idle));
    assert_eq!(config.retry.max_retries, SessionConfig::default().retry.max_retries);
    assert_eq!(config.approval.ask, AskAbout::Changes);
    assert!(!config.guard.read_before_write, "the default, not the preset's");
    assert_eq!(config.model.vocabulary, VocabularyKind::Seed);
    assert!(config.answer.unwrap().schema.text().contains("null"), "a schema is taken whole");
    let second = r#"{"limits": {"max_tool_rounds_per_input": 3}, "tool_output_limits": {"x": 1}}"#;
    let both = [patch.to_string(), second.to_owned()];
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    let config = make("anthropic", None, ConfigPreset::Modern, &both).unwrap();
    assert_eq!((config.limits.max_turns, config.limits.max_tool_rounds_per_input), (7, 3));
    assert_eq!(config.tool_output_limits.len(), 2);
}

#[test]
fn the_model_that_a_patch_names_is_looked_up() {
    let named = r#"{"model": {"name": "claude-opus-4-5"}}"#;
    let config = make("anthropic", None, ConfigPreset::Modern, &[named]).unwrap();
    assert_eq!(
        (config.model.name.as_str(), config.model.context_window),
        ("claude-opus-4-5", 200_000)
    );
    let config = make("anthropic", Some("claude-opus-5"), ConfigPreset::Modern, &[named]).unwrap();
    assert_eq!(
        (config.model.name.as_str(), config.model.context_window),
        ("claude-opus-5", 1_000_000)
    );
    assert!(config.model.price.is_some(), "what is said beside the patches comes first");
}

#[test]
fn the_first_field_that_is_wrong_is_named() {
    let cases = [
        (json!({"retry": {"base_ms": 1, "max_retries": "x"}}), "config.retry.max_retries"),
        (json!({"limits": {"max_turn": 1}}), "config.limits.max_turn"),
        (json!({"colour": 1}), "config.colour"),
        (json!({"limits": 3}), "config.limits"),
        (json!({"limits": {"action": "run"}, "retry": 1}), "config.limits.action"),
        (json!({"model": {"compat": {"store": 1}}}), "config.model.compat.store"),
        (json!({"tool_output_limits": {"a": 1, "b": -1}}), "config.tool_output_limits.b"),
        (json!({"approval": {"allow": [{"tool": 5}]}}), "config.approval.allow[0].tool"),
        (json!([1]), "config"),
        (json!("x"), "config"),
    ];
    for (patch, path) in cases {
        let error = patched(&patch).unwrap_err().to_string();
        assert!(error.starts_with(path), "{error}");
        assert!(path == "config" || !error.contains(" line "), "{error}");
    }
    let broken =
        make("anthropic", None, ConfigPreset::Modern, &["{\"a\":"]).unwrap_err().to_string();
    assert!(broken.starts_with("config.a: the JSON ends too early"), "{broken}");
}

#[test]
fn a_large_patch_costs_no_more_than_its_length() {
    let limits: Vec<String> = (0..40_000).map(|n| format!("\"t{n}\":{n}")).collect();
    let patch = format!("{{\"tool_output_limits\":{{{},\"x\":\"y\"}}}}", limits.join(","));
    let made = ends("the patch", move || make("anthropic", None, ConfigPreset::Modern, &[&patch]));
    let error = made.unwrap_err().to_string();
    assert!(error.starts_with("config.tool_output_limits"), "{error}");
}
