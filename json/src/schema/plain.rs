//! The schemas of the standard library's types, and of the codec's own.

use super::table::{ReadSchema, SchemaTable, ValueSchema, WriteSchema};
use crate::{
    map::Map,
    raw::{Json, JsonObject, RawJson},
    value::Value,
};
use alloc::{
    borrow::{Cow, ToOwned},
    boxed::Box,
    string::String,
    sync::Arc,
    vec::Vec,
};
use core::marker::PhantomData;

macro_rules! plain {
    ($($type:ty => $value:expr),* $(,)?) => {$(
        impl ReadSchema for $type {
            fn read_schema(_: &mut SchemaTable) -> ValueSchema {
                $value
            }
        }

        impl WriteSchema for $type {
            fn write_schema(_: &mut SchemaTable) -> ValueSchema {
                $value
            }
        }
    )*};
}

plain! {
    () => ValueSchema::Any,
    Value => ValueSchema::Any,
    Json => ValueSchema::Any,
    RawJson<'_> => ValueSchema::Any,
    JsonObject => ValueSchema::Map(Box::new(ValueSchema::Any)),
    bool => ValueSchema::Bool,
    f64 => ValueSchema::Number,
    str => ValueSchema::Text,
    String => ValueSchema::Text,
}

macro_rules! integers {
    ($($type:ident $signed:literal),*) => {
        plain! { $($type => ValueSchema::Integer { signed: $signed, bits: $type::BITS }),* }
    };
}

integers!(u8 false, u16 false, u32 false, u64 false, i8 true, i16 true, i32 true, i64 true);
// Declared as wide as on the widest machines, since what is written there is read everywhere.
plain! { usize => ValueSchema::Integer { signed: false, bits: 64 } }

macro_rules! around {
    ($([$($generics:tt)*] $type:ty: $($inner:ty),+ => $made:expr;)*) => {$(
        impl<$($generics)*> ReadSchema for $type
        where
            $($inner: ReadSchema),+
        {
            fn read_schema(table: &mut SchemaTable) -> ValueSchema {
                $made($(<$inner>::read_schema(table)),+)
            }
        }

        impl<$($generics)*> WriteSchema for $type
        where
            $($inner: WriteSchema),+
        {
            fn write_schema(table: &mut SchemaTable) -> ValueSchema {
                $made($(<$inner>::write_schema(table)),+)
            }
        }
    )*};
}

around! {
    [T: ?Sized] &T: T => core::convert::identity;
    [T: ?Sized] Box<T>: T => core::convert::identity;
    [T: ?Sized] Arc<T>: T => core::convert::identity;
    [T: ToOwned + ?Sized] Cow<'_, T>: T => core::convert::identity;
    [T] Option<T>: T => ValueSchema::or_null;
    [T] Vec<T>: T => array;
    [T] [T]: T => array;
    [T] Map<T>: T => map;
    [A, B] (A, B): A, B => pair;
}

fn array(item: ValueSchema) -> ValueSchema {
    ValueSchema::Array(Box::new(item))
}

fn map(value: ValueSchema) -> ValueSchema {
    ValueSchema::Map(Box::new(value))
}

fn pair(first: ValueSchema, second: ValueSchema) -> ValueSchema {
    ValueSchema::Pair(Box::new((first, second)))
}

/// Stands for bytes in base64 in `#[json(like = "…")]`.
#[derive(Debug)]
pub struct Base64Text;

plain! { Base64Text => ValueSchema::Base64 }

/// Stands for a merge patch (RFC 7396) of a `T` in `#[json(like = "…")]`.
#[derive(Debug)]
pub struct MergePatch<T>(PhantomData<T>);

around! {
    [T] MergePatch<T>: T => patch;
}

fn patch(of: ValueSchema) -> ValueSchema {
    ValueSchema::Patch(Box::new(of))
}
