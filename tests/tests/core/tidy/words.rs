//! What texts promise: that the architecture's code map names every folder of code, that whatever a
//! comment cites can be opened, that tests which a table names are there, and that the ids in
//! tests' names are explained.

use std::collections::BTreeSet;

use super::house::House;
use super::{check_found, check_none};

/// Names of documents that are not in the repository, and marks of citing them.
const ABSENT: [&str; 13] = [
    "CONFLICTS",
    "DESIGN",
    "ECOSYSTEM",
    "FEATURES",
    "INTEROP",
    "PERFORMANCE.md",
    "POLICIES",
    "SANDBOX.md",
    "SIZE.md",
    "TOOL-VOCABULARIES",
    "WIRE.md",
    "seed 00",
    "seeds 00",
];

/// The sign by which a paragraph is cited; what is in the repository has headings.
const PARAGRAPH: char = '\u{a7}';

/// Words that nobody in the field writes, with those that they stand for.
const ODD: [(&str, &str); 6] = [
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("lies in", "is in"),
    ("lie in", "are in"),
];

/// Where texts that people read have such words. Tests may say what a person or a model says.
fn odd_words(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    let is_read = |path: &str| !path.starts_with("tests/") && !path.ends_with("/prompt.md");
    for (path, text) in house.files.iter().filter(|(path, _)| is_read(path)) {
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" ");
            let words = format!(" {} ", words.to_lowercase());
            let odd = ODD.iter().filter(|(word, _)| words.contains(&format!(" {word} ")));
            faults
                .extend(odd.map(|(word, usual)| format!("{path}:{number}: {word}: write {usual}")));
        }
    }
    faults
}

/// Where texts cite what a reader cannot open.
fn dead_citations(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    // A prompt is the model's to read.
    for (path, text) in house.files.iter().filter(|(path, _)| !path.ends_with("/prompt.md")) {
        for (number, line) in (1..).zip(text.lines()) {
            let absent = ABSENT.iter().find(|name| line.contains(**name));
            if absent.is_some() || line.contains(PARAGRAPH) {
                let line = line.trim();
                faults.push(format!("{path}:{number}: cites what is not here: {line}"));
            }
            for cited in citations(line) {
                let (file, heading) = cited.split_once('#').unwrap_or((cited, ""));
                if !has_heading(house, file, heading) {
                    faults.push(format!("{path}:{number}: there is no {cited}"));
                }
            }
        }
    }
    faults
}

