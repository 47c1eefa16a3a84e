//! The selection of skills for an input, by its words alone: equal inputs select equal skills.

use alloc::{string::String, vec::Vec};
use innerloop_json::{IntoList, sort};
use innerloop_types::{
    skills::{SkillFacts, SkillUse},
    text::{is_word, listed, prefix},
};

/// The number of bytes of an input that are read.
const MOST_READ: usize = 4_000;

/// The least points that select a skill.
const LEAST: u32 = 10;

/// The limits on the skills that are selected: their number, and the tokens of all together.
const MOST: usize = 3;
const MOST_TOKENS: u64 = 4_000;

/// Words of descriptions that say nothing about a task.
const STOP_WORDS: &str = "about|and|any|are|can|file|files|for|from|has|how|into|not|skill|task|\
                          tasks|that|the|their|this|use|used|user|using|when|where|which|with|you|\
                          your";

/// Returns the skills that an input calls for by their names, and those that its words select, the
/// best first.
pub(crate) fn selected<'a>(
    text: &str,
    skills: &'a [SkillFacts],
    how: SkillUse,
) -> Vec<&'a SkillFacts> {
    if how == SkillUse::Off {
        return Vec::new();
    }
    let mut text = String::from(prefix(text, MOST_READ));
    text.make_ascii_lowercase();
    let (mut found, rest): (Vec<&SkillFacts>, Vec<_>) =
        skills.iter().partition(|skill| is_called(&text, &skill.name));
    if how == SkillUse::Selected {
        let scored = rest.into_iter().map(|skill| (score(&text, skill), skill));
        let mut scored = scored.filter(|(score, _)| *score >= LEAST).into_list();
        sort(&mut scored, |(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
        let mut left = MOST_TOKENS;
        for (_, skill) in scored.into_iter().take(MOST) {
            let bytes = skill.body.as_ref().map_or(0, String::len) as u64;
            let cost = u64::from(skill.max_tokens).max(bytes / 4);
            if cost <= left {
                left -= cost;
                found.push(skill);
            }
        }
    }
    found
}

/// Returns whether a text has `/name` or `$name` as a word of its own.
fn is_called(text: &str, name: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.strip_prefix(['/', '$']).unwrap_or_default();
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        !word.is_empty() && word.eq_ignore_ascii_case(name)
    })
}

/// Returns how much of a text speaks for a skill.
fn score(text: &str, skill: &SkillFacts) -> u32 {
    let SkillFacts { name, description, keywords, exclude, tags, .. } = skill;
    if exclude.iter().any(|word| fit(text, word) == WordFit::Whole) {
        return 0;
    }
    let whole = |word: &str, points: u32| match fit(text, word) {
        WordFit::Whole => points,
        _ => 0,
    };
    if keywords.is_empty() && tags.is_empty() {
        let mut words = 0;
        for word in description.split(|c| !is_word(c)) {
            if word.len() > 2 && !listed(STOP_WORDS).any(|stop| stop.eq_ignore_ascii_case(word)) {
                words += whole(word, 2);
            }
        }
        return whole(name, 8).max(whole(&name.replace('-', " "), 8)) + words.min(20);
    }
    let keys = keywords.iter().map(|word| match fit(text, word) {
        WordFit::Whole => 10,
        WordFit::Inside => 5,
        WordFit::None => 0,
    });
    let keys: u32 = keys.sum();
    let tags: u32 = tags.iter().map(|word| whole(word, 3)).sum();
    keys.min(30) + tags.min(15)
}

/// The way in which a text has a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordFit {
    None,
    /// In a longer one, of five letters or more.
    Inside,
    Whole,
}

fn fit(text: &str, word: &str) -> WordFit {
    let mut word = String::from(word);
    word.make_ascii_lowercase();
    let mut best = WordFit::None;
    for (at, found) in text.match_indices(&word).filter(|(_, found)| !found.is_empty()) {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at + found.len()..).unwrap_or_default();
        if !before.ends_with(is_word) && !behind.starts_with(is_word) {
            return WordFit::Whole;
        }
        // No further than it matters: each place would cost the length of the text.
        let more = before.chars().rev().take(5).take_while(|c| is_word(*c)).count()
            + behind.chars().take(5).take_while(|c| is_word(*c)).count();
        if more + word.chars().count() >= 5 {
            best = WordFit::Inside;
        }
    }
    best
}
