//! What was said, append-only, and its encoded form. The turns are the truth; the encoded bytes are
//! a cache that is dropped when the agent is idle and rebuilt identically
//! (`docs/decisions.md#the-stable-prefix`).

use super::route::{Route, Tools};
use crate::{
    base::time::UnixMillis,
    rules::gauge::Gauge,
    types::{
        config::{Estimator, ModelConfig},
        message::{Part, ToolCall, ToolResult, Turn, TurnKind},
        output::HttpRequest,
    },
    wire::Prefix,
};
use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};
use innerloop_json::Map;

/// The turns of one agent, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    turns: Vec<Turn>,
    gauge: Gauge,
    /// On the heap, since an idle agent has none.
    cache: Option<Box<Cache>>,
}

/// What follows from the turns; dropped when the agent is idle, and made again.
#[derive(Clone, Debug, Default)]
struct Cache {
    encoded: Option<Encoded>,
    /// The ids of all calls.
    calls: Option<Map<()>>,
}

/// The turns as one model is told them.
#[derive(Clone, Debug)]
struct Encoded {
    route: Arc<Route>,
    prefix: Prefix,
}

impl History {
    pub(crate) fn new(turns: Vec<Turn>, estimator: Estimator) -> Self {
        let mut gauge = Gauge::new(estimator);
        turns.iter().for_each(|turn| gauge.note(&turn.kind));
        Self { turns, gauge, cache: None }
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

    /// How many replies with calls there are since the user's last input.
    pub(crate) fn rounds_since_input(&self) -> u32 {
        let newest = self.turns.iter().rev();
        let newer = newest.take_while(|turn| !matches!(turn.kind, TurnKind::User(_)));
        let rounds = newer.filter(|turn| call_ids(turn).next().is_some()).count();
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// All rounds since the input that so many inputs have followed, itself included.
    pub(crate) fn rounds_since(
        &self,
        inputs: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = (&ToolCall, &ToolResult)>> {
        let is_input = |(_, turn): &(usize, &Turn)| matches!(turn.kind, TurnKind::User(_));
        let places = self.turns.iter().enumerate().rev().filter(is_input);
        let first = places.map(|(at, _)| at).nth(inputs.wrapping_sub(1));
        let run = first.and_then(|first| self.turns.get(first..)).unwrap_or_default();
        (1..=run.len()).map(|end| round(run.get(..end).unwrap_or_default()))
    }

    /// The calls of the last reply, where nothing stands behind it.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let reply = match self.turns.last() {
            Some(Turn { kind: TurnKind::Assistant(reply), .. }) => Some(reply),
            _ => None,
        };
        reply.into_iter().flat_map(|reply| reply.tool_calls())
    }

    /// The calls of the last reply, each with its answer.
    pub(crate) fn last_round(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        round(&self.turns)
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
        if let Some(cache) = &mut self.cache {
            if let Some(encoded) = &mut cache.encoded {
                encoded.prefix.push(&turn.kind);
            }
            if let Some(calls) = &mut cache.calls {
                calls.extend(call_ids(&turn).map(|id| (id, ())));
            }
        }
        self.gauge.note(&turn.kind);
        self.turns.push(turn);
    }

    /// Whether a call of that id was made before: providers want ids that occur once.
    pub(crate) fn has_call(&mut self, id: &str) -> bool {
        let turns = &self.turns;
        let calls = &mut self.cache.get_or_insert_default().calls;
        let calls = calls
            .get_or_insert_with(|| turns.iter().flat_map(call_ids).map(|id| (id, ())).collect());
        calls.contains_key(id)
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
    pub(crate) fn request(&mut self, route: &Arc<Route>, tools: Tools, key: &str) -> HttpRequest {
        let cached = &mut self.cache.get_or_insert_default().encoded;
        let encoded = match cached.take().filter(|encoded| encoded.fits(route)) {
            Some(encoded) => encoded,
            None => {
                let prefix = encode(&self.turns, &route.model);
                Encoded { route: Arc::clone(route), prefix }
            }
        };
        let prefix = &cached.insert(encoded).prefix;
        prefix.request(route.head(tools), &route.model, key)
    }

    /// The same request again, without a change to the cache.
    pub(crate) fn request_again(&self, route: &Route, tools: Tools, key: &str) -> HttpRequest {
        let (head, model) = (route.head(tools), &route.model);
        let cached = self.cache.as_ref().and_then(|cache| cache.encoded.as_ref());
        match cached.filter(|encoded| encoded.fits(route)) {
            Some(encoded) => encoded.prefix.request(head, model, key),
            None => encode(&self.turns, model).request(head, model, key),
        }
    }

    /// How many turns there are up to the last call that is not answered.
    #[cfg(feature = "seams")]
    pub(crate) fn answered(&self) -> usize {
        let is_open = self.turns.last().is_some_and(|turn| call_ids(turn).next().is_some());
        self.turns.len() - usize::from(is_open)
    }

    /// A request for a summary of the first `turns` turns.
    #[cfg(feature = "seams")]
    pub(crate) fn request_for_summary(
        &self,
        turns: usize,
        route: &Route,
        key: &str,
    ) -> HttpRequest {
        let mut prefix = encode(self.turns.get(..turns).unwrap_or(&self.turns), &route.model);
        prefix.push(&TurnKind::User(vec![Part::text("Sum up the conversation so far.")]));
        prefix.request(route.head(Tools::Off), &route.model, key)
    }

    /// Frees what an idle agent does not need.
    pub(crate) fn rest(&mut self) {
        self.cache = None;
        self.turns.shrink_to_fit();
    }
}

impl Encoded {
    /// Whether the turns are encoded for the model of that route.
    fn fits(&self, route: &Route) -> bool {
        self.route.model == route.model
    }
}

fn encode(turns: &[Turn], model: &ModelConfig) -> Prefix {
    let mut prefix = Prefix::new(model);
    for turn in turns {
        prefix.push(&turn.kind);
    }
    prefix
}

/// The calls of the last reply, each with its answer; none where it is not answered last.
fn round(turns: &[Turn]) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
    let (calls, results) = match turns {
        [
            ..,
            Turn { kind: TurnKind::Assistant(reply), .. },
            Turn { kind: TurnKind::ToolResults(results), .. },
        ] => (Some(reply), results.as_slice()),
        _ => (None, [].as_slice()),
    };
    calls.into_iter().flat_map(|reply| reply.tool_calls()).zip(results)
}

fn call_ids(turn: &Turn) -> impl Iterator<Item = String> {
    let reply = match &turn.kind {
        TurnKind::Assistant(reply) => Some(reply),
        _ => None,
    };
    reply.into_iter().flat_map(|reply| reply.tool_calls()).map(|call| call.id.clone())
}
