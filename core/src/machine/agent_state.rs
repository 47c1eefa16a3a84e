//! The data of an agent that exists in every phase: its history, its model calls, its queues, its
//! counts, and the agents that it started. Data of one phase alone is in `phase`. What most idle
//! agents lack is boxed, so that a session that waits takes little memory.

use super::{history::History, model_call::ModelCall};
use crate::rules::{
    cost,
    guard::KnownFiles,
    repeat::{RepeatDetector, RepeatPattern},
};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use innerloop_json::{IntoList, Map, ToJson, joined};
use innerloop_types::{
    config::{ApprovalRule, LoopPolicy, NamedAgent},
    corrections::ReplyFault,
    id::{AgentId, ById, EffectId},
    input::{HttpInput, TurnOptions},
    json::Json,
    message::{Part, ToolCall, ToolResult, Turn, TurnKind, Usage},
    status::{RunEnd, SubagentState},
    time::SessionInstant,
};

/// The data of an agent that exist in every phase.
#[derive(Debug)]
pub(crate) struct AgentData {
    pub(crate) id: AgentId,
    /// The options that it was started with; `None` for the session's own agent.
    pub(crate) spawned: Option<Box<SpawnOptions>>,
    pub(crate) history: History,
    /// Boxed, as is `learnt`, since most idle agents have neither.
    pending: Option<Box<PendingWork>>,
    learnt: Option<Box<AgentMemory>>,
    /// True if the user has been warned that the context window is nearly full.
    pub(crate) warned_of_fullness: bool,
    /// The state of its folds that is kept beside the history.
    pub(crate) folding: FoldState,
    /// True if the last run was completed.
    pub(crate) succeeded: bool,
    /// The counts of all runs before the current one.
    pub(crate) past: RunCounts,
    /// The run under way, or the last one.
    pub(crate) run: AgentRun,
}

/// The state of an agent's folds that is kept beside its history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoldState {
    /// The size of the context window in tokens, learnt from a refusal by the model; 0 if it has
    /// refused nothing.
    pub(crate) window: u64,
    /// The number of folds that have failed in a row.
    pub(crate) failures: u32,
}

/// The work that is under way and the messages that wait to be sent.
#[derive(Debug)]
pub(crate) struct PendingWork {
    /// The calls of models that are in flight or wait for their next try.
    pub(crate) calls: Vec<ModelCall>,
    /// The messages for the model after the current round.
    pub(crate) steering: Vec<Vec<Part>>,
    /// Inputs for when the current one is done.
    pub(crate) follow_ups: Vec<UserInput>,
}

/// An input of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserInput {
    pub(crate) parts: Vec<Part>,
    /// The options that apply to this input only.
    pub(crate) options: Option<Box<TurnOptions>>,
}

/// The knowledge of an agent, and the agents that it has started.
#[derive(Debug)]
pub(crate) struct AgentMemory {
    pub(crate) children: ById<AgentId, ChildAgent>,
    /// Files that the model has read or written.
    pub(crate) known_files: KnownFiles,
    /// The rules by which calls need no more approval, beside those of the configuration.
    pub(crate) allowed: Vec<ApprovalRule>,
}

/// The options that an agent was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpawnOptions {
    /// The agent that started it.
    pub(crate) parent: AgentId,
    /// The depth of its nesting; 1 where the session's own agent started it.
    pub(crate) depth: u32,
    /// The name that it was started by, if it has one, and what that stood for.
    // Kept whole: the configuration may lose the name, and an agent that works must neither end for
    // that nor get tools that it did not have.
    pub(crate) named: Option<(String, NamedAgent)>,
    pub(crate) model: Option<String>,
    /// The folder of the workspace that it works in, from the root on.
    pub(crate) folder: String,
    pub(crate) max_turns: u32,
}

