//! Files that nothing reaches, and files in another place than the rest: a module that no parent
//! declares, a fixture that no test names, a module beside its folder.

use std::collections::BTreeSet;

use super::house::{House, root, walk};
use super::{check_found, check_none};

/// Rust files that belong to no target.
fn undeclared(house: &House) -> Vec<String> {
    let targets = house.targets();
    let modules = targets.iter().flat_map(|target| target.modules.values());
    let reached: BTreeSet<&str> = modules.map(|module| module.file.as_str()).collect();
    let strays = house.ending(".rs").filter(|(path, _)| !reached.contains(path));
    strays.map(|(path, _)| format!("{path}: no parent declares it")).collect()
}

/// Fixtures whose names stand in no test.
fn unused(house: &House, fixtures: &[&str]) -> Vec<String> {
    let tests = house.files.iter().filter(|(path, _)| path.starts_with("tests/"));
    let texts: String = tests.map(|(_, text)| text.as_str()).collect();
    let strays = fixtures.iter().filter(|path| !texts.contains(path.rsplit('/').next().unwrap()));
    strays.map(|path| format!("{path}: no test names it")).collect()
}

/// Modules that stand beside their folder, not in it as `mod.rs`.
fn beside(house: &House) -> Vec<String> {
    let has_folder = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches(".rs"));
        house.ending(".rs").any(|(other, _)| other.starts_with(&folder))
    };
    let strays = house.ending(".rs").filter(|(path, _)| has_folder(path));
    strays.map(|(path, _)| format!("{path}: it is `mod.rs` in its folder")).collect()
}

/// Where the native host may ask which system it is built for.
const ROOMS: [&str; 5] = [
    "host-native/workspace/src/platform/",
    "host-native/workspace/src/root/",
    "host-native/host/src/local/mod.rs",
    "host-native/host/src/local/machine",
    "host-native/cli/src/platform/",
];

/// Lines of the native host that ask it elsewhere.
fn asking(house: &House) -> Vec<String> {
    let asks = ["cfg(unix", "cfg(not(unix", "cfg(windows", "cfg(not(windows", "target_os"];
    let sources = house.ending(".rs").filter(|(path, _)| path.starts_with("host-native/"));
    let sources = sources.filter(|(path, _)| !ROOMS.iter().any(|room| path.starts_with(room)));
    let lines = sources.flat_map(|(path, text)| text.lines().map(move |line| (path, line)));
    let asking = lines.filter(|(_, line)| asks.iter().any(|ask| line.contains(ask)));
    asking.map(|(path, line)| format!("{path}: {}", line.trim())).collect()
}

#[test]
fn only_some_rooms_know_which_system_it_is() {
    check_none(&asking(&House::own()));
    let house = House::of(&[
        ("host-native/cli/src/platform/mod.rs", "#[cfg(unix)]"),
        ("host-native/host/src/http.rs", "\n    #[cfg(windows)]"),
        ("tools/src/directory.rs", "#[cfg(unix)]"),
    ]);
    check_found(&asking(&house), &["host-native/host/src/http.rs: #[cfg(windows)]"]);
}

#[test]
fn every_module_is_declared() {
    check_none(&undeclared(&House::own()));
    let house = House::of(&[
        ("a/Cargo.toml", ""),
        ("a/src/lib.rs", "mod b; // mod c;"),
        ("a/src/b.rs", ""),
        ("a/src/c.rs", ""),
    ]);
    check_found(&undeclared(&house), &["a/src/c.rs: no parent declares it"]);
}

#[test]
fn a_module_with_a_folder_is_in_it() {
    check_none(&beside(&House::own()));
    let house = House::of(&[
        ("a/src/b/c.rs", ""),
        ("a/src/b.rs", ""),
        ("a/src/d/e.rs", ""),
        ("a/src/d/mod.rs", ""),
    ]);
    check_found(&beside(&house), &["a/src/b.rs: it is `mod.rs`"]);
}

#[test]
fn every_fixture_is_used() {
    let paths = walk(&root().join("tests/fixtures"), &[]);
    let fixtures: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    assert!(fixtures.len() > 10);
    check_none(&unused(&House::own(), &fixtures));
    let house = House::of(&[("tests/tests/core/a.rs", "read(\"one.txt\")"), ("b.rs", "two.txt")]);
    check_found(&unused(&house, &["wire/one.txt", "wire/two.txt"]), &["two.txt: no test"]);
}

/// Folders that tools fill: `git add --all` must not take them, in whichever workspace they are.
#[test]
fn what_is_built_is_ignored_in_every_folder() {
    let text = std::fs::read_to_string(root().join(".gitignore")).unwrap();
    for folder in ["target/", "node_modules", "__pycache__"] {
        assert!(text.lines().any(|line| line == folder), "{folder} is not ignored everywhere");
    }
}
