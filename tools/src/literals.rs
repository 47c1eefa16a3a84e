//! The texts that a line must contain for a regular expression to match it, found in the
//! expression's text. Searching for them first is many times faster than running the expression
//! over each line. Where the expression is not understood, nothing is required, so no line that
//! matches is ever lost.

use std::{iter::Peekable, str::Chars};

/// The maximum number of alternatives that are searched one by one.
const MAX_NEEDLES: usize = 8;

/// The texts of which a matching line contains at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredLiterals {
    /// The texts, none of them empty.
    pub(crate) texts: Vec<String>,
    /// True if every line that contains one of them matches.
    pub(crate) sufficient: bool,
    /// True if the expression ignores case.
    pub(crate) ignores_case: bool,
}

impl RequiredLiterals {
    /// Returns what a line must contain for the valid expression `pattern` to match; `None` if
    /// unknown.
    pub(crate) fn of(pattern: &str) -> Option<Self> {
        let mut scanner = LiteralScanner { rest: pattern.chars().peekable(), ignores_case: false };
        let choice = scanner.alternation()?;
        if scanner.rest.next().is_some() {
            return None;
        }
        let texts = choice.texts?;
        let LiteralScanner { ignores_case, .. } = scanner;
        // Lines are searched one by one, so a text with a line feed is never found.
        let usable = texts.len() <= MAX_NEEDLES && !texts.iter().any(|t| t.contains('\n'));
        usable.then_some(Self { texts, sufficient: choice.sufficient, ignores_case })
    }
}

/// The texts that an expression or a part of it requires.
struct LiteralChoice {
    /// One of these texts, if known.
    texts: Option<Vec<String>>,
    sufficient: bool,
}

/// The repetition that comes after a piece of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RepeatKind {
    Once,
    AtLeastOnce,
    Optional,
}

struct LiteralScanner<'a> {
    rest: Peekable<Chars<'a>>,
    ignores_case: bool,
}

/// The pieces of a sequence that have been seen so far.
#[derive(Default)]
struct LiteralSequence {
    run: String,
    best: Option<Vec<String>>,
    broken: bool,
}

impl LiteralSequence {
    /// Ends the run of literal characters: what follows need not be adjacent.
    fn end_run(&mut self) {
        if !self.run.is_empty() {
            let run = std::mem::take(&mut self.run);
            self.offer(vec![run]);
        }
    }

    /// Keeps the requirement that leaves the fewest lines: the one with the longest texts, and of
    /// those the one with the fewest.
    fn offer(&mut self, texts: Vec<String>) {
        let rank = |texts: &[String]| {
            let shortest = texts.iter().map(String::len).min().unwrap_or(0);
            (shortest, std::cmp::Reverse(texts.len()))
        };
        if self.best.as_ref().is_none_or(|best| rank(&texts) > rank(best)) {
            self.best = Some(texts);
        }
    }

    fn into_choice(mut self) -> LiteralChoice {
        let sufficient = !self.broken && self.best.is_none() && !self.run.is_empty();
        self.end_run();
        LiteralChoice { texts: self.best, sufficient }
    }
}

