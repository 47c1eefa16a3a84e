//! JSON: the codec's types and traits, and text in which surrogates stand alone.

use alloc::string::String;

pub use innerloop_json::{
    Error, FromJson, Json, Map, Number, Object, ToJson, Value, from_str, to_string,
};

/// JSON text in which no escape stands for half a surrogate pair: such a half becomes U+FFFD.
#[must_use]
pub fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let (mut done, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let here = at + found;
        let (is_pair, is_half) = match (unit(here), unit(here + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (true, false),
            (Some(0xd800..=0xdfff), _) => (false, true),
            _ => (false, false),
        };
        at = here
            + if is_pair {
                12
            } else if is_half {
                6
            } else {
                2
            };
        if is_half {
            out.push_str(text.get(done..here).unwrap_or_default());
            out.push_str("\\ufffd");
            done = at;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
