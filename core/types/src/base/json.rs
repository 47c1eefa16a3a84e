//! JSON: the codec's types and traits.

pub use innerloop_json::{
    Error, FromJson, Json, Map, Number, Object, Reader, ToJson, Value, from_str, to_string,
};