impl LiteralScanner<'_> {
    /// Reads up to the end or to the parenthesis that closes the group; `None` if something is not
    /// understood.
    fn alternation(&mut self) -> Option<LiteralChoice> {
        // The branches together require one text of any branch, and nothing if one branch requires
        // nothing.
        let mut whole = self.sequence()?;
        while self.rest.next_if_eq(&'|').is_some() {
            let branch = self.sequence()?;
            whole.sufficient &= branch.sufficient;
            whole.texts = match (whole.texts, branch.texts) {
                (Some(mut texts), Some(more)) => {
                    texts.extend(more);
                    Some(texts)
                }
                _ => None,
            };
        }
        Some(whole)
    }

    fn sequence(&mut self) -> Option<LiteralChoice> {
        let mut seen = LiteralSequence::default();
        while let Some(c) = self.rest.next_if(|c| !matches!(c, '|' | ')')) {
            match c {
                '(' => self.group(&mut seen)?,
                '[' => {
                    self.skip_class()?;
                    self.skip_piece(&mut seen)?;
                }
                '\\' => self.escape(&mut seen)?,
                '.' | '^' | '$' => self.skip_piece(&mut seen)?,
                c => self.literal(c, &mut seen)?,
            }
        }
        Some(seen.into_choice())
    }

    fn literal(&mut self, c: char, seen: &mut LiteralSequence) -> Option<()> {
        match self.repeat()? {
            RepeatKind::Once => seen.run.push(c),
            // One is certain, but more of it may stand before the next character.
            RepeatKind::AtLeastOnce => {
                seen.run.push(c);
                seen.broken = true;
                seen.end_run();
            }
            RepeatKind::Optional => {
                seen.broken = true;
                seen.end_run();
            }
        }
        Some(())
    }

    /// Skips a piece that requires no particular text.
    fn skip_piece(&mut self, seen: &mut LiteralSequence) -> Option<()> {
        self.repeat()?;
        seen.broken = true;
        seen.end_run();
        Some(())
    }

    fn escape(&mut self, seen: &mut LiteralSequence) -> Option<()> {
        match self.rest.next()? {
            'w' | 'W' | 'd' | 'D' | 's' | 'S' | 'b' | 'B' | 'A' | 'z' | '<' | '>' => {
                // The braces of `\b{start}` are not a repetition.
                if self.rest.peek() == Some(&'{') {
                    return None;
                }
                self.skip_piece(seen)
            }
            't' => self.literal('\t', seen),
            c if c.is_ascii_punctuation() => self.literal(c, seen),
            _ => None,
        }
    }

    fn group(&mut self, seen: &mut LiteralSequence) -> Option<()> {
        if self.rest.next_if_eq(&'?').is_some() && !self.group_head()? {
            // `(?i)` opens no group: it holds from here on, and repeating it means nothing.
            seen.broken = true;
            return (self.repeat()? == RepeatKind::Once).then_some(());
        }
        let choice = self.alternation()?;
        self.rest.next_if_eq(&')')?;
        let repeat = self.repeat()?;
        seen.broken = true;
        seen.end_run();
        if let (Some(texts), true) = (choice.texts, repeat != RepeatKind::Optional) {
            seen.offer(texts);
        }
        Some(())
    }

    /// Reads what follows `(?`, a name or flags, and returns whether a group's content follows.
    fn group_head(&mut self) -> Option<bool> {
        loop {
            match self.rest.next()? {
                ':' => return Some(true),
                ')' => return Some(false),
                'P' => {}
                '<' => {
                    self.rest.find(|c| *c == '>')?;
                    return Some(true);
                }
                'i' => self.ignores_case = true,
                's' | 'm' | 'U' | '-' => {}
                // The flag `x` makes white space and `#` insignificant, and other flags are not
                // known.
                _ => return None,
            }
        }
    }

    /// Skips a class up to its closing bracket.
    fn skip_class(&mut self) -> Option<()> {
        self.rest.next_if_eq(&'^');
        let mut first = true;
        loop {
            match self.rest.next()? {
                ']' if !first => return Some(()),
                // A nested class, such as `[:alpha:]`, has a closing bracket of its own.
                '[' => return None,
                '\\' => {
                    self.rest.next()?;
                }
                _ => {}
            }
            first = false;
        }
    }

    fn repeat(&mut self) -> Option<RepeatKind> {
        let mut repeat = RepeatKind::Once;
        while let Some(c) = self.rest.next_if(|c| matches!(c, '?' | '*' | '+' | '{')) {
            let next = match c {
                '+' => RepeatKind::AtLeastOnce,
                '{' => self.counted()?,
                _ => RepeatKind::Optional,
            };
            repeat = if repeat == RepeatKind::Optional { repeat } else { next };
            // This `?` makes the repetition lazy, and one more makes it optional.
            self.rest.next_if_eq(&'?');
        }
        Some(repeat)
    }

    /// Reads `n}`, `n,}` or `n,m}`.
    fn counted(&mut self) -> Option<RepeatKind> {
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '}' => break,
                c => text.push(c),
            }
        }
        let least: u32 = text.split(',').next()?.trim().parse().ok()?;
        Some(if least == 0 { RepeatKind::Optional } else { RepeatKind::AtLeastOnce })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail at once")]

    use super::RequiredLiterals;
    use regex_lite::RegexBuilder;

    fn texts(pattern: &str) -> Option<(Vec<String>, bool)> {
        RequiredLiterals::of(pattern).map(|needles| (needles.texts, needles.sufficient))
    }

    #[test]
    fn the_longest_required_text_is_found() {
        let check = |pattern: &str, texts_wanted: &[&str], sufficient: bool| {
            let wanted = texts_wanted.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(texts(pattern), Some((wanted, sufficient)), "{pattern}");
        };
        check("foo", &["foo"], true);
        check("foo|bar", &["foo", "bar"], true);
        check(r"foo\.bar\(", &["foo.bar("], true);
        check("struct [a-z]+ mut", &["struct "], false);
        check(r"^\s*(pub )?fn \w+", &["fn "], false);
        check("(foo|bar)+baz", &["baz"], false);
        check("(foo|bar)+b", &["foo", "bar"], false);
        check("(?i)error", &["error"], false);
        check("abcd?e", &["abc"], false);
        check("x{2}yz+", &["yz"], false);
        for unknown in
            ["", "a*", ".*", r"\w+", "foo|", "(?x)a b", r"\x41bc", "a?|b", "[[:alpha:]]x"]
        {
            assert_eq!(texts(unknown), None, "{unknown}");
        }
    }

    /// Random patterns: each line that matches must contain what is required of it.
    #[test]
    fn no_matching_line_is_lost() {
        const PIECES: &[&str] = &[
            "a", "b", "ab", "B", ".", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?P<n>", "?", "*",
            "+", "{0}", "{1}", "{2,}", "{0,3}", "[ab]", "[^a]", "[]a]", r"\w", r"\b", r"\.", "-",
            r"\(", r"\t", "+?", "(?s:", "é", "(?-i:", r"[\]b]", "(?U)",
        ];
        const LETTERS: &[char] = &['a', 'b', 'A', 'B', '.', '-', '(', '\t', 'é', ']'];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        let (mut checked, mut exact) = (0, 0);
        for _ in 0..60_000 {
            let pattern: String = (0..=random(7)).map(|_| PIECES[random(PIECES.len())]).collect();
            let Ok(regex) = RegexBuilder::new(&pattern).build() else { continue };
            let Some(needles) = RequiredLiterals::of(&pattern) else { continue };
            for _ in 0..12 {
                let line: String = (0..random(7)).map(|_| LETTERS[random(LETTERS.len())]).collect();
                let fold = |text: &str| match needles.ignores_case {
                    true => text.to_ascii_lowercase(),
                    false => text.to_owned(),
                };
                let stands = needles.texts.iter().any(|text| fold(&line).contains(&fold(text)));
                let matches = regex.is_match(&line);
                assert!(stands || !matches, "{pattern:?} matches {line:?}: {needles:?}");
                assert!(!needles.sufficient || stands == matches, "{pattern:?} {line:?}");
                checked += usize::from(matches);
                exact += usize::from(needles.sufficient);
            }
        }
        assert!(checked > 1000 && exact > 1000, "{checked} {exact}");
    }
}
