//! What holds of folds: each makes the conversation shorter, an overflow is tried again once for
//! each input, a summary is never shown as the model's words, and the input under way stays in
//! what the model reads.

use super::seen::{Seen, require};
use innerloop_core::{
    compaction::FoldReason,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{HttpInput, Input},
    message::{Part, TurnKind},
    output::{Effect, Output, RequestPurpose},
};
use std::collections::{BTreeMap, BTreeSet};

/// What was folded so far.
#[derive(Debug, Default)]
pub(super) struct Folds {
    /// How often an overflow was folded since the newest input.
    retries: BTreeMap<AgentId, u32>,
    /// Calls for summaries.
    summaries: BTreeSet<EffectId>,
}

impl Folds {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        self.check_silence(seen)?;
        for output in seen.outputs {
            match output {
                Output::Event(event) => self.on_event(event.agent, &event.kind)?,
                Output::Effect(Effect::Http { id, purpose: RequestPurpose::Summary, .. }) => {
                    self.summaries.insert(*id);
                }
                Output::Effect(Effect::Http { agent, request, .. }) => {
                    check_input(seen, *agent, &String::from_utf8_lossy(&request.body))?;
                }
                Output::Effect(_) => {}
            }
        }
        Ok(())
    }

    fn on_event(&mut self, agent: AgentId, kind: &EventKind) -> Result<(), String> {
        let retries = self.retries.entry(agent).or_default();
        match kind {
            EventKind::UserInput { .. } => *retries = 0,
            EventKind::Compacted { why, before, after, .. } => {
                *retries += u32::from(*why == FoldReason::Overflow);
                require(after < before, || format!("a fold leads from {before} to {after}"))?;
                require(*retries <= 1, || format!("an overflow of {agent} is folded again"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Nothing is told of a summary while it arrives, and nothing of its text but in the fold.
    fn check_silence(&self, seen: &Seen<'_>) -> Result<(), String> {
        let Input::Http { id, input } = seen.input else { return Ok(()) };
        if !self.summaries.contains(id) {
            return Ok(());
        }
        let is_over = matches!(input, HttpInput::End | HttpInput::Failed(_));
        for event in seen.outputs.events() {
            let is_shown = matches!(
                event.kind,
                EventKind::AssistantTextStart
                    | EventKind::AssistantTextDelta { .. }
                    | EventKind::AssistantReasoningDelta { .. }
                    | EventKind::AssistantTextEnd { .. }
                    | EventKind::ToolCallDelta { .. }
            );
            require(!is_shown, || format!("a summary is shown: {event:?}"))?;
            let is_retry =
                matches!(event.kind, EventKind::CompactionFailed { .. } | EventKind::Queued { .. });
            require(is_over || is_retry || seen.outputs.effects().next().is_some(), || {
                format!("while a summary arrives, {event:?} is told")
            })?;
        }
        Ok(())
    }
}

/// The input under way is in what the model reads, word for word.
fn check_input(seen: &Seen<'_>, agent: AgentId, body: &str) -> Result<(), String> {
    let turns = seen.turns(agent).iter().rev();
    let newest = turns.take_while(|turn| !matches!(turn.kind, TurnKind::Rewound { .. }));
    let input = newest.filter_map(|turn| match &turn.kind {
        TurnKind::User(parts) => Some(parts),
        _ => None,
    });
    let Some(parts) = { input }.next() else { return Ok(()) };
    for text in parts.iter().filter_map(Part::as_text).filter(|text| !text.trim().is_empty()) {
        let json = serde_json::to_string(text).unwrap_or_default();
        let words = json.trim_matches('"');
        require(body.contains(words), || format!("{agent} is not told {words}: {body}"))?;
    }
    Ok(())
}
