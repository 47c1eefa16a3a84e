//! What the model reads of a call is what came of that call, or what a hook put in its place.

use super::{
    events::CallEnd,
    hooks::{Hooks, Said},
    seen::{Seen, require},
    views::changes_view,
};
use innerloop_core::{
    action::Outcome,
    config::VocabularyKind,
    id::AgentId,
    message::{ToolResult, TurnKind, joined_text},
};
use std::{collections::BTreeMap, sync::Arc};

/// Texts of at most so many bytes are never truncated here.
const SHORT: usize = 30;

/// What a hook says is never truncated up to so many bytes.
const SAID: usize = 900;

/// The calls that are over and whose results the model has not read yet.
#[derive(Debug, Default)]
pub(super) struct Results {
    ended: BTreeMap<(AgentId, String), (String, Arc<Outcome>)>,
    /// How many turns were looked at.
    turns: BTreeMap<AgentId, usize>,
}

impl Results {
    pub(super) fn on_outputs(
        &mut self,
        seen: &Seen<'_>,
        ends: &[CallEnd],
        hooks: &mut Hooks,
    ) -> Result<(), String> {
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
            if changes_view(seen.input) {
                // What follows from that are results of calls that have ended nowhere.
                continue;
            }
            for turn in turns.iter().skip(looked_at) {
                let TurnKind::ToolResults(results) = &turn.kind else { continue };
                for result in results {
                    self.on_result(agent, result, seen, hooks)?;
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
        hooks: &mut Hooks,
    ) -> Result<(), String> {
        let id = &result.call_id;
        let call = (agent, id.clone());
        let Some((name, outcome)) = self.ended.remove(&call) else {
            return Err(format!("the model reads a result of {id}, which has not ended"));
        };
        let config = seen.config;
        let limits = [&config.tool_output_limits, &config.tool_line_limits];
        let is_cut = limits.iter().any(|limits| limits.contains_key(&name));
        if let Some(said) = hooks.take(&call) {
            return if is_cut { Ok(()) } else { check_said(&said, result, &outcome) };
        }
        if is_cut {
            return Ok(());
        }
        let (said, read) = (outcome.joined_text(), joined_text(&result.parts));
        // Families read of their own tools in their own words.
        let is_told =
            seen.config.model.vocabulary == VocabularyKind::Native && outcome.error.is_none();
        let is_long = said.len() > SHORT || said.lines().count() > 2;
        let is_same = is_told || is_long || read.contains(&said);
        require(is_same && result.is_error == outcome.error.is_some(), || {
            format!("{id} came to {said:?}, and the model reads {read:?}")
        })
    }
}

/// Begins what the model reads of arguments that are not its own.
const CHANGED_ARGUMENTS: &str = "\n[The user or a hook changed the arguments";

/// The model reads what the hook made of the call; behind it, that the run's time was over or that
/// its arguments were others.
fn check_said(said: &Said, result: &ToolResult, outcome: &Outcome) -> Result<(), String> {
    let (text, is_error) = match said {
        Said::Denied(text) => (text.as_str(), true),
        Said::Replaced(text) if text.is_empty() => ("(no output)", outcome.error.is_some()),
        Said::Replaced(text) => (text.as_str(), outcome.error.is_some()),
    };
    let read = joined_text(&result.parts);
    let is_same = read.strip_prefix(text).is_some_and(|more| {
        more.is_empty() || outcome.timed_out || more.starts_with(CHANGED_ARGUMENTS)
    });
    let is_fit = text.len() > SAID || is_same;
    require(is_fit && result.is_error == is_error, || {
        format!("a hook said {said:?} of {}, and the model reads {read:?}", result.call_id)
    })
}
