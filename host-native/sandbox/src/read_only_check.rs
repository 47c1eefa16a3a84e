//! The checks of a command line before it is carried out: that it only reads, and that its programs
//! are what their names stand for. A person is not asked about a call that passes, so in doubt a
//! check fails, and what it has found is enforced or repeated when the call is carried out.

use super::{
    call_context::CallContext,
    command_line::{self, CommandLine},
    executor::{CallScope, Executor, SHELL},
    guest_view::GuestVisibility,
    programs::{ProgramRegistry, ProgramStart},
    run::{GuestInvocation, RunOutcome},
};
use innerloop_tools::TmpMeaning;
use innerloop_workspace::at;
use std::{future::pending, path::Path, time::Duration};

/// The time limit for the analysis of a command line.
const LOOK: Duration = Duration::from_secs(2);

impl Executor {
    /// Returns whether a command line is known to change nothing in the present state of the
    /// agent's shell. If so, the call is held to it when it is carried out.
    pub async fn reads_only(&self, call: &CallContext, command: &str) -> bool {
        let reads_only = self.seems_to_read(call, command).await;
        if reads_only {
            self.shells.add_reader(&call.id);
        }
        reads_only
    }

    /// Returns whether the names of a command line's programs mean the same as in a new shell, and
    /// its other commands, `readers`, only read. If so, the names are checked again when the call
    /// is carried out.
    pub async fn runs_as_named(
        &self,
        call: &CallContext,
        programs: &[String],
        readers: &[String],
    ) -> bool {
        for command in readers {
            if !self.seems_to_read(call, command).await {
                return false;
            }
        }
        let is_so = self.are_as_named(&self.scope(call, TmpMeaning::default()), programs);
        if is_so {
            self.shells.add_named(&call.id, programs);
        }
        is_so
    }

    /// Returns whether the agent's shell finds programs where a new one does, and no file of the
    /// workspace takes the place of one.
    pub(super) fn are_as_named(&self, scope: &CallScope<'_>, programs: &[String]) -> bool {
        let CallScope { call, workspace, .. } = scope;
        let is_taken = |program: &String| {
            let stands = |place: &str| {
                let path = at(Path::new(&call.folder), &Path::new(place).join(program));
                let path = path.to_str().and_then(|path| workspace.real_path(path));
                // A path that can't be followed counts as taken: its file might be run.
                path.is_none_or(|path| workspace.stat(Path::new(&path)).is_ok())
            };
            !program.contains('/') && command_line::places_of_programs().any(stands)
        };
        // `./build` is another program in another folder.
        let at_home = programs.iter().any(|name| name.contains('/') && !name.starts_with('/'));
        self.shells.is_plain(call.agent, at_home) && !programs.iter().any(is_taken)
    }

    /// Returns whether a command line would change nothing in the present state of the agent's
    /// shell.
    async fn seems_to_read(&self, call: &CallContext, command: &str) -> bool {
        let Ok(ProgramStart { guest, .. }) = self.start(SHELL).await else { return false };
        if !self.is_shell(&guest).await {
            return false;
        }
        let line = CommandLine { agent: call.agent, command, folder: None };
        let stdin = self.shells.question(line).into_bytes();
        let scope = self.scope(call, TmpMeaning::default());
        let plain = self.invocation(&scope, guest, vec![SHELL.to_owned()], stdin, LOOK);
        // The analysis may not even write, nor start programs: the shell only parses the line.
        let invocation = GuestInvocation {
            sight: GuestVisibility::default(),
            starts: Some(ProgramRegistry::default()),
            ..plain
        };
        let ended = self.run_in_folder(&scope, invocation, pending()).await;
        let reads =
            |ended: RunOutcome| command_line::reads_only(&ended.end, ended.reply.as_deref());
        ended.is_ok_and(reads)
    }
}
