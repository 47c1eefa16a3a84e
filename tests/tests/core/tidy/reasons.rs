//! Reasons stand where the code surprises: so many comments of a thousand lines, where most of what
//! a reader could undo by accident is.

use super::check_found;
use super::house::House;
use super::names::is_shipped;

/// The folders that are looked at, each by itself.
const FOLDERS: [&str; 8] = [
    "core/src/",
    "core/types/",
    "core/wire/",
    "driver/",
    "host-native/host/",
    "host-native/sandbox/",
    "host-native/workspace/",
    "tools/",
];

/// The lines of reasons that a thousand lines have at least.
const LEAST: usize = 25;

/// The folders with fewer, each with its number.
fn bare<'a>(house: &House, folders: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut bare = Vec::new();
    for folder in folders {
        let files = house.ending(".rs").filter(|(path, _)| path.starts_with(folder));
        let (mut reasons, mut all) = (0, 0);
        for (_, text) in files.filter(|(path, _)| is_shipped(path)) {
            let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
            all += code.lines().count();
            reasons += code.lines().filter(|line| line.trim_start().starts_with("// ")).count();
        }
        let share = reasons * 1_000 / all.max(1);
        println!("{folder}: {share} lines of reasons in a thousand");
        if share < LEAST {
            bare.push(format!("{folder}: {share} lines of reasons in a thousand, of {LEAST}"));
        }
    }
    bare
}

#[test]
fn the_code_says_why_where_it_surprises() {
    super::check_none(&bare(&House::own(), FOLDERS));
}

#[test]
fn a_folder_without_reasons_is_found() {
    let house = House::of(&[
        ("a/src/lib.rs", "// Why.\nfn a() {}\n"),
        ("b/src/lib.rs", "/// A thing.\nfn b() {}\n\n#[cfg(test)]\nmod tests {\n// Why.\n}\n"),
    ]);
    check_found(&bare(&house, ["a/", "b/"]), &["b/: 0 lines of reasons"]);
}
