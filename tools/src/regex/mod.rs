//! Regular expressions with the syntax of the crate `regex`, in a third of the code that a crate
//! for them takes in the page's module. An expression is a list of steps that are taken side by
//! side over the text, so a search takes time in the product of both lengths at most. As in
//! `regex-lite`, `\w`, `\d`, `\s`, `\b` and letters of either case are those of ASCII, and there
//! are no classes of Unicode. A test compares all of it with `regex-lite`.

mod assertions;
mod class;
mod parse;
mod step;

use assertions::RegexAssertion;
use class::CharClass;
use std::{mem, ops::Range, sync::Mutex};
use step::RegexInstruction;

pub(crate) use step::RegexFlags;

/// An expression, ready to be searched for.
#[derive(Debug)]
pub(crate) struct Regex {
    steps: Vec<RegexInstruction>,
    classes: Vec<CharClass>,
    /// The lists of the last search, which the next one takes; one that runs at the same time makes
    /// its own.
    threads: Mutex<ThreadLists>,
}

/// The lists that a search works on, kept for the next one.
#[derive(Debug, Default)]
struct ThreadLists {
    /// The threads: the step at which each may go on, and where its match begins. Preferred ones
    /// come first.
    now: Vec<(usize, usize)>,
    next: Vec<(usize, usize)>,
    /// The steps that are still to be followed for one thread.
    open: Vec<usize>,
    /// The place in the text at which each step was last followed.
    seen: Vec<usize>,
}

impl Regex {
    /// Parses an expression.
    ///
    /// The reason why it is not valid.
    pub(crate) fn new(pattern: &str, flags: RegexFlags) -> Result<Self, &'static str> {
        let (steps, classes) = parse::program(pattern, flags)?;
        Ok(Self { steps, classes, threads: Mutex::default() })
    }

    /// Returns the first match that begins at `from` or behind it.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let (before, rest) = text.split_at_checked(from)?;
        let (mut before, mut rest) = (before.chars().next_back(), rest.chars());
        // The lists are kept, since a search may run for each line. Other threads may search with
        // the same expression, and nobody waits for the lists.
        let (mut kept, mut own) = (self.threads.try_lock(), ThreadLists::default());
        let threads = kept.as_deref_mut().unwrap_or(&mut own);
        threads.begin(self.steps.len());
        let only_at_start =
            matches!(self.steps.first(), Some(RegexInstruction::Look(RegexAssertion::Start)));
        let (mut found, mut at) = (None, from);
        loop {
            let after = rest.next();
            // Once there is a match, later beginnings lose against it: the leftmost match counts.
            if found.is_none() && !(only_at_start && before.is_some()) {
                threads.now.push((0, at));
            }
            if threads.now.is_empty() {
                return found;
            }
            if let Some(start) = self.advance(threads, at, before, after) {
                found = Some(start..at);
            }
            let Some(c) = after else { return found };
            at += c.len_utf8();
            before = after;
        }
    }

    /// Returns whether there is a match.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// Returns the matches one after the other. An empty one does not follow directly behind
    /// another match.
    pub(crate) fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let (mut from, mut last_end) = (0, None);
        std::iter::from_fn(move || {
            loop {
                let found = self.find(text, from)?;
                from = found.end;
                if !found.is_empty() || last_end != Some(found.end) {
                    last_end = Some(found.end);
                    return Some(found);
                }
                from += text.get(from..)?.chars().next()?.len_utf8();
            }
        })
    }

    /// Moves all threads over the character at `at`, and returns where a match begins that ends
    /// there. Threads of lower preference are dropped then.
    fn advance(
        &self,
        threads: &mut ThreadLists,
        at: usize,
        before: Option<char>,
        after: Option<char>,
    ) -> Option<usize> {
        let ThreadLists { now, next, open, seen } = threads;
        let mut found = None;
        'threads: for (place, start) in now.drain(..) {
            open.push(place);
            while let Some(mut place) = open.pop() {
                // A step is followed once at each place of the text, by the most preferred thread
                // that comes to it. That bounds the time, and ends loops that take no character.
                while seen.get_mut(place).is_some_and(|seen| mem::replace(seen, at) != at) {
                    place = match self.steps.get(place) {
                        Some(RegexInstruction::Char(c)) if after == Some(*c) => {
                            next.push((place + 1, start));
                            break;
                        }
                        Some(RegexInstruction::Class(class)) if self.has(*class, after) => {
                            next.push((place + 1, start));
                            break;
                        }
                        Some(RegexInstruction::Look(look)) if look.holds(before, after) => {
                            place + 1
                        }
                        Some(RegexInstruction::Jump(way)) => place.wrapping_add_signed(*way),
                        Some(RegexInstruction::Split(first, second)) => {
                            // The second way is followed after the whole of the first, which keeps
                            // the order of preference.
                            open.push(place.wrapping_add_signed(*second));
                            place.wrapping_add_signed(*first)
                        }
                        Some(RegexInstruction::Match) => {
                            found = Some(start);
                            open.clear();
                            break 'threads;
                        }
                        _ => break,
                    };
                }
            }
        }
        mem::swap(now, next);
        found
    }

    /// Returns whether there is a character and it belongs to that class.
    fn has(&self, class: usize, c: Option<char>) -> bool {
        c.zip(self.classes.get(class)).is_some_and(|(c, class)| class.contains(c))
    }
}

