//! The tools that GPT models know from codex.

use super::super::{
    seed, shell,
    translated::{Translated, arguments as read, whole},
};
use crate::types::{
    action::{Action, FilePatch, Outcome, Patch},
    config::Facts,
    tool::{Freeform, ToolSpec},
};
use alloc::{format, string::String, vec::Vec};
use serde::Deserialize;

/// The schemas, as they go to the model.
const TOOLS: &str = include_str!("native.json");

/// The grammar of a patch.
const GRAMMAR: &str = include_str!("patch.lark");
/// What the model is told of the tool where it writes the patch as it is.
const FREEFORM: &str = "Change files by a patch. Write the patch as it is, from *** Begin Patch \
                        to *** End Patch, not wrapped in JSON.";

/// What stands in for a shell, with which codex reads and searches.
const WITHOUT_SHELL: [&str; 4] = ["read_file", "list_dir", "glob", "grep"];

pub(in super::super) fn tools(default_ms: u64) -> Vec<ToolSpec> {
    let mut tools = seed::parse(TOOLS);
    if let Some(patch) = tools.iter_mut().find(|tool| tool.name == "apply_patch") {
        patch.freeform = Some(Freeform {
            grammar: GRAMMAR.into(),
            property: "input".into(),
            description: FREEFORM.into(),
        });
    }
    tools.extend(seed::tools(&WITHOUT_SHELL, default_ms));
    tools.extend(seed::tools(&["run_program"], default_ms));
    tools
}

/// Leaves out what the shell does where there is one.
pub(in super::super) fn retain_needed(tools: &mut Vec<ToolSpec>) {
    if tools.iter().any(|tool| tool.name == "shell_command") {
        tools.retain(|tool| !WITHOUT_SHELL.contains(&tool.name.as_str()));
    }
}

#[derive(Deserialize)]
struct ShellCommand {
    command: String,
    workdir: Option<String>,
    #[serde(default, deserialize_with = "whole")]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
struct ApplyPatch {
    input: String,
}

#[derive(Deserialize)]
struct ViewImage {
    path: String,
}

/// A call in canonical form.
pub(in super::super) fn translate(
    facts: &Facts,
    name: &str,
    arguments: &str,
) -> Result<Translated, String> {
    match name {
        "shell_command" => {
            let ShellCommand { command, workdir, timeout_ms } = read(name, arguments)?;
            shell::run(facts, name, &command, workdir.as_deref(), timeout_ms)
        }
        "apply_patch" => {
            let ApplyPatch { input: patch } = read(name, arguments)?;
            Ok(Action::Patch { patch, unread: Vec::new() }.into())
        }
        "view_image" => {
            let ViewImage { path } = read(name, arguments)?;
            Ok(Action::ViewImage { path }.into())
        }
        "run_program" => seed::translate(facts, name, arguments),
        name if WITHOUT_SHELL.contains(&name) => seed::translate(facts, name, arguments),
        _ => Err(format!("Unknown tool: {name}")),
    }
}

/// What the model reads of an outcome, where that is not what the tool says.
pub(in super::super) fn present(
    action: &Action,
    outcome: &Outcome,
    timeout_ms: u64,
) -> Option<String> {
    match action {
        Action::RunProgram { .. } => command(outcome, timeout_ms),
        Action::Patch { patch, .. } if outcome.error.is_none() => patched(patch),
        _ => None,
    }
}

/// The files of a patch that was applied: new ones, then changed ones, then those that are gone.
fn patched(patch: &str) -> Option<String> {
    let patch = Patch::parse(patch).ok()?;
    let mut lines = [String::new(), String::new(), String::new()];
    for file in &patch.files {
        let [added, modified, deleted] = &mut lines;
        let (list, mark, path) = match file {
            FilePatch::Add { path, .. } => (added, 'A', path),
            FilePatch::Delete { path } => (deleted, 'D', path),
            FilePatch::Update { path, move_to, .. } => {
                (modified, 'M', move_to.as_ref().unwrap_or(path))
            }
        };
        list.push_str(&format!("{mark} {path}\n"));
    }
    Some(format!("Success. Updated the following files:\n{}", lines.concat()))
}

fn command(outcome: &Outcome, timeout_ms: u64) -> Option<String> {
    if outcome.exit.is_none() && !outcome.timed_out {
        return None;
    }
    let exit = outcome.exit.map(|code| format!("Exit code: {code}\n")).unwrap_or_default();
    let late = match outcome.timed_out {
        true => format!("command timed out after {timeout_ms} milliseconds\n"),
        false => String::new(),
    };
    Some(format!("{exit}Output:\n{late}{}", outcome.joined_text()))
}
