//! Command lines for the shell's module: requests, replies, and the state between them. Each
//! command line runs in an instance of its own; its state, such as variables and the working
//! folder, is kept here for the next one of the same agent.

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

/// The search path of a new shell, for files of the workspace.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The home folder of a new shell.
const HOME: &str = "/";

/// The folders of [`PATH`], as paths in the agent's folder.
pub(super) fn places_of_programs() -> impl Iterator<Item = &'static str> {
    PATH.split(':').map(|place| place.trim_start_matches('/'))
}

/// The state of a session's shells. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionShells(Arc<Mutex<SessionShellData>>);

#[derive(Debug, Default)]
struct SessionShellData {
    /// The state that the last command line of each agent has left.
    states: BTreeMap<AgentId, Json>,
    /// The calls that were allowed because they only read, and are held to it.
    readers: BTreeSet<String>,
    /// The calls that were allowed for the names of their programs, with those names.
    named: BTreeMap<String, Vec<String>>,
}

/// The programs that a command line can start by name, and messages for commands that do not exist.
#[derive(Debug, Default)]
pub(super) struct StartablePrograms {
    pub(super) programs: Vec<String>,
    pub(super) missing: Vec<MissingCommand>,
}

/// A command line and its agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandLine<'a> {
    pub(super) agent: AgentId,
    pub(super) command: &'a str,
    /// The folder for this command line alone; without it, the shell's own.
    pub(super) folder: Option<&'a str>,
}

impl SessionShells {
    /// The request to carry out a command line of an agent, as JSON.
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

    /// The request to analyse a command line of an agent, as JSON. Nothing of it is carried out.
    pub(super) fn question(&self, line: CommandLine<'_>) -> String {
        // With the state: functions and aliases change the meaning of a command line.
        to_string(&ShellRequest {
            script: line.command.to_owned(),
            analyze: true,
            state: self.kept().states.get(&line.agent).cloned(),
            ..ShellRequest::default()
        })
    }

    /// Keeps the state of a command line that has ended, and returns its exit. `end` is that of the
    /// module's instance, `reply` its reply.
    pub(super) fn ended(
        &self,
        line: CommandLine<'_>,
        end: ProgramExit,
        reply: Option<&str>,
    ) -> ProgramExit {
        // An instance that was ended without a reply leaves the state as it was before.
        let (end, state) = told(end, reply);
        if let Some(state) = state {
            self.kept().states.insert(line.agent, state);
        }
        end
    }

    /// Notes that a call was found to only read.
    pub(super) fn add_reader(&self, call: &str) {
        self.kept().readers.insert(call.to_owned());
    }

    /// Returns whether a call was found to only read, and forgets it.
    pub(super) fn take_reader(&self, call: &str) -> bool {
        // Ids are the model's, which may use one again: the finding holds for one call.
        self.kept().readers.remove(call)
    }

    /// Notes that a call was allowed for the names of its programs.
    pub(super) fn add_named(&self, call: &str, programs: &[String]) {
        self.kept().named.insert(call.to_owned(), programs.to_vec());
    }

    /// The names for which a call was allowed, if it was, and forgets them.
    pub(super) fn take_named(&self, call: &str) -> Option<Vec<String>> {
        self.kept().named.remove(call)
    }

    /// Returns whether the names of commands mean the same in an agent's shell as in a new one: it
    /// has no functions, aliases, traps or name references, and its first `PATH` and `HOME`. With
    /// `at_home`, it must also stand in its first folder.
    pub(super) fn is_plain(&self, agent: AgentId, at_home: bool) -> bool {
        let state = self.kept().states.get(&agent).map(|state| state.text().to_owned());
        // No state is that of a new shell. One that can't be read may hold anything: a person is
        // asked then.
        state.is_none_or(|state| {
            from_json::<SavedShellState>(&state).is_ok_and(|left| left.is_plain(at_home))
        })
    }

    fn kept(&self) -> MutexGuard<'_, SessionShellData> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a shell's state that can change the meaning of commands.
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
        // A variable may be exported, plain, or absent; each value that there is must be the first.
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

/// The request to run the module as the program `bash` with these arguments, as JSON. Its state is
/// not kept.
pub(super) fn as_program(
    args: &[String],
    stdin: Option<&str>,
    starts: StartablePrograms,
    terms: (Duration, TmpMeaning),
) -> String {
    // The shell's own command `bash` parses the options, so that they mean the same as in a script.
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

/// Returns whether the module's reply says that a command line only reads. Any other end than a
/// regular one, with a reply that can be read, means no.
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

/// The exit of a command line, and the state to keep.
pub(super) fn told(end: ProgramExit, reply: Option<&str>) -> (ProgramExit, Option<Json>) {
    // The instance's own exit is 0 for every status of the command line, which is in the reply.
    // Anything else means that the host ended it or that it crashed.
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
