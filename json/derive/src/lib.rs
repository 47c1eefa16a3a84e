//! The derives of `innerloop-json`. For each type they emit a text that describes it, and two small
//! functions that give the field at a place. The functions that read these texts are in
//! `innerloop-json` and exist once for all types, which keeps modules small.
//!
//! `#[json(…)]` knows, with the meaning that they have for serde:
//! - on a struct: `default`, `deny_unknown_fields`, `rename_all`;
//! - on an enum: `rename_all`, `tag`, `deny_unknown_fields`, `untagged` (writing only), and
//!   `keyed`: a variant without content, too, is written as an object with its name as the key;
//! - on a field: `rename`, `alias`, `default`, `default = "path"`, `skip_serializing_if`, `skip`,
//!   and `flatten` (writing only);
//! - on a variant: `rename`.
//!
//! With the feature `schema` the derives also tell what the JSON is, for `innerloop_json::schema`.
//! There, two more are known: `like = "Type"` on a type or a field, which is told as that type's
//! JSON, and `one_of("a", "b")` on a field, which is told as one of these texts.
//!
//! A struct with one unnamed field has that field's JSON. An `Option` may be absent.

mod attributes;
mod model;
mod names;
mod read;
mod schema;
mod write;

use model::TypeModel;
use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives `ToJson`, and with the feature `serde` its `Serialize`.
#[proc_macro_derive(ToJson, attributes(json))]
pub fn to_json(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let written = TypeModel::of(&input).map(|model| write::implementation(&model));
    written.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Derives `FromJson`, and with the feature `serde` its `Deserialize`.
#[proc_macro_derive(FromJson, attributes(json))]
pub fn from_json(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let read = TypeModel::of(&input).and_then(|model| read::implementation(&model));
    read.unwrap_or_else(|error| error.to_compile_error()).into()
}
