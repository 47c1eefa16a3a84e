//! The expression of a search, for the engine that ripgrep uses. It finds candidates in many lines
//! at once, and each is then confirmed in its own line. Invariant: the answers are those of the
//! tools' own small matcher, from whose expressions these are translated; where there is no equal
//! translation, the small matcher does the search.

use super::{
    stop::StopFlag,
    translate::{MatchSubject, TranslationFlags, translate},
};
use grep_matcher::{LineMatchKind, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use innerloop_tools::parts::{LineMatcher, searched};
use innerloop_types::action::GrepQuery;
use memchr::memchr;
use regex_automata::{Input, meta::Regex};
use std::{borrow::Cow, ops::Range, str};

/// The maximum number of bytes of a compiled expression, which the model writes.
const PROGRAM_BYTES: usize = 32 << 20;
/// The maximum number of bytes of its caches, for each thread.
const CACHE_BYTES: usize = 16 << 20;
/// The number of bytes that are searched before the stop flag is looked at again.
const WINDOW: usize = 1 << 20;

/// A search by the fast engine. Threads share it.
#[derive(Debug)]
pub(super) struct SearchExpression {
    /// The engine that finds candidates in many lines at once.
    lines: RegexMatcher,
    /// The engine that finds matches in one line, or in a text if matches may span lines.
    exact: Regex,
    unless: Option<Regex>,
    multiline: bool,
    /// True if bytes that are not UTF-8 may be part of a match.
    matches_replaced: bool,
    stop: StopFlag,
}

impl SearchExpression {
    /// Translates a search whose expressions the small matcher accepts; `None` if there is no equal
    /// translation, or it becomes too large.
    pub(super) fn of(grep: &GrepQuery, stop: &StopFlag) -> Option<Self> {
        let GrepQuery { ignore_case, multiline, .. } = *grep;
        let pattern = match grep.literal {
            true => Cow::Owned(regex_syntax::escape(&grep.pattern)),
            false => Cow::Borrowed(grep.pattern.as_str()),
        };
        let flags =
            TranslationFlags { ignore_case, line_borders: multiline, any_is_all: multiline };
        let exact = |pattern: &str| {
            let translated = translate(pattern, flags, MatchSubject::Text)?;
            let settings = Regex::config()
                .nfa_size_limit(Some(PROGRAM_BYTES))
                .hybrid_cache_capacity(CACHE_BYTES);
            Regex::builder().configure(settings).build_from_hir(&translated.hir).ok()
        };
        let lines = translate(&pattern, flags, MatchSubject::Lines)?;
        Some(Self {
            matches_replaced: lines.matches_replaced,
            lines: RegexMatcherBuilder::new()
                .size_limit(PROGRAM_BYTES)
                .dfa_size_limit(CACHE_BYTES)
                .line_terminator(Some(b'\n'))
                .build(&lines.hir.to_string())
                .ok()?,
            exact: exact(&pattern)?,
            unless: match &grep.unless {
                Some(unless) => Some(exact(unless)?),
                None => None,
            },
            multiline,
            stop: stop.clone(),
        })
    }

    /// Returns a position in the first line of the text that may match.
    fn candidate(&self, text: &[u8]) -> Option<usize> {
        match self.lines.find_candidate_line(text) {
            Ok(Some(LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at))) => Some(at),
            Ok(None) | Err(_) => None,
        }
    }
}

impl LineMatcher for SearchExpression {
    fn searched<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let bytes = searched(bytes);
        // The small matcher sees U+FFFD in place of bytes that are not UTF-8. For an expression
        // that cannot match it, the text need not be copied.
        let as_text = self.multiline || self.matches_replaced;
        if !as_text || str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned().into_bytes())
    }

    fn is_multiline(&self) -> bool {
        self.multiline
    }

    fn candidates<'b>(&'b self, bytes: &'b [u8]) -> impl FnMut(usize) -> Option<usize> + 'b {
        move |from| {
            let mut from = from;
            while from < bytes.len() && !self.stop.is_set() {
                let window = window(bytes.get(from..)?);
                let place = self.candidate(window);
                // An expression that matches nothing also matches behind the last line feed, where
                // there is no line.
                let in_line = |at: &usize| *at < window.len() || !window.ends_with(b"\n");
                if let Some(at) = place.filter(in_line) {
                    return Some(from + at);
                }
                from += window.len();
            }
            None
        }
    }

    fn find(&self, line: &str, _place: usize) -> Option<usize> {
        self.exact.find(line).map(|found| found.start())
    }

    fn excludes(&self, line: &str) -> bool {
        self.unless.as_ref().is_some_and(|unless| unless.is_match(line))
    }

    fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let going_on = |_: &_| !self.stop.is_set();
        self.exact.find_iter(Input::new(text)).take_while(going_on).map(|found| found.range())
    }
}

