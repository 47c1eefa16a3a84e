//! Turns to the bytes of a request.

use super::super::{Head, writer::Writer};
use crate::nouns::{config::ModelConfig, message::TurnKind, tool::ToolSpec};
use alloc::vec::Vec;

/// Model, limits, system prompt and tools.
pub(in super::super) fn head<'a>(
    _model: &ModelConfig,
    _system: &str,
    _tools: impl Iterator<Item = &'a ToolSpec>,
) -> Head {
    Head { before: Vec::new(), mark: None, after: Vec::new() }
}

/// The turns written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    out: Writer,
}

impl Prefix {
    /// No turns yet.
    pub fn new(_model: &ModelConfig) -> Self {
        Self::default()
    }

    /// Appends a turn.
    pub fn push(&mut self, _turn: &TurnKind) {
        self.out.raw("");
    }

    /// The whole body.
    pub fn body(&self, head: &Head, _cache_key: &str) -> Vec<u8> {
        head.before.clone()
    }
}
