//! One round of tool calls: looked up, validated, run, and answered in call order (Spec §3.8).
//! Calls that only read run side by side, those that write one after the other (DESIGN §3).

use super::{ctx::Ctx, ledger::EffectKind, setup::Setup};
use crate::{
    nouns::{
        action::{Outcome, ToolError},
        event::EventKind,
        input::ToolInput,
        message::{Part, ToolCall, ToolResult, TurnKind},
        output::Effect,
        tool::{Job, ToolRun},
    },
    profile,
    rules::{schema, truncate},
    words::{id::EffectId, json::Json},
};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use serde::{Deserialize, Serialize};

/// What follows from news of a round.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Calls are still to be answered.
    Open(Round),
    /// All results are in the history.
    Answered,
}

/// A round under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Slot {
    call: ToolCall,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum State {
    /// Waits for the calls before it.
    Queued { run: ToolRun, read_only: bool },
    /// The host runs it.
    Running { effect: EffectId, run: ToolRun, read_only: bool },
    /// Answered.
    Done(ToolResult),
}

impl Round {
    /// Starts the calls of a reply.
    pub(crate) fn start(calls: Vec<ToolCall>, ctx: &mut Ctx<'_>) -> Progress {
        let mut slots = Vec::with_capacity(calls.len());
        for call in calls {
            let state = match prepare(&call, ctx.setup) {
                Ok((run, read_only)) => State::Queued { run, read_only },
                Err(outcome) => {
                    announce(&call, ctx);
                    State::Done(finish(&call, outcome, 0, ctx))
                }
            };
            slots.push(Slot { call, state });
        }
        Self { slots }.advance(ctx)
    }

    /// Answers every call of a reply with the same refusal: none of them may run.
    pub(crate) fn refuse(calls: Vec<ToolCall>, message: &str, ctx: &mut Ctx<'_>) -> Progress {
        let mut slots = Vec::with_capacity(calls.len());
        for call in calls {
            announce(&call, ctx);
            let outcome = Outcome::error(ToolError::InvalidArguments, message);
            let result = finish(&call, outcome, 0, ctx);
            slots.push(Slot { call, state: State::Done(result) });
        }
        Self { slots }.advance(ctx)
    }

    pub(crate) fn on_tool(mut self, id: EffectId, input: ToolInput, ctx: &mut Ctx<'_>) -> Progress {
        let is_running = |slot: &&mut Slot| slot.state.effect() == Some(id);
        let Some(slot) = self.slots.iter_mut().find(is_running) else {
            return Progress::Open(self);
        };
        match input {
            ToolInput::Delta(text) => {
                let call_id = slot.call.id.clone();
                ctx.event(EventKind::ToolCallOutputDelta { call_id, text });
            }
            // Refused at the door: no tool is offered a way to park.
            ToolInput::Parked { .. } => {}
            ToolInput::Done(outcome) => {
                ctx.ledger.settle(id);
                let timeout_ms = slot.state.timeout_ms();
                slot.state = State::Done(finish(&slot.call, outcome, timeout_ms, ctx));
            }
        }
        self.advance(ctx)
    }

    /// The host does not know what became of a run.
    pub(crate) fn on_lost(self, id: EffectId, ctx: &mut Ctx<'_>) -> Progress {
        let message = "The call was interrupted. It may or may not have taken effect: check \
                       before you repeat it.";
        let outcome = Outcome::error(ToolError::Interrupted, message);
        self.on_tool(id, ToolInput::Done(outcome), ctx)
    }

    /// Starts what may start now, and ends the round once each call is answered.
    pub(crate) fn advance(mut self, ctx: &mut Ctx<'_>) -> Progress {
        let mut reads_run = false;
        for slot in &mut self.slots {
            let may_start = match &slot.state {
                State::Done(_) => continue,
                State::Running { read_only: true, .. } => {
                    reads_run = true;
                    continue;
                }
                State::Running { read_only: false, .. } => break,
                State::Queued { read_only: true, .. } => true,
                // A cancelled run of before may still be writing.
                State::Queued { read_only: false, .. } => {
                    !reads_run && !ctx.ledger.has_cancelled_tool(ctx.body.id)
                }
            };
            if !may_start {
                break;
            }
            if slot.launch(ctx) {
                reads_run = true;
            } else {
                break;
            }
        }
        if self.slots.iter().any(|slot| !matches!(slot.state, State::Done(_))) {
            return Progress::Open(self);
        }
        ctx.append(TurnKind::ToolResults(self.results()));
        Progress::Answered
    }

    /// Ends the round on the host's word: what runs is cancelled, what is open is answered.
    pub(crate) fn interrupt(mut self, ctx: &mut Ctx<'_>) {
        for slot in &mut self.slots {
            let started = match &slot.state {
                State::Done(_) => continue,
                State::Queued { .. } => false,
                State::Running { effect, .. } => {
                    ctx.cancel(*effect);
                    true
                }
            };
            let message = if started {
                "Interrupted by the user. The call may have taken effect in part."
            } else {
                announce(&slot.call, ctx);
                "Interrupted by the user before the call began."
            };
            let outcome = Outcome::error(ToolError::Interrupted, message);
            slot.state = State::Done(finish(&slot.call, outcome, 0, ctx));
        }
        ctx.append(TurnKind::ToolResults(self.results()));
    }

