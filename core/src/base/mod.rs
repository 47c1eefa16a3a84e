//! Floor 0: ids, time, bytes, opaque JSON and text. Nothing here knows what an agent is.

pub(crate) mod by_id;
pub mod bytes;
pub mod digest;
pub mod id;
pub mod json;
pub mod path;
pub(crate) mod steps;
pub mod text;
pub mod time;
