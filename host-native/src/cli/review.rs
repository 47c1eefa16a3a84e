//! What becomes of a run's changes: they are in the folder already, or they are applied at the end,
//! after a question if somebody can be asked, or not at all.

use super::{
    approval::Person,
    args::SessionArgs,
    exit::{Exit, Failure},
    interrupts::Ending,
    style::harmless,
};
use crate::{
    http::wall_time,
    places,
    sandbox::{ApplyError, Workspace},
};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, Write as _, stderr},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

/// Most paths that are named where changes can't be applied.
const NAMED: usize = 20;

/// How long the end of the program waits for the overlay's files to be removed.
const LAST_REMOVAL: Duration = Duration::from_millis(100);

/// The file that is there where an overlay that is kept holds changes.
const VIEW: &str = "view.json";

/// What is told where the program is to end at once.
const STOPPED: &str = "nothing was applied";

/// Where changes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    pub(super) fn of(args: &SessionArgs, is_attended: bool) -> Result<Self, Failure> {
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

    /// The workspace as the agent sees it. What an overlay holds stands in `place`, if it is to
    /// outlive the program.
    pub(super) fn workspace(
        self,
        folder: Workspace,
        place: Option<&Path>,
    ) -> Result<Workspace, Failure> {
        match (self, place) {
            (Self::InPlace, Some(place)) if place.join(VIEW).exists() => Err(Failure::usage(
                "the session has changes that are not applied yet: resume it without --in-place, \
                 and apply them first",
            )),
            (Self::InPlace, _) => Ok(folder),
            (_, Some(place)) => folder.overlay_in(place).map_err(Failure::usage),
            (_, None) => folder.overlay().map_err(Failure::usage),
        }
    }
}

/// What has become of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// They are in the folder, or there are none.
    Applied,
    /// They stay with the session.
    Kept,
    /// They are gone, or stand where nothing sees them.
    Dropped,
}

/// Whether the changes go into the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// The changes stay with the session.
    Later,
    /// Nobody has said, and this is what is told of it.
    Nobody(&'static str),
}

/// Brings the changes, if there are any, where they belong. What nobody has decided about is kept
/// elsewhere, and the failure says where.
pub(super) async fn settle(
    mode: Mode,
    workspace: &Workspace,
    person: Option<&Person>,
    has_changes: bool,
    ending: &Ending,
) -> Result<Settled, Failure> {
    if mode != Mode::InPlace && workspace.has_scratch_files() {
        // Nobody may be left to read it.
        drop(writeln!(
            stderr(),
            "what is in /tmp is not among the changes, and goes with this run"
        ));
    }
    let answer = match (mode, person) {
        (Mode::InPlace, _) => return Ok(Settled::Applied),
        (Mode::Apply, _) => Answer::Yes,
        (Mode::Ask, _) if !has_changes => Answer::No,
        (Mode::Ask, Some(person)) if !ending.is_hurried() => ask(workspace, person, ending).await,
        (Mode::Ask, _) => Answer::Nobody(STOPPED),
        (Mode::Show, _) if workspace.kept_in().is_some() => Answer::Later,
        (Mode::Show, _) => Answer::No,
    };
    let held = ending.hold().await;
    let signal = ending.last_signal();
    let answer = match answer {
        Answer::Yes if signal.is_some() && !has_changes => Answer::No,
        Answer::Yes if signal.is_some() => Answer::Nobody(STOPPED),
        answer => answer,
    };
    let result = {
        let workspace = workspace.clone();
        let work = tokio::task::spawn_blocking(move || carry_out(&workspace, answer));
        work.await.unwrap_or_else(|error| Err(Unsettled { told: error.to_string(), rest: true }))
    };
    drop(held);
    if !matches!(&result, Err(unsettled) if unsettled.rest) && answer != Answer::Later {
        discard(workspace, ending).await;
    }
    let exit = signal.unwrap_or(Exit::Failed);
    result.map_err(|unsettled| Failure::new(exit, unsettled.told))
}

