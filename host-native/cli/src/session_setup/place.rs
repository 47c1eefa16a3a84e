//! The place of a session: among those that are kept, and where it works, which is the workspace as
//! the agent sees it, with all that carries out its calls there.

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

/// The model reads this if its changes were not taken over.
const DROPPED: &str = "The changes that were made to files before have not been taken over: the \
                       files are as they were at the beginning.";

/// It reads this if a call was cut off that changed files.
const CUT_OFF: &str = "The program was stopped while a call changed files: they may be changed by \
                       half. Look at what you have changed last before you go on.";

/// The person reads this then.
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
    /// Opens all that calls are carried out with, in the workspace of a session that goes on or is
    /// kept from here on. Who waits for what takes long is told of it.
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

    /// The session's configuration here, which is noted with it.
    pub(super) async fn config(
        &mut self,
        asked: &mut SessionRequest,
        source: &SessionSource,
    ) -> Result<SessionConfig, CliError> {
        let mut config = source.config(&self.site).await?;
        asked.narrow(&mut config)?;
        if let Some(held) = &mut self.held {
            let tuning = &asked.args.tuning;
            let set = sessions::names(&asked.args.environment.set_env);
            let change = |options: &mut sessions::SessionOptions| {
                (options.allow, options.read_only) = (tuning.allow.clone(), tuning.read_only);
                options.environment.set_env = set;
            };
            let noted = held.note(change, &config.model.name);
            noted.map_err(|error| {
                CliError::configuration(format!("cannot note the options: {error}"))
            })?;
        }
        asked.bound(&mut config)?;
        Ok(config)
    }

    /// The session's log, where it is kept and where the user wants it. What the host writes in the
    /// workspace nobody else changes, nor what the next run obeys.
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

    /// Those who answer: somebody who sits there, or rules and looks that decide about calls.
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

    /// The sandbox whose command lines can be judged, if they run there. One of the machine is not
    /// understood by reading it.
    pub(super) fn judged(&self) -> Option<Executor> {
        (!self.site.is_local()).then(|| self.site.sandbox().clone())
    }

    /// Tells the agent of changes that may be half done, and of those that are gone, once.
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

/// The workspace as the agent sees it, with what a session that goes on has changed.
pub(crate) fn over(
    folder: Workspace,
    mode: ChangeMode,
    held: Option<&LockedSession>,
) -> Result<Workspace, CliError> {
    let overlay = held.map(|held| held.kept.overlay());
    if let Some(overlay) =
        overlay.as_deref().filter(|_| held.is_some_and(LockedSession::has_dropped))
    {
        // The program may have been ended after it had noted that.
        drop(fs::remove_dir_all(overlay));
    }
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

/// Keeps a new session, if that is wanted. That it cannot be is no reason not to work.
fn keep(
    asked: &SessionRequest,
    provider: &Provider,
    config: &SessionConfig,
) -> Option<LockedSession> {
    let SessionRequest { args, mode, folder, .. } = asked;
    // What comes from a recording can be had again.
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

/// Tells that the session can't be kept any more. That is no reason to end a run.
fn tell_unkept(error: &JournalError) {
    let why = match error {
        JournalError::Write { path, error } => format!("{}: {error}", path.display()),
        error => error.to_string(),
    };
    let line = format!("from here on this session is not kept, but goes on: cannot write {why}");
    // Off a terminal, what the model says may stand in the middle of a line.
    let before = if terminal::size().is_some() { "" } else { "\n" };
    terminal::tell(&format!("{before}{}\n", harmless(&line)));
}