/// The knowledge that an agent has of one that it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChildAgent {
    pub(crate) state: SubagentState,
    pub(crate) output: String,
    pub(crate) turns: u32,
    /// The length of the starting agent's log when it started this one.
    pub(crate) since: u32,
    /// True if it is closed, whoever closed it: it takes no more messages.
    pub(crate) over: bool,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentRun {
    pub(crate) counts: RunCounts,
    /// Rounds of tool calls since the last input.
    pub(crate) rounds: u32,
    /// The attempts to repair replies.
    pub(crate) repairs: RepairState,
    /// Set once the model has been asked to sum up without tools: how the run ends then.
    pub(crate) epilogue: Option<RunEnd>,
    /// The edits that have failed of late, by file; a success takes one off.
    pub(crate) failed_edits: Option<Box<Map<u32>>>,
    /// The detector of repeated calls; it has seen the calls of the run so far.
    pub(crate) watch: Option<Box<RepeatDetector>>,
    /// The final answer, as JSON text.
    pub(crate) answer: Option<Box<str>>,
    /// The result of the run, where that is not the model's last message.
    pub(crate) result: Option<Box<str>>,
    /// True if the host's hook has let the result go out.
    pub(crate) released: bool,
    /// The options of the input. They stay after the run, until the next input comes with its own:
    /// they tell whether the next request begins as the last one did.
    pub(crate) options: Option<Box<TurnOptions>>,
}

/// The attempts to repair replies in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepairState {
    /// Pauses of the provider in a row.
    pub(crate) pauses: u32,
    /// Replies in a row whose calls were cut by a limit.
    pub(crate) cut: u32,
    pub(crate) continued: u32,
    pub(crate) empties: u32,
    pub(crate) answers: u32,
    /// The corrections of replies, by the fault's place in [`ReplyFault::ALL`].
    pub(crate) corrected: [u8; ReplyFault::ALL.len()],
    /// The number of times that the hook before the end has denied it, for this input.
    pub(crate) denials: u32,
    /// True if replies to this input have twice the output limit.
    pub(crate) grown: bool,
    /// True if the conversation has been made to fit the model for this input.
    pub(crate) overflowed: bool,
}

/// The totals of one run, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunCounts {
    pub(crate) inputs: u32,
    pub(crate) replies: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// The cost, as far as it is known.
    pub(crate) cost_nano_usd: Option<u64>,
}

impl SpawnOptions {
    /// Returns the name that it was started by; empty for none.
    pub(crate) fn name(&self) -> &str {
        self.named.as_ref().map_or("", |(name, _)| name)
    }
}

impl RunCounts {
    fn add(&mut self, other: &Self) {
        self.inputs = self.inputs.saturating_add(other.inputs);
        self.replies = self.replies.saturating_add(other.replies);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.usage.add(&other.usage);
        self.cost_nano_usd = cost::sum(self.cost_nano_usd, other.cost_nano_usd);
    }
}

impl PendingWork {
    const NOTHING: Self = Self { calls: Vec::new(), steering: Vec::new(), follow_ups: Vec::new() };

    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.steering.is_empty() && self.follow_ups.is_empty()
    }
}

impl AgentMemory {
    const NOTHING: Self =
        Self { children: ById::new(), known_files: KnownFiles::new(), allowed: Vec::new() };

    pub(super) fn is_empty(&self) -> bool {
        self.children.is_empty() && self.known_files.is_empty() && self.allowed.is_empty()
    }
}

impl AgentData {
    /// Returns the data of an agent that has not run yet.
    pub(crate) fn new(id: AgentId, spawned: Option<Box<SpawnOptions>>, history: History) -> Self {
        Self {
            id,
            spawned,
            history,
            pending: None,
            learnt: None,
            warned_of_fullness: false,
            folding: FoldState::default(),
            succeeded: false,
            past: RunCounts::default(),
            run: AgentRun::default(),
        }
    }

    /// Takes over the work and the knowledge of a restored agent.
    pub(crate) fn resume(&mut self, pending: PendingWork, learnt: AgentMemory) {
        self.pending = (!pending.is_empty()).then(|| Box::new(pending));
        self.learnt = (!learnt.is_empty()).then(|| Box::new(learnt));
    }

    /// Returns the work that is under way and the messages that wait.
    pub(crate) fn pending(&self) -> &PendingWork {
        // A shared empty value: reading must not allocate for each idle agent.
        static NOTHING: PendingWork = PendingWork::NOTHING;
        self.pending.as_deref().unwrap_or(&NOTHING)
    }

    /// Returns the work that is under way, to add to it; allocates it if there was none.
    pub(crate) fn pending_mut(&mut self) -> &mut PendingWork {
        self.pending.get_or_insert_with(|| Box::new(PendingWork::NOTHING))
    }

