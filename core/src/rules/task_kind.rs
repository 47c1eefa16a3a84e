//! The kind of a task, told by the words of an input. Words count as a whole: "latest" is about no
//! test, and "prefix" no fix.

use innerloop_types::text::{is_word, prefix};

/// The number of bytes of an input that are read.
const MOST_READ: usize = 4_000;

/// The kinds of tasks with their words, the most telling kinds first.
const KINDS: [(&str, &str); 10] = [
    ("security_review", "security|vulnerability|vulnerabilities|exploit|audit"),
    ("orchestration", "orchestrate|coordinate|parallel|subagents|delegate"),
    ("unit_test", "test|tests|testing|coverage"),
    ("debug", "debug|bug|bugs|fix|error|errors|crash|fails|failing|broken"),
    ("refactor", "refactor|rename|restructure|simplify|cleanup"),
    ("review", "review|critique|feedback"),
    ("planning", "plan|design|architecture|roadmap|propose"),
    ("explain", "explain|describe|why|what|how|understand"),
    ("boilerplate", "scaffold|boilerplate|template|skeleton|setup"),
    ("generation", "implement|create|write|add|build|make"),
];

/// Returns the names of all kinds.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// Returns the kind of the task that a text gives: of the kinds that it has words of, the one with
/// the most; `None` if it has none.
#[must_use]
pub(crate) fn of_text(text: &str) -> Option<&'static str> {
    let mut counts = [0_u32; KINDS.len()];
    // What is wanted stands in the first page: behind it come logs and files that are full of
    // errors and tests.
    for word in prefix(text, MOST_READ).split(|c| !is_word(c)) {
        for ((_, words), count) in KINDS.iter().zip(&mut counts) {
            *count += u32::from(words.split('|').any(|known| known.eq_ignore_ascii_case(word)));
        }
    }
    let mut best = (0, None);
    for ((kind, _), count) in KINDS.iter().zip(counts) {
        if count > best.0 {
            best = (count, Some(*kind));
        }
    }
    best.1
}
