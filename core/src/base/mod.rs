//! Floor 0: ids, time, bytes, opaque JSON, text and sorting. Nothing here knows what an agent is.

pub(crate) mod by_id;
pub mod bytes;
pub mod digest;
pub mod id;
pub mod json;
pub(crate) mod order;
pub mod text;
pub mod time;
