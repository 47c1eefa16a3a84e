//! Docs begin with a noun or a verb, so that they can be skimmed: a question word says nothing yet.

use super::check_found;
use super::house::House;
use super::names::is_shipped;

/// Words that say nothing yet.
const QUESTIONS: [&str; 9] =
    ["What", "Whether", "Who", "Whom", "Whose", "How", "Where", "When", "Why"];

/// In how many docs of a hundred one may stand first: sometimes nothing else is as plain.
const MOST_PERCENT: usize = 5;

/// The first lines of docs, with their places.
fn openings(house: &House) -> impl Iterator<Item = (String, &str)> {
    house.ending(".rs").filter(|(path, _)| is_shipped(path)).flat_map(|(path, text)| {
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        let mut is_within = false;
        code.lines().enumerate().filter_map(move |(at, line)| {
            let doc = line.trim_start().strip_prefix("///");
            let opening = doc.filter(|_| !is_within);
            is_within = doc.is_some();
            Some((format!("{path}:{}", at + 1), opening?.trim_start()))
        })
    })
}

fn questions(house: &House) -> Vec<String> {
    let opens = |opening: &str| QUESTIONS.contains(&opening.split([' ', ',']).next().unwrap_or(""));
    let asked = openings(house).filter(|(_, opening)| opens(opening));
    asked.map(|(place, opening)| format!("{place}: {opening}")).collect()
}

#[test]
fn docs_begin_with_a_noun_or_a_verb() {
    let house = House::own();
    let (asked, all) = (questions(&house), openings(&house).count());
    println!("{} of {all} docs begin with a question word", asked.len());
    assert!(asked.len() * 100 <= all * MOST_PERCENT, "\n{}", asked.join("\n"));
}

#[test]
fn a_doc_that_begins_with_a_question_word_is_found() {
    let house = House::of(&[
        (
            "a/src/lib.rs",
            "/// What it is.\npub struct A;\n\n/// A thing.\n/// How so?\nstruct B;\n",
        ),
        ("a/tests/b.rs", "/// Why not.\nfn c() {}\n"),
    ]);
    check_found(&questions(&house), &["a/src/lib.rs:1: What it is."]);
}
