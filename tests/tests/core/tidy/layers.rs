//! Who may know whom: no circle of modules in any target, no look up between the floors of
//! `core`, no dependency of a crate on one above it.

use std::collections::{BTreeMap, BTreeSet};

use super::house::{House, Target, is_workspace, join};
use super::paths::Named;
use super::{check_found, check_none};

/// The floors of `core` by top module. Siblings on one floor do not know each other.
const FLOORS: [(&str, u32); 4] = [("rules", 2), ("profile", 3), ("machine", 4), ("session", 5)];

/// The crates that each crate of the house may depend on.
const CRATES: [(&str, &[&str]); 26] = [
    ("json/derive", &[]),
    ("json/scan", &[]),
    ("json", &["json-derive", "json-scan"]),
    ("core/types", &["json"]),
    ("core/wire", &["json", "types"]),
    ("core", &["json", "types", "wire"]),
    ("driver", &["core", "json"]),
    ("supervisor", &["json"]),
    ("abi", &["core", "driver"]),
    ("abi/supervisor", &["supervisor"]),
    ("tools", &["json", "types"]),
    ("shell/protocol", &["json"]),
    ("shell", &["json", "shell-protocol", "tools", "types"]),
    ("wasm", &["core", "driver", "json", "tools"]),
    ("host-native/workspace", &["json", "tools", "types"]),
    ("host-native/sandbox", &["driver", "shell-protocol", "tools", "types", "workspace"]),
    ("host-native/host", &["core", "driver", "json", "sandbox", "tools", "workspace"]),
    (
        "host-native/cli",
        &["core", "driver", "host", "json", "sandbox", "supervisor", "tools", "workspace"],
    ),
    ("rust/face", &["core", "driver"]),
    ("rust/web", &["core", "driver", "face", "tools"]),
    ("rust", &["core", "driver", "face", "host", "sandbox", "tools", "workspace"]),
    ("tests", &["core", "driver", "json", "tools", "host", "sandbox", "workspace"]),
    ("schema", &["core", "driver", "json", "supervisor"]),
    ("example/count-lines", &[]),
    ("xtask", &[]),
    ("xtask/bindgen", &[]),
];

/// Crates of the terminal, which only the program needs.
const OF_TERMINAL: [&str; 7] = [
    "clap",
    "clap_complete",
    "clap_mangen",
    "crossterm",
    "toml_edit",
    "unicode-segmentation",
    "unicode-width",
];

/// What `tools` may name of `core/types`.
const DOORS_TO_TOOLS: [&str; 3] = ["action", "path", "secret"];

/// Which modules each module names.
pub(super) type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Which modules of a target each of its modules names.
fn graph(target: &Target) -> Graph<'_> {
    let mut graph = Graph::new();
    for (path, module) in &target.modules {
        let named = module.reading.paths.iter();
        let named = named.filter_map(|named| known_module(target, path, named));
        graph.insert(path, named.filter(|named| named != path).collect());
    }
    graph
}

/// The module that a path in a module leads to; `None` if it leads out of the crate.
fn known_module<'a>(target: &'a Target, from: &str, named: &Named) -> Option<&'a str> {
    let here: Vec<&str> = from.split("::").filter(|step| !step.is_empty()).collect();
    let mut base: Vec<&str> = here.into_iter().chain(named.inside.iter().map(|s| &**s)).collect();
    let mut rest = named.segments.iter().map(String::as_str).peekable();
    match rest.peek().copied()? {
        "crate" => {
            base.clear();
            rest.next();
        }
        "self" => _ = rest.next(),
        "super" => {
            while rest.next_if_eq(&"super").is_some() {
                base.pop();
            }
        }
        name => {
            let child = base.iter().fold(String::new(), |path, step| join(&path, step));
            target.modules.get_key_value(&join(&child, name))?;
        }
    }
    // The longest way down that is a module; what is left is an item in it, or is re-exported.
    let (mut path, mut found) = (String::new(), "");
    for step in base.into_iter().chain(rest) {
        path = join(&path, step);
        match target.modules.get_key_value(&path) {
            Some((known, _)) => found = known,
            None if target.modules.keys().any(|known| known.starts_with(&format!("{path}::"))) => {}
            None => break,
        }
    }
    Some(found)
}

/// The circles of imports.
fn circles(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for target in house.targets() {
        for circle in circles_of(&graph(&target)) {
            faults.push(format!("{}: a circle of {circle:?}", target.root));
        }
    }
    faults
}