    /// The runs that the host owes an answer for.
    pub(crate) fn running(&self) -> impl Iterator<Item = (EffectId, &ToolRun)> {
        self.slots.iter().filter_map(|slot| match &slot.state {
            State::Running { effect, run, .. } => Some((*effect, run)),
            _ => None,
        })
    }

    fn results(self) -> Vec<ToolResult> {
        let result = |slot: Slot| match slot.state {
            State::Done(result) => Some(result),
            State::Queued { .. } | State::Running { .. } => None,
        };
        self.slots.into_iter().filter_map(result).collect()
    }
}

impl Slot {
    /// Hands a queued call to the host. Returns whether later calls may run beside it.
    fn launch(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let State::Queued { run, read_only } = &self.state else { return true };
        let (run, read_only) = (run.clone(), *read_only);
        let effect = ctx.issue(EffectKind::Tool);
        announce(&self.call, ctx);
        ctx.effect(Effect::RunTool { id: effect, run: run.clone() });
        self.state = State::Running { effect, run, read_only };
        read_only
    }
}

impl State {
    const fn effect(&self) -> Option<EffectId> {
        match self {
            Self::Running { effect, .. } => Some(*effect),
            Self::Queued { .. } | Self::Done(_) => None,
        }
    }

    const fn timeout_ms(&self) -> u64 {
        match self {
            Self::Queued { run, .. } | Self::Running { run, .. } => run.timeout_ms,
            Self::Done(_) => 0,
        }
    }
}

/// LOOKUP and VALIDATE: what the host is to run, and whether it only reads.
fn prepare(call: &ToolCall, setup: &Setup) -> Result<(ToolRun, bool), Outcome> {
    let Some(tool) = setup.tool(&call.name) else {
        let message = format!("Unknown tool: {}", call.name);
        return Err(Outcome::error(ToolError::UnknownTool, message));
    };
    let invalid = |detail: &str| {
        let message = format!("Invalid arguments for tool: {}: {detail}", call.name);
        Outcome::error(ToolError::InvalidArguments, message)
    };
    let arguments: serde_json::Value =
        serde_json::from_str(&call.arguments).map_err(|error| invalid(&format!("{error}")))?;
    let violations = schema::violations(&tool.schema, &arguments);
    if !violations.is_empty() {
        return Err(invalid(&violations.join("; ")));
    }
    let (job, asked_ms, read_only) = if tool.builtin {
        let profile = setup.config.model.profile;
        let translated = profile::translate(profile, &call.name, &call.arguments)
            .map_err(|message| Outcome::error(ToolError::InvalidArguments, message))?;
        let read_only = translated.action.is_read_only();
        (Job::Builtin(translated.action), translated.timeout_ms, read_only)
    } else {
        let arguments = Json::parse(call.arguments.trim()).map_err(|e| invalid(&format!("{e}")))?;
        (Job::Custom(arguments), None, tool.spec.read_only)
    };
    let timeout_ms = setup.timeout_ms(asked_ms);
    let run = ToolRun { call_id: call.id.clone(), name: call.name.clone(), job, timeout_ms };
    Ok((run, read_only))
}

fn announce(call: &ToolCall, ctx: &mut Ctx<'_>) {
    ctx.body.run.tool_calls = ctx.body.run.tool_calls.saturating_add(1);
    ctx.event(EventKind::ToolCallStart {
        call_id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    });
}

/// EMIT, TRUNCATE and RETURN: the event carries the whole outcome, the result what the model
/// reads of it.
fn finish(call: &ToolCall, outcome: Outcome, timeout_ms: u64, ctx: &mut Ctx<'_>) -> ToolResult {
    let result = ToolResult {
        call_id: call.id.clone(),
        parts: shown(call, &outcome, timeout_ms, ctx.setup),
        is_error: outcome.error.is_some(),
    };
    ctx.event(EventKind::ToolCallEnd {
        call_id: call.id.clone(),
        name: call.name.clone(),
        outcome: Arc::new(outcome),
    });
    result
}

/// What the model reads of an outcome.
fn shown(call: &ToolCall, outcome: &Outcome, timeout_ms: u64, setup: &Setup) -> Vec<Part> {
    let limit = setup.output_limit(&call.name);
    let cut = |text: &str| truncate::truncate(text, &limit).unwrap_or_else(|| text.into());
    let mut parts: Vec<Part> = match outcome.parts.as_slice() {
        parts if parts.iter().all(|part| part.as_text().is_some()) => {
            vec![Part::text(cut(&outcome.joined_text()))]
        }
        parts => {
            let shown = |part: &Part| part.as_text().map_or(part.clone(), |t| Part::text(cut(t)));
            parts.iter().map(shown).collect()
        }
    };
    if let Some(Part::Text { text }) = parts.first_mut() {
        match outcome.error {
            Some(
                ToolError::Exit
                | ToolError::Timeout
                | ToolError::Interrupted
                | ToolError::UnknownTool
                | ToolError::InvalidArguments,
            )
            | None => {}
            Some(_) => *text = format!("Tool error ({}): {text}", call.name),
        }
        if text.is_empty() {
            *text = String::from("(no output)");
        }
    }
    if outcome.timed_out {
        parts.push(Part::text(format!(
            "[ERROR: Command timed out after {timeout_ms}ms. Partial output is shown above. You \
             can retry with a longer timeout by setting the timeout_ms parameter.]"
        )));
    }
    parts
}
