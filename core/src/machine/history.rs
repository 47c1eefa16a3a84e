//! The history of an agent: a log of turns that only grows, what the model sees of it, and its
//! encoded form. The turns are the truth. The encoded bytes are a cache, dropped when the agent is
//! idle and rebuilt to the same bytes (`docs/decisions.md#the-stable-prefix`).

use super::{
    last_reply::CONTINUE,
    route::{Route, ToolAccess},
    view::{HistoryView, path},
};
use crate::rules::gauge::TokenGauge;
use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};
use innerloop_json::{IntoList, Map, joined};
use innerloop_types::{
    config::{ModelConfig, TokenEstimator},
    message::{
        Block, Part, ToolCall, ToolResult, Turn, TurnKind, VisibleTurn, calls_among, joined_text,
    },
    output::HttpRequest,
    steps,
    time::UnixMillis,
};
use innerloop_wire::{MediaGate, RequestPrefix};

/// The turns of one agent, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    turns: Vec<Turn>,
    /// The model's view of them; `None` if it sees them all.
    view: Option<Box<HistoryView>>,
    gauge: TokenGauge,
    /// Boxed, since an idle agent has none.
    cache: Option<Box<HistoryCache>>,
}

/// Data derived from the turns; dropped when the agent is idle, and built again.
#[derive(Clone, Debug, Default)]
struct HistoryCache {
    encoded: Option<EncodedHistory>,
    /// The ids of all calls, inserted in their order.
    calls: Option<Map<()>>,
}

/// The turns, encoded for one model.
#[derive(Clone, Debug)]
struct EncodedHistory {
    route: Arc<Route>,
    prefix: RequestPrefix,
}

impl History {
    pub(crate) fn new(mut turns: Vec<Turn>, estimator: TokenEstimator) -> Self {
        turns.iter_mut().for_each(|turn| fit(&mut turn.kind));
        let gauge = TokenGauge::new(estimator);
        let mut history = Self { turns, view: None, gauge, cache: None };
        history.look_again();
        history
    }

