//! Code does not panic on what it meets: the lints that refuse `unwrap` and its like are on in
//! every crate, warnings are denied, and nothing but tests and programs for them is exempt.

use super::house::{House, is_workspace};
use super::{check_found, check_none};

/// Lints without which code may panic where it meets what it does not expect.
const AGAINST_PANICS: [&str; 8] = [
    "unwrap_used",
    "expect_used",
    "panic",
    "indexing_slicing",
    "string_slice",
    "todo",
    "unimplemented",
    "unreachable",
];

/// Where those lints are off: in the workspace, in a crate that does not take the workspace's, or
/// in a file that is no test.
fn may_panic(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    let workspace = house.files.get("Cargo.toml").map_or("", String::as_str);
    let lints = workspace.split("[workspace.lints.clippy]").nth(1).unwrap_or_default();
    let lints = lints.split("\n[").next().unwrap_or_default();
    for lint in AGAINST_PANICS {
        let is_on = |level: &str| lints.contains(&format!("\n{lint} = \"{level}\""));
        if !["warn", "deny", "forbid"].into_iter().any(is_on) {
            faults.push(format!("Cargo.toml: clippy::{lint} is off"));
        }
    }
    for (folder, manifest) in house.manifests().filter(|(_, text)| !is_workspace(text)) {
        if !manifest.contains("[lints]\nworkspace = true") {
            faults.push(format!("{folder}/Cargo.toml: takes no lints of the workspace"));
        }
    }
    for (path, text) in house.ending(".rs").filter(|(path, _)| !is_of_tests(path)) {
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        for lint in AGAINST_PANICS {
            if code.contains(&format!("clippy::{lint}")) {
                faults.push(format!("{path}: exempts itself from clippy::{lint}"));
            }
        }
    }
    faults
}

fn is_of_tests(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[test]
fn j22_no_code_outside_of_tests_unwraps_or_expects() {
    let house = House::own();
    check_none(&may_panic(&house));
    let native = &house.files["xtask/src/native.rs"];
    assert!(native.contains("\"clippy\"") && native.contains("\"-D\", \"warnings\""), "{native}");
}

#[test]
fn j22_code_that_may_panic_is_found() {
    let lints: String =
        AGAINST_PANICS.iter().skip(1).map(|lint| format!("{lint} = \"warn\"\n")).collect();
    let workspace = format!("[workspace.lints.clippy]\nall = \"warn\"\n{lints}\n[profile.dev]\n");
    let house = House::of(&[
        ("Cargo.toml", &workspace),
        ("a/Cargo.toml", "[lints]\nworkspace = true\n"),
        ("a/src/lib.rs", "#![allow(clippy::panic)]\n#[cfg(test)]\nmod tests {}"),
        ("a/src/b.rs", "#[cfg(test)]\nmod tests {\n#![allow(clippy::unwrap_used)]}"),
        ("a/tests/c.rs", "#![allow(clippy::expect_used)]"),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
    ]);
    let expected = [
        "Cargo.toml: clippy::unwrap_used is off",
        "b/Cargo.toml: takes no lints of the workspace",
        "a/src/lib.rs: exempts itself from clippy::panic",
    ];
    check_found(&may_panic(&house), &expected);
}
