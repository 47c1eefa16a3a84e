//! What a decoder says while a reply arrives.

use alloc::string::String;

/// A piece of a reply while it arrives, for people to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What came before does not count: the provider began anew.
    Restart,
    /// More text.
    Text(String),
    /// More thinking.
    Reasoning(String),
}