    /// The log: all turns, oldest first.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the turns as the model sees them, in order.
    pub fn seen(&self) -> impl DoubleEndedIterator<Item = VisibleTurn<'_>> + Clone {
        seen(&self.turns, self.view.as_deref())
    }

    /// Returns the turns that are seen, each with its place in the log, without the texts of folds.
    pub(crate) fn seen_at(&self) -> impl Iterator<Item = (u32, VisibleTurn<'_>)> + Clone {
        let count = self.view.as_ref().map_or(self.turns.len(), |view| view.len());
        (0..count).filter_map(|place| {
            let at = self.view.as_ref().map_or(Some(place), |view| view.at(place))?;
            let kind = &self.turns.get(at)?.kind;
            let said =
                self.view.as_ref().map_or_else(|| kind.said(), |v| v.said(place, &self.turns));
            let is_fold = kind.fold().is_some();
            Some((u32::try_from(at).ok()?, said.filter(|_| !is_fold)?))
        })
    }

    /// Returns the text that stands for folded turns.
    pub(crate) fn folded(&self) -> Option<&str> {
        let view = self.view.as_ref()?;
        let folds = (0..view.len()).filter_map(|place| self.turns.get(view.at(place)?));
        folds.filter_map(|turn| turn.kind.fold()?.text.as_deref()).next()
    }

    /// Returns the turns that no rewind has undone, the newest first, each with its place in the
    /// log.
    pub(crate) fn standing(&self) -> Vec<(u32, &TurnKind)> {
        let mut standing = Vec::new();
        for part in path(&self.turns) {
            for at in part {
                if let (Ok(place), Some(turn)) = (u32::try_from(at), self.turns.get(at)) {
                    standing.push((place, &turn.kind));
                }
            }
        }
        standing.reverse();
        standing
    }

    /// Returns the number of visible turns that no fold has shortened.
    pub(crate) fn unfolded(&self) -> usize {
        self.view.as_ref().map_or(self.turns.len(), |view| view.unfolded())
    }

    /// Returns the gauge of how much of the context window the turns take.
    pub(crate) const fn gauge(&self) -> TokenGauge {
        self.gauge
    }

    /// Returns the turns behind the model's last reply, which it has not read yet.
    #[must_use]
    pub fn unread(&self) -> Vec<VisibleTurn<'_>> {
        let is_reply = |said: &VisibleTurn<'_>| matches!(said, VisibleTurn::Assistant(_));
        let mut unread: Vec<_> = self.seen().rev().take_while(|said| !is_reply(said)).into_list();
        unread.reverse();
        unread
    }

    /// Returns how many replies there are since the user's last input.
    pub(crate) fn replies_since_input(&self) -> u32 {
        let newest = self.turns.iter().rev();
        let newer = newest.take_while(|turn| !matches!(turn.kind, TurnKind::User(_)));
        let replies = newer.filter(|turn| matches!(turn.kind, TurnKind::Assistant(_))).count();
        u32::try_from(replies).unwrap_or(u32::MAX)
    }

    /// Returns whether the model has ever called a tool.
    pub(crate) fn has_calls(&self) -> bool {
        self.turns.iter().any(|turn| calls(Some(turn)).next().is_some())
    }

    /// Returns the number of replies with calls since the user's last input.
    pub(crate) fn rounds_since_input(&self) -> u32 {
        let newest = self.turns.iter().rev();
        let newer = newest.take_while(|turn| !matches!(turn.kind, TurnKind::User(_)));
        let rounds = newer.filter(|turn| calls(Some(turn)).next().is_some()).count();
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// Returns the rounds of the last `inputs` inputs.
    pub(crate) fn rounds_since(
        &self,
        inputs: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = (&ToolCall, &ToolResult)>> {
        let is_input = |(_, turn): &(usize, &Turn)| matches!(turn.kind, TurnKind::User(_));
        let places = self.turns.iter().enumerate().rev().filter(is_input);
        // For no input the subtraction wraps around to a place that no log has, and there are no
        // rounds: an agent that has not begun a run has none.
        let first = places.map(|(at, _)| at).nth(inputs.wrapping_sub(1));
        let run = first.and_then(|first| self.turns.get(first..)).unwrap_or_default();
        (1..=run.len()).map(|end| round(run.get(..end).unwrap_or_default()))
    }

    /// Returns the calls of the last reply if it is the last turn.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        calls(self.turns.last())
    }

    /// The calls of the last reply, each with its answer.
    pub(crate) fn last_round(&self) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
        round(&self.turns)
    }

    /// Returns what the model said last, joined to the text that it was told to continue.
    pub(crate) fn last_said(&self) -> String {
        let mut seen = self.seen().rev().peekable();
        let newest = seen.find_map(reply_text);
        let mut texts: Vec<String> = newest.into_iter().into_list();
        while let Some(VisibleTurn::Steering(parts)) = seen.next()
            && joined_text(&parts) == CONTINUE
        {
            texts.extend(seen.next().and_then(reply_text));
        }
        texts.reverse();
        joined(&texts, "")
    }

    /// Returns all that the model has said since the user's last input.
    pub(crate) fn said_since_input(&self) -> String {
        let is_input = |turn: &Turn| matches!(turn.kind, TurnKind::User(_));
        let first = self.turns.iter().rposition(is_input).unwrap_or_default();
        let texts = self.turns.iter().skip(first).filter_map(|turn| match &turn.kind {
            TurnKind::Assistant(reply) => Some(reply.text()),
            _ => None,
        });
        let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).into_list();
        joined(&texts, "\n\n")
    }

    pub(crate) fn push(&mut self, mut turn: Turn) {
        fit(&mut turn.kind);
        // A fold, a rewind or a part that is left out says nothing itself, but changes what is seen
        // of the turns before: what was encoded and counted of them no longer holds.
        let Some(said) = turn.kind.said() else {
            self.turns.push(turn);
            return self.look_again();
        };
        // A turn that says something only adds to what is there: each turn is encoded once, and its
        // bytes stay the same from request to request.
        self.gauge.note(&said);
        if let Some(cache) = &mut self.cache {
            if let Some(calls) = &mut cache.calls {
                note_calls(&turn, calls);
            }
            if let Some(encoded) = &mut cache.encoded {
                encoded.prefix.push(said);
            }
        }
        if let Some(view) = &mut self.view {
            view.push(self.turns.len());
        }
        self.turns.push(turn);
    }

    /// Drops the encoded turns, so that the next request encodes them anew.
    pub(crate) fn encode_again(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.encoded = None;
        }
    }

    /// Derives the view and the gauge anew, after what is seen may have changed altogether.
    fn look_again(&mut self) {
        self.encode_again();
        // Most logs are seen whole, and need no list of places.
        let says_all = self.turns.iter().all(|turn| turn.kind.said().is_some());
        self.view = (!says_all).then(|| Box::new(HistoryView::of(&self.turns)));
        let mut gauge = self.gauge.emptied();
        for (place, said) in self.seen().enumerate() {
            match &self.view {
                // What a provider counted before a fold includes turns that are gone by now.
                Some(view) if !view.is_new(place) => gauge.estimate(&said),
                _ => gauge.note(&said),
            }
        }
        self.gauge = gauge;
    }

    /// Returns whether an earlier call has that id: providers want ids that occur once.
    pub(crate) fn has_call(&mut self, id: &str) -> bool {
        self.calls().contains_key(id)
    }

    /// Returns the number of a call among all of the log, counted from 1.
    pub(crate) fn call_number(&mut self, id: &str) -> usize {
        self.calls().place_of(id).map_or(0, |place| place + 1)
    }

    /// Returns the ids of all calls, inserted in their order.
    fn calls(&mut self) -> &Map<()> {
        let turns = &self.turns;
        let calls = &mut self.cache.get_or_insert_default().calls;
        calls.get_or_insert_with(|| {
            steps::count(turns.len());
            let mut all = Map::new();
            turns.iter().for_each(|turn| note_calls(turn, &mut all));
            all
        })
    }

    /// Answers the calls of the last reply that have no result yet: most providers refuse a call
    /// without one.
    pub(crate) fn answer_open_calls(&mut self, at: UnixMillis) {
        // In the log itself and not only in requests, so that every later request and every replay
        // has the same answers.
        let Some(VisibleTurn::Assistant(reply)) = self.seen().next_back() else { return };
        let results: Vec<ToolResult> = reply
            .tool_calls()
            .map(|call| ToolResult {
                call_id: call.id.clone(),
                parts: vec![Part::text(
                    "The call was interrupted: the conversation goes on from here.",
                )],
                is_error: true,
            })
            .into_list();
        if !results.is_empty() {
            self.push(Turn { at, kind: TurnKind::ToolResults(results) });
        }
    }

    /// Returns the request for the next reply, and keeps the encoded turns for the one after.
    pub(crate) fn request(
        &mut self,
        route: &Arc<Route>,
        tools: ToolAccess,
        key: &str,
    ) -> HttpRequest {
        let cached = &mut self.cache.get_or_insert_default().encoded;
        let encoded = match cached.take().filter(|encoded| encoded.fits(route)) {
            Some(encoded) => encoded,
            None => {
                let prefix = encode(seen(&self.turns, self.view.as_deref()), &route.model);
                EncodedHistory { route: Arc::clone(route), prefix }
            }
        };
        let prefix = &cached.insert(encoded).prefix;
        prefix.request(route.head(tools), &route.model, key)
    }

    /// Returns the same request again, without a change to the cache.
    pub(crate) fn request_again(&self, route: &Route, tools: ToolAccess, key: &str) -> HttpRequest {
        let (head, model) = (route.head(tools), &route.model);
        let cached = self.cache.as_ref().and_then(|cache| cache.encoded.as_ref());
        match cached.filter(|encoded| encoded.fits(route)) {
            Some(encoded) => encoded.prefix.request(head, model, key),
            None => encode(self.seen(), model).request(head, model, key),
        }
    }

    /// Frees what an idle agent does not need.
    pub(crate) fn rest(&mut self) {
        self.cache = None;
        self.turns.shrink_to_fit();
    }
}