    /// Returns what the agent has learnt, and the agents that it has started.
    pub(crate) fn learnt(&self) -> &AgentMemory {
        static NOTHING: AgentMemory = AgentMemory::NOTHING;
        self.learnt.as_deref().unwrap_or(&NOTHING)
    }

    /// Forgets the rules by which a person has allowed calls.
    pub(crate) fn forget_allowed(&mut self) {
        if let Some(learnt) = &mut self.learnt {
            learnt.allowed.clear();
        }
    }

    /// Returns what the agent has learnt, to add to it; allocates it if there was none.
    pub(crate) fn learnt_mut(&mut self) -> &mut AgentMemory {
        self.learnt.get_or_insert_with(|| Box::new(AgentMemory::NOTHING))
    }

    /// Returns what this agent knows of one that it started.
    pub(crate) fn child_mut(&mut self, id: AgentId) -> Option<&mut ChildAgent> {
        self.learnt.as_mut()?.children.get_mut(id)
    }

    /// Returns the counts of all runs so far.
    pub(crate) fn counts(&self) -> RunCounts {
        let mut all = self.past;
        all.add(&self.run.counts);
        all
    }

    /// Returns how deep the agent is nested; the session's own is at 0.
    pub(crate) fn depth(&self) -> u32 {
        self.spawned.as_ref().map_or(0, |options| options.depth)
    }

    /// Returns the result of the run: the one that was set, or else what the model said last.
    pub(crate) fn result(&self) -> String {
        match &self.run.result {
            Some(result) => String::from(&**result),
            // Without this, the last reply of an earlier run would pass as the result of this one.
            None if self.run.counts.replies == 0 => String::new(),
            None => self.history.last_said(),
        }
    }

    /// Removes and returns the call whose request is that effect.
    pub(crate) fn take_call(&mut self, effect: EffectId) -> Option<ModelCall> {
        let calls = &mut self.pending.as_mut()?.calls;
        let at = calls.iter().position(|call| call.effect() == Some(effect))?;
        // The order of the calls has no meaning: answers find theirs by the effect.
        Some(calls.swap_remove(at))
    }

    /// Removes and returns all calls.
    pub(crate) fn take_calls(&mut self) -> Vec<ModelCall> {
        self.pending.as_mut().map(|pending| core::mem::take(&mut pending.calls)).unwrap_or_default()
    }

    /// Removes and returns the messages for the model.
    pub(crate) fn take_steering(&mut self) -> Vec<Vec<Part>> {
        let pending = self.pending.as_mut();
        pending.map(|pending| core::mem::take(&mut pending.steering)).unwrap_or_default()
    }

    /// Removes and returns the oldest input that waits.
    pub(crate) fn next_follow_up(&mut self) -> Option<UserInput> {
        let waiting = &mut self.pending.as_mut()?.follow_ups;
        // A list, though it moves up with each input taken: a double-ended queue would be code of
        // its own in the page's module, and the requests of one input cost far more than the
        // moving.
        (!waiting.is_empty()).then(|| waiting.remove(0))
    }

    /// Returns whether news of a model call come in the right order.
    pub(crate) fn accepts(&self, effect: EffectId, input: &HttpInput) -> bool {
        let exchanges = self.pending().calls.iter().filter_map(ModelCall::exchange);
        exchanges.filter(|exchange| exchange.effect == effect).all(|e| e.accepts(input))
    }

    /// Removes and returns a call whose deadline has come.
    pub(crate) fn take_due_call(&mut self, now: SessionInstant, idle_ms: u64) -> Option<ModelCall> {
        let calls = &mut self.pending.as_mut()?.calls;
        let is_due = |call: &ModelCall| call.deadline(idle_ms).is_some_and(|(at, _)| at <= now);
        let at = calls.iter().position(is_due)?;
        Some(calls.swap_remove(at))
    }

    /// Frees what an idle agent does not need.
    pub(crate) fn rest(&mut self) {
        self.history.rest();
        // Calls are compared within a run only. A restored agent that is idle has no detector
        // either.
        self.run.watch = None;
        self.pending = self.pending.take().filter(|pending| !pending.is_empty());
    }

    /// Notes the calls of the round that is over; returns the pattern if they repeat earlier ones.
    pub(crate) fn watch_round(&mut self, policy: &LoopPolicy) -> Option<RepeatPattern> {
        note(&mut self.run.watch, self.history.last_round(), policy)
    }

