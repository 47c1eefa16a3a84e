//! The stand-in for `text_calls` in builds without that feature: the same functions, which do
//! nothing. A configuration that asks for calls in text is refused.

use super::piece::ReplyPiece;
use alloc::{string::String, vec::Vec};
use innerloop_types::{
    message::{Reply, VisibleTurn},
    model::ModelConfig,
    tool::ToolSpec,
};

/// The search for calls in text, of which there is none. The type has no value, so that the
/// compiler drops the branches that use one.
#[derive(Debug)]
pub(super) enum TextCallFinder {}

impl TextCallFinder {
    pub(super) fn new<'a>(_: &ModelConfig, _: impl Iterator<Item = &'a ToolSpec>) -> Option<Self> {
        None
    }

    pub(super) fn feed(&mut self, _: Vec<ReplyPiece>, _: &mut Vec<ReplyPiece>) {
        match *self {}
    }

    pub(super) fn finish(&mut self, _: Reply, _: usize, _: &mut Vec<ReplyPiece>) -> Reply {
        match *self {}
    }
}

/// Returns whether a reply may have ended in a call: never, since none is looked for.
#[must_use]
pub const fn ends_in_call(_: &ModelConfig, _: &str) -> bool {
    false
}

pub(super) const fn section(_: &[&ToolSpec]) -> String {
    String::new()
}

pub(super) const fn in_text(said: VisibleTurn<'_>) -> VisibleTurn<'_> {
    said
}
