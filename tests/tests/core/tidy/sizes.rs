//! How long files, functions and lines may be, and how a file begins.

use super::house::House;
use super::paths::Reading;
use super::{check_found, check_none};

/// Of a file without its unit tests.
pub(super) const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;
const COLUMNS: usize = 100;

/// Files, functions and lines that are too long. Test binaries are spared the first two: their
/// tables are as long as what they list.
fn too_long(house: &House) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in house.ending(".rs") {
        let reading = Reading::of(text);
        for (number, line) in (1..).zip(text.lines()) {
            let columns = line.chars().count();
            let is_data = line.contains("r#\"") || line.contains("http");
            if columns > COLUMNS && !is_data {
                faults.push(format!("{path}:{number}: {columns} columns"));
            }
        }
        if path.starts_with("tests/tests/") {
            continue;
        }
        let tests: usize = reading.tests.iter().map(|tests| tests.count()).sum();
        let lines = text.lines().count() - tests;
        if lines > FILE_LINES {
            faults.push(format!("{path}: {lines} lines"));
        }
        for function in reading.functions.iter().filter(|f| f.count() > FUNCTION_LINES) {
            let (first, lines) = (function.first, function.count());
            faults.push(format!("{path}:{first}: a function of {lines} lines"));
        }
    }
    faults
}

/// Files that do not say what lives in them.
fn without_a_word(house: &House) -> Vec<String> {
    let silent = house.ending(".rs").filter(|(_, text)| !text.starts_with("//! "));
    silent.map(|(path, _)| format!("{path}: no //! paragraph")).collect()
}

#[test]
fn files_functions_and_lines_are_no_longer_than_agreed() {
    check_none(&too_long(&House::own()));
}

#[test]
fn what_is_too_long_is_found() {
    let body = "x();\n".repeat(FUNCTION_LINES);
    let long = format!("impl S {{ pub(super) const fn f() {{\n{body}}} }}");
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", "\n".repeat(FILE_LINES));
    let house = House::of(&[
        ("a/src/few.rs", &format!("fn f() {{\n{}}}\n{tests}", "x();\n".repeat(FUNCTION_LINES - 2))),
        ("a/src/function.rs", &long),
        ("a/src/lines.rs", &"\n".repeat(FILE_LINES + 1)),
        ("a/src/wide.rs", &format!("// {}", "x".repeat(COLUMNS))),
        ("tests/tests/core/table.rs", &long),
    ]);
    let expected = [
        "a/src/function.rs:1: a function of 72 lines",
        "a/src/lines.rs: 601 lines",
        "a/src/wide.rs:1: 103 columns",
    ];
    check_found(&too_long(&house), &expected);
}

#[test]
fn every_file_begins_with_what_lives_in_it() {
    check_none(&without_a_word(&House::own()));
    let house = House::of(&[("a.rs", "//! Here lives a."), ("b.rs", "// Not this.\nfn f() {}")]);
    check_found(&without_a_word(&house), &["b.rs: no //! paragraph"]);
}
