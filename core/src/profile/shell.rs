//! The shell as the families' tools know it: a program of that name, run with `-c`.

use super::{args::Args, call::Translated, row::Need};
use crate::{
    base::path::seen,
    types::{action::Action, config::Facts},
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// What a program must be called to be taken for a shell, the most wanted first.
const NAMES: [&str; 3] = ["bash", "sh", "shell"];

/// What tools need of programs, as far as it is there.
pub(super) fn needs_met(facts: &Facts) -> Vec<Need> {
    let mut met = Vec::from([if program(facts).is_some() { Need::Shell } else { Need::NoShell }]);
    if facts.programs.iter().any(|known| !NAMES.contains(&known.name.as_str())) {
        met.push(Need::Program);
    }
    met
}

/// The name of the shell among the host's programs.
fn program(facts: &Facts) -> Option<&'static str> {
    let known = |name: &&str| facts.programs.iter().any(|program| program.name == **name);
    NAMES.iter().find(|name| known(name)).copied()
}

/// The run of a call's `command`, in a folder of the workspace if one is given.
///
/// # Errors
/// A sentence for the model where there is no shell.
pub(super) fn run(
    args: &mut Args<'_>,
    folder: Option<&str>,
    timeout_ms: Option<u64>,
    facts: &Facts,
) -> Result<Translated, String> {
    let Some(program) = program(facts) else {
        return Err(format!("Unknown tool: {}: there is no shell here", args.tool()));
    };
    let command = args.non_blank("command", "the command");
    // A program sees the working directory as its root.
    let root = facts.working_directory.trim_end_matches('/');
    let folder = folder.map(|folder| seen(root, folder).unwrap_or(folder));
    let script = match folder.filter(|folder| !matches!(*folder, "" | "." | "/")) {
        Some(folder) => format!("cd {} || exit 1\n{command}", quoted(folder)),
        None => command,
    };
    let args = vec!["-c".to_string(), script];
    let action = Action::RunProgram { program: program.into(), args, stdin: None };
    Ok(Translated { action, timeout_ms })
}

/// A text as one word of a command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
