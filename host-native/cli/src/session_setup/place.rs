//! The place of a session: its folder in the store of sessions, and its workspace as the agent sees
//! it, with everything that carries out calls there. The overlay belongs to the store's folder, so
//! that changes outlive the program.

use super::{choice::SessionChoice, source::SessionSource, user_wishes::SessionRequest};
use crate::{
    args::FileArgs,
    auto_approval::ApprovalJudge,
    console::warn,
    environment,
    exit::CliError,
    mode::ChangeMode,
    sessions::{self, LockedSession, SessionInfo, SessionStore},
    setup,
    style::harmless,
    terminal, user_tools,
};
use innerloop_core::{config::SessionConfig, input::Command, message::Part};
use innerloop_driver::{HostCapabilities, providers::Provider};
use innerloop_host::{
    host::CommandSender,
    http::wall_time,
    journal::{Journal, JournalError},
    setup::WorkSite,
};
use innerloop_sandbox::{Executor, OnProgress};
use innerloop_workspace::Workspace;
use std::{fs, path::Path};

/// The text that the model reads if its earlier changes were dropped.
const DROPPED: &str = "The changes that were made to files before have not been taken over: the \
                       files are as they were at the beginning.";

/// The text that the model reads if a call that changed files was cut off.
const CUT_OFF: &str = "The program was stopped while a call changed files: they may be changed by \
                       half. Look at what you have changed last before you go on.";

/// The warning to the person in that case.
const PARTIAL: &str = "the program was stopped while a call changed files: they may be changed by \
                       half, and the agent is told to look; --apply does not apply them, but a \
                       yes does";

/// The place where a session works and is kept.
pub(super) struct SessionPlace {
    /// The session's place among those that are kept, if it is one.
    pub(super) held: Option<LockedSession>,
    pub(super) site: WorkSite,
}

impl SessionPlace {
    /// Opens everything that calls are carried out with, in the workspace of a session that goes on
    /// or is new; `progress` receives a line about what takes long.
    pub(super) async fn open(
        asked: &SessionRequest,
        choice: &mut SessionChoice,
        progress: Option<OnProgress>,
    ) -> Result<Self, CliError> {
        let SessionRequest { args, mode, folder, own, .. } = asked;
        let held = match &mut choice.source {
            SessionSource::Kept(past) => past.take_held(),
            SessionSource::New(plan) => keep(asked, &choice.provider, &plan.draft()?),
        };
        let workspace = over(folder.clone(), *mode, held.as_ref())?;
        let site = setup::site(workspace, args.guests.programs.as_deref(), progress)?;
        setup::compile_meanwhile(&site);
        let site = site.with_isolation(args.guests.isolation());
        let site = environment::open(&args.environment, &args.guests, site)?;
        let site = if args.tuning.read_only { site.reading_only() } else { site };
        user_tools::prepare(own, site.sandbox()).await?;
        Ok(Self { held, site })
    }

    /// Returns the session's configuration here, and stores the options that are in force with it.
    pub(super) async fn config(
        &mut self,
        asked: &mut SessionRequest,
        source: &SessionSource,
    ) -> Result<SessionConfig, CliError> {
        let mut config = source.config(&self.site).await?;
        asked.narrow(&mut config)?;
        if let Some(held) = &mut self.held {
            let tuning = &asked.args.tuning;
            // The values of variables may be secrets: their names alone are written.
            let set = sessions::names(&asked.args.environment.set_env);
            let change = |options: &mut sessions::SessionOptions| {
                (options.allow, options.read_only) = (tuning.allow.clone(), tuning.read_only);
                options.environment.set_env = set;
            };
            let noted = held.note(change, &config.model);
            noted.map_err(|error| {
                CliError::configuration(format!("cannot note the options: {error}"))
            })?;
        }
        // The limits and the answer's form hold for this run and are not stored.
        asked.bound(&mut config)?;
        Ok(config)
    }

    /// Opens the session's log: in its folder, and in the file that the user has named. The agent
    /// can't change files that the host writes in the workspace, nor those that the next run obeys.
    pub(super) fn journal(&self, files: &FileArgs) -> Result<Option<Journal>, CliError> {
        let kept = self.held.as_ref().map(|held| held.kept.log_path());
        let replace = |path: &Path| Journal::try_replace(path, tell_unkept);
        let journals = [
            kept.as_deref().map(replace).transpose().map_err(CliError::configuration)?,
            files.log.as_deref().map(Journal::create).transpose().map_err(CliError::usage)?,
        ];
        let written = [&kept, &files.log, &files.record];
        self.site.reserve(written.into_iter().flatten().map(|file| file.as_path()));
        Ok(journals.into_iter().flatten().reduce(Journal::and))
    }

