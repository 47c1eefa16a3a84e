//! Finding calls that repeat (`docs/decisions.md#repeating-calls`). A period that does not divide
//! the window is found, too, and no warning is given twice for the same calls.

use crate::{
    base::digest::Digest,
    types::config::{LoopPolicy, LoopStep},
};
use alloc::vec::Vec;
use innerloop_json::{FromJson, ToJson, Value, from_str};

/// The signatures of the newest calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct Watch {
    recent: Vec<u64>,
    /// Calls since the last warning that went on with the same pattern.
    since: Option<usize>,
    /// How often it has been warned of since the pattern began.
    warnings: usize,
    /// The tool of the newest calls and how many they are.
    name: (u64, u32),
    /// The same, with equal arguments.
    call: (u64, u32),
}

/// A pattern that calls follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// How many calls one cycle of it has.
    pub period: usize,
    /// How many of the newest calls follow it.
    pub calls: usize,
    /// What is to be done about it.
    pub step: LoopStep,
}

impl Watch {
    /// Notes a call, and says whether the newest calls repeat in a way that has not been warned
    /// of.
    pub fn note(&mut self, name: &str, arguments: &str, policy: &LoopPolicy) -> Option<Found> {
        let signature = signature(name, arguments, policy.mask_volatile);
        self.recent.push(signature);
        self.recent.drain(..self.recent.len().saturating_sub(policy.window));
        let cycle = self.cycle(policy);
        let row = self.row(Digest::of(name.as_bytes()).0, signature, policy);
        let found = cycle.or(row);
        let is_new = self.name.1 <= 1 || (policy.same_name == 0 && self.call.1 <= 1);
        if found.is_none() && self.since.is_none() && is_new {
            self.warnings = 0;
        }
        let (period, calls) = found?;
        let step = policy.ladder.get(self.warnings).or(policy.ladder.last()).copied();
        self.warnings += 1;
        Some(Found { period, calls, step: step.unwrap_or(LoopStep::Warn) })
    }

    /// Gives back the memory that an idle agent does not need.
    pub fn rest(&mut self) {
        self.recent.shrink_to_fit();
    }

    /// Period and calls of a cycle that the whole window goes through, if it is to be told.
    fn cycle(&mut self, policy: &LoopPolicy) -> Option<(usize, usize)> {
        let found = self.period(policy);
        self.since = match (found, self.since) {
            (None, _) => None,
            (Some(_), Some(calls)) if calls + 1 < policy.window => {
                self.since = Some(calls + 1);
                return None;
            }
            (Some(_), _) => Some(0),
        };
        found.map(|period| (period, policy.window))
    }

    /// The shortest cycle that a full window of calls goes through, whole cycles only.
    fn period(&self, policy: &LoopPolicy) -> Option<usize> {
        if self.recent.len() < policy.window {
            return None;
        }
        (1..=policy.max_period).find(|&period| {
            let over = policy.window % period;
            let newest = self.recent.get(over..).unwrap_or_default();
            let span = policy.window - over;
            span > period && newest.get(period..) == newest.get(..span - period)
        })
    }

    /// Whether there are too many calls of one tool in a row, or of one tool with the same
    /// arguments; told again after as many more.
    fn row(&mut self, name: u64, call: u64, policy: &LoopPolicy) -> Option<(usize, usize)> {
        let count = |last: &mut (u64, u32), this: u64| {
            *last = (this, if last.0 == this { last.1.saturating_add(1) } else { 1 });
            last.1
        };
        let (names, calls) = (count(&mut self.name, name), count(&mut self.call, call));
        let is_due = |count: u32, most: u32| most > 0 && count.is_multiple_of(most);
        let due = [(calls, policy.same_args), (names, policy.same_name)];
        let (count, _) = due.into_iter().find(|&(count, most)| is_due(count, most))?;
        Some((1, usize::try_from(count).unwrap_or(usize::MAX)))
    }
}

/// What tells one call from another: the tool and its arguments, whatever the order of their keys
/// and the white space around their texts; with `mask`, whatever looks like a time or an id in
/// them, too. Text that is not JSON counts as it is.
#[must_use]
pub fn signature(name: &str, arguments: &str, mask: bool) -> u64 {
    let mut hash = Hash { digest: Digest::new(), mask };
    hash.text(name);
    match from_str::<Value>(arguments) {
        Ok(value) => hash.value(&value),
        Err(_) => hash.text(arguments),
    }
    hash.digest.0
}

/// A digest of values.
struct Hash {
    digest: Digest,
    /// Whether what looks like a time or an id counts as all the same.
    mask: bool,
}

impl Hash {
    fn text(&mut self, text: &str) {
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
                // 2 and 2.0 ask for the same.
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

    /// The text word by word, with one mark for each that looks like a time or an id.
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

/// Whether a word looks like a time, a UUID or a hash: eight characters or more, all of them
/// hexadecimal digits or what stands in times, and four decimal digits among them.
fn is_volatile(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_hexdigit() || matches!(c, '-' | ':' | '.' | '+' | 'T' | 'Z');
    word.len() >= 8
        && word.chars().all(fits)
        && word.chars().filter(char::is_ascii_digit).count() >= 4
}
