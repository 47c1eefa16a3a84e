//! What holds of events: numbers without a gap, time that does not go back, brackets that close,
//! text that adds up, limits that hold, and nothing behind the end.

use super::seen::{Seen, require};
use innerloop_core::{
    action::Outcome,
    compaction::FoldReason,
    config::SessionConfig,
    event::{Event, EventKind},
    id::AgentId,
    message::{Turn, TurnKind, joined_text},
    output::{Effect, Output, RequestPurpose},
    status::AgentState,
    time::SessionInstant,
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// What the events so far come to.
#[derive(Debug, Default)]
pub(super) struct Events {
    seq: u64,
    at: SessionInstant,
    ended: bool,
    /// The session's own agent was over before the step.
    closing: bool,
    agents: BTreeMap<AgentId, Told>,
    open_agents: u32,
}

/// What was told of one agent.
#[derive(Debug, Default)]
struct Told {
    /// Calls that have begun: their ids, names and arguments, and whether they were run.
    calls: Vec<(String, String, String, bool)>,
    /// What calls to start agents asked for.
    spawns: Vec<Value>,
    /// The text of the reply so far.
    text: String,
    /// Model calls of the reply so far.
    tries: u32,
    /// The next model call is a further try.
    is_retry: bool,
    /// Inputs and replies.
    turns: u32,
    /// Runs that ended.
    ends: u32,
    /// Runs that the host began.
    begun: u32,
    /// Whether the conversation is made shorter because the host asked for it, and no run is
    /// under way.
    compacts: bool,
    depth: u32,
    /// How many turns it was started with; any number if 0.
    max_turns: u32,
    over: bool,
}

/// A call that is over.
#[derive(Debug)]
pub(super) struct CallEnd {
    pub(super) agent: AgentId,
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) outcome: Arc<Outcome>,
}

impl Events {
    /// The host began a run of the session's own agent.
    pub(super) fn on_run(&mut self) {
        self.agents.entry(AgentId::ROOT).or_default().begun += 1;
    }

