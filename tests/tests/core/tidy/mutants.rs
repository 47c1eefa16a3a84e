//! The file of single faults that no test can notice: each entry names code that is there, and has
//! a reason.

use super::house::House;
use super::{check_found, check_none};

const FILE: &str = "tests/mutants.txt";

/// Words that a reason has at least.
const WORDS: usize = 4;

/// What is wrong with the entries of the file.
fn faults(house: &House, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut entries: Vec<(&str, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let said = line.trim();
        if said.is_empty() || line.starts_with('#') {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            entries.push((line, String::new()));
        } else if let Some((_, reason)) = entries.last_mut() {
            *reason = format!("{reason} {said}");
        } else {
            faults.push(format!("{FILE}:{number}: a reason under no fault"));
        }
    }
    for pair in entries.windows(2).filter(|pair| pair[0].0 >= pair[1].0) {
        faults.push(format!("{FILE}: {:?} stands before {:?}", pair[0].0, pair[1].0));
    }
    for (entry, reason) in &entries {
        let is_sentence = reason.ends_with('.') && reason.split_whitespace().count() >= WORDS;
        if !is_sentence {
            faults.push(format!("{FILE}: {entry:?} has no reason"));
        }
        faults.extend(check_place(house, entry).map(|what| format!("{FILE}: {entry:?}: {what}")));
    }
    faults
}

/// What is wrong with the place that an entry names.
fn check_place(house: &House, entry: &str) -> Option<String> {
    let Some((file, change)) = entry.split_once(": ") else {
        return Some("it is not FILE: CHANGE".to_owned());
    };
    let Some(text) = house.files.get(file) else {
        return Some(format!("there is no {file}"));
    };
    if !["replace ", "delete "].iter().any(|verb| change.starts_with(verb)) {
        return Some("it neither replaces nor deletes".to_owned());
    }
    let Some(function) = function_of(change) else {
        return Some("it names no function".to_owned());
    };
    let declared = |open: char| text.contains(&format!("fn {function}{open}"));
    (!declared('(') && !declared('<')).then(|| format!("there is no function {function} in {file}"))
}

/// The name of the function that a change is made in: its last words, or those that it replaces.
fn function_of(change: &str) -> Option<&str> {
    let change = match change.rsplit_once(" #") {
        Some((change, number)) if number.parse::<u32>().is_ok() => change,
        _ => change,
    };
    let path = match change.rsplit_once(" in ") {
        Some((_, path)) => path,
        None => change.strip_prefix("replace ")?.split(" -> ").next()?.split(" with ").next()?,
    };
    let name = path.rsplit("::").next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

#[test]
fn accepted_mutants_name_code_that_is_there_and_have_a_reason() {
    let text = include_str!("../../../mutants.txt");
    let house = House::own();
    check_none(&faults(&house, text));
    assert!(text.lines().filter(|line| line.starts_with("core/")).count() > 0);
}

#[test]
fn an_accepted_mutant_without_place_or_reason_is_found() {
    let house = House::of(&[
        ("a/src/b.rs", "impl B { fn one(&self) -> bool { x > 1 } fn two<T>() {} }"),
        ("a/src/c.rs", "fn three() {}"),
    ]);
    let good = "# A word.\n\
                a/src/b.rs: replace > with >= in B::one #2\n  It is never one, says the caller.\n\
                a/src/b.rs: replace B::two with ()\n  Nothing is to be seen of it\n  anywhere.\n\
                a/src/b.rs: replace match guard x in y with true in B::one\n  Only speed, as \
                told.\n";
    check_none(&faults(&house, good));
    let bad = "  No fault above.\n\
               a/src/b.rs: replace B::four -> bool with true\n  It is gone by now.\n\
               a/src/c.rs: change three\n  It is not a change.\n\
               a/src/c.rs: replace three with ()\n  Speed.\n\
               a/src/b.rs: delete ! in B::one\n  It stands too late here.\n\
               d.rs: replace three with ()\n  The file is gone.\n";
    let expected = [
        "1: a reason under no fault",
        "stands before \"a/src/b.rs: delete",
        "there is no function four in",
        "it neither replaces",
        "has no reason",
        "there is no d.rs",
    ];
    check_found(&faults(&house, bad), &expected);
}