    /// Notes the calls of the run so far once more, for an agent that was restored.
    pub(crate) fn watch_again(&mut self, policy: &LoopPolicy) {
        // The detector is not in snapshots: the rounds of the run lead to the same one again.
        let inputs = usize::try_from(self.run.counts.inputs).unwrap_or(usize::MAX);
        for round in self.history.rounds_since(inputs) {
            note(&mut self.run.watch, round, policy);
        }
    }

    /// Returns the number of rounds of tool calls in the run so far.
    pub(crate) fn rounds(&self) -> u32 {
        let inputs = usize::try_from(self.run.counts.inputs).unwrap_or(usize::MAX);
        let rounds = self.history.rounds_since(inputs);
        let rounds = rounds.filter_map(|mut round| round.next()).count();
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// Returns the number of user and assistant turns so far.
    pub(crate) fn turns(&self) -> u32 {
        let counts = self.counts();
        counts.inputs.saturating_add(counts.replies)
    }

    /// Takes over a turn of another session, by import or fork. It counts as said here.
    pub(crate) fn take_over(&mut self, turn: Turn) {
        // Counted with the earlier runs: a restore does the same with every turn outside the run,
        // and must come to the same numbers.
        match turn.kind {
            TurnKind::User(_) => self.past.inputs = self.past.inputs.saturating_add(1),
            TurnKind::Assistant(_) => self.past.replies = self.past.replies.saturating_add(1),
            _ => {}
        }
        self.history.push(turn);
    }

    /// Adds the counts of the run that is over to the earlier ones, and begins an empty run.
    pub(crate) fn begin_run(&mut self) {
        let run = core::mem::take(&mut self.run);
        self.past.add(&run.counts);
        // The options of the last input stay until the next one's take their place (see the field).
        self.run.options = run.options;
    }

    /// Returns the started agent that the model calls `name`.
    pub(crate) fn child(&self, name: &str) -> Option<(AgentId, &ChildAgent)> {
        let id = AgentId(name.strip_prefix("agent-")?.parse().ok()?);
        self.learnt().children.get(id).map(|child| (id, child))
    }
}

impl ChildAgent {
    /// An agent that could not be started, for such a reason.
    pub(super) fn failed(output: String) -> Self {
        Self { state: SubagentState::Failed, output, turns: 0, since: 0, over: true }
    }

    /// Returns the JSON that the model reads of its end.
    pub(crate) fn result(&self) -> Json {
        #[derive(ToJson)]
        struct SubAgentResult<'a> {
            status: &'static str,
            output: &'a str,
            success: bool,
            turns_used: u32,
        }
        Json::of(&SubAgentResult {
            status: self.state.name(),
            output: &self.output,
            success: self.state == SubagentState::Completed,
            turns_used: self.turns,
        })
    }
}

/// Notes the calls of a round; returns the pattern if they repeat earlier ones.
fn note<'a>(
    watch: &mut Option<Box<RepeatDetector>>,
    round: impl Iterator<Item = (&'a ToolCall, &'a ToolResult)>,
    policy: &LoopPolicy,
) -> Option<RepeatPattern> {
    if !policy.detect {
        return None;
    }
    let mut calls = Vec::new();
    for (call, result) in round {
        if policy.ignore_tools.contains(&call.name) {
            continue;
        }
        if policy.only_if_failed && !result.is_error {
            // A call that succeeds ends the series: only failures in a row are counted.
            *watch = None;
            calls.clear();
            continue;
        }
        calls.push((&*call.name, &*call.arguments, content(result)));
    }
    if calls.is_empty() {
        return None;
    }
    let calls: Vec<_> =
        calls.iter().map(|(name, args, result)| (*name, *args, &**result)).into_list();
    watch.get_or_insert_default().note(&calls, policy)
}

/// Returns the texts and data of a result, as one text to compare.
fn content(result: &ToolResult) -> String {
    // Data counts as well as text: two screenshots that differ are different results, and a call
    // with another result is no repetition.
    let contents = result.parts.iter().map(|part| match part {
        Part::Text { text } => text.as_str(),
        Part::Image { data, .. } | Part::File { data, .. } => data,
        Part::ImageUrl { url } => url,
    });
    joined(&contents.into_list(), "\n")
}

/// Returns an agent's name as the model knows it.
pub(crate) fn agent_name(id: AgentId) -> String {
    format!("agent-{}", id.0)
}
