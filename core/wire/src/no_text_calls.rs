//! Stands in for calls in text in builds without them: a configuration that asks for them is
//! refused.

use super::piece::ReplyPiece;
use alloc::{string::String, vec::Vec};
use innerloop_types::{
    message::{Reply, VisibleTurn},
    model::ModelConfig,
    tool::ToolSpec,
};

/// Calls that are not looked for in text.
#[derive(Clone, Debug)]
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

/// Returns whether a reply may have ended in a call: none is looked for.
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
