//! Corrections: a fault of a reply is answered with a word to the model, people are told, and the
//! model is asked again, as often as the policy says. `rules::reply_fault` and `rules::echo` tell
//! the faults; `reply` and `run` decide which step follows.

use super::{ctx::StepContext, loop_texts::say, pipeline::LaunchedRun};
use crate::{
    profile::ToolCategory,
    rules::reply_fault::{self, ReplyFacts},
};
use alloc::{format, string::String, vec, vec::Vec};
use innerloop_json::IntoList;
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

/// The count of a file that the model was told of.
const TOLD: u32 = u32::MAX;

/// Returns the fault of a reply without calls that the model was done with. A result that it has
/// made up is cut off.
pub(super) fn find(reply: &mut Reply, ctx: &StepContext<'_>) -> Option<ReplyFault> {
    let policy = &ctx.setup.config.corrections;
    if !cfg!(feature = "corrections") {
        return None;
    }
    if reply.finish == FinishReason::Repetition {
        return Some(ReplyFault::Echo);
    }
    if ctx.body.run.epilogue.is_some() {
        return None;
    }
    let text = reply.text();
    if text.trim().is_empty() || !ctx.has_tools() {
        return None;
    }
    let has_called = ctx.body.run.rounds > 0;
    if has_called
        && policy.most(ReplyFault::FakeResult) > 0
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
    let tools: Vec<&str> = ctx.setup.tool_names().into_list();
    reply_fault::of_text(&text, facts, policy, &tools)
}

/// Corrects a reply. Returns whether the model is to be asked again; over its number, a fault
/// stands.
pub(super) fn correct(fault: ReplyFault, text: String, ctx: &mut StepContext<'_>) -> bool {
    let policy = &ctx.setup.config.corrections;
    let counts = &mut ctx.body.run.repairs.corrected;
    let (mut all, mut after_calls, mut tried) = (0, 0, 0);
    for (other, count) in ReplyFault::ALL.into_iter().zip(*counts) {
        let count = u32::from(count);
        all += count;
        after_calls += if other.is_after_calls() { count } else { 0 };
        tried += if other == fault { count } else { 0 };
    }
    // A spiral is told once for each file, and has its number only to be on.
    let most = if fault == ReplyFault::PatchSpiral { u32::MAX } else { policy.most(fault) };
    if !cfg!(feature = "corrections")
        || tried >= most
        || all >= policy.max_per_run
        || (fault.is_after_calls() && after_calls >= policy.max_after_calls)
    {
        return false;
    }
    if let Some(count) = counts.get_mut(fault as usize) {
        *count = count.saturating_add(1);
    }
    ctx.event(EventKind::Corrected { fault, attempt: tried + 1, text: text.clone() });
    say(text, ctx);
    true
}

/// Counts a change of files that has run, and how it went.
pub(super) fn on_ran(run: &LaunchedRun, outcome: &Outcome, ctx: &mut StepContext<'_>) {
    let is_on = ctx.setup.config.corrections.most(ReplyFault::PatchSpiral) > 0;
    let Job::Builtin(action) = &run.run.job else { return };
    if !cfg!(feature = "corrections") || !is_on {
        return;
    }
    let changed = match action {
        Action::Read { .. } => Vec::new(),
        _ => action.files(run.patch.as_ref()),
    };
    let has_failed = matches!(outcome.error, Some(error) if error != ToolError::Interrupted);
    let files = &mut ctx.body.run.failed_edits;
    for file in changed {
        let Some(path) = resolved(&run.run.folder, file.path) else { continue };
        match files.as_mut().and_then(|files| files.get_mut(&path)) {
            // Each file is told of once.
            Some(&mut TOLD) => {}
            Some(failed) if has_failed => *failed += 1,
            Some(failed) => *failed = failed.saturating_sub(1),
            None if has_failed => drop(files.get_or_insert_default().insert(path, 1)),
            None => {}
        }
    }
}

/// Tells the model, once the round is over, of a file on which its edits fail again and again.
pub(super) fn on_round(ctx: &mut StepContext<'_>) {
    let files = ctx.body.run.failed_edits.as_mut().filter(|_| cfg!(feature = "corrections"));
    let Some(files) = files else { return };
    let is_spiral = |(_, failed): &(&str, &u32)| (SPIRAL..TOLD).contains(*failed);
    let Some(path) = files.iter().find(is_spiral).map(|(path, _)| String::from(path)) else {
        return;
    };
    files.insert(path.clone(), TOLD);
    let tool = ctx.setup.whole_file_tool().map(|tool| format!(" with {tool}"));
    let text = format!(
        "Edits of {path} have failed again and again. Read the file as it is now, then write it as \
         a whole{}.",
        tool.unwrap_or_default()
    );
    correct(ReplyFault::PatchSpiral, text, ctx);
}
