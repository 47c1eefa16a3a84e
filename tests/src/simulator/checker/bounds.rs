//! Calls of models come to an end, whatever the model does: a run makes no more of them than the
//! configuration and the words of its people allow.

use super::{
    batches::Batches,
    events::sums_up,
    seen::{Seen, require},
};
use innerloop_core::{
    compaction::FoldReason,
    config::{HookPoint, SessionConfig},
    corrections::ReplyFault,
    event::{Event, EventKind},
    id::AgentId,
    message::{FinishReason, LeftOutKind, PartPlace, Turn, TurnKind},
    output::{Effect, Output, RequestPurpose},
};
use std::collections::{BTreeMap, BTreeSet};

/// The runs under way.
#[derive(Debug, Default)]
pub(super) struct Bounds(BTreeMap<AgentId, Run>);

/// What a run has come to.
#[derive(Debug, Default)]
struct Run {
    inputs: u64,
    /// Words in between, each of which the model may answer.
    steers: u64,
    /// Times that the model was asked once more with twice the room, and with fewer turns.
    grown: u64,
    overflows: u64,
    /// Replies that called tools, and those that the provider has paused.
    rounds: u64,
    pauses: u64,
    /// Parts that the provider has refused and that are left out, and the times that a turn left
    /// out some more.
    left_out: BTreeSet<PartPlace>,
    leavings: u64,
    /// Folds that a model is to sum up, and those that the host has asked for.
    folds: u64,
    asked: u64,
    /// Replies that were asked for, each counted once, however often it was tried.
    calls: u64,
    /// Requests for summaries.
    summaries: u64,
    /// Whether the run is being summed up, and whether tools are told in the prompt since.
    sums_up: bool,
    in_text: bool,
    /// How many turns were looked at.
    turns: usize,
    /// The most turns of the whole agent by its name, and those before the run; any number if 0.
    max_turns: u32,
    before: u64,
}

impl Bounds {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>, batches: &Batches) -> Result<(), String> {
        for output in seen.outputs {
            match output {
                Output::Event(event) => {
                    self.run(event.agent, seen).max_turns = batches.max_turns(event.agent);
                    self.on_event(event, seen)?;
                }
                Output::Effect(Effect::Http {
                    agent, purpose: RequestPurpose::Summary, ..
                }) => {
                    let run = self.run(*agent, seen);
                    run.summaries += 1;
                    run.check_folds(seen.config).map_err(|fault| format!("{agent} {fault}"))?;
                }
                Output::Effect(_) => {}
            }
        }
        Ok(())
    }

    fn run(&mut self, agent: AgentId, seen: &Seen<'_>) -> &mut Run {
        self.0.entry(agent).or_insert_with(|| {
            let turns = seen.turns(agent);
            let before = turns.iter().filter(|turn| counts(turn)).count();
            Run { turns: turns.len(), before: before as u64, ..Run::default() }
        })
    }

    fn on_event(&mut self, event: &Event, seen: &Seen<'_>) -> Result<(), String> {
        let run = self.run(event.agent, seen);
        match &event.kind {
            EventKind::UserInput { .. } => run.inputs += 1,
            EventKind::SteeringInjected { .. } => run.steers += 1,
            EventKind::RequestStart { attempt: 1, .. } => {
                run.look(event.agent, seen);
                run.calls += 1;
                return run.check(seen.config).map_err(|fault| format!("{} {fault}", event.agent));
            }
            EventKind::Warning { message } => {
                run.in_text |= message.starts_with("the endpoint has no tools");
            }
            EventKind::TextReset => run.grown += 1,
            EventKind::Compacted { why: FoldReason::Overflow, .. } => run.overflows += 1,
            EventKind::CompactionStarted { why, .. } => {
                run.folds += 1;
                run.asked += u64::from(*why == FoldReason::Asked);
            }
            EventKind::ProcessingEnd { .. } => {
                self.0.remove(&event.agent);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Run {
    /// Counts the replies that came since.
    fn look(&mut self, agent: AgentId, seen: &Seen<'_>) {
        let turns = seen.turns(agent);
        for turn in turns.iter().skip(self.turns) {
            match &turn.kind {
                TurnKind::Assistant(reply) => {
                    let has_calls = reply.tool_calls().next().is_some();
                    self.rounds += u64::from(has_calls);
                    self.pauses += u64::from(!has_calls && reply.finish == FinishReason::Pause);
                }
                TurnKind::LeftOut(left) if left.how != LeftOutKind::PutBack => {
                    let before = self.left_out.len();
                    self.left_out.extend(&left.parts);
                    // Without parts it is signatures that are left out.
                    let is_more = left.parts.is_empty() || self.left_out.len() > before;
                    self.leavings += u64::from(is_more);
                }
                _ => {}
            }
        }
        self.turns = turns.len();
        self.sums_up = sums_up(turns);
    }

    fn check(&self, config: &SessionConfig) -> Result<(), String> {
        let (calls, most) = (self.calls, self.replies(config));
        require(calls <= most, || format!("asks for {calls} replies of {most}: {self:?}"))
    }

    fn check_folds(&self, config: &SessionConfig) -> Result<(), String> {
        let models = config.routing.models.len() as u64;
        let tries = u64::from(config.retry.max_retries) + 1 + models;
        let (summaries, most) = (self.summaries, self.folds * tries);
        require(summaries <= most, || format!("asks for {summaries} summaries of {most}"))?;
        // At most one before each reply, and before one that a limit stands in the way of.
        let (folds, most) = (self.folds, self.calls + self.asked + self.inputs + 1);
        require(folds <= most, || format!("folds {folds} times of {most}"))
    }

    /// How many replies may be asked for.
    fn replies(&self, config: &SessionConfig) -> u64 {
        let repair = &config.repair;
        let rounds = match config.limits.max_tool_rounds_per_input {
            0 => self.rounds,
            most => self.rounds.min(self.inputs * u64::from(most)),
        };
        let again = repair.continue_on_length + repair.retry_on_empty;
        let faults = ReplyFault::ALL.iter().filter(|fault| **fault != ReplyFault::PatchSpiral);
        let faults: u32 = faults.map(|fault| config.corrections.most(*fault)).sum();
        let corrected = faults.min(config.corrections.max_per_run);
        let answers = config.answer.as_ref().map_or(0, |answer| answer.retries);
        let is_hooked = config.hooks.points.contains(&HookPoint::BeforeStop);
        let denials = if is_hooked { config.hooks.max_denials } else { 0 };
        let for_inputs = self.inputs * (1 + u64::from(denials))
            + self.grown.min(self.inputs)
            + self.overflows.min(self.inputs);
        let once = u64::from(again + corrected + answers)
            + u64::from(self.sums_up)
            + u64::from(self.in_text);
        let most = rounds + self.pauses + self.steers + self.leavings + for_inputs + once;
        // Each reply is a turn of the agent's, except those that are asked for anew.
        let anew = self.grown + self.overflows + self.leavings + once;
        let own = u64::from(self.max_turns).saturating_sub(self.before) + anew;
        if self.max_turns == 0 { most } else { most.min(own) }
    }
}

/// Whether a turn counts against the limit of turns.
const fn counts(turn: &Turn) -> bool {
    matches!(turn.kind, TurnKind::User(_) | TurnKind::Assistant(_))
}
