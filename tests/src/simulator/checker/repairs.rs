//! What is tried in a run to repair replies: counted again from the histories, and begun anew with
//! each run, and where something must happen in a row, with whatever breaks the row.

use super::{
    events::sums_up,
    seen::{Seen, require},
    views::changes_view,
};
use innerloop_core::{
    corrections::ReplyFault,
    event::EventKind,
    id::AgentId,
    json::to_string,
    message::{FinishReason, Reply, TurnKind, joined_text},
    status::AgentState,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the loop says in its own name, and what is counted when it does.
const SAID: [(&str, &str); 2] = [
    ("Continue from where you left off.", "continued"),
    ("Give the final answer now, ", "answers"),
];

/// The counts, by agent.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    counts: BTreeMap<AgentId, Counts>,
    /// How often each fault was corrected in the run under way.
    corrected: BTreeMap<AgentId, BTreeMap<String, u64>>,
    /// How many turns were looked at.
    turns: BTreeMap<AgentId, usize>,
}

/// What was tried in the run under way, by the snapshot's names.
type Counts = BTreeMap<&'static str, u64>;

impl Repairs {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) {
        for agent in (0..).map(AgentId) {
            if seen.session().history(agent).is_none() {
                return;
            }
            let turns = seen.turns(agent);
            let looked_at = self.turns.insert(agent, turns.len()).unwrap_or(0);
            if changes_view(seen.input) {
                continue;
            }
            let counts = self.counts.entry(agent).or_default();
            for (at, turn) in turns.iter().enumerate().skip(looked_at) {
                match &turn.kind {
                    TurnKind::Assistant(reply) => {
                        let is_last = sums_up(turns.get(..at).unwrap_or_default());
                        on_reply(counts, reply, is_last, seen);
                    }
                    TurnKind::Steering(parts) => {
                        let text = joined_text(parts);
                        let said = SAID.iter().find(|(start, _)| text.starts_with(start));
                        if let Some((_, name)) = said {
                            *counts.entry(name).or_default() += 1;
                        }
                    }
                    _ => {}
                }
            }
            let corrected = seen.outputs.events().filter(|event| event.agent == agent);
            for event in corrected {
                if let EventKind::Corrected { fault, attempt, .. } = event.kind {
                    let faults = self.corrected.entry(agent).or_default();
                    faults.insert(to_string(&fault).replace('"', ""), attempt.into());
                }
            }
            let ends = seen.outputs.events().any(|event| {
                event.agent == agent && matches!(event.kind, EventKind::ProcessingEnd { .. })
            });
            if ends {
                counts.clear();
                self.corrected.remove(&agent);
            }
        }
    }

    /// A snapshot's state counts the same.
    pub(super) fn check(&self, seen: &Seen<'_>, state: &Value) -> Result<(), String> {
        for agent in state["agents"].as_array().into_iter().flatten() {
            let id = AgentId(u32::try_from(agent["id"].as_u64().unwrap_or(0)).unwrap_or(0));
            let status = seen.session().status(id).map(|status| status.state);
            if !matches!(status, Some(AgentState::Processing | AgentState::AwaitingInput)) {
                continue;
            }
            // No run is under way while the host has the conversation made shorter.
            let waits_for = [&agent["phase"], &agent["calls"]].map(Value::to_string).concat();
            if waits_for.contains("\"why\":\"asked\"") {
                continue;
            }
            let corrected = self.corrected.get(&id).cloned().unwrap_or_default();
            let said =
                agent["run"]["repairs"]["corrected"].as_object().cloned().unwrap_or_default();
            let said = said.into_iter().map(|(fault, count)| (fault, count.as_u64().unwrap_or(0)));
            let said: BTreeMap<String, u64> = said.collect();
            require(corrected == said, || {
                format!("the corrections of {id} are {said:?}, and {corrected:?} are counted")
            })?;
            let Some(counts) = self.counts.get(&id) else { continue };
            for name in ["pauses", "cut", "continued", "empties", "answers"] {
                let counted = counts.get(name).copied().unwrap_or_default();
                let said = agent["run"]["repairs"][name].as_u64().unwrap_or_default();
                require(counted == said, || {
                    format!("the repairs of {id} are {said} {name}, and {counted} are counted")
                })?;
            }
        }
        Ok(())
    }
}

fn on_reply(counts: &mut Counts, reply: &Reply, is_last: bool, seen: &Seen<'_>) {
    let has_calls = reply.tool_calls().next().is_some();
    if reply.finish == FinishReason::Pause && !has_calls {
        *counts.entry("pauses").or_default() += 1;
        return;
    }
    counts.remove("pauses");
    if is_last {
        return;
    }
    let is_broken = matches!(reply.finish, FinishReason::Error | FinishReason::MalformedToolCall);
    let is_cut = matches!(reply.finish, FinishReason::Length | FinishReason::ContextWindow);
    let is_stopped = matches!(reply.finish, FinishReason::ContentFilter);
    if has_calls {
        let cut = counts.entry("cut").or_default();
        *cut = if is_cut || is_stopped || is_broken { *cut + 1 } else { 0 };
        return;
    }
    let is_refusal = reply.finish == FinishReason::Refusal;
    let is_blank = reply.text().trim().is_empty() && !is_cut && !is_stopped && !is_refusal;
    // Nothing is left of a reply that was a made-up result, which is another fault.
    let is_made_up = seen.outputs.events().any(|event| match &event.kind {
        EventKind::Corrected { fault, .. } => *fault == ReplyFault::FakeResult,
        // It is an error where the run ends with it, and a warning where a steering goes on.
        EventKind::Error { message, .. } | EventKind::Warning { message } => {
            message.contains("make up the results")
        }
        _ => false,
    });
    if is_made_up {
        return;
    }
    let empties = counts.entry("empties").or_default();
    if is_broken || is_blank {
        *empties = (*empties + 1).min(u64::from(seen.config.repair.retry_on_empty));
    }
}
