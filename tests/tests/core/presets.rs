//! The presets: whole configurations by name. What each says otherwise than the specification's
//! defaults is written out here, so that no number changes unseen.

use expect_test::{Expect, expect};
use innerloop_core::{
    config::{RetryPolicy, SessionConfig},
    json::to_string,
    preset::ConfigPreset,
    tool::BuiltinTools,
};
use innerloop_tests::test_host::{TestHost, config as config_of_test};
use serde_json::Value;

/// The fields of a value that differ from another one, a line each.
fn differences(path: &str, value: &Value, plain: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                differences(&path, value, &plain[name], lines);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                differences(&format!("{path}[{at}]"), value, &plain[at], lines);
            }
        }
        _ if value != plain => lines.push(format!("{path} = {value}")),
        _ => {}
    }
}

fn check(preset: ConfigPreset, expected: &Expect) {
    let read = |preset: ConfigPreset| serde_json::from_str(&to_string(&preset.config())).unwrap();
    let mut lines = Vec::new();
    differences("", &read(preset), &read(ConfigPreset::Seed001), &mut lines);
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn the_specifications_preset_is_the_default() {
    check(ConfigPreset::Seed001, &expect![[r#""#]]);
}

#[test]
fn modern_is_pinned() {
    check(
        ConfigPreset::Modern,
        &expect![[r#"
        compaction.auto[0].from.left = 16384
        compaction.auto[0].from.percent = 90
        compaction.auto[0].step = "summary"
        compaction.auto[0].to.percent = 60
        compaction.on_overflow = "compact_retry_once"
        corrections.faults.claimed = 1
        corrections.faults.echo = 1
        corrections.faults.fake_result = 1
        corrections.faults.patch_spiral = 1
        guard.read_before_write = true
        limits.max_tool_rounds_per_input = 200
        loops.ladder[1] = "warn"
        loops.ladder[2] = "stop"
        model.vocabulary = "native"
        repair.coerce_arguments = true
        retry.refusal_closes = false"#]],
    );
}

#[test]
fn ollama_is_pinned() {
    check(
        ConfigPreset::Ollama,
        &expect![[r#"
        compaction.auto[0].from.percent = 70
        compaction.auto[0].step = "stub"
        compaction.auto[0].to.percent = 50
        compaction.auto[1].from.percent = 85
        compaction.auto[1].step = "truncate"
        compaction.auto[1].to.percent = 50
        compaction.keep.first_input = true
        compaction.max_messages = 40
        compaction.on_overflow = "compact_retry_once"
        corrections.faults.asked_instead = 2
        corrections.faults.claimed = 2
        corrections.faults.echo = 2
        corrections.faults.fake_result = 2
        corrections.faults.named_tool = 2
        corrections.faults.patch_spiral = 1
        corrections.faults.promised = 2
        corrections.faults.too_short = 2
        corrections.faults.wrote_only = 2
        estimator = "code_and_prose"
        limits.action = "summarize"
        limits.max_tool_rounds_per_input = 25
        loops.ladder[0] = "summarize"
        loops.same_args = 3
        loops.same_name = 5
        model.context_window = 8192
        model.max_output_tokens = 2048
        model.profile = "small"
        model.stream = false
        model.text_calls = "fallback"
        model.wire = "ollama"
        repair.coerce_arguments = true
        repair.grow_output = true
        retry.idle_ms = 120000
        skills = "off"
        tool_output_percent = 30
        tool_output_share_of_rest = 60"#]],
    );
}

#[test]
fn ironclaw_is_pinned() {
    check(
        ConfigPreset::Ironclaw,
        &expect![[r#"
        approval.ask = "changes"
        compaction.auto[0].from.percent = 80
        compaction.auto[0].inputs = 10
        compaction.auto[0].step = "archive"
        compaction.auto[0].to.percent = 60
        compaction.auto[1].from.percent = 85
        compaction.auto[1].inputs = 5
        compaction.auto[1].step = "summary"
        compaction.auto[1].to.percent = 60
        compaction.auto[2].from.percent = 95
        compaction.auto[2].inputs = 3
        compaction.auto[2].step = "truncate"
        compaction.auto[2].to.percent = 60
        compaction.max_window = 100000
        compaction.on_overflow = "compact_retry_once"
        corrections.faults.promised = 2
        estimator = "words"
        limits.action = "partial"
        limits.max_tool_rounds_per_input = 50
        loops.again_after = 2
        loops.ladder[1] = "summarize"
        loops.mask_volatile = true
        loops.only_if_failed = true
        loops.same_args = 3
        repair.coerce_arguments = true
        skills = "selected"
        undo.max_steps = 20"#]],
    );
}

#[test]
fn gnoma_is_pinned() {
    check(
        ConfigPreset::Gnoma,
        &expect![[r#"
            compaction.auto[0].from.percent = 90
            compaction.auto[0].step = "truncate"
            compaction.auto[0].to.percent = 50
            compaction.on_overflow = "compact_retry_once"
            corrections.faults.echo = 2
            corrections.faults.greeting = 2
            corrections.faults.patch_spiral = 1
            hooks.after_tool.denial = "keep"
            limits.action = "error"
            loops.detect = false
            retry.base_ms = 1000
            retry.jitter_percent = 0
            retry.max_retry_after_ms = 29999
            retry.mid_stream = false
            subagents.coordinate = true"#]],
    );
}

#[test]
fn i10_a_council_reasons_without_tools() {
    let roles = [
        (ConfigPreset::CouncilMember, "your own position"),
        (ConfigPreset::CouncilDiscusser, "Weigh the positions"),
        (ConfigPreset::CouncilReviewer, "Review the answer"),
    ];
    for (preset, part) in roles {
        let mut config = preset.config();
        // Beside the prompt and the tools it is the specification's, but outlives a refusal.
        let rest = SessionConfig {
            base_prompt: None,
            builtin_tools: BuiltinTools::All,
            retry: RetryPolicy { refusal_closes: true, ..config.retry },
            ..config.clone()
        };
        assert_eq!(rest, SessionConfig::default(), "{preset:?}");
        let plain = config_of_test();
        (config.id, config.model.endpoint) = (plain.id, plain.model.endpoint);
        config.model.name = plain.model.name;
        let mut host = TestHost::open(config);
        let _ = host.submit("Tabs or spaces?");
        let body = host.body();
        assert_eq!(body.get("tools"), None, "{preset:?}");
        let system = body["system"][0]["text"].as_str().unwrap();
        assert!(system.starts_with("You sit on a council") && system.contains(part), "{system}");
        for word in ["tool", "file", "workspace", "agent"] {
            assert!(!system.to_lowercase().contains(word), "{word}: {system}");
        }
    }
}
