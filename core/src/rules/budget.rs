//! The spending of a session, held against its limits (`docs/decisions.md#budgets`). One tracker
//! serves all agents of a session; the loop asks it before each model call.

use innerloop_json::{FromJson, ToJson};
use innerloop_types::{
    limits::{Limits, SpendAmount},
    time::SessionInstant,
};

/// The spending of all agents of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct SpendTracker {
    /// The amount that the session has spent; its time counts only the runs that are over.
    // What lies between runs costs no time, so that a session may rest for days. The time of the
    // run under way is added where it is asked for.
    pub spent: SpendAmount,
    /// The part of it that was spent before the run under way, or before the last one.
    pub before: SpendAmount,
    /// The time when the run under way began.
    #[json(skip_serializing_if = "Option::is_none")]
    pub since: Option<SessionInstant>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// The limit's path below `limits`.
    pub which: &'static str,
    /// The amount that is used.
    pub used: u64,
    /// The limit, in the same unit.
    pub limit: u64,
}

impl SpendTracker {
    /// Notes that a run of the session's own agent begins.
    pub const fn begin_run(&mut self, now: SessionInstant) {
        self.before = self.spent;
        self.since = Some(now);
    }

    /// Notes that the run is over.
    pub fn end_run(&mut self, now: SessionInstant) {
        self.spent = self.until(now);
        self.since = None;
    }

    /// Adds what a model call has cost.
    pub fn spend(&mut self, cost_nano_usd: u64, tokens: u64) {
        self.spent.cost_nano_usd = self.spent.cost_nano_usd.saturating_add(cost_nano_usd);
        self.spent.tokens = self.spent.tokens.saturating_add(tokens);
    }

    /// Returns what the session has spent by now.
    #[must_use]
    pub fn until(&self, now: SessionInstant) -> SpendAmount {
        let running = self.since.map_or(0, |since| now.ms_since(since));
        SpendAmount { ms: self.spent.ms.saturating_add(running), ..self.spent }
    }

    /// Returns the first limit that is reached by now.
    #[must_use]
    pub fn used_up(&self, limits: &Limits, now: SessionInstant) -> Option<UsedUp> {
        let (all, before) = (self.until(now), self.before);
        let cost = all.cost_nano_usd.saturating_sub(before.cost_nano_usd);
        let tokens = all.tokens.saturating_sub(before.tokens);
        let ms = all.ms.saturating_sub(before.ms);
        let Limits { run, session, .. } = limits;
        let all = [
            ("run.cost_nano_usd", cost, run.cost_nano_usd),
            ("run.tokens", tokens, run.tokens),
            ("run.ms", ms, run.ms),
            ("session.cost_nano_usd", all.cost_nano_usd, session.cost_nano_usd),
            ("session.tokens", all.tokens, session.tokens),
            ("session.ms", all.ms, session.ms),
        ];
        // The order is fixed, the run's limits before the session's, so that a replay names the
        // same limit where several are reached at once.
        let reached = all.into_iter().find(|&(_, used, limit)| limit > 0 && used >= limit);
        reached.map(|(which, used, limit)| UsedUp { which, used, limit })
    }

    /// Returns the time at which the run under way reaches a limit of time; `None` without a run or
    /// such a limit.
    #[must_use]
    pub fn deadline(&self, limits: &Limits) -> Option<SessionInstant> {
        let since = self.since?;
        // A limit may have been lowered below what is spent: then the time is up at once.
        let session = limits.session.ms.saturating_sub(self.spent.ms);
        let left = [(limits.run.ms, limits.run.ms), (limits.session.ms, session)];
        let left = left.into_iter().filter(|&(limit, _)| limit > 0).map(|(_, left)| left).min();
        left.map(|ms| since.plus_ms(ms))
    }
}