impl ThreadLists {
    fn begin(&mut self, steps: usize) {
        self.now.clear();
        self.seen.clear();
        // A place that no text has, so that no step counts as followed.
        self.seen.resize(steps, usize::MAX);
    }
}

/// Returns the expression that matches exactly this text.
pub(crate) fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        // `\<` and `\>` are borders of words, not characters.
        if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail at once")]

    use super::{Regex, RegexFlags, escaped};
    use regex_lite::RegexBuilder;

    const PIECES: &[&str] = &[
        "a",
        "b",
        "ab",
        "B",
        "é",
        ".",
        "^",
        "$",
        "|",
        "(",
        ")",
        "(?:",
        "(?i)",
        "(?P<n>",
        "(?<m>",
        "(?s:",
        "(?-i:",
        "(?U)",
        "(?m)",
        "(?mR)",
        "(?x)",
        "(?=",
        " ",
        "#",
        "?",
        "*",
        "+",
        "+?",
        "{0}",
        "{1}",
        "{2,}",
        "{0,3}",
        "{2,1}",
        "{",
        "}",
        "[ab]",
        "[^a]",
        "[]a]",
        "[a-]",
        "[-a]",
        "[[:^upper:]b]",
        "[\\w-]",
        "[a-\\w]",
        "[b-a]",
        "[&&]",
        "[",
        "]",
        "-",
        "\\w",
        "\\W",
        "\\d",
        "\\s",
        "\\b",
        "\\B",
        "\\b{start}",
        "\\b{end-half}",
        "\\<",
        "\\>",
        "\\A",
        "\\z",
        "\\.",
        "\\n",
        "\\x61",
        "\\x{e9}",
        "\\u0062",
        "\\p",
        "\\1",
        "\\",
    ];
    const LETTERS: &[char] = &['a', 'b', 'A', 'B', '_', '-', '(', ' ', '\n', '\r', 'é', ']', '1'];

    /// Random numbers below a bound.
    fn random() -> impl FnMut(usize) -> usize {
        let mut state = 7_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        }
    }

    /// Random expressions are as valid as for `regex-lite`, and match the same.
    #[test]
    fn expressions_mean_what_they_mean_to_regex_lite() {
        let mut random = random();
        let (mut valid, mut matches) = (0, 0);
        for _ in 0..60_000 {
            let pattern: String = (0..=random(6)).map(|_| PIECES[random(PIECES.len())]).collect();
            let [ignore_case, multi_line] = [random(4) == 0, random(4) == 0];
            let flags = RegexFlags {
                ignore_case,
                multi_line,
                dot_matches_all: multi_line,
                ..RegexFlags::default()
            };
            let ours = Regex::new(&pattern, flags);
            let theirs = RegexBuilder::new(&pattern)
                .case_insensitive(ignore_case)
                .multi_line(multi_line)
                .dot_matches_new_line(multi_line)
                .build();
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{pattern:?}: {ours:?} {theirs:?}");
            let (Ok(ours), Ok(theirs)) = (ours, theirs) else { continue };
            valid += 1;
            for _ in 0..8 {
                let text: String = (0..random(9)).map(|_| LETTERS[random(LETTERS.len())]).collect();
                let found: Vec<_> = ours.matches(&text).collect();
                let expected: Vec<_> = theirs.find_iter(&text).map(|found| found.range()).collect();
                assert_eq!(found, expected, "{pattern:?} {text:?} {flags:?}");
                matches += found.len();
            }
        }
        assert!(valid > 10_000 && matches > 100_000, "{valid} {matches}");
    }

    #[test]
    fn an_escaped_text_matches_itself() {
        let text: String = (0..128).filter_map(char::from_u32).chain("é\u{2028}".chars()).collect();
        let regex = Regex::new(&escaped(&text), RegexFlags::default()).unwrap();
        assert_eq!(regex.matches(&text).collect::<Vec<_>>(), vec![0..text.len()]);
    }

    #[test]
    fn what_cannot_be_kept_small_is_refused() {
        let why = |pattern: &str| Regex::new(pattern, RegexFlags::default()).err();
        assert_eq!(why("((a{1000}){1000}){1000}"), Some("compiled regex exceeded size limit"));
        assert_eq!(why(&"a{9999}".repeat(9)), Some("compiled regex exceeded size limit"));
        assert_eq!(why(&"(".repeat(99)), Some("pattern has too much nesting"));
    }
}
