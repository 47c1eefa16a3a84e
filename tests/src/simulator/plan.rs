//! How a seed is run, and what comes of it.

use super::subject::Mutation;
use innerloop_core::config::WireKind;
use std::collections::BTreeSet;

/// How a seed is run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Most steps before the world behaves and the run comes to its end; at least half of them
    /// are taken.
    pub steps: usize,
    /// The fault to put around the session, if the checker is to show that it bites.
    pub mutation: Option<Mutation>,
    /// The protocol of the model; drawn from the seed if absent, as is its family unless the
    /// protocol is Anthropic's.
    pub wire: Option<WireKind>,
    /// Whether conversations are made shorter, too.
    pub folds: bool,
    /// Whether steps are taken back and put back, and the view is changed otherwise.
    pub views: bool,
    /// Whether inputs have options of their own, requests are held back, and a hook sees results.
    pub turns: bool,
    /// Whether what may be spent is limited.
    pub budgets: bool,
    /// Whether replies are corrected, and the model gives cause for it.
    pub faults: bool,
    /// Whether other models take over, in some runs.
    pub routes: bool,
    /// Whether the model is shown some of its tools only, and outputs are kept.
    pub shown: bool,
    /// Whether agents have names, and several are started by one call.
    pub agents: bool,
    /// Whether what happened is written down.
    pub trace: bool,
}

impl Default for Plan {
    fn default() -> Self {
        let (steps, mutation, wire, trace) = (160, None, None, false);
        let (folds, views, turns, budgets, faults) = (true, true, true, true, true);
        let (routes, shown, agents) = (true, true, true);
        Self {
            steps,
            mutation,
            wire,
            folds,
            views,
            turns,
            budgets,
            faults,
            routes,
            shown,
            agents,
            trace,
        }
    }
}

/// A run without a fault.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many inputs the session was given.
    pub steps: u64,
    /// The rows of the loop's table that were followed, see [`Session::rows`].
    ///
    /// [`Session::rows`]: innerloop_core::Session::rows
    pub rows: BTreeSet<[&'static str; 3]>,
    /// The session's log.
    pub log: String,
    /// What happened, a line each, if it was written down.
    pub trace: Vec<String>,
}

/// What did not hold.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The seed that shows it.
    pub seed: u64,
    /// After how many inputs.
    pub steps: u64,
    /// What did not hold.
    pub message: String,
    /// What happened before, a line each.
    pub trace: Vec<String>,
}
