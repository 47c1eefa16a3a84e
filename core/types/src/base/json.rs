//! JSON: the codec's types and traits.

pub use innerloop_json::{
    Error, FieldNames, FromJson, Json, JsonFault, JsonObject, Map, Number, Reader, ToJson, Value,
    VariantNames, from_str, to_string,
};
