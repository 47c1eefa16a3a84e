//! Floor 0: ids, time, bytes, opaque JSON and text. Nothing here knows what an agent is.

pub mod by_id;
pub mod bytes;
pub mod digest;
pub mod id;
pub mod json;
pub mod path;
pub mod steps;
pub mod text;
pub mod time;
