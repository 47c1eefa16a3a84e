//! The presets: whole configurations by name. What each says otherwise than the specification's
//! defaults is written out here, so that no number changes unseen.

use expect_test::{Expect, expect};
use innerloop_core::{json::to_string, preset::ConfigPreset};
use serde_json::Value;

/// The fields of a value that differ from another one, a line each.
fn differences(path: &str, value: &Value, plain: &Value, lines: &mut Vec<String>) {
    match (value, plain) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                differences(&path, value, others.get(name).unwrap_or(&Value::Null), lines);
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
    check(ConfigPreset::Modern, &expect![[r#""#]]);
}

#[test]
fn ollama_is_pinned() {
    check(ConfigPreset::Ollama, &expect![[r#""#]]);
}

#[test]
fn ironclaw_is_pinned() {
    check(ConfigPreset::Ironclaw, &expect![[r#""#]]);
}

#[test]
fn gnoma_is_pinned() {
    check(ConfigPreset::Gnoma, &expect![[r#""#]]);
}
