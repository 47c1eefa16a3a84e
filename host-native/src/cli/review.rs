//! What becomes of a run's changes: they are in the folder already, or they are applied at the end,
//! after a question if somebody can be asked, or not at all.

use super::{
    approval::Person,
    args::RunArgs,
    exit::{Exit, Failure},
    interrupts::Ending,
    style::harmless,
};
use crate::{http::wall_time, places, sandbox::Workspace};
use std::{
    io::{self, Write as _, stderr},
    path::PathBuf,
    process,
};

/// Where changes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Into the folder, at once.
    InPlace,
    /// Into the folder when the run is over.
    Apply,
    /// Into the folder when the run is over, if the person says so.
    Ask,
    /// Nowhere: they are only shown.
    Show,
}

impl Mode {
    /// What the user wants, who can be asked or not.
    pub(super) fn of(args: &RunArgs, is_attended: bool) -> Result<Self, Failure> {
        match (args.in_place, args.apply, args.diff) {
            (true, _, _) => Ok(Self::InPlace),
            (_, true, _) => Ok(Self::Apply),
            (_, _, true) => Ok(Self::Show),
            _ if is_attended => Ok(Self::Ask),
            _ => Err(Failure::usage(format!(
                "nobody can be asked here whether to apply the changes: add --apply to write them \
                 to {0} at the end, --diff to only show them, or --in-place to let the agent \
                 change {0} while it works",
                args.workspace.display()
            ))),
        }
    }

    /// The workspace as the agent sees it.
    pub(super) fn workspace(self, folder: Workspace) -> Result<Workspace, Failure> {
        match self {
            Self::InPlace => Ok(folder),
            Self::Apply | Self::Ask | Self::Show => folder.overlay().map_err(Failure::usage),
        }
    }
}

/// Brings the changes where they belong; gives whether they are in the folder then.
pub(super) async fn settle(
    mode: Mode,
    workspace: &Workspace,
    person: Option<&Person>,
    ending: &Ending,
) -> Result<bool, Failure> {
    let is_wanted = match mode {
        Mode::InPlace => return Ok(true),
        Mode::Show => false,
        Mode::Apply => !ending.is_hurried(),
        Mode::Ask => ask(workspace, person, ending).await,
    };
    let result = match (is_wanted, ending.signal().filter(|_| ending.is_hurried())) {
        (_, Some(signal)) => Err(Failure::new(signal, "stopped at once; nothing was applied")),
        (true, None) => apply(workspace).await.map(|()| true),
        (false, None) => Ok(false),
    };
    workspace.discard();
    result
}

/// Applies the changes; if that fails, what the agent has made is kept elsewhere.
async fn apply(workspace: &Workspace) -> Result<(), Failure> {
    let workspace = workspace.clone();
    let work = move || {
        let error = match workspace.apply() {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let told = match keep(&workspace) {
            Ok(place) => format!("what the agent has made is kept in {}", place.display()),
            Err(why) => format!("what the agent has made can't be kept either: {why}"),
        };
        Err(Failure::new(Exit::Failed, format!("{error}; {told}")))
    };
    let applied = tokio::task::spawn_blocking(work).await;
    applied.unwrap_or_else(|error| Err(Failure::new(Exit::Failed, error)))
}

fn keep(workspace: &Workspace) -> io::Result<PathBuf> {
    let none = || io::Error::other("there is no home folder; set XDG_STATE_HOME");
    let kept = places::state().ok_or_else(none)?.join("kept");
    let place = kept.join(format!("{}-{}", wall_time().0, process::id()));
    workspace.keep(&place)?;
    Ok(place)
}

/// Asks whether to apply the changes, until the answer is one.
async fn ask(workspace: &Workspace, person: Option<&Person>, ending: &Ending) -> bool {
    let Some(person) = person else { return false };
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    loop {
        let question = format!("apply these changes to {folder}? [y]es, [n]o: ");
        let answer = tokio::select! {
            answer = person.answer(question) => answer,
            () = ending.hurry() => {
                drop(writeln!(stderr()));
                return false;
            }
        };
        match answer.as_deref().map(str::trim).map(str::to_lowercase).as_deref() {
            Some("y" | "yes") => return true,
            Some("n" | "no" | "q" | "quit") | None => return false,
            Some(_) => {}
        }
    }
}