/// Returns whole lines from the beginning of the text, of a window's size or somewhat more.
fn window(text: &[u8]) -> &[u8] {
    let rest = text.get(WINDOW..).unwrap_or_default();
    memchr(b'\n', rest).and_then(|at| text.get(..=WINDOW + at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_tools::parts::{hits, small_matcher};

    /// Pieces of expressions, with spaces between.
    const PIECES: &str = r"a b ab B k S . ^ $ | ( ) (?: (?i) (?-i) (?m) (?s) (?P<n> ? * + {0} {1}
        {2,} {0,3} [ab] [^a] []a] \w \W \d \s \S \b \B \. - \( \t +? (?s: (?i: é ſ (?-i: [\]b]
        (?U) [[:alpha:]] [[:^space:]] [\W\d] [^\w] \n \A \z \< \b{end} \r [a-e] [^k] (?x) \x20 #
        \x41 \u{e9} \u{212a} (?u)";
    /// Pieces of texts, with spaces between; each question mark stands for a byte that is no UTF-8.
    const LETTERS: &str =
        "a b A B . - ( \\t é ] \\n \\n \\r\\n \\r ? é? \\s k \u{212a} ſ 1 s \u{fffd}";

    /// Random expressions and lines: both matchers find the same. Only where an expression itself
    /// names the character that stands for bytes that are no UTF-8, the small one does not find it.
    #[test]
    fn the_answers_are_those_of_the_small_matcher() {
        let pieces: Vec<&str> = PIECES.split_whitespace().collect();
        let letter = |letter: &str| {
            let letter = letter.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r");
            let bytes = letter.replace("\\s", " ").into_bytes();
            bytes.into_iter().map(|byte| if byte == b'?' { 0xe2 } else { byte }).collect()
        };
        let letters: Vec<Vec<u8>> = LETTERS.split_whitespace().map(letter).collect();
        let mut state = 11_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        let (mut compared, mut matched) = (0_u32, 0_u64);
        for _ in 0..20_000 {
            let pattern: String =
                (0..=random(6)).filter_map(|_| pieces.get(random(pieces.len()))).copied().collect();
            let multiline = random(4) == 0;
            let ignore_case = random(4) == 0;
            let unless = (random(8) == 0).then(|| "b".to_owned());
            let literal = random(16) == 0;
            let grep = GrepQuery {
                pattern,
                multiline,
                ignore_case,
                unless,
                literal,
                ..GrepQuery::default()
            };
            let Ok(small) = small_matcher(&grep) else { continue };
            let Some(fast) = SearchExpression::of(&grep, &StopFlag::default()) else { continue };
            for _ in 0..12 {
                let text = (0..random(9)).filter_map(|_| letters.get(random(letters.len())));
                let text = text.cloned().collect::<Vec<_>>().concat();
                let (of_small, of_fast) = (small.searched(&text), fast.searched(&text));
                let expected = all(&small, &of_small);
                assert_eq!(all(&fast, &of_fast), expected, "{grep:?} in {text:?}");
                compared += 1;
                matched += hits(&small, &of_small, u64::MAX);
            }
        }
        assert!(compared > 50_000 && matched > 20_000, "{compared} {matched}");
    }

    /// The lines that are found, and the matches in each.
    fn all(matcher: &impl LineMatcher, bytes: &[u8]) -> (u64, Vec<Range<usize>>) {
        let text = String::from_utf8_lossy(bytes);
        let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let found = match matcher.is_multiline() {
            true => matcher.matches(&text).collect(),
            false => lines.flat_map(|line| matcher.matches(line).collect::<Vec<_>>()).collect(),
        };
        (hits(matcher, bytes, u64::MAX), found)
    }
}
