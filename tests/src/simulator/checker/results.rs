//! What the model reads of a call is what came of that call.

use super::{
    events::CallEnd,
    seen::{Seen, require},
};
use innerloop_core::{
    action::Outcome,
    config::{HookPoint, Vocabulary},
    id::AgentId,
    message::{ToolResult, TurnKind, joined_text},
};
use std::{collections::BTreeMap, sync::Arc};

/// Texts of at most so many bytes are never truncated here.
const SHORT: usize = 30;

/// The calls that are over and whose results the model has not read yet.
#[derive(Debug, Default)]
pub(super) struct Results {
    ended: BTreeMap<(AgentId, String), (String, Arc<Outcome>)>,
    /// How many turns were looked at.
    turns: BTreeMap<AgentId, usize>,
}

impl Results {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>, ends: &[CallEnd]) -> Result<(), String> {
        for end in ends {
            let key = (end.agent, end.call_id.clone());
            self.ended.insert(key, (end.name.clone(), Arc::clone(&end.outcome)));
        }
        for agent in (0..).map(AgentId) {
            if seen.session().history(agent).is_none() {
                return Ok(());
            }
            let turns = seen.turns(agent);
            let looked_at = self.turns.insert(agent, turns.len()).unwrap_or(0);
            for turn in turns.iter().skip(looked_at) {
                let TurnKind::ToolResults(results) = &turn.kind else { continue };
                for result in results {
                    self.on_result(agent, result, seen)?;
                }
            }
        }
        Ok(())
    }

    fn on_result(
        &mut self,
        agent: AgentId,
        result: &ToolResult,
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        let id = &result.call_id;
        let Some((name, outcome)) = self.ended.remove(&(agent, id.clone())) else {
            return Err(format!("the model reads a result of {id}, which has not ended"));
        };
        let is_cut = seen.config.tool_output_limits.contains_key(&name);
        if is_cut || seen.config.hooks.points.contains(&HookPoint::AfterTool) {
            return Ok(());
        }
        let (said, read) = (outcome.joined_text(), joined_text(&result.parts));
        // Families read of their own tools in their own words.
        let is_told = seen.config.model.vocabulary == Vocabulary::Native && outcome.error.is_none();
        let is_long = said.len() > SHORT || said.lines().count() > 2;
        let is_same = is_told || is_long || read.contains(&said);
        require(is_same && result.is_error == outcome.error.is_some(), || {
            format!("{id} came to {said:?}, and the model reads {read:?}")
        })
    }
}
