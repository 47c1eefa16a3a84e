//! The fields of a JSON object that somebody asks for, without a list of all: most of an event's
//! are of no interest, and there are many events.

use super::super::lenient;
use alloc::{borrow::Cow, vec::Vec};
use core::fmt;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// A field's value; `None` where it is absent or null.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// The fields of those names in the JSON object `text`; of equal names the last.
///
/// # Errors
/// If `text` is not one JSON object.
pub(super) fn fields<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<[Field<'a>; N], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer.deserialize_map(Wanted(names))?;
    deserializer.end()?;
    Ok(found)
}

struct Wanted<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Wanted<'_, N> {
    type Value = [Field<'de>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(Text(key)) = map.next_key()? {
            let at = self.0.iter().position(|name| *name == key);
            match at.and_then(|at| found.get_mut(at)) {
                Some(slot) => {
                    let value: &'de RawValue = map.next_value()?;
                    *slot = Some(value).filter(|value| value.get() != "null");
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// A field's text, see [`lenient::text`].
pub(super) fn text(field: Field<'_>) -> Option<Cow<'_, str>> {
    exact_text(field).or_else(|| lenient::text(field?))
}

/// A field's text, or nothing.
pub(super) fn word(field: Field<'_>) -> Cow<'_, str> {
    text(field).unwrap_or_default()
}

/// A string's text, if every escape in it has a meaning.
pub(super) fn exact_text(field: Field<'_>) -> Option<Cow<'_, str>> {
    let quoted = field?.get();
    let plain = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', plain.as_bytes()).is_none() {
        return Some(Cow::Borrowed(plain));
    }
    serde_json::from_str::<Text<'_>>(quoted).ok().map(|Text(text)| text)
}

/// A field's count, see [`lenient::count`].
pub(super) fn number(field: Field<'_>) -> Option<u64> {
    lenient::count(field?)
}

/// The elements of an array.
pub(super) fn list(field: Field<'_>) -> Option<Vec<&RawValue>> {
    serde_json::from_str(field?.get()).ok()
}

/// Text that borrows where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
