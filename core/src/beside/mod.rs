//! Floor 6: optional pieces beside the sessions, in nobody's way who does not use them.

pub mod catalogue;
pub mod decode;
pub mod providers;
pub mod traffic;
