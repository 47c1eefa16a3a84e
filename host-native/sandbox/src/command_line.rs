//! What is said to the shell's module and what it replies: command lines in, their ends out. What
//! one leaves, such as variables and the folder that it stands in, is kept for its agent's next.

use innerloop_driver::capture::ProgramExit;
use innerloop_shell_protocol::{MissingCommand, ShellReply, ShellRequest, TmpPolicy};
use innerloop_tools::TmpMeaning;
use innerloop_types::{
    id::AgentId,
    json::{Json, from_str, to_string},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::from_str as from_json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The search path of a new shell for programs that the host does not have, and its home folder.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const HOME: &str = "/";

/// The folders of [`PATH`].
pub(super) fn places_of_programs() -> impl Iterator<Item = &'static str> {
    PATH.split(':').map(|place| place.trim_start_matches('/'))
}

/// The data that the shells of a session keep. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionShells(Arc<Mutex<SessionShellData>>);

#[derive(Debug, Default)]
struct SessionShellData {
    /// The state that the last command line of each agent has left.
    states: BTreeMap<AgentId, Json>,
    /// The calls that were found to change nothing, and are held to it.
    readers: BTreeSet<String>,
    /// The calls that may run because of what their programs are called, with those.
    named: BTreeMap<String, Vec<String>>,
}

/// The programs that a command line can start by name, and those that it could start if they were
/// installed.
#[derive(Debug, Default)]
pub(super) struct StartablePrograms {
    pub(super) programs: Vec<String>,
    pub(super) missing: Vec<MissingCommand>,
}

/// A command line, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandLine<'a> {
    pub(super) agent: AgentId,
    pub(super) command: &'a str,
    /// The folder that it begins in, and leaves again.
    pub(super) folder: Option<&'a str>,
}

impl SessionShells {
    /// Returns what is said to the module, so that it carries out a command line of an agent.
    pub(super) fn request(
        &self,
        line: CommandLine<'_>,
        starts: StartablePrograms,
        terms: (Duration, TmpMeaning),
    ) -> String {
        to_string(&ShellRequest {
            script: line.command.to_owned(),
            folder: line.folder.map(str::to_owned),
            state: self.kept().states.get(&line.agent).cloned(),
            ..plain(starts, terms)
        })
    }

    /// Returns what is said to the module, so that it looks at a command line of an agent.
    pub(super) fn question(&self, line: CommandLine<'_>) -> String {
        to_string(&ShellRequest {
            script: line.command.to_owned(),
            analyze: true,
            state: self.kept().states.get(&line.agent).cloned(),
            ..ShellRequest::default()
        })
    }

    /// Returns how the command line ended of which the module says so, and itself ended so.
    pub(super) fn ended(
        &self,
        line: CommandLine<'_>,
        end: ProgramExit,
        reply: Option<&str>,
    ) -> ProgramExit {
        let (end, state) = told(end, reply);
        if let Some(state) = state {
            self.kept().states.insert(line.agent, state);
        }
        end
    }

    /// Notes that a call was found to change nothing.
    pub(super) fn add_reader(&self, call: &str) {
        self.kept().readers.insert(call.to_owned());
    }

    /// Returns whether a call was found to change nothing.
    pub(super) fn take_reader(&self, call: &str) -> bool {
        self.kept().readers.remove(call)
    }

    /// Notes that a call may run because of what its programs are called.
    pub(super) fn add_named(&self, call: &str, programs: &[String]) {
        self.kept().named.insert(call.to_owned(), programs.to_vec());
    }

    /// The programs because of whose names a call may run, if it may for that.
    pub(super) fn take_named(&self, call: &str) -> Option<Vec<String>> {
        self.kept().named.remove(call)
    }

    /// Returns whether names of commands stand for the same in an agent's shell as in a new one:
    /// there are no functions, aliases, traps or references, and `PATH` and `HOME` are those it
    /// began with. `at_home` says whether it must also stand where it began.
    pub(super) fn is_plain(&self, agent: AgentId, at_home: bool) -> bool {
        let state = self.kept().states.get(&agent).map(|state| state.text().to_owned());
        state.is_none_or(|state| {
            from_json::<SavedShellState>(&state).is_ok_and(|left| left.is_plain(at_home))
        })
    }

    fn kept(&self) -> MutexGuard<'_, SessionShellData> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state that a command line has left in the shell, as far as it changes what names stand for.
#[derive(Deserialize)]
struct SavedShellState {
    shell: ShellDefinitions,
}

#[derive(Deserialize)]
struct ShellDefinitions {
    cwd: String,
    env: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    functions: BTreeMap<String, IgnoredAny>,
    aliases: BTreeMap<String, String>,
    traps: BTreeMap<String, String>,
    namerefs: BTreeMap<String, String>,
}

impl SavedShellState {
    fn is_plain(&self, at_home: bool) -> bool {
        let ShellDefinitions { cwd, env, variables, functions, aliases, traps, namerefs } =
            &self.shell;
        let is_kept = |name: &str, value: &str| {
            let found = [env.get(name), variables.get(name)];
            found.into_iter().flatten().all(|found| found == value)
        };
        let is_redefined = !functions.is_empty() || !namerefs.is_empty();
        let is_diverted = !aliases.is_empty() || !traps.is_empty();
        let stands = !at_home || cwd == HOME;
        stands && !is_redefined && !is_diverted && is_kept("PATH", PATH) && is_kept("HOME", HOME)
    }
}

/// Returns what is said to the module, so that it runs as the program `bash` with these arguments.
/// Nothing is kept of that.
pub(super) fn as_program(
    args: &[String],
    stdin: Option<&str>,
    starts: StartablePrograms,
    terms: (Duration, TmpMeaning),
) -> String {
    to_string(&ShellRequest {
        script: "bash \"$@\"".to_owned(),
        args: std::iter::once("bash")
            .chain(args.iter().map(String::as_str))
            .map(Into::into)
            .collect(),
        stdin: stdin.map(str::to_owned),
        ..plain(starts, terms)
    })
}

/// Returns whether the module, which ended so, says of a command line that it only reads.
pub(super) fn reads_only(end: &ProgramExit, reply: Option<&str>) -> bool {
    let reply = reply.map(from_str::<ShellReply>);
    *end == ProgramExit::Exit(0) && matches!(reply, Some(Ok(ShellReply { reads_only: true, .. })))
}

fn plain(
    StartablePrograms { programs, missing }: StartablePrograms,
    (timeout, meant): (Duration, TmpMeaning),
) -> ShellRequest {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let tmp = match meant {
        TmpMeaning::System => TmpPolicy::Own,
        TmpMeaning::Project => TmpPolicy::Project,
        TmpMeaning::Unsaid => TmpPolicy::Needed,
        TmpMeaning::Both => TmpPolicy::Both,
    };
    ShellRequest { timeout_ms, programs, missing, tmp, ..ShellRequest::default() }
}

/// Returns how it ended, and what is to be kept.
pub(super) fn told(end: ProgramExit, reply: Option<&str>) -> (ProgramExit, Option<Json>) {
    if end != ProgramExit::Exit(0) {
        return (end, None);
    }
    match reply.map(from_str::<ShellReply>) {
        Some(Ok(ShellReply { timed_out: true, state, .. })) => (ProgramExit::TimedOut, state),
        Some(Ok(ShellReply { status, state, .. })) => (ProgramExit::Exit(status), state),
        Some(Err(error)) => {
            (ProgramExit::Crash(format!("the shell's reply can't be read: {error}")), None)
        }
        None => (ProgramExit::Crash("the shell gave no reply".to_owned()), None),
    }
}