    /// Turns of another conversation were taken over.
    pub(super) fn on_import(&mut self, agent: AgentId, turns: &[Turn]) {
        let counts = |turn: &&Turn| matches!(turn.kind, TurnKind::User(_) | TurnKind::Assistant(_));
        let counted = turns.iter().filter(counts).count();
        self.agents.entry(agent).or_default().turns += u32::try_from(counted).unwrap_or(0);
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Takes the outputs in; returns the calls that are over.
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<Vec<CallEnd>, String> {
        let mut ends = Vec::new();
        let was_closing = self.closing;
        let root = self.agents.get(&AgentId::ROOT);
        let compacted = root.is_some_and(|told| told.compacts);
        for output in seen.outputs {
            require(!self.ended, || format!("after the end comes {output:?}"))?;
            match output {
                Output::Event(event) => {
                    if was_closing {
                        let is_last_word = matches!(
                            event.kind,
                            EventKind::AgentEnded { .. } | EventKind::SessionEnd { .. }
                        );
                        require(is_last_word, || format!("after Close comes {event:?}"))?;
                    }
                    self.on_event(event, seen, &mut ends)?;
                }
                Output::Effect(effect) => {
                    require(!was_closing, || format!("after Close comes {effect:?}"))?;
                    self.on_effect(effect, seen)?;
                }
            }
        }
        let state = seen.session().status(AgentId::ROOT).map(|status| status.state);
        self.closing = state == Some(AgentState::Closed);
        let root = self.agents.entry(AgentId::ROOT).or_default();
        if compacted && !root.compacts {
            // An input that waited for its end may have begun a run.
            let is_busy = matches!(state, Some(AgentState::Processing | AgentState::AwaitingInput));
            root.begun = root.ends + u32::from(is_busy);
        }
        self.check_states(seen)?;
        Ok(ends)
    }

    fn on_event(
        &mut self,
        event: &Event,
        seen: &Seen<'_>,
        ends: &mut Vec<CallEnd>,
    ) -> Result<(), String> {
        let (seq, id) = (event.seq, event.agent);
        require(seq == self.seq + 1, || format!("event {} is followed by {seq}", self.seq))?;
        require(event.at >= self.at, || format!("event {seq} goes back in time"))?;
        require(event.at == seen.now, || format!("event {seq} has another time than its input"))?;
        let is_start = matches!(event.kind, EventKind::SessionStart { .. });
        require(is_start == (seq == 1), || format!("event {seq} is {:?}", event.kind))?;
        (self.seq, self.at) = (seq, event.at);
        if let EventKind::AgentStarted { parent, task, .. } = &event.kind {
            return self.on_started(id, *parent, task, seen);
        }
        let told = self.agents.entry(id).or_default();
        require(!told.over, || format!("{id} is over, and then comes {event:?}"))?;
        match &event.kind {
            EventKind::AgentEnded { .. } => {
                told.over = true;
                self.open_agents = self.open_agents.saturating_sub(1);
            }
            EventKind::SessionEnd { .. } => {
                self.ended = true;
                require(self.open_agents == 0, || "the session ends before its agents".into())?;
            }
            EventKind::TurnLimit { limit, value } => {
                let rounds = rounds(seen.turns(id));
                let used = if *limit == "max_turns" { told.turns } else { rounds };
                require(used >= *value, || format!("{id} stops at {limit} {value} after {used}"))?;
            }
            EventKind::ToolCallStart { .. }
            | EventKind::ToolCallEnd { .. }
            | EventKind::ToolCallOutputDelta { .. } => told.on_call(&event.kind, id, ends)?,
            other => told.on_word(other, seen.config)?,
        }
        Ok(())
    }

    fn on_started(
        &mut self,
        id: AgentId,
        parent: AgentId,
        task: &str,
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        self.open_agents += 1;
        let policy = seen.config.subagents;
        require(self.open_agents <= policy.max_open, || "too many agents are open".into())?;
        require(!self.agents.contains_key(&id), || format!("{id} is started twice"))?;
        let starter = self.agents.entry(parent).or_default();
        let depth = starter.depth + 1;
        require(depth <= policy.max_depth, || format!("{id} is nested at {depth}"))?;
        let spawn = starter.spawns.iter().position(|arguments| arguments["task"] == task);
        let spawn = spawn.map(|at| starter.spawns.remove(at));
        let Some(spawn) = spawn else { return Err(format!("{id} was not asked for")) };
        let max_turns = u32::try_from(spawn["max_turns"].as_u64().unwrap_or(0)).unwrap_or(0);
        self.agents.insert(id, Told { depth, max_turns, ..Told::default() });
        Ok(())
    }

    fn on_effect(&mut self, effect: &Effect, seen: &Seen<'_>) -> Result<(), String> {
        match effect {
            Effect::Http { agent, purpose, .. } => {
                let told = self.agents.entry(*agent).or_default();
                require(!told.over, || format!("{agent} is over, and calls the model"))?;
                if *purpose != RequestPurpose::Model {
                    return Ok(());
                }
                told.tries += 1;
                let most = most_tries(seen.config);
                require(told.tries <= most, || format!("try {} of {most}", told.tries))?;
                if core::mem::take(&mut told.is_retry) {
                    return Ok(());
                }
                if sums_up(seen.turns(*agent)) {
                    return Ok(());
                }
                let limits = seen.config.limits;
                let max_turns = told.most_turns(limits.max_turns);
                require(max_turns == 0 || told.turns < max_turns, || {
                    format!("{agent} has {} turns of {max_turns}", told.turns)
                })?;
                let (rounds, most) = (rounds(seen.turns(*agent)), limits.max_tool_rounds_per_input);
                require(most == 0 || rounds < most, || {
                    format!("{agent}: {rounds} of {most} rounds")
                })
            }
            Effect::RunTool { agent, run, .. } => {
                let told = self.agents.entry(*agent).or_default();
                let call = told.calls.iter_mut().find(|(id, ..)| *id == run.call_id);
                let Some((id, name, _, ran)) = call else {
                    return Err(format!("{} runs and has not begun", run.call_id));
                };
                require(*name == run.name, || format!("{id} runs under another name"))?;
                require(!sums_up(seen.turns(*agent)), || format!("{id} runs with tools off"))?;
                require(!core::mem::replace(ran, true), || format!("{id} runs twice"))
            }
            Effect::Ask { .. } | Effect::RunHook { .. } | Effect::Cancel { .. } => Ok(()),
        }
    }

    /// What the session says of its agents fits what was told.
    fn check_states(&self, seen: &Seen<'_>) -> Result<(), String> {
        for (&id, told) in &self.agents {
            let Some(status) = seen.session().status(id) else { continue };
            require(status.turns == told.turns, || {
                format!("{id} counts {} turns, {} were told", status.turns, told.turns)
            })?;
            let is_busy =
                matches!(status.state, AgentState::Processing | AgentState::AwaitingInput);
            require(is_busy || told.calls.is_empty(), || {
                format!("{id} is {:?}, and {:?} are open", status.state, told.calls)
            })?;
            if id == AgentId::ROOT {
                let open = told.begun - told.ends.min(told.begun);
                let runs = u32::from(is_busy && !told.compacts);
                require(told.ends <= told.begun && open == runs, || {
                    format!("{} runs began, {} ended: {:?}", told.begun, told.ends, status.state)
                })?;
            }
            require(told.over <= (status.state == AgentState::Closed), || {
                format!("{id} is over and {:?}", status.state)
            })?;
        }
        Ok(())
    }
}

impl Told {
    /// How many turns it may have where the host allows so many: a started agent no more than
    /// either says.
    fn most_turns(&self, host: u32) -> u32 {
        [host, self.max_turns].into_iter().filter(|most| *most > 0).min().unwrap_or(0)
    }

