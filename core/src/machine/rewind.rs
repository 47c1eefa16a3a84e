//! Going back: which steps can be taken back and put back, and what follows from that. A step
//! begins with each input, and with each word of the host that changes the view at once. All steps
//! follow from the log.

use super::{
    agent_state::ChildState,
    ctx::{AgentSignal, StepContext},
    view::{path, place},
};
use crate::rules::guard::KnownFiles;
use alloc::vec::Vec;
use innerloop_types::{
    event::EventKind,
    id::AgentId,
    message::{RewindReason, Turn, TurnKind},
};

/// The steps of a log, each as how long the log was where it leads.
#[derive(Debug, Default)]
pub(crate) struct UndoStack {
    undo: Vec<u32>,
    redo: Vec<u32>,
    /// The maximum number of steps that can be undone in a row.
    most: usize,
}

impl UndoStack {
    /// The steps of a log, of which `max` can be taken back in a row; all if 0.
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
                TurnKind::User(_) | TurnKind::Rewound { .. } => {
                    steps.undo.push(here);
                    steps.redo.clear();
                }
                _ => {}
            }
        }
        steps
    }

    /// Returns how many can be taken back.
    pub(crate) fn undo_left(&self) -> usize {
        self.undo.len().min(self.most.saturating_sub(self.redo.len()))
    }

    /// Returns how many can be put back.
    pub(crate) const fn redo_left(&self) -> usize {
        self.redo.len()
    }

    /// Returns where it leads to take back at most so many steps.
    pub(crate) fn undone(&self, steps: u32) -> Option<u32> {
        nth_back(&self.undo, place(steps).min(self.undo_left()))
    }

    /// Returns where it leads to put back at most so many steps.
    pub(crate) fn redone(&self, steps: u32) -> Option<u32> {
        nth_back(&self.redo, place(steps).min(self.redo_left()))
    }
}

/// The steps down to the one that leads to `at` change sides; the first leads back to `here`.
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

/// The model sees again what it saw when the log had `at` turns. It has to read files again, and
/// agents that were started since are closed.
pub(super) fn rewind(at: u32, why: RewindReason, ctx: &mut StepContext<'_>) {
    ctx.append(TurnKind::Rewound { at, why });
    ctx.body.history.answer_open_calls(ctx.wall);
    ctx.body.run.result = None;
    let steps = UndoStack::of(ctx.body.history.turns(), ctx.setup.config.undo.max_steps);
    let left = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
    let (undo_left, redo_left) = (left(steps.undo_left()), left(steps.redo_left()));
    ctx.event(EventKind::Rewound { why, to: at, undo_left, redo_left });
    ctx.event(EventKind::PrefixRebased { reason: "what was said last was taken back or put back" });
    let parts = path(ctx.body.history.turns());
    if ctx.body.learnt().is_empty() {
        return;
    }
    let learnt = ctx.body.learnt_mut();
    learnt.known_files = KnownFiles::new();
    let mut undone: Vec<AgentId> = Vec::new();
    for (id, child) in learnt.children.iter_mut() {
        let counts = parts.iter().any(|part| part.contains(&place(child.since)));
        if !counts && !child.over {
            child.state = ChildState::Closed;
            child.over = true;
            undone.push(id);
        }
    }
    for agent in undone {
        ctx.signal(AgentSignal::Close { agent });
    }
}
