//! Results of tools as Gemini models read them, in the words of gemini-cli. A function returns
//! `None` if the tool's own words are right.

use super::super::row::FinishedRun;
use alloc::{format, string::String};
use innerloop_types::action::{Action, ChangeKind, GrepMode, ToolError};

/// Returns the output of a command, marked as text that gives no orders.
pub(super) fn command(run: &FinishedRun<'_>) -> Option<String> {
    let said = run.outcome.joined_text();
    // Output that contains the closing mark could end the block early, and have what follows it
    // read as ours.
    let said = said.trim_end_matches('\n').replace("</untrusted_context", "<\\/untrusted_context");
    let said = if said.is_empty() { "(empty)" } else { said.as_str() };
    let mut lines = format!("Output: {said}\n");
    lines.push_str(match run.outcome.error {
        Some(ToolError::Timeout) => "Error: the time limit ended the command\n",
        Some(ToolError::Limit) => "Error: a limit of the sandbox ended the command\n",
        _ => "",
    });
    if let Some(exit) = run.outcome.exit.filter(|exit| *exit != 0) {
        lines.push_str(&format!("Exit Code: {exit}\n"));
    }
    Some(format!("<untrusted_context>\n{lines}</untrusted_context>"))
}

pub(super) fn written(run: &FinishedRun<'_>) -> Option<String> {
    let (kind, path) = run.changed()?;
    Some(match kind {
        ChangeKind::Created => format!("Successfully created and wrote to new file: {path}."),
        _ => format!("Successfully overwrote file: {path}."),
    })
}

pub(super) fn edited(run: &FinishedRun<'_>) -> Option<String> {
    let Action::Edit { path, .. } = run.action else { return None };
    let outcome = run.outcome;
    let said = outcome.joined_text();
    match (outcome.error, outcome.count) {
        (None, Some(count)) => {
            let (_, path) = run.changed()?;
            let plural = if count == 1 { "replacement" } else { "replacements" };
            // The first line is the tool's own message of success, which this one replaces. What
            // stands below, such as a note on the text that was found, stays.
            let rest = said.split_once('\n').map(|(_, rest)| format!("\n{rest}"));
            let rest = rest.unwrap_or_default();
            Some(format!("Successfully modified file: {path} ({count} {plural}).{rest}"))
        }
        // Without a count nothing was replaced: an empty `old_string` has created the file.
        (None, None) => written(run),
        (Some(ToolError::EditConflict), Some(0)) => {
            Some(format!("Failed to edit, 0 occurrences found for old_string in {path}. {said}"))
        }
        (Some(ToolError::EditConflict), Some(count)) => Some(format!(
            "Failed to edit, Expected 1 occurrence but found {count} for old_string in {path}. \
             {said}"
        )),
        (Some(ToolError::InvalidArguments), Some(0)) => {
            Some(format!("No changes to apply to {path}. {said}"))
        }
        _ => None,
    }
}

pub(super) fn matches(run: &FinishedRun<'_>) -> Option<String> {
    let Action::Grep(grep) = run.action else { return None };
    let outcome = run.outcome;
    if outcome.error.is_some() {
        return None;
    }
    let place = grep.path.as_deref().map(|path| format!(" in path \"{path}\""));
    let filter = grep.glob.as_deref().map(|glob| format!(" (filter: \"{glob}\")"));
    let (place, filter) = (place.unwrap_or_default(), filter.unwrap_or_default());
    let (pattern, count) = (&grep.pattern, outcome.count.unwrap_or(0));
    if count == 0 {
        return Some(format!("No matches found for pattern \"{pattern}\"{place}{filter}."));
    }
    let what = match (grep.mode, count) {
        (GrepMode::FilesWithMatches, 1) => "file with matches",
        (GrepMode::FilesWithMatches, _) => "files with matches",
        (_, 1) => "match",
        _ => "matches",
    };
    let limited = if outcome.capped_at_source { " (there are more)" } else { "" };
    let rule = if grep.mode == GrepMode::Content { "---\n" } else { "" };
    let said = outcome.joined_text();
    Some(format!(
        "Found {count} {what} for pattern \"{pattern}\"{place}{filter}{limited}:\n{rule}{said}"
    ))
}

pub(super) fn files(run: &FinishedRun<'_>) -> Option<String> {
    let Action::Glob { pattern, path, .. } = run.action else { return None };
    let count = run.outcome.count.filter(|_| run.outcome.error.is_none())?;
    let files = if count == 1 { "file" } else { "files" };
    let within = path.as_deref().map(|path| format!(" within {path}")).unwrap_or_default();
    let said = run.outcome.joined_text();
    Some(match count {
        0 => format!("No files found matching pattern \"{pattern}\"{within}. {said}"),
        _ => format!("Found {count} {files} matching \"{pattern}\"{within}:\n{said}"),
    })
}

pub(super) fn folder(run: &FinishedRun<'_>) -> Option<String> {
    let Action::List { path, .. } = run.action else { return None };
    if run.outcome.error.is_some() {
        return None;
    }
    let path = path.as_deref().unwrap_or(".");
    Some(match run.outcome.count {
        Some(0) => format!("Directory {path} is empty."),
        _ => format!("Directory listing for {path}:\n{}", run.outcome.joined_text()),
    })
}
