//! Types bear names that a newcomer finds: two words or more, one meaning in a crate. Terms of the
//! field may have one.

use super::house::House;
use super::{check_found, check_none};
use std::collections::BTreeMap;

/// Names of one word: terms of the field, or of the systems and formats that are spoken of.
const TERMS: [&str; 78] = [
    "Action",
    "Agent",
    "Answer",
    "Arguments",
    "Ask",
    "Block",
    "Bubblewrap",
    "Catalogue",
    "Cli",
    "Command",
    "Commit",
    "Completion",
    "Composer",
    "Deadline",
    "Decoder",
    "Device",
    "Digest",
    "Driver",
    "Effect",
    "Endpoint",
    "Environment",
    "Errno",
    "Error",
    "Event",
    "Executor",
    "History",
    "Host",
    "Hunk",
    "Inbox",
    "Input",
    "Job",
    "Journal",
    "Json",
    "Keyboard",
    "Ledger",
    "Limits",
    "Manifest",
    "Map",
    "Margin",
    "Mount",
    "Number",
    "Outcome",
    "Output",
    "Overlay",
    "Parser",
    "Part",
    "Patch",
    "Phase",
    "Pipe",
    "Plan",
    "Price",
    "Profile",
    "Prompt",
    "Provider",
    "Question",
    "Reader",
    "Readme",
    "Regex",
    "Replay",
    "Reply",
    "Result",
    "Root",
    "Route",
    "Screen",
    "Session",
    "Shell",
    "Signal",
    "Spinner",
    "Status",
    "Timespec",
    "Timestamps",
    "Token",
    "Tool",
    "Turn",
    "Usage",
    "Value",
    "Workspace",
    "Writer",
];

/// One of two types of that name is compiled: the system or a feature decides which.
const TWINS: [&str; 6] =
    ["EchoGuard", "HookCommands", "LocalEnvironment", "OpenFolder", "Root", "TextCallFinder"];

/// The types of the house, by crate and name, with the files that define them.
fn types(house: &House) -> BTreeMap<(&str, &str), Vec<&str>> {
    let mut folders: Vec<&str> = house.manifests().map(|(folder, _)| folder).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut types: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for (path, text) in house.ending(".rs").filter(|(path, _)| is_shipped(path)) {
        let is_above = |folder: &&&str| path.starts_with(&format!("{folder}/"));
        let folder = folders.iter().find(is_above).copied().unwrap_or_default();
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        for name in code.lines().filter_map(defined) {
            types.entry((folder, name)).or_default().push(path);
        }
    }
    types
}

pub(super) fn is_shipped(path: &str) -> bool {
    let folders = ["tests/", "examples/", "benches/", "fuzz/"];
    let is_in = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    !folders.into_iter().any(is_in) && !path.ends_with("/tests.rs")
}

/// The name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = kinds.into_iter().find_map(|kind| item.strip_prefix(kind))?;
    let end = rest.find(|byte: char| !byte.is_alphanumeric() && byte != '_');
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() == 1
}

fn unclear(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for ((folder, name), files) in types(house) {
        if is_one_word(name) && !TERMS.contains(&name) {
            faults.push(format!("{}: {name} is one word and no term of the field", files[0]));
        }
        if files.len() > 1 && !TWINS.contains(&name) {
            faults.push(format!("{folder}: {name} is {}", files.join(" and ")));
        }
    }
    faults
}

#[test]
fn types_have_names_of_two_words_and_of_one_meaning() {
    let house = House::own();
    let types = types(&house);
    let of_one_word = types.keys().filter(|(_, name)| is_one_word(name)).count();
    println!("{of_one_word} of {} types have a name of one word", types.len());
    check_none(&unclear(&house));
    let is_there = |term: &&str| types.keys().any(|(_, name)| name == term);
    assert!(TERMS.iter().chain(&TWINS).all(is_there), "a name of the list is gone");
}

#[test]
fn an_unclear_name_is_found() {
    let house = House::of(&[
        ("a/Cargo.toml", ""),
        ("a/src/lib.rs", "pub struct Session;\nstruct Held {\n}\npub(crate) enum LogLine {\n}\n"),
        ("a/src/b.rs", "type LogLine = u8;\n#[cfg(test)]\nmod tests {\nstruct Kept;\n}\n"),
        ("a/tests/c.rs", "struct Told;\n"),
        ("b/Cargo.toml", ""),
        ("b/src/lib.rs", "pub trait LogLine {\n    type Item;\n}\n"),
    ]);
    check_found(&unclear(&house), &["a/src/lib.rs: Held is one word", "a: LogLine is a/src/b.rs"]);
}
