//! What was said, append-only, and its encoded form. The turns are the truth; the encoded bytes
//! are a cache that is dropped when the agent is idle and rebuilt identically (DESIGN rule 10).

use crate::{
    base::time::UnixMillis,
    rules::gauge::Gauge,
    types::{
        config::{Estimator, ModelConfig},
        message::{Part, ToolCall, ToolResult, Turn, TurnKind},
        output::HttpRequest,
    },
    wire::{Head, Prefix},
};
use alloc::{boxed::Box, collections::BTreeSet, string::String, vec, vec::Vec};

/// The turns of one agent, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    turns: Vec<Turn>,
    gauge: Gauge,
    /// On the heap, since an idle agent has none.
    encoded: Option<Box<Prefix>>,
    /// The ids of all calls; dropped and made again like the encoded form.
    calls: Option<BTreeSet<String>>,
}

impl History {
    pub(crate) fn new(turns: Vec<Turn>, estimator: Estimator) -> Self {
        let mut gauge = Gauge::new(estimator);
        turns.iter().for_each(|turn| gauge.note(&turn.kind));
        Self { turns, gauge, encoded: None, calls: None }
    }

    /// The turns, oldest first.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How much of the context window the turns take.
    pub(crate) const fn gauge(&self) -> Gauge {
        self.gauge
    }

    /// The turns behind the model's last reply: what it has not read yet.
    #[must_use]
    pub fn unread(&self) -> &[Turn] {
        let is_reply = |turn: &Turn| matches!(turn.kind, TurnKind::Assistant(_));
        let read = self.turns.iter().rposition(is_reply).map_or(0, |at| at + 1);
        self.turns.get(read..).unwrap_or_default()
    }

    /// The calls of the last reply, each with its answer.
    pub(crate) fn last_round(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        let (calls, results) = match self.turns.as_slice() {
            [
                ..,
                Turn { kind: TurnKind::Assistant(reply), .. },
                Turn { kind: TurnKind::ToolResults(results), .. },
            ] => (Some(reply), results.as_slice()),
            _ => (None, [].as_slice()),
        };
        calls.into_iter().flat_map(|reply| reply.tool_calls()).zip(results)
    }

    /// What the model said last.
    pub(crate) fn last_said(&self) -> String {
        let newest = self.turns.iter().rev().find_map(|turn| match &turn.kind {
            TurnKind::Assistant(reply) => Some(reply.text()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    /// All that the model has said since the user's last input.
    pub(crate) fn said_since_input(&self) -> String {
        let is_input = |turn: &Turn| matches!(turn.kind, TurnKind::User(_));
        let first = self.turns.iter().rposition(is_input).unwrap_or_default();
        let texts = self.turns.iter().skip(first).filter_map(|turn| match &turn.kind {
            TurnKind::Assistant(reply) => Some(reply.text()),
            _ => None,
        });
        let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }

    pub(crate) fn push(&mut self, turn: Turn) {
        if let Some(encoded) = &mut self.encoded {
            encoded.push(&turn.kind);
        }
        if let Some(calls) = &mut self.calls {
            calls.extend(call_ids(&turn));
        }
        self.gauge.note(&turn.kind);
        self.turns.push(turn);
    }

    /// Whether a call of that id was made before: providers want ids that occur once.
    pub(crate) fn has_call(&mut self, id: &str) -> bool {
        let turns = &self.turns;
        self.calls.get_or_insert_with(|| turns.iter().flat_map(call_ids).collect()).contains(id)
    }

    /// Answers the calls of a last reply that nobody has answered, so that none dangles.
    pub(crate) fn answer_open_calls(&mut self, at: UnixMillis) {
        let Some(Turn { kind: TurnKind::Assistant(reply), .. }) = self.turns.last() else { return };
        let results: Vec<ToolResult> = reply
            .tool_calls()
            .map(|call| ToolResult {
                call_id: call.id.clone(),
                parts: vec![Part::text("The call was interrupted: the session was forked here.")],
                is_error: true,
            })
            .collect();
        if !results.is_empty() {
            self.push(Turn { at, kind: TurnKind::ToolResults(results) });
        }
    }

    /// The request for the next reply.
    pub(crate) fn request(&mut self, head: &Head, model: &ModelConfig, key: &str) -> HttpRequest {
        let encoded = self.encoded.take().unwrap_or_else(|| Box::new(self.encode(model)));
        self.encoded.insert(encoded).request(head, model, key)
    }

    /// The same request again, without a change to the cache.
    pub(crate) fn request_again(&self, head: &Head, model: &ModelConfig, key: &str) -> HttpRequest {
        match &self.encoded {
            Some(encoded) => encoded.request(head, model, key),
            None => self.encode(model).request(head, model, key),
        }
    }

    /// The turns are to be encoded anew: the model is another one.
    pub(crate) fn forget_encoded(&mut self) {
        self.encoded = None;
    }

    /// Frees what an idle agent does not need.
    pub(crate) fn rest(&mut self) {
        self.encoded = None;
        self.calls = None;
        self.turns.shrink_to_fit();
    }

    fn encode(&self, model: &ModelConfig) -> Prefix {
        let mut prefix = Prefix::new(model);
        for turn in &self.turns {
            prefix.push(&turn.kind);
        }
        prefix
    }
}

fn call_ids(turn: &Turn) -> impl Iterator<Item = String> {
    let reply = match &turn.kind {
        TurnKind::Assistant(reply) => Some(reply),
        _ => None,
    };
    reply.into_iter().flat_map(|reply| reply.tool_calls()).map(|call| call.id.clone())
}
