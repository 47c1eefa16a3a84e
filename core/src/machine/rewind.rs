//! Rewinds: which steps can be undone and redone, and what follows. A step begins with each input,
//! and with each restore and clear, so that these can be undone, too. Both stacks follow from the
//! log: snapshots do not hold them, and they cannot disagree with it.

use super::{
    ctx::{AgentSignal, StepContext},
    view::{path, place},
};
use crate::rules::guard::KnownFiles;
use alloc::vec::Vec;
use innerloop_types::{
    event::EventKind,
    id::AgentId,
    message::{RewindReason, Turn, TurnKind},
    status::SubagentState,
};

/// The steps of a log, each as the length of the log that it leads back to.
#[derive(Debug, Default)]
pub(crate) struct UndoStack {
    undo: Vec<u32>,
    redo: Vec<u32>,
    /// The maximum number of steps that can be undone in a row.
    most: usize,
}

impl UndoStack {
    /// Returns the steps of a log, of which `max` can be undone in a row; all if 0.
    pub(crate) fn of(turns: &[Turn], max: u32) -> Self {
        let most = if max == 0 { usize::MAX } else { place(max) };
        let mut steps = Self { most, ..Self::default() };
        for (here, turn) in (0..).zip(turns) {
            match turn.kind {
                TurnKind::Rewound { at, why: RewindReason::Undo } => {
                    shift(&mut steps.undo, &mut steps.redo, here, at);
                }
                TurnKind::Rewound { at, why: RewindReason::Redo } => {
                    shift(&mut steps.redo, &mut steps.undo, here, at);
                }
                // Something new has been said, or the host has jumped: what was undone before no
                // longer follows on it.
                TurnKind::User(_) | TurnKind::Rewound { .. } => {
                    steps.undo.push(here);
                    steps.redo.clear();
                }
                _ => {}
            }
        }
        steps
    }

    /// Returns the number of steps that can be undone.
    pub(crate) fn undo_left(&self) -> usize {
        // The limit is one of steps in a row: those that are undone already are the ones that could
        // be redone.
        self.undo.len().min(self.most.saturating_sub(self.redo.len()))
    }

    /// Returns the number of steps that can be redone.
    pub(crate) const fn redo_left(&self) -> usize {
        self.redo.len()
    }

    /// Returns the length of the log to go back to, for at most so many steps to undo.
    pub(crate) fn undone(&self, steps: u32) -> Option<u32> {
        nth_back(&self.undo, place(steps).min(self.undo_left()))
    }

    /// Returns the length of the log to go back to, for at most so many steps to redo.
    pub(crate) fn redone(&self, steps: u32) -> Option<u32> {
        nth_back(&self.redo, place(steps).min(self.redo_left()))
    }
}

/// Moves the steps down to the one that leads to `at` to the other stack; the first of them leads
/// back to `here`.
fn shift(from: &mut Vec<u32>, to: &mut Vec<u32>, mut here: u32, at: u32) {
    while let Some(step) = from.pop() {
        to.push(here);
        here = step;
        if step == at {
            return;
        }
    }
}

fn nth_back(steps: &[u32], n: usize) -> Option<u32> {
    steps.get(steps.len().checked_sub(n)?).copied()
}

/// Shows the model again what it saw when the log had `at` turns. It has to read files again, and
/// agents that were started since are closed.
pub(super) fn rewind(at: u32, why: RewindReason, ctx: &mut StepContext<'_>) {
    ctx.append(TurnKind::Rewound { at, why });
    // A restore may lead into the middle of a round, whose calls would otherwise stay without
    // results.
    ctx.body.history.answer_open_calls(ctx.wall);
    ctx.body.run.result = None;
    let steps = UndoStack::of(ctx.body.history.turns(), ctx.setup.config.undo.max_steps);
    let left = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
    let (undo_left, redo_left) = (left(steps.undo_left()), left(steps.redo_left()));
    ctx.event(EventKind::Rewound { why, to: at, undo_left, redo_left });
    ctx.event(EventKind::PrefixRebased { reason: "what was said last was taken back or put back" });
    // The files themselves are the host's, which may have put them back or not: nothing known of
    // them holds.
    let parts = path(ctx.body.history.turns());
    if ctx.body.learnt().is_empty() {
        return;
    }
    // Not before the check above: this allocates for an agent that has learnt nothing.
    let learnt = ctx.body.learnt_mut();
    learnt.known_files = KnownFiles::new();
    let mut undone: Vec<AgentId> = Vec::new();
    for (id, child) in learnt.children.iter_mut() {
        let counts = parts.iter().any(|part| part.contains(&place(child.since)));
        if !counts && !child.over {
            child.state = SubagentState::Closed;
            child.over = true;
            undone.push(id);
        }
    }
    for agent in undone {
        ctx.signal(AgentSignal::Close { agent });
    }
}