impl EncodedHistory {
    /// Returns whether the turns are encoded for the model of that route.
    fn fits(&self, route: &Route) -> bool {
        // Head and tools are not part of the encoded turns, so that other ones leave them valid.
        self.route.model == route.model
    }
}

fn seen<'a>(
    turns: &'a [Turn],
    view: Option<&'a HistoryView>,
) -> impl DoubleEndedIterator<Item = VisibleTurn<'a>> + Clone {
    let count = view.map_or(turns.len(), HistoryView::len);
    (0..count).filter_map(move |place| match view {
        Some(view) => view.said(place, turns),
        None => turns.get(place)?.kind.said(),
    })
}

fn encode<'a>(
    seen: impl Iterator<Item = VisibleTurn<'a>> + Clone,
    model: &ModelConfig,
) -> RequestPrefix {
    // Which pictures are sent depends on all that are seen: among many, the large ones are left
    // out, also those of the first turns.
    let gate = MediaGate::new(model).among(seen.clone());
    let mut prefix = RequestPrefix::new(model).through(gate);
    seen.for_each(|said| prefix.push(said));
    prefix
}

/// Returns the calls of the last reply, each with its result; none if the last turn is not their
/// results.
fn round(turns: &[Turn]) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
    let (calls, results) = match turns {
        [.., reply, Turn { kind: TurnKind::ToolResults(results), .. }] => {
            (calls(Some(reply)), results.as_slice())
        }
        _ => (calls(None), [].as_slice()),
    };
    calls.zip(results)
}

