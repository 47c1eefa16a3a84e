//! serde's traits, over ours. A value goes through its JSON text, so that both JSONs are the same
//! by construction. A format other than `serde_json`'s can't read or write it.

#[cfg(feature = "serde")]
use crate::{
    raw::{Json, JsonObject},
    traits::{FromJson, ToJson, from_str, to_string},
    value::Value,
};
#[cfg(feature = "serde")]
use {
    alloc::boxed::Box,
    serde::{Deserialize, Deserializer, Serialize, Serializer},
    serde_json::value::RawValue,
};

/// Gives a type that has [`ToJson`](crate::ToJson) serde's `Serialize`.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_serialize {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::derived::serde::Serialize for $type {
            fn serialize<S: $crate::derived::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::derived::serialize(self, serializer)
            }
        }
    };
}

/// Gives a type that has [`FromJson`](crate::FromJson) for any text serde's `Deserialize`.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_deserialize {
    ($type:ty) => {
        impl<'de> $crate::derived::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::derived::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::derived::deserialize(deserializer)
            }
        }
    };
}

/// Gives a type of one unnamed field the traits of that field, so that it can also be the key of a
/// map.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_transparent {
    (Serialize [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::derived::serde::Serialize for $type {
            fn serialize<S: $crate::derived::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::derived::serde::Serialize::serialize(&self.0, serializer)
            }
        }
    };
    (Deserialize $type:ty) => {
        impl<'de> $crate::derived::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::derived::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::derived::serde::Deserialize::deserialize(deserializer).map(Self)
            }
        }
    };
}

/// Without the feature `serde` nothing.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_transparent {
    ($($any:tt)*) => {};
}

/// Without the feature `serde` nothing.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_serialize {
    ($($any:tt)*) => {};
}

/// Without the feature `serde` nothing.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge_deserialize {
    ($($any:tt)*) => {};
}

/// Writes a value as the JSON text that it has.
#[cfg(feature = "serde")]
pub fn serialize<S: Serializer>(value: &dyn ToJson, serializer: S) -> Result<S::Ok, S::Error> {
    let raw = RawValue::from_string(to_string(value)).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

/// Reads a value from the JSON text that comes next.
#[cfg(feature = "serde")]
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> FromJson<'a>,
    D: Deserializer<'de>,
{
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    from_str(raw.get()).map_err(serde::de::Error::custom)
}

#[cfg(feature = "serde")]
mod own {
    use super::{Json, JsonObject, Value};

    bridge_serialize!([] Json);
    bridge_deserialize!(Json);
    bridge_serialize!([] JsonObject);
    bridge_deserialize!(JsonObject);
    bridge_serialize!([] Value);
    bridge_deserialize!(Value);
}
