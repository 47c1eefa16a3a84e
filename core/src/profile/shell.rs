//! The shell as the families' tools know it, where the host has a program of that name.

use super::{args::ToolArguments, call::CanonicalCall, row::ToolRequirement};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_types::{action::Action, config::EnvironmentFacts, path::seen};

/// The names of programs that are taken for a shell.
const NAMES: [&str; 3] = ["bash", "sh", "shell"];

/// Returns what tools need of programs, as far as it is there.
pub(super) fn needs_met(facts: &EnvironmentFacts) -> Vec<ToolRequirement> {
    let mut met = Vec::from([if is_known(facts) {
        ToolRequirement::Shell
    } else {
        ToolRequirement::NoShell
    }]);
    if facts.programs.iter().any(|known| !NAMES.contains(&known.name.as_str())) {
        met.push(ToolRequirement::Program);
    }
    met
}

/// Returns whether the host has a shell.
fn is_known(facts: &EnvironmentFacts) -> bool {
    facts.programs.iter().any(|known| NAMES.contains(&known.name.as_str()))
}

/// The run of a call's `command`, in a folder of the workspace if one is given.
///
/// # Errors
/// A sentence for the model where there is no shell.
pub(super) fn run(
    args: &mut ToolArguments<'_>,
    folder: Option<&str>,
    timeout_ms: Option<u64>,
    facts: &EnvironmentFacts,
) -> Result<CanonicalCall, String> {
    if !is_known(facts) {
        return Err(format!("Unknown tool: {}: there is no shell here", args.tool()));
    }
    let command = args.non_blank("command", "the command");
    // The shell sees the working directory as its root.
    let root = facts.working_directory.trim_end_matches('/');
    let folder = folder.filter(|folder| !matches!(*folder, "" | "."));
    let folder = folder.map(|folder| match seen(root, folder).unwrap_or(folder) {
        "" => "/".to_string(),
        folder => folder.to_string(),
    });
    Ok(CanonicalCall { action: Action::Shell { command, folder }, timeout_ms })
}
