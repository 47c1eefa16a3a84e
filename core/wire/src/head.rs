//! The head of a request: all that stands around its turns, whatever the protocol.

use alloc::string::String;

/// The part of a request that stays the same from turn to turn: model, system prompt, tools. It
/// is encoded once and shared between sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// The text before the first turn.
    pub(super) before: String,
    /// The position in `before` that takes a cache marker, in protocols that have them.
    pub(super) mark: Option<usize>,
    /// The text behind the last turn.
    pub(super) after: String,
}
