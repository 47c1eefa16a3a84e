//! Commands that do not exist. For some the host knows what a user could do, and some the shell can
//! never have; whoever calls one of these gets a message that says so, instead of bash's "command
//! not found". bashkit's own guesses about what was meant are suppressed. None of these is a
//! command otherwise: `command -v` does not find them.

use bashkit::{Builtin, BuiltinContext, CommandResolver, ExecResult, Result, async_trait};
use innerloop_shell_protocol::MissingCommand as Known;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

/// The status of a command that does not exist.
const NOT_FOUND: i32 = 127;

/// Commands that need a network.
const OF_NETWORKS: [&str; 10] =
    ["curl", "ftp", "http", "nc", "ping", "rsync", "scp", "sftp", "ssh", "wget"];

/// Commands for which bashkit has a message that is wrong here.
const OF_MACHINES: [&str; 38] = [
    "apk",
    "apt",
    "apt-get",
    "brew",
    "bun",
    "cargo",
    "clang",
    "cmake",
    "dnf",
    "doas",
    "docker",
    "emacs",
    "g++",
    "gcc",
    "go",
    "info",
    "javac",
    "kubectl",
    "nano",
    "node",
    "npm",
    "pacman",
    "pip",
    "pip2",
    "pip3",
    "pnpm",
    "podman",
    "pytest",
    "rustc",
    "service",
    "su",
    "sudo",
    "systemctl",
    "vi",
    "vim",
    "yarn",
    "yum",
    "zsh",
];

/// Returns whether a command of bashkit's own is kept. Those for networks are not: their messages
/// tell a program's author how to allow a network.
pub(crate) fn is_kept(name: &str) -> bool {
    !OF_NETWORKS.contains(&name)
}

/// The resolver of missing commands, which has a message for each.
pub(crate) struct MissingCommandResolver {
    known: BTreeMap<String, Arc<MissingCommandBuiltin>>,
    /// The commands that exist, one of which bashkit may think was meant.
    commands: Arc<OnceLock<Vec<String>>>,
}

struct MissingCommandBuiltin(String);

impl MissingCommandResolver {
    pub(crate) fn new(known: &[Known], commands: &Arc<OnceLock<Vec<String>>>) -> Self {
        let told = |it: &Known| Arc::new(MissingCommandBuiltin(format!("bash: {}\n", it.words)));
        let known = known.iter().map(|it| (it.command.clone(), told(it))).collect();
        Self { known, commands: Arc::clone(commands) }
    }

    /// Returns whether bashkit would print more than that there is no such command.
    fn is_commented(&self, name: &str) -> bool {
        let is_like = |command: &String| distance(name, command) <= FAR;
        OF_MACHINES.contains(&name)
            || self.commands.get().is_some_and(|all| all.iter().any(is_like))
    }
}

impl CommandResolver for MissingCommandResolver {
    fn resolve(&self, name: &str) -> Option<Arc<dyn Builtin>> {
        if let Some(told) = self.known.get(name) {
            return Some(Arc::clone(told) as Arc<dyn Builtin>);
        }
        let why = if OF_NETWORKS.contains(&name) {
            "there is no network here"
        } else if self.is_commented(name) {
            "command not found"
        } else {
            return None;
        };
        Some(Arc::new(MissingCommandBuiltin(format!("bash: {name}: {why}\n"))))
    }
}

/// The largest distance at which bashkit takes a command for another one.
const FAR: usize = 2;

/// Returns the number of letters that must be inserted, left out or replaced to turn one word into
/// another, or more than [`FAR`].
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // Words of such different lengths are never close, and the table need not be filled. A
    // character has up to four bytes.
    if one.len() > other.len() * 4 + FAR || other.len() > one.len() + FAR {
        return FAR + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut left = at + 1;
        let mut above_left = at;
        for (cell, wanted) in row.iter_mut().skip(1).zip(&other) {
            let replaced = above_left + usize::from(letter != *wanted);
            above_left = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or(one.len())
}

#[async_trait]
impl Builtin for MissingCommandBuiltin {
    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err(self.0.clone(), NOT_FOUND))
    }
}
