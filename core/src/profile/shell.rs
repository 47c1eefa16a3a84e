//! The shell as the families' tools know it: a program of that name, run with `-c`. Without such
//! a program the tools are not offered.

use super::translated::{Translated, invalid};
use crate::types::{action::Action, config::Facts, tool::ToolSpec};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// What a program must be called to be taken for a shell, the most wanted first.
const NAMES: [&str; 3] = ["bash", "sh", "shell"];

/// The tools that need a shell, whatever the family.
const TOOLS: [&str; 4] = ["shell", "Bash", "shell_command", "run_shell_command"];

/// Leaves out the tools that nothing could carry out: the shell's without a shell, `run_program`
/// without another program.
pub(super) fn retain_runnable(tools: &mut Vec<ToolSpec>, facts: &Facts) {
    let has_shell = program(facts).is_some();
    let has_programs = facts.programs.iter().any(|known| !NAMES.contains(&known.name.as_str()));
    tools.retain(|tool| match tool.name.as_str() {
        "run_program" => has_programs,
        name if TOOLS.contains(&name) => has_shell,
        _ => true,
    });
}

/// The name of the shell among the host's programs.
fn program(facts: &Facts) -> Option<&'static str> {
    let known = |name: &&str| facts.programs.iter().any(|program| program.name == **name);
    NAMES.iter().find(|name| known(name)).copied()
}

/// A command of the tool `name`, in a folder of the workspace if one is given.
///
/// # Errors
/// A sentence for the model where there is no shell or nothing to run.
pub(super) fn run(
    facts: &Facts,
    name: &str,
    command: &str,
    folder: Option<&str>,
    timeout_ms: Option<u64>,
) -> Result<Translated, String> {
    let Some(program) = program(facts) else {
        return Err(format!("Unknown tool: {name}: there is no shell here"));
    };
    if command.trim().is_empty() {
        return Err(invalid(name, "the command is blank"));
    }
    let script = match folder.filter(|folder| !matches!(*folder, "" | "." | "/")) {
        Some(folder) => format!("cd {} || exit 1\n{command}", quoted(folder)),
        None => command.to_string(),
    };
    let args = vec!["-c".into(), script];
    let action = Action::RunProgram { program: program.into(), args, stdin: None };
    Ok(Translated { action, timeout_ms })
}

/// A text as one word of a command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