    fn on_call(
        &mut self,
        kind: &EventKind,
        agent: AgentId,
        ends: &mut Vec<CallEnd>,
    ) -> Result<(), String> {
        let place = |call_id: &String| self.calls.iter().position(|(id, ..)| id == call_id);
        match kind {
            EventKind::ToolCallStart { call_id, name, arguments } => {
                require(place(call_id).is_none(), || format!("the call {call_id} begins twice"))?;
                let spawns = serde_json::from_str::<Value>(arguments).into_iter();
                match name.as_str() {
                    "spawn_agent" => self.spawns.extend(spawns),
                    "spawn_agents" => self.spawns.extend(spawns.flat_map(|batch| tasks(&batch))),
                    _ => {}
                }
                self.calls.push((call_id.clone(), name.clone(), arguments.clone(), false));
            }
            EventKind::ToolCallEnd { call_id, outcome, .. } => {
                let Some(at) = place(call_id) else {
                    return Err(format!("the call {call_id} ends and has not begun"));
                };
                let (call_id, name, arguments, _) = self.calls.remove(at);
                let outcome = Arc::clone(outcome);
                ends.push(CallEnd { agent, call_id, name, arguments, outcome });
            }
            EventKind::ToolCallOutputDelta { call_id, .. } => {
                let runs = place(call_id).is_some_and(|at| self.calls[at].3);
                require(runs, || format!("the call {call_id} does not run, and says something"))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn on_word(&mut self, kind: &EventKind, config: &SessionConfig) -> Result<(), String> {
        match kind {
            EventKind::UserInput { .. } => self.turns += 1,
            EventKind::CompactionStarted { why, .. } => {
                self.compacts = *why == FoldReason::Asked;
            }
            // The call that follows is another one.
            EventKind::Compacted { .. } | EventKind::CompactionFailed { .. } => {
                (self.tries, self.is_retry, self.compacts) = (0, false, false);
            }
            // The same without what was refused is another call.
            EventKind::Warning { message } if message.starts_with("left out of the") => {
                (self.tries, self.is_retry) = (0, false);
            }
            // What follows is the call in which the run is summed up.
            EventKind::BudgetLimit { .. } => (self.tries, self.is_retry) = (0, false),
            EventKind::AssistantTextDelta { text } => self.text.push_str(text),
            EventKind::TextReset => self.text.clear(),
            EventKind::AssistantTextEnd { text, .. } => {
                self.turns += 1;
                self.tries = 0;
                let shown = core::mem::take(&mut self.text);
                // Of a reply that was ended from outside, as much stays as leaves room for more.
                let room = usize::try_from(config.model.context_window).unwrap_or(usize::MAX);
                let is_cut = shown.starts_with(text.as_str())
                    && (room.saturating_sub(3)..=room).contains(&text.len());
                let is_told = text.starts_with(&shown) || is_cut;
                require(is_told, || format!("shown was {shown:?}, not {text:?}"))?;
                require(self.calls.is_empty(), || format!("{:?} are not answered", self.calls))?;
            }
            // What was said of it is thrown away, and is no turn.
            EventKind::Warning { message } if message.starts_with("a call was cut by") => {
                self.turns -= 1;
            }
            EventKind::Retry { attempt, .. } => {
                self.is_retry = true;
                let most = most_tries(config);
                require(*attempt == self.tries + 1 && *attempt <= most, || {
                    format!("try {attempt} of {most} follows {}", self.tries)
                })?;
            }
            EventKind::Rerouted { .. } => self.is_retry = true,
            EventKind::ProcessingEnd { .. } => {
                self.ends += 1;
                (self.tries, self.is_retry) = (0, false);
                let shown = core::mem::take(&mut self.text);
                require(shown.is_empty(), || format!("{shown:?} was shown and not taken back"))?;
                require(self.calls.is_empty(), || format!("{:?} are not answered", self.calls))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// What a call asks for that starts several agents, as if it were a call for each.
fn tasks(batch: &Value) -> Vec<Value> {
    let mut tasks = batch["tasks"].as_array().cloned().unwrap_or_default();
    for task in &mut tasks {
        task["max_turns"] = batch["max_turns"].clone();
    }
    tasks
}

/// Whether the run has come to its end but for a summary without tools.
pub(super) fn sums_up(turns: &[Turn]) -> bool {
    let is_input = |turn: &&Turn| !matches!(turn.kind, TurnKind::User(_));
    turns.iter().rev().take_while(is_input).any(|turn| match &turn.kind {
        TurnKind::Steering(parts) => joined_text(parts).starts_with("Stop here: no more tools"),
        _ => false,
    })
}

/// Rounds of tool calls since the newest input.
fn rounds(turns: &[Turn]) -> u32 {
    let since = turns.iter().rev().take_while(|turn| !matches!(turn.kind, TurnKind::User(_)));
    let calls = since.filter(|turn| match &turn.kind {
        TurnKind::Assistant(reply) => reply.tool_calls().next().is_some(),
        _ => false,
    });
    u32::try_from(calls.count()).unwrap_or(u32::MAX)
}

/// How often one call may be tried: its own tries, and once for each further model.
fn most_tries(config: &SessionConfig) -> u32 {
    let models = u32::try_from(config.routing.models.len()).unwrap_or(u32::MAX);
    config.retry.max_retries + 1 + models
}
