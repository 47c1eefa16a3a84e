//! Detection of calls that repeat (`docs/decisions.md#repeating-calls`): cycles over a window of
//! calls, and rounds in a row that are alike. A period that does not divide the window is found as
//! well, and no warning is given twice for the same calls.

use alloc::vec::Vec;
use innerloop_json::{FromJson, ToJson, Value, from_str};
use innerloop_types::{
    config::{LoopPolicy, LoopStep},
    digest::DigestBuilder,
};

/// The newest calls of an agent, as signatures, and the warnings that were given about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct RepeatDetector {
    recent: Vec<u64>,
    /// The number of calls since the last warning, as long as they follow the same pattern.
    since: Option<usize>,
    /// The number of warnings since the pattern began.
    warnings: usize,
    /// The newest rounds that call the same tools.
    name: RepeatStreak,
    /// The same, with equal arguments and results.
    call: RepeatStreak,
}

/// Rounds in a row that are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
struct RepeatStreak {
    /// The signature that the rounds have in common.
    signature: u64,
    rounds: u32,
    /// The number of calls in all of the rounds.
    calls: usize,
}

/// A pattern that calls follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatPattern {
    /// The number of calls in one cycle of it.
    pub period: usize,
    /// The number of the newest calls that follow it.
    pub calls: usize,
    /// The action to take about it.
    pub step: LoopStep,
}

impl RepeatDetector {
    /// Notes the calls of a round by name, arguments and result. Returns the pattern if the newest
    /// calls repeat in a way that has not been warned of.
    pub fn note(
        &mut self,
        round: &[(&str, &str, &str)],
        policy: &LoopPolicy,
    ) -> Option<RepeatPattern> {
        let (mut names, mut calls) = (DigestBuilder::new(), DigestBuilder::new());
        let mut cycle = None;
        let mut before = "";
        for &(name, arguments, result) in round {
            // The result is part of a call: an agent that waits for a build asks the same again and
            // again, and each answer is another. Once the answers stay the same, the limits hold.
            let signature = signature(name, arguments, result, policy.mask_volatile);
            self.recent.push(signature);
            self.recent.drain(..self.recent.len().saturating_sub(policy.window));
            cycle = self.cycle(policy).or(cycle);
            signature.to_le_bytes().into_iter().for_each(|byte| calls.byte(byte));
            // The number of times in a row that a round calls a tool does not make it a different
            // round.
            if core::mem::replace(&mut before, name) != name {
                name.bytes().chain([0xff]).for_each(|byte| names.byte(byte));
            }
        }
        // `row` also counts the round, so that it must be called whether or not a cycle was found.
        let found = cycle.or(self.row(names.0, calls.0, round.len(), policy));
        // The ladder begins anew only when every pattern is broken: otherwise a model that changes
        // one argument would get the first warning for ever.
        let is_new = self.name.rounds <= 1 || (policy.same_name == 0 && self.call.rounds <= 1);
        if found.is_none() && self.since.is_none() && is_new {
            self.warnings = 0;
        }
        let (period, calls) = found?;
        let step = policy.ladder.get(self.warnings).or(policy.ladder.last()).copied();
        self.warnings += 1;
        Some(RepeatPattern { period, calls, step: step.unwrap_or(LoopStep::Warn) })
    }

    /// Releases memory that an idle agent does not need.
    pub fn rest(&mut self) {
        self.recent.shrink_to_fit();
    }

    /// Returns the period and the calls of a cycle that fills the window, if a warning is due.
    fn cycle(&mut self, policy: &LoopPolicy) -> Option<(usize, usize)> {
        let found = self.period(policy);
        self.since = match (found, self.since) {
            (None, _) => None,
            // A pattern that goes on is warned of again only a full window later, not after every
            // call.
            (Some(_), Some(calls)) if calls + 1 < policy.window => {
                self.since = Some(calls + 1);
                return None;
            }
            (Some(_), _) => Some(0),
        };
        found.map(|period| (period, policy.window))
    }

