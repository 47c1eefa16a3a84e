//! Corrections: a fault of a reply is answered with a word to the model, people are told, and the
//! model is asked again, as often as the policy says. `rules::reply_fault` and `rules::echo` tell
//! the faults; `reply` and `run` decide which step follows.

use super::{agent_state::EditFailures, ctx::StepContext, loop_texts::say, pipeline::LaunchedRun};
use crate::{
    profile::ToolCategory,
    rules::reply_fault::{self, ReplyFacts},
};
use alloc::{format, string::String, vec, vec::Vec};
use innerloop_types::{
    action::{Action, Outcome, ToolError},
    corrections::ReplyFault,
    event::EventKind,
    message::{Block, FinishReason, Reply},
    path::resolved,
    tool::Job,
};

/// How often in a row edits of a file must fail to count as a spiral.
const SPIRAL: u32 = 4;

/// Returns the fault of a reply without calls that the model was done with. A result that it has
/// made up is cut off.
pub(super) fn find(reply: &mut Reply, ctx: &StepContext<'_>) -> Option<ReplyFault> {
    let policy = &ctx.setup.config.corrections;
    if reply.finish == FinishReason::Repetition {
        return Some(ReplyFault::Echo);
    }
    if !cfg!(feature = "corrections") || ctx.body.run.epilogue.is_some() {
        return None;
    }
    let text = reply.text();
    if text.trim().is_empty() || !ctx.has_tools() {
        return None;
    }
    let has_called = ctx.body.run.rounds > 0;
    if has_called
        && policy.fake_result > 0
        && let Some(end) = reply_fault::fake_result(&text)
    {
        let kept = text.get(..end).unwrap_or_default().trim_end();
        reply.blocks = if kept.is_empty() { Vec::new() } else { vec![Block::Text(kept.into())] };
        return Some(ReplyFault::FakeResult);
    }
    let facts = ReplyFacts {
        reply: ctx.body.history.replies_since_input() + 1,
        has_called,
        has_ever_called: has_called || ctx.body.history.has_calls(),
        may_change: ctx.setup.has_category(|category| category != ToolCategory::Reads),
        may_ask: ctx.setup.config.ask_user,
    };
    reply_fault::of_text(&text, facts, policy, ctx.setup.tool_names())
}

/// Corrects a reply. Returns whether the model is to be asked again; over its number, a fault
/// stands.
pub(super) fn correct(fault: ReplyFault, text: String, ctx: &mut StepContext<'_>) -> bool {
    let policy = &ctx.setup.config.corrections;
    let counts = &mut ctx.body.run.repairs.corrected;
    let tried = |fault: ReplyFault| counts.get(fault as usize).copied().map_or(0, u32::from);
    let all: u32 = ReplyFault::ALL.into_iter().map(tried).sum();
    let is_after_calls = |fault: &ReplyFault| fault.is_after_calls();
    let after_calls: u32 = ReplyFault::ALL.into_iter().filter(is_after_calls).map(tried).sum();
    // How often a spiral may be told of is counted by file.
    let is_over = fault != ReplyFault::PatchSpiral && tried(fault) >= policy.most(fault);
    let is_over = is_over || (fault.is_after_calls() && after_calls >= policy.max_after_calls);
    if is_over || all >= policy.max_per_run {
        return false;
    }
    let attempt = tried(fault) + 1;
    if let Some(count) = counts.get_mut(fault as usize) {
        *count = count.saturating_add(1);
    }
    ctx.event(EventKind::Corrected { fault, attempt, text: text.clone() });
    say(text, ctx);
    true
}

/// Counts a change of files that has run, and how it went.
pub(super) fn on_ran(run: &LaunchedRun, outcome: &Outcome, ctx: &mut StepContext<'_>) {
    if ctx.setup.config.corrections.patch_spiral == 0 {
        return;
    }
    let Job::Builtin(action) = &run.run.job else { return };
    let patch = run.patch.iter().flat_map(|patch| patch.paths().map(|file| file.path));
    let changed = match action {
        Action::Write { path, .. } | Action::Edit { path, .. } => Some(&**path),
        _ => None,
    };
    let has_failed = matches!(outcome.error, Some(error) if error != ToolError::Interrupted);
    for path in changed.into_iter().chain(patch) {
        let Some(path) = resolved(&run.run.folder, path) else { continue };
        let files = &mut ctx.body.run.failed_edits;
        match files.as_mut().and_then(|files| files.get_mut(&path)) {
            Some(file) if has_failed => file.failed = file.failed.saturating_add(1),
            Some(file) => file.failed = file.failed.saturating_sub(1),
            None if has_failed => {
                let first = EditFailures { failed: 1, told: 0 };
                files.get_or_insert_default().insert(path, first);
            }
            None => {}
        }
    }
}

/// Tells the model, once the round is over, of a file on which its edits fail again and again.
pub(super) fn on_round(ctx: &mut StepContext<'_>) {
    let most = ctx.setup.config.corrections.patch_spiral;
    let Some(files) = &mut ctx.body.run.failed_edits else { return };
    let mut spirals = files.iter().filter(|(_, file)| file.failed >= SPIRAL && file.told < most);
    let Some(path) = spirals.next().map(|(path, _)| String::from(path)) else { return };
    if let Some(file) = files.get_mut(&path) {
        *file = EditFailures { failed: 0, told: file.told + 1 };
    }
    let tool = ctx.setup.whole_file_tool().map(|tool| format!(" with {tool}"));
    let words = reply_fault::words(ReplyFault::PatchSpiral);
    let text = words.replace("{path}", &path).replace("{tool}", &tool.unwrap_or_default());
    correct(ReplyFault::PatchSpiral, text, ctx);
}