/// Returns the text of a reply; `None` for other turns.
fn reply_text(said: VisibleTurn<'_>) -> Option<String> {
    match said {
        VisibleTurn::Assistant(reply) => Some(reply.text()),
        _ => None,
    }
}

/// Returns the calls of a reply; none for other turns.
fn calls(turn: Option<&Turn>) -> impl Iterator<Item = &ToolCall> {
    calls_among(match turn {
        Some(Turn { kind: TurnKind::Assistant(reply), .. }) => &reply.blocks,
        _ => &[],
    })
}

/// Inserts the ids of a turn's calls, in their order.
fn note_calls(turn: &Turn, ids: &mut Map<()>) {
    for call in calls(Some(turn)) {
        ids.insert(call.id.clone(), ());
    }
}

/// Frees the spare capacity of a turn's lists and texts: it stays as long as the session, and never
/// grows.
fn fit(kind: &mut TurnKind) {
    match kind {
        TurnKind::User(parts) | TurnKind::Steering(parts) => parts.shrink_to_fit(),
        TurnKind::Assistant(reply) => {
            reply.blocks.shrink_to_fit();
            for block in &mut reply.blocks {
                match block {
                    Block::Text(text) => text.shrink_to_fit(),
                    Block::Reasoning(reasoning) => reasoning.text.shrink_to_fit(),
                    _ => {}
                }
            }
        }
        TurnKind::ToolResults(results) => {
            results.shrink_to_fit();
            results.iter_mut().for_each(|result| result.parts.shrink_to_fit());
        }
        TurnKind::System(_)
        | TurnKind::Folded(_)
        | TurnKind::LeftOut(_)
        | TurnKind::Rewound { .. } => {}
    }
}
