//! The catalogue of models: what comes along is small, whole and sane; names are found with dates,
//! tags and paths around them; a configuration is completed with what is known.

use innerloop_core::config::{ModelConfig, Price, PriceTier, VocabularyKind};
use innerloop_driver::{
    catalogue::{Catalogue, ModelEntry, STANDARD},
    providers,
};

fn find(provider: &str, model: &str) -> Option<ModelEntry> {
    Catalogue::standard().find(provider, model)
}

fn name(provider: &str, model: &str) -> String {
    find(provider, model).map(|known| known.name).unwrap_or_default()
}

fn completed(provider: &str, model: &str) -> ModelConfig {
    let provider = providers::find(provider).unwrap();
    let mut model = provider.model(model, VocabularyKind::Native);
    Catalogue::standard().complete(&provider, &mut model);
    model
}

/// What names the sources, since the catalogue itself has no room for that.
const README: &str = include_str!("../../../README.md");
const PACKAGE: &str = include_str!("../../../wasm/npm/README.md");

#[test]
fn the_catalogue_that_comes_along_is_small_and_whole_and_its_sources_are_named() {
    assert!(STANDARD.len() < 20_000, "{} bytes", STANDARD.len());
    let catalogue = Catalogue::parse(STANDARD).unwrap();
    let parts = ["genai-prices", "pi-catalog", "models.dev", "MIT", "Pydantic Services Inc."];
    for part in parts {
        for readme in [README, PACKAGE] {
            assert!(readme.contains(part), "{part}");
        }
    }
    let names: Vec<String> = providers::all().into_iter().map(|known| known.name).collect();
    for group in &catalogue.groups {
        assert!(group.providers.iter().all(|name| names.contains(name)), "{:?}", group.providers);
        for known in &group.models {
            let window = known.context_window.unwrap();
            assert!((8_000..=4_000_000).contains(&window), "{known:?}");
            assert!(known.max_output_tokens.is_none_or(|most| most <= window), "{known:?}");
            if let Some(price) = &known.price {
                sane(price, &known.name);
            }
        }
    }
}

/// From a hundredth of a dollar to 200 dollars for a million tokens, output dearer than input, what
/// the cache gives cheaper, and dearer with each tier.
fn sane(price: &Price, name: &str) {
    let base = PriceTier {
        above: 0,
        input: price.input,
        output: price.output,
        cache_read: price.cache_read,
        cache_write: price.cache_write,
    };
    let tiers: Vec<&PriceTier> = std::iter::once(&base).chain(&price.tiers).collect();
    for tier in &tiers {
        assert!((10_000..=200_000_000).contains(&tier.input), "{name}: {tier:?}");
        assert!((10_000..=200_000_000).contains(&tier.output), "{name}: {tier:?}");
        assert!(tier.output > tier.input, "{name}: {tier:?}");
        assert!(tier.cache_read.is_none_or(|read| read < tier.input), "{name}: {tier:?}");
        assert!(tier.cache_write.is_none_or(|write| write >= tier.input), "{name}: {tier:?}");
    }
    for pair in tiers.windows(2) {
        assert!(pair[0].above < pair[1].above && pair[0].input < pair[1].input, "{name}");
    }
}

#[test]
fn every_default_model_is_known_with_its_price() {
    for provider in providers::all() {
        let Some(model) = provider.default_model.filter(|_| !provider.key_optional) else {
            continue;
        };
        let known = find(&provider.name, &model).unwrap();
        assert!(known.price.is_some(), "{}: {model}", provider.name);
    }
}

#[test]
fn a_model_is_found_with_a_date_a_tag_or_a_path_around_its_name() {
    assert_eq!(name("anthropic", "claude-haiku-4-5-20251001"), "claude-haiku-4-5");
    assert_eq!(name("anthropic", "claude-sonnet-4-5@20250929"), "claude-sonnet-4-5");
    assert_eq!(name("openrouter", "anthropic/claude-opus-4.8"), "claude-opus-4-8");
    assert_eq!(name("openai", "gpt-5-2025-08-07"), "gpt-5");
    assert_eq!(name("openai", "gpt-5.4-mini"), "gpt-5.4-mini");
    assert_eq!(name("gemini", "models/gemini-2.5-pro"), "gemini-2.5-pro");
    assert_eq!(name("gemini", "gemini-3.1-flash-lite-preview"), "gemini-3.1-flash-lite");
    assert_eq!(name("fireworks", "accounts/fireworks/models/gpt-oss-120b"), "gpt-oss-120b");
    assert_eq!(name("ollama", "gpt-oss:20b"), "gpt-oss-20b");
    for unknown in ["gpt-5.9", "gpt-5-10", "gpt-5-hyper", "claude", "claude-opus-4-81", "", "/"] {
        assert_eq!(find("openai", unknown), None, "{unknown}");
    }
}

#[test]
fn a_price_holds_at_its_own_providers_only() {
    let price = |provider, model| find(provider, model).unwrap().price.map(|price| price.input);
    assert_eq!(price("anthropic", "claude-opus-5-5"), Some(4_000_000));
    assert_eq!(price("openrouter", "anthropic/claude-opus-5.5"), Some(4_000_000));
    assert_eq!(price("groq", "openai/gpt-oss-120b"), Some(150_000));
    assert_eq!(price("openrouter", "openai/gpt-oss-120b"), Some(39_000));
    assert_eq!(price("openrouter", "openai/gpt-oss-120b:free"), None);
    assert_eq!(price("vllm", "openai/gpt-oss-120b"), None);
}

#[test]
fn a_configuration_is_completed_with_what_is_known() {
    let opus = completed("anthropic", "claude-opus-4-8");
    assert_eq!((opus.context_window, opus.max_output_tokens), (1_000_000, 32_000));
    assert_eq!(opus.price.unwrap().output, 25_000_000);
    let deepseek = completed("deepseek", "deepseek-flash");
    assert!(deepseek.compat.images);
    let unknown = completed("openai", "gpt-99");
    assert_eq!((unknown.context_window, unknown.price), (272_000, None));
    // A server of one's own has the memory that it has.
    let local = completed("ollama", "gpt-oss:20b");
    assert_eq!((local.context_window, local.max_output_tokens), (32_768, 8_192));
    assert!(!local.compat.images);
}

#[test]
fn what_is_no_catalogue_is_told_with_the_place() {
    let error = |text: &str| Catalogue::parse(text).unwrap_err().to_string();
    assert!(error("{").starts_with("this is no catalogue of models: the JSON ends too early"));
    assert!(error("{}").contains("missing field `groups`"));
    let misspelt = r#"{"groups":[{"providers":[],"models":[{"name":"a","prize":{}}]}]}"#;
    assert!(error(misspelt).contains("unknown field `prize`"));
    let empty = r#"{"groups":[{"providers":[],"models":[{"name":"a","context_window":0}]}]}"#;
    assert!(error(empty).contains(r#"the model "a" needs a name, and limits above 0"#));
}
