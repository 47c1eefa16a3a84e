//! Opaque JSON, and what the wires write by hand.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::Value as SerdeValue;

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

/// Appends a value with its objects' keys in order, so that its bytes do not depend on how the
/// map was built.
pub fn push_value(out: &mut Vec<u8>, value: &SerdeValue) {
    match value {
        SerdeValue::Null | SerdeValue::Bool(_) | SerdeValue::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
        SerdeValue::String(text) => push_string(out, text),
        SerdeValue::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, item);
            }
            out.push(b']');
        }
        SerdeValue::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            out.push(b'{');
            for (index, (name, field)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_string(out, name);
                out.push(b':');
                push_value(out, field);
            }
            out.push(b'}');
        }
    }
}

/// Appends `text` as a JSON string, quotes and all.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => {
                let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
