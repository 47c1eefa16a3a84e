//! Floor 0: ids, time, bytes, opaque JSON, paths and text. Nothing here knows about agents;
//! everything above may use it.

pub mod by_id;
pub mod bytes;
pub mod digest;
pub mod id;
pub mod json;
pub mod path;
pub mod steps;
pub mod text;
pub mod time;
