//! The house itself: floors, circles, sizes, stray files, and what the README promises.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The floors of `core` by top folder, and those that one folder's modules may use.
const FLOORS: [(&str, u32); 7] = [
    ("base", 0),
    ("types", 1),
    ("rules", 2),
    ("wire", 3),
    ("profile", 3),
    ("machine", 4),
    ("session", 5),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | "node_modules" | "dist") {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The Rust files of the workspace.
fn sources() -> Vec<PathBuf> {
    let members =
        ["json", "core", "driver", "tools", "wasm", "host-native", "tests", "xtask", "fuzz"];
    members.iter().flat_map(|member| files(&root().join(member), ".rs")).collect()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The module path of a file of `core`, as `wire::anthropic::decode`.
fn module(path: &Path) -> String {
    let relative = path.strip_prefix(root().join("core/src")).unwrap().with_extension("");
    let parts: Vec<_> = relative.iter().map(|part| part.to_str().unwrap()).collect();
    parts.join("::").trim_end_matches("::mod").to_owned()
}

/// The paths that `use` items name, groups unfolded: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn imports(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for start in code.match_indices("use ").map(|(at, _)| at) {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace()) {
            continue;
        }
        let item = code[start + 4..].split(';').next().unwrap();
        unfold("", &item.split_whitespace().collect::<Vec<_>>().join(" "), &mut found);
    }
    found
}

fn unfold(stem: &str, item: &str, found: &mut Vec<String>) {
    let item = item.trim();
    let Some(open) = item.find('{') else {
        if !item.is_empty() {
            found.push(format!("{stem}{}", item.split(" as ").next().unwrap().trim()));
        }
        return;
    };
    let stem = format!("{stem}{}", &item[..open]);
    let inner = &item[open + 1..item.rfind('}').unwrap()];
    let (mut depth, mut from) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                unfold(&stem, &inner[from..at], found);
                from = at + 1;
            }
            _ => {}
        }
    }
    unfold(&stem, &inner[from..], found);
}

/// Who imports whom within `core`, by module.
fn core_graph() -> BTreeMap<String, BTreeSet<String>> {
    let paths = files(&root().join("core/src"), ".rs");
    let modules: BTreeSet<String> = paths.iter().map(|path| module(path)).collect();
    let mut graph = BTreeMap::new();
    for path in paths {
        let from = module(&path);
        if from == "lib" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let is_folder = path.ends_with("mod.rs");
        let mut targets = BTreeSet::new();
        for import in imports(&text) {
            let Some(absolute) = absolute(&from, is_folder, &import, &modules) else { continue };
            let target = modules
                .iter()
                .filter(|known| absolute == **known || absolute.starts_with(&format!("{known}::")))
                .max_by_key(|known| known.len());
            let named = target.cloned().unwrap_or_else(|| {
                panic!("{from} imports {import}, which names no floor: write its whole path")
            });
            if named != from {
                targets.insert(named);
            }
        }
        graph.insert(from, targets);
    }
    graph
}

/// An import as a path from the crate's root; `None` for other crates'.
fn absolute(
    from: &str,
    is_folder: bool,
    import: &str,
    modules: &BTreeSet<String>,
) -> Option<String> {
    if let Some(rest) = import.strip_prefix("crate::") {
        return Some(rest.to_owned());
    }
    let mut base: Vec<&str> = from.split("::").collect();
    if !is_folder {
        base.pop();
    }
    let mut rest = import;
    if let Some(after) = rest.strip_prefix("self::") {
        rest = after;
    } else if rest.starts_with("super::") {
        let mut first = true;
        while let Some(after) = rest.strip_prefix("super::") {
            if !first || is_folder {
                base.pop();
            }
            first = false;
            rest = after;
        }
    } else {
        let child = format!("{from}::{}", import.split("::").next().unwrap());
        return (is_folder && modules.contains(&child)).then(|| format!("{from}::{import}"));
    }
    base.push(rest);
    Some(base.join("::"))
}

fn floor(module: &str) -> u32 {
    let top = module.split("::").next().unwrap();
    FLOORS.iter().find(|(name, _)| *name == top).unwrap_or_else(|| panic!("{module}: no floor")).1
}

#[test]
fn a_module_of_core_uses_its_own_floor_and_those_below() {
    let graph = core_graph();
    assert!(graph.len() > 30, "{graph:?}");
    for (from, targets) in &graph {
        for target in targets {
            assert!(floor(target) <= floor(from), "{from} looks up to {target}");
            let tops = [from, target].map(|module| module.split("::").next().unwrap().to_owned());
            assert!(
                floor(target) != floor(from) || tops[0] == tops[1],
                "{from} and {target} are siblings that must not know each other"
            );
        }
    }
}

