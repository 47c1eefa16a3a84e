//! What was said, append-only, and its encoded form. The turns are the truth; the encoded bytes
//! are a cache that is dropped when the agent is idle and rebuilt identically (DESIGN rule 10).

use crate::{
    nouns::{
        config::{ModelConfig, WireKind},
        message::{Turn, TurnKind},
        output::HttpRequest,
    },
    wire::{Head, Prefix},
};
use alloc::vec::Vec;

/// The turns of one agent, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    wire: WireKind,
    turns: Vec<Turn>,
    encoded: Option<Prefix>,
}

impl History {
    pub(crate) const fn new(wire: WireKind, turns: Vec<Turn>) -> Self {
        Self { wire, turns, encoded: None }
    }

    /// The turns, oldest first.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turns behind the model's last reply: what it has not read yet.
    #[must_use]
    pub fn unread(&self) -> &[Turn] {
        let is_reply = |turn: &Turn| matches!(turn.kind, TurnKind::Assistant(_));
        let read = self.turns.iter().rposition(is_reply).map_or(0, |at| at + 1);
        self.turns.get(read..).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, turn: Turn) {
        if let Some(encoded) = &mut self.encoded {
            encoded.push(&turn.kind);
        }
        self.turns.push(turn);
    }

    /// The request for the next reply.
    pub(crate) fn request(&mut self, head: &Head, model: &ModelConfig) -> HttpRequest {
        let encoded = self.encoded.take().unwrap_or_else(|| self.encode());
        self.encoded.insert(encoded).request(head, model)
    }

    /// The same request again, without a change to the cache.
    pub(crate) fn request_again(&self, head: &Head, model: &ModelConfig) -> HttpRequest {
        match &self.encoded {
            Some(encoded) => encoded.request(head, model),
            None => self.encode().request(head, model),
        }
    }

    /// Frees the encoded form.
    pub(crate) fn drop_encoded(&mut self) {
        self.encoded = None;
    }

    fn encode(&self) -> Prefix {
        let mut prefix = Prefix::new(self.wire);
        for turn in &self.turns {
            prefix.push(&turn.kind);
        }
        prefix
    }
}