/// What is told where the changes are not in the folder although nobody said no.
#[derive(Debug)]
struct Unsettled {
    told: String,
    /// Whether what the agent has made is nowhere but in the overlay.
    rest: bool,
}

/// Applies the changes or drops them; where neither can be, what the agent has made is kept
/// elsewhere.
fn carry_out(workspace: &Workspace, answer: Answer) -> Result<Settled, Unsettled> {
    let why = match answer {
        Answer::No => return Ok(Settled::Dropped),
        Answer::Later => {
            let unsaved = |error| {
                let told = format!("the changes can't be kept with the session: {error}");
                Unsettled { told, rest: true }
            };
            return workspace.save().map(|()| Settled::Kept).map_err(unsaved);
        }
        Answer::Nobody(why) => why.to_owned(),
        Answer::Yes => match workspace.apply() {
            Ok(()) => return Ok(Settled::Applied),
            Err(error) => told(error),
        },
    };
    Err(match keep(workspace) {
        Ok(place) => {
            let told = format!("{why}; what the agent has made is kept in {}", place.display());
            Unsettled { told, rest: false }
        }
        Err(error) => {
            let told = format!("{why}; what the agent has made can't be kept either: {error}");
            Unsettled { told, rest: true }
        }
    })
}

/// Why changes can't be applied, with no more than some of the paths.
pub(super) fn told(error: ApplyError) -> String {
    match error {
        ApplyError::Changed(mut paths) if paths.len() > NAMED => {
            let more = paths.split_off(NAMED).len();
            let plural = if more == 1 { "" } else { "s" };
            paths.push(format!("and {more} other{plural}"));
            ApplyError::Changed(paths).to_string()
        }
        error => error.to_string(),
    }
}

fn keep(workspace: &Workspace) -> io::Result<PathBuf> {
    let none = || io::Error::other("there is no home folder; set XDG_STATE_HOME");
    let kept = places::state().ok_or_else(none)?.join("kept");
    let place = kept.join(format!("{}-{}", wall_time().0, process::id()));
    workspace.keep(&place)?;
    Ok(place)
}

/// Removes what the overlay holds. If the program is to end at once, the next one removes the rest.
async fn discard(workspace: &Workspace, ending: &Ending) {
    let workspace = workspace.clone();
    let work = tokio::task::spawn_blocking(move || workspace.discard());
    let hurry = async {
        ending.hurry().await;
        tokio::time::sleep(LAST_REMOVAL).await;
    };
    tokio::select! {
        done = work => drop(done),
        () = hurry => {}
    }
}

/// Asks whether to apply the changes, until the answer is one.
async fn ask(workspace: &Workspace, person: &Person, ending: &Ending) -> Answer {
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    let can_wait = workspace.kept_in().is_some();
    loop {
        let later = if can_wait { ", [l]ater" } else { "" };
        let question = format!("apply these changes to {folder}? [y]es, [n]o{later}: ");
        let answer = tokio::select! {
            answer = person.answer(question) => answer,
            () = ending.hurry() => None,
        };
        match answer.as_deref().map(str::trim).map(str::to_lowercase).as_deref() {
            Some("y" | "yes") => return Answer::Yes,
            Some("n" | "no" | "q" | "quit") => return Answer::No,
            Some("l" | "later") if can_wait => return Answer::Later,
            Some(_) => {}
            None => {
                // Behind the question.
                drop(writeln!(stderr()));
                return Answer::Nobody("nobody said whether to apply the changes");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_some_paths_are_named() {
        let paths = |count: usize| (0..count).map(|n| format!("p{n:02}")).collect();
        let text = |count| told(ApplyError::Changed(paths(count)));
        assert_eq!(text(NAMED), ApplyError::Changed(paths(NAMED)).to_string());
        assert!(text(NAMED + 1).contains("p18, p19, and 1 other "), "{}", text(NAMED + 1));
        assert!(text(9_000).contains("p18, p19, and 8980 others "), "{}", text(9_000));
    }
}
