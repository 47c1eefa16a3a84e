//! Finding calls that repeat (Spec §2.10), with the specification's two gaps mended: a period that
//! does not divide the window is found all the same (CONFLICTS X1), and a warning is not given
//! again for the calls that it was given for (X2).

use crate::words::digest::Digest;
use alloc::{collections::VecDeque, vec::Vec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest cycle of calls that is looked for.
const MAX_PERIOD: usize = 3;

/// The signatures of the newest calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    recent: VecDeque<u64>,
    /// Calls since the last warning that went on with the same pattern.
    since: Option<usize>,
}

impl Watch {
    /// Notes a call, and says whether the newest `window` calls repeat in a way that has not been
    /// warned of: the length of the cycle, if they do.
    pub fn note(&mut self, signature: u64, window: usize) -> Option<usize> {
        self.recent.push_back(signature);
        while self.recent.len() > window {
            self.recent.pop_front();
        }
        let found = self.period(window);
        self.since = match (found, self.since) {
            (None, _) => None,
            (Some(_), Some(calls)) if calls + 1 < window => {
                self.since = Some(calls + 1);
                return None;
            }
            (Some(_), _) => Some(0),
        };
        found
    }

    /// The shortest cycle that a full window of calls goes through, whole cycles only.
    fn period(&self, window: usize) -> Option<usize> {
        if self.recent.len() < window {
            return None;
        }
        (1..=MAX_PERIOD).find(|&period| {
            let over = window % period;
            let newest = self.recent.iter().skip(over);
            let span = window - over;
            span > period && newest.clone().skip(period).eq(newest.take(span - period))
        })
    }
}

/// What tells one call from another: the tool and its arguments, whatever the order of their keys
/// and the white space around their texts. Text that is not JSON counts as it is.
#[must_use]
pub fn signature(name: &str, arguments: &str) -> u64 {
    let mut hash = Hash(Digest::new());
    hash.text(name);
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => hash.value(&value),
        Err(_) => hash.text(arguments),
    }
    hash.0.0
}

/// A digest of values.
struct Hash(Digest);

impl Hash {
    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
        self.byte(0xff);
    }

    const fn byte(&mut self, byte: u8) {
        self.0.byte(byte);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => self.text(&alloc::format!("{value}")),
            // 2 and 2.0 ask for the same.
            Value::Number(number) => match number.as_f64() {
                Some(number) => self.text(&alloc::format!("{number}")),
                None => self.text(&alloc::format!("{number}")),
            },
            Value::String(text) => {
                self.byte(b'"');
                self.text(text.trim());
            }
            Value::Array(items) => {
                self.byte(b'[');
                items.iter().for_each(|item| self.value(item));
                self.byte(b']');
            }
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(name, _)| *name);
                self.byte(b'{');
                for (name, value) in fields {
                    self.text(name);
                    self.value(value);
                }
                self.byte(b'}');
            }
        }
    }
}
