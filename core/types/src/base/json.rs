//! JSON: the codec's types and traits under one name, so that hosts that depend on the core alone
//! can read and write its types.

pub use innerloop_json::{
    Error, FieldNames, FromJson, Json, JsonFault, JsonObject, Map, Number, Reader, ToJson, Value,
    VariantNames, from_str, to_string,
};