#[test]
fn modules_of_core_form_no_circle() {
    let mut graph = core_graph();
    // A module that imports nobody who is left can be taken away; what cannot be is a circle.
    loop {
        let free: Vec<String> = graph
            .iter()
            .filter(|(_, targets)| targets.iter().all(|target| !graph.contains_key(target)))
            .map(|(from, _)| from.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        for module in free {
            graph.remove(&module);
        }
    }
    assert!(graph.is_empty(), "in a circle, or above one: {graph:?}");
}

#[test]
fn the_import_reader_sees_groups_renames_and_parents() {
    let text = "use crate::{a::{b, c as d}, e::*};\npub(crate) use super::x::Y;\n// use no::no;\n";
    assert_eq!(imports(text), ["crate::a::b", "crate::a::c", "crate::e::*", "super::x::Y"]);
    let modules = BTreeSet::from(["m::k".to_owned()]);
    let name = |from, folder, import| absolute(from, folder, import, &modules);
    assert_eq!(name("m::n", false, "super::k::T").unwrap(), "m::k::T");
    assert_eq!(name("m", true, "k::T").unwrap(), "m::k::T");
    assert_eq!(name("m::n::o", false, "super::super::k::T").unwrap(), "m::k::T");
    assert_eq!(name("m::n", true, "super::k::T").unwrap(), "m::k::T");
    assert_eq!(name("m::n", false, "alloc::vec::Vec"), None);
}

#[test]
fn tools_uses_only_the_actions_of_core() {
    for path in files(&root().join("tools/src"), ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        for import in imports(&text) {
            if let Some(rest) = import.strip_prefix("innerloop_core") {
                assert!(rest.starts_with("::action"), "{}: {import}", shown(&path));
            }
        }
        let uses = text.matches("innerloop_core").count();
        let actions = text.matches("innerloop_core::action").count();
        assert_eq!(uses, actions, "{}", shown(&path));
    }
}

#[test]
fn crates_know_only_those_below_them() {
    for (member, allowed) in [
        ("json", vec!["innerloop-json-derive"]),
        ("core", vec!["innerloop-json"]),
        ("driver", vec!["innerloop-core", "innerloop-json"]),
        ("tools", vec!["innerloop-core", "innerloop-json"]),
        ("wasm", vec!["innerloop-core", "innerloop-driver", "innerloop-json", "innerloop-tools"]),
        (
            "host-native",
            vec!["innerloop-core", "innerloop-driver", "innerloop-json", "innerloop-tools"],
        ),
        ("xtask", vec![]),
    ] {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        for line in manifest.lines().filter(|line| line.starts_with("innerloop-")) {
            let name = line.split(['.', ' ', '=']).next().unwrap();
            assert!(allowed.contains(&name), "{member} depends on {name}");
        }
    }
}

#[test]
fn files_functions_and_lines_are_no_longer_than_agreed() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let own = text.split("#[cfg(test)]").next().unwrap();
        let lines: Vec<&str> = own.lines().collect();
        let is_test = shown(&path).starts_with("tests/tests");
        assert!(is_test || lines.len() <= 600, "{}: {} lines", shown(&path), lines.len());
        for (number, line) in lines.iter().enumerate() {
            let columns = line.chars().count();
            let place = format!("{}:{}", shown(&path), number + 1);
            let is_data = line.contains("r#\"") || line.contains("http");
            assert!(columns <= 100 || is_data, "{place}: {columns} columns");
            let bare = line.trim_start();
            let indent = line.len() - bare.len();
            let is_fn = ["fn ", "pub fn ", "pub(crate) fn ", "async fn ", "pub async fn "];
            if is_test || !is_fn.iter().any(|start| bare.starts_with(start)) {
                continue;
            }
            let opens = lines[number..].iter().find(|line| line.ends_with(['{', ';', '}']));
            if !opens.is_some_and(|line| line.ends_with('{')) {
                continue;
            }
            let end = format!("{}}}", " ".repeat(indent));
            let length = lines[number..].iter().position(|line| *line == end).unwrap_or(0);
            assert!(length <= 70, "{place}: a function of {length} lines");
        }
    }
}

#[test]
fn every_file_begins_with_what_lives_in_it() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{}: no //! paragraph", shown(&path));
    }
}

#[test]
fn every_module_is_declared_and_every_fixture_used() {
    for path in sources() {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap();
        let is_root = matches!(stem, "lib" | "main" | "mod" | "build")
            || folder.ends_with("src/bin")
            || folder.ends_with("benches")
            || folder.ends_with("fuzz/targets")
            || (folder.ends_with("tests") && !folder.ends_with("tests/tests"));
        if is_root {
            continue;
        }
        let beside = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
        let above = folder.with_extension("rs");
        let declared = beside.iter().chain([&above]).any(|parent| {
            let text = fs::read_to_string(parent).unwrap_or_default();
            text.lines().any(|line| line.trim_end().ends_with(&format!("mod {stem};")))
        });
        assert!(declared, "{}: no parent declares it", shown(&path));
    }
    let mut texts = String::new();
    for ending in [".rs", ".mjs"] {
        for path in files(&root().join("tests"), ending) {
            texts.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    for path in files(&root().join("tests/fixtures"), "") {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(texts.contains(name), "{}: no test names it", shown(&path));
    }
}

#[test]
fn the_readmes_code_map_names_every_module() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let map = readme.split("## Code map").nth(1).expect("a section «Code map»");
    let map = map.split("\n## ").next().unwrap();
    for member in ["json", "core", "driver", "tools", "wasm", "host-native", "xtask"] {
        for path in files(&root().join(member).join("src"), ".rs") {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let name = match stem {
                "lib" | "main" => continue,
                "mod" => path.parent().unwrap().file_name().unwrap().to_str().unwrap(),
                name => name,
            };
            assert!(map.contains(&format!("`{name}`")), "{}: not in the map", shown(&path));
        }
    }
}
