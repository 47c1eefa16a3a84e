//! The sources in TypeScript, of the npm package and the playground: how long they may be, how they
//! begin, and that no file imports itself through others. Types count: who wants to understand one
//! file must not have to understand a circle of them.

use std::collections::BTreeSet;

use super::house::House;
use super::layers::{Graph, circles_of};
use super::sizes::FILE_LINES;
use super::{check_found, check_none};

/// Where they lie.
const FOLDERS: [&str; 2] = ["wasm/npm/src/", "www/src/"];
/// What is longer than agreed so far.
const LONGER: [&str; 1] = ["www/src/worker/session.ts"];

/// The sources, by path.
fn sources(house: &House) -> impl Iterator<Item = (&str, &str)> {
    let all = house.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    all.filter(|(path, _)| {
        let is_inside = FOLDERS.iter().any(|folder| path.starts_with(folder));
        is_inside && (path.ends_with(".ts") || path.ends_with(".tsx"))
    })
}

/// Files that are too long.
fn too_long(house: &House) -> Vec<String> {
    let files = sources(house).filter(|(path, _)| !LONGER.contains(path));
    let counted = files.map(|(path, text)| (path, text.lines().count()));
    let long = counted.filter(|(_, lines)| *lines > FILE_LINES);
    long.map(|(path, lines)| format!("{path}: {lines} lines")).collect()
}

/// Files that do not say what lives in them.
fn without_a_word(house: &House) -> Vec<String> {
    let silent = sources(house).filter(|(_, text)| !text.starts_with("// "));
    silent.map(|(path, _)| format!("{path}: no comment at its beginning")).collect()
}

/// The circles of imports.
fn circles(house: &House) -> Vec<String> {
    let paths: BTreeSet<&str> = sources(house).map(|(path, _)| path).collect();
    let mut graph = Graph::new();
    for (path, text) in sources(house) {
        let imported = imports(text).filter_map(|import| source(&paths, path, import));
        graph.insert(path, imported.collect());
    }
    circles_of(&graph).iter().map(|circle| format!("a circle of {circle:?}")).collect()
}

/// The relative paths that a file imports or passes on, be it only types, or later.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    code.flat_map(|line| {
        let parts: Vec<&str> = line.split('"').collect();
        let leads = |before: &str| {
            let before = before.trim_end_matches([' ', '(']);
            before.ends_with("from") || before.ends_with("import")
        };
        let pairs = parts.chunks(2).filter_map(move |pair| match *pair {
            [before, path] if leads(before) && path.starts_with('.') => Some(path),
            _ => None,
        });
        pairs.collect::<Vec<_>>()
    })
}

/// The source that a relative import of a file leads to; `None` for what is built or is no script.
fn source<'a>(paths: &BTreeSet<&'a str>, from: &str, import: &str) -> Option<&'a str> {
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in import.split('/') {
        match step {
            "." => {}
            ".." => _ = steps.pop()?,
            name => steps.push(name),
        }
    }
    let path = steps.join("/");
    let stem = path.strip_suffix(".js")?;
    [format!("{stem}.ts"), format!("{stem}.tsx")]
        .iter()
        .find_map(|name| paths.get(name.as_str()).copied())
}

#[test]
fn scripts_are_no_longer_than_agreed() {
    let house = House::own();
    check_none(&too_long(&house));
    let is_longer = |path: &&str| house.files[*path].lines().count() > FILE_LINES;
    assert!(LONGER.iter().all(is_longer), "one is short now: take it off the list");
}

#[test]
fn a_script_that_is_too_long_is_found() {
    let house = House::of(&[
        ("wasm/npm/src/a.ts", &"\n".repeat(FILE_LINES)),
        ("wasm/npm/src/room/b.ts", &"\n".repeat(FILE_LINES + 1)),
        ("www/src/c.tsx", &"\n".repeat(FILE_LINES + 1)),
        ("tests/web/d.ts", &"\n".repeat(FILE_LINES + 1)),
    ]);
    let expected = ["wasm/npm/src/room/b.ts: 601 lines", "www/src/c.tsx: 601 lines"];
    check_found(&too_long(&house), &expected);
}

#[test]
fn every_script_begins_with_what_lives_in_it() {
    check_none(&without_a_word(&House::own()));
    let house = House::of(&[
        ("wasm/npm/src/a.ts", "// Here lives a.\n\nexport const a = 1;"),
        ("wasm/npm/src/b.ts", "import type { A } from \"./a.js\";\n\n// Not this."),
        ("www/src/c.tsx", "/** Nor this. */\nexport const c = 1;"),
    ]);
    check_found(&without_a_word(&house), &["wasm/npm/src/b.ts: no comment", "www/src/c.tsx"]);
}

#[test]
fn scripts_form_no_circle() {
    let house = House::own();
    let imported: usize = sources(&house).map(|(_, text)| imports(text).count()).sum();
    assert!(imported > 400, "only {imported} imports are found");
    check_none(&circles(&house));
}

#[test]
fn a_circle_of_scripts_is_found_however_it_is_written() {
    for (one, other) in [
        ("import { b } from \"../b.js\";", "import { a } from \"./room/a.js\";"),
        ("import type { B } from \"../b.js\";", "export type * from \"./room/a.js\";"),
        ("import {\n  type B,\n} from \"../b.js\";", "const a = await import(\"./room/a.js\");"),
        ("export { type B } from \"../b.js\";", "import \"./room/a.js\";"),
    ] {
        let house = House::of(&[
            ("wasm/npm/src/room/a.ts", one),
            ("wasm/npm/src/b.tsx", other),
            ("wasm/npm/src/c.ts", "import { a } from \"./room/a.js\";"),
        ]);
        let circle = r#"a circle of {"wasm/npm/src/b.tsx", "wasm/npm/src/room/a.ts"}"#;
        check_found(&circles(&house), &[circle]);
    }
    let house = House::of(&[
        ("wasm/npm/src/a.ts", "import { b } from \"./b.js\";\nimport wasm from \"./c.wasm\";"),
        ("wasm/npm/src/b.ts", "// import { a } from \"./a.js\";\nconst a = \"./a.js\";"),
    ]);
    check_none(&circles(&house));
}