/// The places in `docs/` that a line names, as `docs/wires.md#gemini`.
fn citations(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "/.#_-".contains(c);
    let words = line.split(move |c| !is_part(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.starts_with("docs/") && word.contains(".md"))
}

/// Whether a document has a heading; an empty one stands for the whole document.
fn has_heading(house: &House, file: &str, heading: &str) -> bool {
    let Some(text) = house.files.get(file) else { return false };
    let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    heading.is_empty() || headings.any(|line| anchor(line) == heading)
}

/// What a heading is linked by.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Folders of code that the architecture's code map does not name, and folders it names that are
/// not there.
fn wrong_in_the_map(house: &House) -> Vec<String> {
    let text = &house.files["docs/architecture.md"];
    let map = text.split("## Code map").nth(1).expect("a section «Code map»");
    let map = map.split("\n## ").next().unwrap();
    let named: BTreeSet<&str> = map.split('`').filter(|word| word.ends_with('/')).collect();
    let mut faults = Vec::new();
    for folder in code_folders(house) {
        if !named.contains(folder.as_str()) {
            faults.push(format!("{folder} is not in the map"));
        }
    }
    for folder in named {
        if !house.files.keys().any(|path| path.starts_with(folder)) {
            faults.push(format!("{folder} is in the map, and not there"));
        }
    }
    faults
}

/// The folders of crates, and those directly below their `src`.
fn code_folders(house: &House) -> BTreeSet<String> {
    let mut folders: BTreeSet<String> =
        house.manifests().map(|(folder, _)| format!("{folder}/")).collect();
    for (path, _) in house.ending(".rs").filter(|(path, _)| !path.starts_with("tests/")) {
        let Some((krate, inside)) = path.split_once("/src/") else { continue };
        let Some((folder, _)) = inside.split_once('/') else { continue };
        folders.insert(format!("{krate}/src/{folder}/"));
    }
    folders
}

/// Tests that a table of the documents names, in its column «the test», and that are not there.
fn missing_tests(house: &House) -> Vec<String> {
    let is_test = |name: &str| {
        let head = format!("fn {name}(");
        house.ending(".rs").any(|(path, text)| path.contains("tests") && text.contains(&head))
    };
    let mut faults = Vec::new();
    for (path, text) in house.ending(".md") {
        let rows = text.lines().skip_while(|line| !line.ends_with("| the test |")).skip(2);
        for row in rows.take_while(|line| line.starts_with('|')) {
            let name = row.rsplit('`').nth(1).unwrap_or(row);
            if !is_test(name) {
                faults.push(format!("{path}: there is no test {name}"));
            }
        }
    }
    faults
}

/// Whether a word is the id of a capability, as `k22`, and no type, as `f64`.
fn is_id(word: &str) -> bool {
    let number = word.strip_prefix(|c: char| ('a'..='n').contains(&c));
    number.and_then(|number| number.parse().ok()).is_some_and(|number: u8| number < 60)
}

/// The ids that the name of a test begins with.
fn ids(name: &str) -> impl Iterator<Item = &str> {
    name.split(['_', ' ']).take_while(|word| is_id(word))
}

/// Ids that tests are named after and that `docs/features.md` does not explain, and those that it
/// explains without a test.
fn unexplained_ids(house: &House) -> Vec<String> {
    let heads = [(".rs", "fn "), (".mjs", "test(\""), (".ts", "test(\"")];
    let named: BTreeSet<&str> = heads
        .into_iter()
        .flat_map(|(ending, head)| {
            let texts = house.ending(ending).map(|(_, text)| text);
            texts.flat_map(move |text| text.split(head).skip(1).flat_map(ids))
        })
        .collect();
    let rows = house.files["docs/features.md"].lines().filter_map(|line| line.split(' ').nth(1));
    let explained: BTreeSet<&str> = rows.filter(|word| is_id(word)).collect();
    let untold = named.difference(&explained).map(|id| format!("{id} is not explained"));
    untold.chain(explained.difference(&named).map(|id| format!("{id} has no test"))).collect()
}

#[test]
fn the_ids_in_tests_names_are_explained() {
    check_none(&unexplained_ids(&House::own()));
    let house = House::of(&[
        ("docs/features.md", "| id | what |\n|---|---|\n| a1 | one |\n| a2 | two |\n"),
        ("tests/a.rs", "fn a1_b3_is() {} fn a100_x() {} fn f64_to() {}"),
        ("a.mjs", "test(\"c4 is\")"),
    ]);
    check_found(&unexplained_ids(&house), &["b3 is not", "c4 is not", "a2 has no"]);
}

#[test]
fn tests_that_a_table_names_are_there() {
    check_none(&missing_tests(&House::own()));
    let house = House::of(&[
        ("a.md", "| what | the test |\n|---|---|\n| a | `one` |\n| b | `two` |\n| c | d |\n"),
        ("tests/a.rs", "fn one() {}"),
        ("src/a.rs", "fn two() {}"),
    ]);
    check_found(&missing_tests(&house), &["no test two", "no test | c | d |"]);
}

#[test]
fn no_odd_word_is_written() {
    check_none(&odd_words(&House::own()));
    let house = House::of(&[
        ("a.md", "It mends the tests.\nA friend can amend it."),
        ("b.rs", "/// The folder that it lies in."),
        ("tests/c.rs", "say(\"mend it\")"),
        ("core/d/prompt.md", "Mend the cause."),
    ]);
    check_found(&odd_words(&house), &["a.md:1: mends: write fixes", "b.rs:1: lies in"]);
}

#[test]
fn what_is_cited_can_be_opened() {
    let mut house = House::own();
    // This file names what must not be cited.
    house.files.remove("tests/tests/core/tidy/words.rs");
    check_none(&dead_citations(&house));
}

#[test]
fn a_dead_citation_is_found() {
    let house = House::of(&[
        ("docs/a.md", "# A\n\n## What a `Reply` is, and why\n"),
        (
            "a.rs",
            "// as DESIGN rule 9 says\n// Spec \u{a7}2.10\n// (seed 004)\n// see `docs/b.md`.",
        ),
        ("b.rs", "// `docs/a.md`, docs/a.md#a and docs/a.md#what-a-reply-is-and-why."),
        ("c.rs", "// docs/a.md#what"),
    ]);
    let expected = [
        "a.rs:1: cites what is not here",
        "a.rs:2: cites what is not here",
        "a.rs:3: cites what is not here",
        "a.rs:4: there is no docs/b.md",
        "c.rs:1: there is no docs/a.md#what",
    ];
    check_found(&dead_citations(&house), &expected);
}

#[test]
fn the_code_map_names_every_folder_of_code() {
    check_none(&wrong_in_the_map(&House::own()));
    let house = House::of(&[
        ("docs/architecture.md", "## Code map\n`a/` `a/src/b/` `c/` `d`\n## End\n`a/src/e/`"),
        ("a/Cargo.toml", ""),
        ("a/src/b/mod.rs", ""),
        ("a/src/e/f/g.rs", ""),
    ]);
    check_found(&wrong_in_the_map(&house), &["a/src/e/ is not in the map", "c/ is in the map"]);
}