/// The circles of a graph: each as long a list of modules as lead to one another.
pub(super) fn circles_of<'a>(graph: &Graph<'a>) -> BTreeSet<BTreeSet<&'a str>> {
    let circle = |module: &str| -> BTreeSet<&'a str> {
        let reached_from = reached(graph, module).into_iter();
        reached_from.filter(|other| reached(graph, other).contains(module)).collect()
    };
    graph.keys().map(|module| circle(module)).filter(|circle| !circle.is_empty()).collect()
}

/// The modules that a module names, directly or through others.
fn reached<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph[from].iter().copied().collect();
    while let Some(module) = open.pop() {
        if found.insert(module) {
            open.extend(&graph[module]);
        }
    }
    found
}

/// The looks up between the floors of `core`, and from the lowest floor of `core/types`.
fn looks_up(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for target in house.targets() {
        let is_core = target.root == "core/src/lib.rs";
        let is_types = target.root == "core/types/src/lib.rs";
        for (from, named) in graph(&target).into_iter().filter(|(from, _)| !from.is_empty()) {
            for to in named {
                let [from_top, to_top] = [from, to].map(|path| path.split("::").next().unwrap());
                let fault = match (floor(from_top), floor(to_top)) {
                    _ if is_types && from_top == "base" && to_top != "base" => {
                        format!("{from} looks up to {to}")
                    }
                    _ if !is_core => continue,
                    (None, _) => format!("{from} stands on no floor"),
                    (_, None) => format!("{from} names {to:?} on no floor: write the whole path"),
                    (Some(own), Some(other)) if other > own => format!("{from} looks up to {to}"),
                    _ => continue,
                };
                faults.push(fault);
            }
        }
    }
    faults
}

fn floor(top: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == top).map(|(_, floor)| *floor)
}

/// The dependencies of crates on crates that they must not know.
fn forbidden_dependencies(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for (folder, manifest) in house.manifests().filter(|(_, text)| !is_workspace(text)) {
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == folder) else {
            faults.push(format!("{folder} is a crate on no floor"));
            continue;
        };
        for line in manifest.lines() {
            let Some(rest) = line.strip_prefix("innerloop-") else { continue };
            let name = rest.split(['.', ' ', '=']).next().unwrap();
            if !allowed.contains(&name) {
                faults.push(format!("{folder} depends on innerloop-{name}"));
            }
        }
    }
    faults
}

/// Crates that those who embed the native host would compile for a terminal that they do not have.
fn of_terminal(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for (folder, text) in house.manifests().filter(|(folder, _)| *folder != "host-native/cli") {
        for line in text.lines() {
            let name = line.split(['.', ' ', '=']).next().unwrap();
            if OF_TERMINAL.contains(&name) {
                faults.push(format!("{folder} depends on {name}, which is for the program"));
            }
        }
    }
    faults
}

/// Crates of the page's module that read or write JSON by another codec than `innerloop-json`.
fn other_codecs(house: &House) -> Vec<String> {
    let in_page = ["core/types", "core/wire", "core", "driver", "tools", "wasm"];
    let manifests = house.manifests().filter(|(folder, _)| in_page.contains(folder));
    let is_other = |line: &str| line.starts_with("serde") && !line.contains("[\"innerloop-");
    let others = manifests.filter(|(_, text)| text.lines().any(is_other));
    others.map(|(folder, _)| format!("{folder} depends on serde: use innerloop-json")).collect()
}

/// Lines that would show a value by `{:?}` in the page's module, which takes long tables. Those
/// that show one only to developers are exempt: a type's own `Debug`, and names for tests.
fn shown_for_debugging(house: &House) -> Vec<String> {
    let in_page = ["json/src/", "json/scan/", "core/", "driver/", "tools/", "wasm/"];
    let exempt = ["core/types/src/base/bytes.rs", "core/src/session/test_probes.rs"];
    let files = house.ending(".rs").filter(|(path, _)| {
        in_page.iter().any(|folder| path.starts_with(folder)) && !exempt.contains(path)
    });
    let mut faults = Vec::new();
    for (path, text) in files {
        let code = text.split("#[cfg(test)]\nmod").next().unwrap();
        for (line, number) in code.lines().zip(1..) {
            let shows = line.contains(":?}") || line.contains(":#?}");
            if shows && !line.contains("debug_assert") && !line.trim_start().starts_with("//") {
                faults.push(format!("{path}:{number}: quote the text instead of {{:?}}"));
            }
        }
    }
    faults
}

