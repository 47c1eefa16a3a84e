//! What was spent, by what was told of replies and summaries: no call is made when that is all
//! that may be, but for one in which the run is summed up. And how often the hook before the end
//! sends the model back to work.

use super::{
    events::sums_up,
    seen::{Seen, require},
};
use innerloop_core::{
    compaction::FoldReason,
    config::{HookPoint, SpendAmount},
    event::{Event, EventKind},
    id::{AgentId, EffectId},
    input::{Command, HookReply, Input},
    message::Usage,
    output::{Effect, Output, RequestPurpose},
    status::{AgentState, RunEnd},
    time::SessionInstant,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the session has spent at least: what a cut stream cost is not told.
#[derive(Debug, Default)]
pub(super) struct Spending {
    told: SpendAmount,
    /// What was told before the run of the session's own agent began, and when that was.
    before: SpendAmount,
    began: SessionInstant,
    runs: bool,
    /// Calls of that run that were made when all was spent.
    over: u32,
    /// Agents whose conversation is made shorter because the host asked for it.
    asked: BTreeSet<AgentId>,
    /// Hooks that look at the end of a run.
    ends: BTreeMap<EffectId, AgentId>,
    denials: BTreeMap<AgentId, u32>,
    /// The hook that looks at what the run of the session's own agent gives out: the run is over
    /// but for its reply.
    leaving: Option<EffectId>,
}

impl Spending {
    /// Before the outputs of a step are looked at; `was_idle` says whether the session's own agent
    /// had no run.
    pub(super) fn on_input(&mut self, seen: &Seen<'_>, was_idle: bool) -> Result<(), String> {
        if let Input::Command { agent: AgentId::ROOT, command } = seen.input
            && matches!(command, Command::Submit { .. } | Command::FollowUp { .. })
            && was_idle
        {
            self.begin(seen.now);
        }
        if let Input::Hook { id, .. } | Input::Lost { id } = seen.input
            && self.leaving == Some(*id)
        {
            self.leaving = None;
        }
        self.on_reply(seen)
    }

    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        for output in seen.outputs {
            match output {
                Output::Event(event) => self.on_event(event, seen)?,
                Output::Effect(Effect::Http { agent, purpose, .. }) => {
                    self.on_call(*agent, *purpose, seen)?;
                }
                Output::Effect(Effect::RunHook { id, agent, hook }) => {
                    if hook.point == HookPoint::BeforeStop {
                        self.ends.insert(*id, *agent);
                    }
                    if hook.point == HookPoint::Outbound && *agent == AgentId::ROOT {
                        self.leaving = Some(*id);
                    }
                }
                Output::Effect(_) => {}
            }
        }
        let state = seen.session().status(AgentId::ROOT).map(|status| status.state);
        self.runs &= matches!(state, Some(AgentState::Processing | AgentState::AwaitingInput));
        let run = seen.config.limits.run.ms;
        let goes_on = self.runs && self.leaving.is_none();
        let is_late = goes_on && run > 0 && seen.now.ms_since(self.began) >= run;
        let sums_up = sums_up(seen.turns(AgentId::ROOT));
        require(!is_late || sums_up || *seen.input != Input::Tick, || {
            format!("the time of {run} ms is up since {} ms, and the run goes on", self.began.0)
        })
    }

    const fn begin(&mut self, now: SessionInstant) {
        (self.before, self.began, self.runs, self.over) = (self.told, now, true, 0);
        self.leaving = None;
    }

    fn on_event(&mut self, event: &Event, seen: &Seen<'_>) -> Result<(), String> {
        let agent = event.agent;
        match &event.kind {
            EventKind::UserInput { .. } => {
                self.denials.remove(&agent);
            }
            EventKind::AssistantTextEnd { usage, cost_nano_usd, .. } => {
                self.add(*usage, *cost_nano_usd);
            }
            EventKind::CompactionStarted { why: FoldReason::Asked, .. } => {
                self.asked.insert(agent);
            }
            EventKind::Compacted { usage, cost_nano_usd, .. }
            | EventKind::CompactionFailed { usage, cost_nano_usd, .. } => {
                self.add(*usage, *cost_nano_usd);
                if self.asked.remove(&agent) && agent == AgentId::ROOT {
                    // An input that waited for its end may begin a run.
                    self.begin(seen.now);
                }
            }
            EventKind::BudgetLimit { which, used, limit } => {
                self.check_limit(which, *used, *limit, seen).map_err(|fault| {
                    format!("{agent} stops at {which} {limit} after {used}: {fault}")
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, usage: Option<Usage>, cost: Option<u64>) {
        self.told.tokens += usage.map_or(0, |usage| usage.input_total + usage.output_total);
        self.told.cost_nano_usd += cost.unwrap_or(0);
    }

    /// What was told of the run.
    const fn run(&self) -> SpendAmount {
        SpendAmount {
            cost_nano_usd: self.told.cost_nano_usd - self.before.cost_nano_usd,
            tokens: self.told.tokens - self.before.tokens,
            ms: 0,
        }
    }

    fn check_limit(
        &self,
        which: &str,
        used: u64,
        limit: u64,
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        let limits = seen.config.limits;
        let (most, told) = match which {
            "run.cost_nano_usd" => (limits.run.cost_nano_usd, self.run().cost_nano_usd),
            "run.tokens" => (limits.run.tokens, self.run().tokens),
            "run.ms" => (limits.run.ms, 0),
            "session.cost_nano_usd" => (limits.session.cost_nano_usd, self.told.cost_nano_usd),
            "session.tokens" => (limits.session.tokens, self.told.tokens),
            "session.ms" => (limits.session.ms, 0),
            _ => return Err("there is no such limit".into()),
        };
        require(limit == most && used >= limit, || format!("the limit is {most}"))?;
        require(used >= told, || format!("{told} were told"))
    }

    /// A call is made.
    fn on_call(
        &mut self,
        agent: AgentId,
        p: RequestPurpose,
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        let is_of_run = p == RequestPurpose::Model || !self.asked.contains(&agent);
        let limits = seen.config.limits;
        let reached = |used: SpendAmount, most: SpendAmount| {
            (most.tokens > 0 && used.tokens >= most.tokens)
                || (most.cost_nano_usd > 0 && used.cost_nano_usd >= most.cost_nano_usd)
        };
        let is_late = |most: u64| most > 0 && seen.now.ms_since(self.began) >= most;
        let run = reached(self.run(), limits.run) || (self.runs && is_late(limits.run.ms));
        if !(reached(self.told, limits.session) || (is_of_run && run)) {
            return Ok(());
        }
        self.over += 1;
        let is_last = agent == AgentId::ROOT && sums_up(seen.turns(agent));
        require(is_last && self.over == 1, || {
            format!("all of {limits:?} is used up ({:?}), and {agent} calls a model", self.told)
        })
    }

    /// The hook before the end has replied, or is lost.
    fn on_reply(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let (Input::Hook { id, .. } | Input::Lost { id }) = seen.input else { return Ok(()) };
        let Some(agent) = self.ends.remove(id) else { return Ok(()) };
        let denies = match seen.input {
            Input::Hook { reply: HookReply::Deny { .. }, .. } => true,
            Input::Hook { reply: HookReply::Allow | HookReply::Replace(_), .. } => false,
            _ => seen.config.hooks.fail_closed,
        };
        let given_up = seen.outputs.events().any(|event| {
            let EventKind::ProcessingEnd { end, .. } = event.kind else { return false };
            event.agent == agent && end == RunEnd::Unverified
        });
        // One more hook may look at what the run gives out before it ends.
        let leaves = seen.outputs.effects().any(|effect| {
            matches!(effect, Effect::RunHook { agent: of, hook, .. }
                if *of == agent && hook.point == HookPoint::Outbound)
        });
        // A hook that was cancelled says nothing any more.
        if !denies || seen.outputs.is_empty() {
            return require(!given_up, || "a run counts as denied that no hook denies".into());
        }
        let denials = self.denials.entry(agent).or_default();
        *denials += 1;
        let most = seen.config.hooks.max_denials;
        let ends = given_up || leaves;
        // Or it ends for another reason than that.
        let is_limited = seen.outputs.events().any(|event| {
            let kind = &event.kind;
            event.agent == agent
                && matches!(kind, EventKind::BudgetLimit { .. } | EventKind::TurnLimit { .. })
        });
        require(ends == (*denials > most) || (ends && is_limited), || {
            format!("the end was denied {denials} times of {most}, and the run ends: {ends}")
        })
    }
}
