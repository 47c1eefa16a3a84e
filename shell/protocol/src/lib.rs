//! What a host and the shell's module say to each other, as JSON: the module reads one
//! [`ShellRequest`] from standard input, prints what the command line prints, gives one
//! [`ShellReply`] and ends. What a program is started with is a [`ProgramLaunch`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, Json, ToJson};

/// A command line, and what it is carried out with.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ShellRequest {
    /// The command line, or a whole script.
    pub script: String,
    /// The script's name and its arguments: `$0`, `$1` and so on.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The text that it reads from standard input.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// The folder it begins in, which is left again at its end; that of the state if absent.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// After how many milliseconds it is stopped.
    pub timeout_ms: u64,
    /// The programs of the host that can be started by name.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Commands that the host knows of and does not have.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingCommand>,
    /// The kind of `/tmp` that there is where the workspace has no folder of that name.
    #[json(default, skip_serializing_if = "TmpPolicy::is_needed")]
    pub tmp: TmpPolicy,
    /// True if the command line is only looked at, and not carried out.
    #[json(default)]
    pub analyze: bool,
    /// The state that an earlier call left: the `state` of its reply.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Json>,
}

/// The kind of `/tmp` that there is where the workspace has no folder of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum TmpPolicy {
    /// A folder in memory, which is kept for the agent's next command line.
    Own,
    /// That folder, but what is made in it is the workspace's, where the folder is made for that.
    #[default]
    Needed,
    /// Nothing: who wants a folder of the workspace makes it.
    Project,
    /// Nothing, but a folder of the workspace is made as soon as something is put into it.
    Both,
}

impl TmpPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
    fn is_needed(&self) -> bool {
        *self == Self::Needed
    }
}

/// A command that could be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct MissingCommand {
    /// Its name.
    pub command: String,
    /// The message for whoever calls it.
    pub words: String,
}

/// The result of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct ShellReply {
    /// The exit status.
    pub status: i32,
    /// True if the time limit ended it.
    pub timed_out: bool,
    /// True if the command line was only looked at, and reads files and changes nothing.
    pub reads_only: bool,
    /// Variables, functions, the working folder and the like, for the next call.
    #[json(skip_serializing_if = "Option::is_none")]
    pub state: Option<Json>,
}

/// A program of the host that the command line starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ProgramLaunch {
    /// Its name among [`ShellRequest::programs`].
    pub program: String,
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Exported variables: names and values by turns.
    pub env: Vec<String>,
    /// The folder it runs in.
    pub folder: String,
}
