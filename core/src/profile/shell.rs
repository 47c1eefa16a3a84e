//! The shell as the families' tools know it, on hosts that have a program with such a name. It
//! decides which tools are shown, and reads the calls of all vocabularies that run a command.

use super::{args::ToolArguments, call::CanonicalCall, row::ToolRequirement};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_types::{action::Action, config::EnvironmentFacts, path::seen};

/// The names of programs that count as a shell.
const NAMES: [&str; 3] = ["bash", "sh", "shell"];

/// Returns the requirements of tools that the host's programs meet.
pub(super) fn needs_met(facts: &EnvironmentFacts) -> Vec<ToolRequirement> {
    let mut met = Vec::from([if is_known(facts) {
        ToolRequirement::Shell
    } else {
        ToolRequirement::NoShell
    }]);
    // A shell is offered by a tool of its own, and is no reason to offer the one for programs.
    if facts.programs.iter().any(|known| !NAMES.contains(&known.name.as_str())) {
        met.push(ToolRequirement::Program);
    }
    met
}

/// Returns whether the host has a shell.
fn is_known(facts: &EnvironmentFacts) -> bool {
    facts.programs.iter().any(|known| NAMES.contains(&known.name.as_str()))
}

/// Reads a call's `command`, to be run in a folder of the workspace if one is given.
///
/// # Errors
/// A sentence for the model if there is no shell.
pub(super) fn run(
    args: &mut ToolArguments<'_>,
    folder: Option<&str>,
    timeout_ms: Option<u64>,
    facts: &EnvironmentFacts,
) -> Result<CanonicalCall, String> {
    if !is_known(facts) {
        // A tool that is not shown may still be called by a model that was trained with it. To that
        // model it is unknown, with the reason.
        return Err(format!("Unknown tool: {}: there is no shell here", args.tool()));
    }
    let command = args.non_blank("command", "the command");
    // The shell sees the working directory as its root, and the model may name a folder by the path
    // that the prompt tells of it.
    let root = facts.working_directory.trim_end_matches('/');
    let folder = folder.filter(|folder| !matches!(*folder, "" | "."));
    let folder = folder.map(|folder| match seen(root, folder).unwrap_or(folder) {
        "" => "/".to_string(),
        folder => folder.to_string(),
    });
    Ok(CanonicalCall { action: Action::Shell { command, folder }, timeout_ms })
}
