//! JSON fields that take any type: what is of the wrong one is read as absent, so that an odd
//! field never loses those beside it. Each is read in one pass and borrows where it can.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, marker::PhantomData};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// Text, where the field is a string.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, if there is some.
    pub(super) fn some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// A count, where the field is a number that can be one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) Option<u64>);

/// An object, where the field is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<T>(pub(super) Option<T>);

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The objects of an array; a lone object counts as an array of one.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Text as such, or the parts that it consists of.
#[derive(Debug, Default)]
pub(super) enum Content<'a, T> {
    /// Neither text nor parts.
    #[default]
    Absent,
    /// Text as such.
    Text(Cow<'a, str>),
    /// The array's objects; strings among them are lost.
    Parts(Vec<T>),
}

/// What a field's value turns into; every other type is absent.
trait Loosely<'de>: Sized + Default {
    fn of_text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn of_number(_number: u64) -> Self {
        Self::default()
    }

    fn of_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn of_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct Loose<T>(PhantomData<T>);

impl<'de, T: Loosely<'de>> Visitor<'de> for Loose<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
        Ok(T::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(Cow::Owned(text.into())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<T, E> {
        Ok(T::of_text(Cow::Owned(text)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(T::of_number(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Ok(u64::try_from(number).map_or_else(|_| T::default(), T::of_number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        if !(number.is_finite() && number >= 0.0) {
            return Ok(T::default());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = number as u64;
        Ok(T::of_number(whole))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::of_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::of_seq(seq)
    }
}

fn loosely<'de, T: Loosely<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Loose(PhantomData))
}

impl<'de> Loosely<'de> for Text<'de> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        loosely::<Text<'de>, D>(deserializer)
    }
}

impl Loosely<'_> for Count {
    fn of_number(number: u64) -> Self {
        Self(Some(number))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        loosely(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> Loosely<'de> for Map<T> {
    fn of_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Self(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        loosely(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> Loosely<'de> for List<T> {
    fn of_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Self(Vec::from([value])))
    }

    fn of_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut found = Vec::new();
        while let Some(Map(value)) = seq.next_element()? {
            found.extend(value);
        }
        Ok(Self(found))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        loosely(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> Loosely<'de> for Content<'de, T> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }

    fn of_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        List::of_map(map).map(|List(parts)| Self::Parts(parts))
    }

    fn of_seq<A: SeqAccess<'de>>(seq: A) -> Result<Self, A::Error> {
        List::of_seq(seq).map(|List(parts)| Self::Parts(parts))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Content<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        loosely::<Content<'de, T>, D>(deserializer)
    }
}