    /// Returns the questions that will be answered: by somebody who sits there, or by rules and
    /// checks that decide about calls.
    pub(super) fn people(
        &self,
        asked: &SessionRequest,
        config: &SessionConfig,
        is_attended: bool,
    ) -> HostCapabilities {
        let decides =
            !asked.rules.is_empty() || !self.site.is_local() && ApprovalJudge::decides(config);
        HostCapabilities { approve: is_attended || decides, answer: is_attended, hooks: Vec::new() }
    }

    /// Returns the sandbox if command lines run there. On this machine none is judged by reading
    /// it: its shell and its programs are not ours to know.
    pub(super) fn judged(&self) -> Option<Executor> {
        (!self.site.is_local()).then(|| self.site.sandbox().clone())
    }

    /// Tells the agent once of changes that may be half done and of those that are gone.
    pub(super) fn tell_lost(&mut self, commands: &CommandSender) {
        if self.site.workspace().is_partial() {
            commands.send(Command::Steer { parts: vec![Part::text(CUT_OFF)] });
        }
        if let Some(held) = self.held.as_mut().filter(|held| held.has_dropped()) {
            commands.send(Command::Steer { parts: vec![Part::text(DROPPED)] });
            held.note_dropped(false);
        }
    }
}

/// Opens the workspace as the agent sees it, with the changes of a session that goes on.
pub(crate) fn over(
    folder: Workspace,
    mode: ChangeMode,
    held: Option<&LockedSession>,
) -> Result<Workspace, CliError> {
    let overlay = held.map(|held| held.kept.overlay());
    if let Some(overlay) =
        overlay.as_deref().filter(|_| held.is_some_and(LockedSession::has_dropped))
    {
        // The note is written before the overlay is removed, so that a program that was killed in
        // between leaves the overlay behind.
        drop(fs::remove_dir_all(overlay));
    }
    // Another session may have left the folder half applied: that is undone before anything is
    // read from it.
    sessions::put_right(&folder);
    let workspace = mode.workspace(folder, overlay.as_deref())?;
    sessions::tell_taken_back(&workspace, "the session");
    if workspace.is_partial() {
        warn(PARTIAL);
    }
    if mode != ChangeMode::Show
        && let Err(error) = workspace.check_writable()
    {
        let folder = workspace.root().display();
        warn(&format!("nothing can be written to {folder}: {error}"));
    }
    Ok(workspace)
}

/// Creates the folder of a new session, if it is to be kept. If that fails, the run goes on with a
/// warning.
fn keep(
    asked: &SessionRequest,
    provider: &Provider,
    config: &SessionConfig,
) -> Option<LockedSession> {
    let SessionRequest { args, mode, folder, .. } = asked;
    // A replay can be repeated at any time.
    if args.ephemeral || args.files.replay.is_some() {
        return None;
    }
    let about = SessionInfo {
        id: config.id.0.clone(),
        opened: wall_time().0,
        title: String::new(),
        workspace: folder.root().to_owned(),
        provider: provider.name.clone(),
        model: config.model.name.clone(),
        fork_of: None,
        dropped: false,
        options: sessions::SessionOptions::of(args, *mode),
    };
    let held = SessionStore::open().and_then(|store| store.create(about));
    held.inspect_err(|failure| {
        warn(&format!(
            "this session is not kept: {}; the run goes on without (--ephemeral asks for that)",
            failure.message
        ));
    })
    .ok()
}

/// Warns that the log can no longer be written. The run goes on.
fn tell_unkept(error: &JournalError) {
    let why = match error {
        JournalError::Write { path, error } => format!("{}: {error}", path.display()),
        error => error.to_string(),
    };
    let line = format!("from here on this session is not kept, but goes on: cannot write {why}");
    // Without a terminal, the model's text may be in the middle of a line.
    let before = if terminal::size().is_some() { "" } else { "\n" };
    terminal::tell(&format!("{before}{}\n", harmless(&line)));
}
