//! What was said is never lost: each accepted word of the user, and each word of one agent to
//! another, stands exactly once in the history or in a queue.

use super::{
    events::CallEnd,
    seen::{Seen, require},
};
use crate::{simulator::model::word, snapshot};
use innerloop_core::{
    config::HookPoint,
    event::EventKind,
    id::AgentId,
    input::{Command, HookReply, Input},
    message::{Part, TurnKind, joined_text},
    status::{AgentState, RunEnd},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The words that must be found again, with those whom they were said to.
#[derive(Debug, Default)]
pub(super) struct Words {
    said: BTreeMap<u64, AgentId>,
    /// Those that were said as follow-ups.
    follow_ups: BTreeSet<u64>,
}

/// The numbers of the words in a text.
fn numbers(text: &str) -> Vec<u64> {
    text.split('#').filter_map(|piece| piece.parse().ok()).collect()
}

impl Words {
    /// A word to the session's own agent was accepted, or a hook of the host took one away.
    pub(super) fn on_input(&mut self, seen: &Seen<'_>, hook: Option<&str>) {
        if let Input::Command { agent, command } = seen.input
            && let Command::Submit { parts, .. }
            | Command::Steer { parts }
            | Command::FollowUp { parts, .. } = command
        {
            let words = numbers(&joined_text(parts));
            if let Command::FollowUp { .. } = command {
                self.follow_ups.extend(&words);
            }
            self.said.extend(words.into_iter().map(|word| (word, *agent)));
        }
        let is_taken = match seen.input {
            Input::Hook { reply: HookReply::Allow, .. } => false,
            Input::Hook { reply: HookReply::Failed { .. }, .. } | Input::Lost { .. } => {
                seen.config.hooks.fail_closed
            }
            Input::Hook { .. } => true,
            _ => false,
        };
        if let Some(payload) = hook.filter(|_| is_taken) {
            for word in numbers(payload) {
                self.said.remove(&word);
            }
        }
    }

    /// An agent said something to another.
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>, ends: &[CallEnd]) {
        for event in seen.outputs.events() {
            if let EventKind::AgentStarted { task, .. } = &event.kind {
                self.said.extend(numbers(task).into_iter().map(|word| (word, event.agent)));
            }
        }
        for end in ends.iter().filter(|end| end.name == "send_input" && end.outcome.error.is_none())
        {
            let arguments: Value = serde_json::from_str(&end.arguments).unwrap_or_default();
            let to = arguments["agent_id"].as_str().unwrap_or_default();
            let to = to.strip_prefix("agent-").and_then(|number| number.parse().ok());
            let said = numbers(arguments["message"].as_str().unwrap_or_default());
            if let Some(to) = to {
                self.said.extend(said.into_iter().map(|word| (word, AgentId(to))));
            }
        }
    }

    /// A run that is completed leaves no follow-up behind.
    pub(super) fn check_completed(seen: &Seen<'_>) -> Result<(), String> {
        let is_completed = seen.outputs.events().any(|event| {
            let is_end =
                matches!(event.kind, EventKind::ProcessingEnd { end: RunEnd::Completed, .. });
            is_end && event.agent == AgentId::ROOT
        });
        let state = seen.session().status(AgentId::ROOT).map(|status| status.state);
        if !is_completed || state != Some(AgentState::Idle) {
            return Ok(());
        }
        let state = snapshot::state(&seen.subject.snapshot());
        let waits = state["agents"][0]["follow_ups"].as_array().map_or(0, Vec::len);
        require(waits == 0, || format!("the run is completed, and {waits} follow-ups wait"))
    }

    /// Each word is there, once.
    pub(super) fn check(&self, seen: &Seen<'_>, state: &Value) -> Result<(), String> {
        let mut found: BTreeMap<(AgentId, u64), u32> = BTreeMap::new();
        for agent in state["agents"].as_array().into_iter().flatten() {
            let id = AgentId(u32::try_from(agent["id"].as_u64().unwrap_or(0)).unwrap_or(0));
            let mut note = |text: &str| {
                for word in numbers(text) {
                    *found.entry((id, word)).or_default() += 1;
                }
            };
            note(&agent["steering"].to_string());
            note(&agent["follow_ups"].to_string());
            note(&agent["phase"]["then"].to_string());
            for turn in seen.turns(id) {
                if let TurnKind::User(parts) | TurnKind::Steering(parts) = &turn.kind {
                    parts.iter().filter_map(Part::as_text).for_each(&mut note);
                }
            }
        }
        self.check_order(seen)?;
        for (&number, &agent) in &self.said {
            let times = found.get(&(agent, number)).copied().unwrap_or(0);
            require(times == 1, || {
                format!("the word {} to {agent} is there {times} times", word(number))
            })?;
        }
        Ok(())
    }

    /// The user's steers come in the order in which they were said, and so do the follow-ups.
    fn check_order(&self, seen: &Seen<'_>) -> Result<(), String> {
        let (mut steers, mut follow_ups) = (Vec::new(), Vec::new());
        for turn in seen.turns(AgentId::ROOT) {
            match &turn.kind {
                TurnKind::Steering(parts) => steers.extend(numbers(&joined_text(parts))),
                TurnKind::User(parts) => follow_ups.extend(numbers(&joined_text(parts))),
                _ => {}
            }
        }
        follow_ups.retain(|word| self.follow_ups.contains(word));
        require(steers.is_sorted(), || format!("the steers come as {steers:?}"))?;
        require(follow_ups.is_sorted(), || format!("the follow-ups come as {follow_ups:?}"))
    }

    /// The word's numbers in the payload of a submit hook that is open under an id.
    pub(super) const fn point() -> HookPoint {
        HookPoint::Submit
    }
}