/// What `tools` names of `core/types` beyond what it may.
fn tools_beyond_actions(house: &House) -> Vec<String> {
    let targets = house.targets();
    let modules = targets.iter().filter(|target| target.root.starts_with("tools/"));
    let mut faults = Vec::new();
    for module in modules.flat_map(|target| target.modules.values()) {
        for path in &module.reading.paths {
            let [krate, item, ..] = &path.segments[..] else { continue };
            if krate == "innerloop_types" && !DOORS_TO_TOOLS.contains(&item.as_str()) {
                faults.push(format!("{} names innerloop_types::{item}", module.file));
            }
        }
    }
    faults
}

#[test]
fn modules_form_no_circle() {
    let house = House::own();
    assert!(house.targets().len() > 10);
    check_none(&circles(&house));
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    for (b, c) in [
        ("use super::c::D;", "fn f() { crate::b::g() }"),
        ("use crate::{c::{D, E}};", "mod inner { use super::super::b::F; }"),
        ("fn f() { assert!(super::c::g()) }", "#[serde(with = \"super::b\")] struct S;"),
    ] {
        let files = [("a/Cargo.toml", ""), ("a/src/lib.rs", "mod b; mod c; mod d;")];
        let modules = [("a/src/b.rs", b), ("a/src/c.rs", c), ("a/src/d.rs", "use crate::b::G;")];
        let house = House::of(&[&files[..], &modules].concat());
        check_found(&circles(&house), &[r#"{"b", "c"}"#]);
    }
    let parent = ("a/src/lib.rs", "mod b; fn f() { b::g() } fn h() {}");
    let house = House::of(&[("a/Cargo.toml", ""), parent, ("a/src/b.rs", "use crate::{self, h};")]);
    check_found(&circles(&house), &[r#"{"", "b"}"#]);
}

#[test]
fn a_module_of_core_uses_its_own_floor_and_those_below() {
    check_none(&looks_up(&House::own()));
}

#[test]
fn a_look_up_is_found() {
    let house = House::of(&[
        ("core/Cargo.toml", ""),
        ("core/src/lib.rs", "mod rules; mod profile; mod machine; mod cellar;"),
        ("core/src/rules.rs", "mod gauge; fn f() { crate::profile::g() }"),
        ("core/src/rules/gauge.rs", "use super::super::Session;"),
        ("core/src/profile.rs", "use crate::rules::gauge::G;"),
        ("core/src/machine.rs", "use crate::{rules::gauge::G, profile::P};"),
        ("core/src/cellar.rs", "use crate::rules::gauge::G;"),
        ("core/types/Cargo.toml", ""),
        ("core/types/src/lib.rs", "mod base; mod model;"),
        ("core/types/src/base.rs", "use crate::model::M;"),
        ("core/types/src/model.rs", "use crate::base::B;"),
    ]);
    let expected = [
        "cellar stands on no floor",
        "rules looks up to profile",
        "rules::gauge names \"\" on no floor",
        "base looks up to model",
    ];
    check_found(&looks_up(&house), &expected);
}

#[test]
fn crates_know_only_those_below_them() {
    let house = House::own();
    check_none(&forbidden_dependencies(&house));
    check_none(&tools_beyond_actions(&house));
    check_none(&other_codecs(&house));
    check_none(&of_terminal(&house));
}

#[test]
fn a_dependency_on_a_crate_above_is_found() {
    let house = House::of(&[
        ("core/Cargo.toml", "[dependencies]\nserde.workspace = true"),
        ("shed/Cargo.toml", "clap.workspace = true"),
        ("tools/Cargo.toml", "innerloop-types.workspace = true\ninnerloop-host = { path = \"x\" }"),
        ("tools/src/lib.rs", "use innerloop_types::{action::A, config::C};"),
    ]);
    let expected = ["shed is a crate on no floor", "tools depends on innerloop-host"];
    check_found(&forbidden_dependencies(&house), &expected);
    check_found(&tools_beyond_actions(&house), &["names innerloop_types::config"]);
    check_found(&of_terminal(&house), &["shed depends on clap"]);
    check_found(&other_codecs(&house), &["core depends on serde: use innerloop-json"]);
}

#[test]
fn the_pages_module_shows_no_value_by_debug() {
    check_none(&shown_for_debugging(&House::own()));
    let house = House::of(&[
        ("core/src/a.rs", "// {:?}\nlet a = format!(\"{a:?}\");\n#[cfg(test)]\nmod t { {:?} }"),
        ("host-native/host/src/a.rs", "format!(\"{a:?}\")"),
    ]);
    check_found(&shown_for_debugging(&house), &["core/src/a.rs:2: quote the text"]);
}
