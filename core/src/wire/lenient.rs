//! JSON read loosely: fields by name, whatever their types, so that an odd value costs itself and
//! nothing else.

use crate::base::json::without_lone_surrogates;
use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// An object's fields, unread.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// The fields of an object's text.
    ///
    /// # Errors
    /// The text is not one JSON object.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The field `name`, if it is there and not null; the last of several.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// The field `name` as an object; none if it is no object.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.raw(name).and_then(|raw| Self::parse(raw.get()).ok())
    }

    /// The field `name` as text, see [`text`].
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).and_then(text)
    }

    /// The field `name` as a count, see [`count`].
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.raw(name).and_then(count)
    }

    /// Whether the field `name` is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| raw.get() == "true")
    }

    /// The elements of the field `name`; a value that is no array is its own only element.
    pub(super) fn items(&self, name: &str) -> Vec<&'a RawValue> {
        let Some(raw) = self.raw(name) else { return Vec::new() };
        serde_json::from_str(raw.get()).unwrap_or_else(|_| alloc::vec![raw])
    }

    /// All names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

/// A value's text: of a string its own, with U+FFFD for half a surrogate pair; of a number or
/// truth value its JSON; of an array its elements' texts, or those of their fields `text`, joined.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    match json.as_bytes().first()? {
        b'"' => Some(string(json)),
        b'{' | b'n' => None,
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            let of_item = |item: &RawValue| match Fields::parse(item.get()) {
                Ok(fields) => fields.text("text").map(Cow::into_owned),
                Err(_) => text(item).map(Cow::into_owned),
            };
            Some(Cow::Owned(items.into_iter().filter_map(of_item).collect()))
        }
        _ => Some(Cow::Borrowed(json)),
    }
}

/// A string's text.
fn string(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Text<'_>>(json) {
        Ok(Text(text)) => text,
        Err(_) => {
            let mended = without_lone_surrogates(json);
            Cow::Owned(serde_json::from_str::<String>(&mended).unwrap_or_default())
        }
    }
}

/// A count of tokens: a number, also one with a fraction or in quotes; none if it is below zero.
pub(super) fn count(raw: &RawValue) -> Option<u64> {
    let digits = raw.get().trim_matches('"').trim();
    digits.parse::<u64>().ok().or_else(|| {
        let number = digits.parse::<f64>().ok()?;
        (number.is_finite() && number >= 0.0).then(|| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let whole = number as u64;
            whole
        })
    })
}

/// Text that borrows from the data where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named;

        impl<'de> Visitor<'de> for Named {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Named)
    }
}