    /// Returns the period of the shortest cycle that fills the window, in whole cycles.
    fn period(&self, policy: &LoopPolicy) -> Option<usize> {
        if self.recent.len() < policy.window {
            return None;
        }
        (1..=policy.max_period).find(|&period| {
            // Only whole cycles are compared, nine of ten calls for a period of three: the
            // specification skips periods that do not divide the window, and never finds a cycle of
            // three.
            let over = policy.window % period;
            let newest = self.recent.get(over..).unwrap_or_default();
            let span = policy.window - over;
            span > period && newest.get(period..) == newest.get(..span - period)
        })
    }

    /// Returns the calls of a round and of the row if too many rounds in a row have the same calls,
    /// or the same tools, and a step is due.
    fn row(
        &mut self,
        names: u64,
        calls: u64,
        size: usize,
        policy: &LoopPolicy,
    ) -> Option<(usize, usize)> {
        self.name.add(names, size);
        self.call.add(calls, size);
        let rows = [(self.call, policy.same_args), (self.name, policy.same_name)];
        let (row, _) =
            rows.into_iter().find(|(row, most)| row.is_due(*most, policy.again_after))?;
        Some((size, row.calls))
    }
}

impl RepeatStreak {
    fn add(&mut self, signature: u64, size: usize) {
        if self.signature != signature {
            *self = Self { signature, ..Self::default() };
        }
        self.rounds = self.rounds.saturating_add(1);
        self.calls = self.calls.saturating_add(size);
    }

    /// Returns whether a step is due: after `most` rounds, and then after every `again_after` more.
    const fn is_due(self, most: u32, again_after: u32) -> bool {
        let again = if again_after == 0 { most } else { again_after };
        most > 0 && self.rounds >= most && (self.rounds - most).is_multiple_of(again)
    }
}

/// Returns the signature of a call: a digest of the tool, its result and its arguments. The order
/// of keys and white space around texts do not matter; with `mask`, nor do words that look like
/// times or ids. Arguments that are not JSON count as they are.
#[must_use]
pub fn signature(name: &str, arguments: &str, result: &str, mask: bool) -> u64 {
    let mut hash = SignatureHasher { digest: DigestBuilder::new(), mask };
    hash.text(name);
    match from_str::<Value>(arguments) {
        Ok(value) => hash.value(&value),
        Err(_) => hash.text(arguments),
    }
    if mask {
        hash.masked(result);
    } else {
        hash.text(result);
    }
    hash.digest.0
}

/// A digest of values.
struct SignatureHasher {
    digest: DigestBuilder,
    /// True if what looks like a time or an id counts as all the same.
    mask: bool,
}

impl SignatureHasher {
    fn text(&mut self, text: &str) {
        // 0xff occurs in no UTF-8, so that it separates texts: `ab`, `c` and `a`, `bc` must differ.
        text.bytes().for_each(|byte| self.byte(byte));
        self.byte(0xff);
    }

    const fn byte(&mut self, byte: u8) {
        self.digest.byte(byte);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => self.text(&alloc::format!("{value}")),
            Value::Number(number) => {
                let text = alloc::format!("{number}");
                // 2 and 2.0 are the same to a tool.
                self.text(text.strip_suffix(".0").unwrap_or(&text));
            }
            Value::String(text) => {
                self.byte(b'"');
                if self.mask {
                    self.masked(text.trim());
                } else {
                    self.text(text.trim());
                }
            }
            Value::Array(items) => {
                self.byte(b'[');
                items.iter().for_each(|item| self.value(item));
                self.byte(b']');
            }
            Value::Object(fields) => {
                self.byte(b'{');
                for (name, value) in fields {
                    self.text(name);
                    self.value(value);
                }
                self.byte(b'}');
            }
        }
    }

    /// Adds a text word by word, with one mark for each word that looks like a time or an id.
    fn masked(&mut self, text: &str) {
        let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '_' | '+');
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = joins(first);
            let end = rest.find(|c| joins(c) != is_word).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            self.text(if is_word && is_volatile(word) { "#" } else { word });
            rest = behind;
        }
    }
}

/// Returns whether a word looks like a time, a UUID or a hash: eight characters or more, all of
/// them hexadecimal digits or what stands in times, and four decimal digits among them.
fn is_volatile(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_hexdigit() || matches!(c, '-' | ':' | '.' | '+' | 'T' | 'Z');
    // Ordinary words may consist of the letters a to f; four digits are what sets an id apart.
    word.len() >= 8
        && word.chars().all(fits)
        && word.chars().filter(char::is_ascii_digit).count() >= 4
}
