//! A JSON codec for small modules. Its traits have no type parameter for the format, and a derive
//! makes a text of names that a few shared functions walk, instead of code for each type: the same
//! types take less than half the bytes that they take with `serde`.
//!
//! Reading is strict and bounded: [`Reader`] takes standard JSON only, nests at most
//! [`MAX_DEPTH`] deep, and borrows where it can. Writing gives the bytes that `serde_json` gives.
//! With the feature `serde`, all that has our traits has serde's, too, and through `serde_json`
//! the same JSON.
//!
//! With the feature `schema` they also have the traits of `schema`, which tell what their JSON is:
//! JSON Schema and other languages' types are made of that.
//!
//! For the same reason [`Map`] with its [`PlaceMap`], [`IntoList`], [`sort`] and [`joined`] are
//! here, which are compiled once, whatever their items are, or are short.
//!
//! ```
//! use innerloop_json::{FromJson, ToJson, from_str, to_string};
//!
//! #[derive(ToJson, FromJson)]
//! #[json(deny_unknown_fields)]
//! struct Point {
//!     x: u32,
//!     #[json(default)]
//!     y: u32,
//! }
//!
//! let point: Point = from_str(r#"{"x":1}"#).unwrap();
//! assert_eq!(to_string(&point), r#"{"x":1,"y":0}"#);
//! let error = from_str::<Point>(r#"{"z":1}"#).err().unwrap();
//! assert_eq!(error.to_string(), "unknown field `z`, expected `x` or `y` at line 1 column 5");
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[allow(unused_extern_crates, reason = "the derives name this crate")]
extern crate self as innerloop_json;
#[cfg(test)]
extern crate std;

pub mod base64;
mod bridge;
mod cow;
mod decimal;
mod error;
mod error_json;
mod fill;
mod list;
mod map;
mod number;
mod order;
mod places;
mod plain;
mod raw;
mod reader;
#[cfg(feature = "schema")]
pub mod schema;
mod shape;
mod text;
mod traits;
mod value;
mod write;
mod writer;

pub use cow::FromJsonCow;
pub use decimal::parse_f64;
pub use error::{Error, JsonFault};
pub use innerloop_json_derive::{FromJson, ToJson};
pub use innerloop_json_scan::{MAX_DEPTH, Token, push_string, quoted};
pub use list::IntoList;
pub use map::Map;
pub use number::Number;
pub use order::sort;
pub use places::{PlaceIter, PlaceMap};
pub use raw::{Json, JsonObject, RawJson};
pub use reader::{Reader, ValueKind};
pub use text::joined;
pub use traits::{FieldNames, FromJson, ToJson, VariantNames, from_str, to_string};
pub use value::Value;
pub use writer::Writer;

/// With the feature `schema` what it is given.
#[cfg(feature = "schema")]
#[doc(hidden)]
#[macro_export]
macro_rules! when_schema {
    ($($item:item)*) => { $($item)* };
}

/// Without the feature `schema` nothing.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! when_schema {
    ($($any:tt)*) => {};
}

/// Without the feature `schema` nothing.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! hand_schema {
    ($($any:tt)*) => {};
}

/// Without the feature `schema` nothing.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! any_schema {
    ($($any:tt)*) => {};
}

/// The items that the derives build on; not part of the interface.
#[doc(hidden)]
pub mod derived {
    pub use crate::fill::{FieldSlots, VariantSlots, fill_fields, fill_variant};
    pub use crate::write::{FieldValues, write_fields, write_variant};
    #[cfg(feature = "serde")]
    pub use {
        crate::bridge::{deserialize, serialize},
        serde,
    };
}
