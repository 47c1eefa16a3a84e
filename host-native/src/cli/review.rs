//! What becomes of a run's changes: they are in the folder already, or they are applied at the end,
//! after a question if somebody can be asked, or not at all.

pub(super) use super::mode::Mode;

use super::{
    approval::Person,
    console::warn,
    exit::{Exit, Failure},
    interrupts::Ending,
    question::Question,
    saving,
    sessions::Held,
    style::harmless,
    terminal,
};
use crate::{
    http::wall_time,
    places,
    sandbox::{ApplyError, Workspace},
};
use std::{io, path::PathBuf, process, time::Duration};

/// Most paths that are named where changes can't be applied.
const NAMED: usize = 20;

/// How long the end of the program waits for the overlay's files to be removed.
const LAST_REMOVAL: Duration = Duration::from_millis(100);

/// What is told where the program is to end at once.
const STOPPED: &str = "nothing was applied";

/// What a session that goes on offers where something else has changed what is to be applied.
const OVER: &str = ", where /diff shows them beside what is there now, and /apply over applies \
                    them all the same";

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

/// How it came to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settlement {
    pub(super) settled: Settled,
    /// What is told, and how the program ends, if that is not as wished.
    pub(super) failure: Option<Failure>,
}

/// What a session has changed.
#[derive(Debug)]
pub(super) struct Pending<'a> {
    pub(super) mode: Mode,
    pub(super) workspace: &'a Workspace,
    /// The session, if it is kept.
    pub(super) held: Option<&'a mut Held>,
    /// Whether it has changed anything.
    pub(super) has_changes: bool,
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

/// Brings the changes, if there are any, where they belong. What nobody has decided about, and what
/// can't be applied, stays with the session; where that is not kept, it is put elsewhere, and the
/// failure says where.
pub(super) async fn settle(
    pending: Pending<'_>,
    person: Option<&Person>,
    ending: &Ending,
) -> Settlement {
    let Pending { mode, workspace, mut held, has_changes } = pending;
    if mode == Mode::InPlace {
        return Settlement { settled: Settled::Applied, failure: None };
    }
    // One whose log could not be written is not kept, whatever holds its overlay.
    let short = held.as_deref().filter(|held| held.has_log()).map(|held| held.short().to_owned());
    let is_kept = workspace.kept_in().is_some() && short.is_some();
    let answer = match (mode, person) {
        (Mode::InPlace | Mode::Apply, _) => Answer::Yes,
        (Mode::Ask, _) if !has_changes => Answer::No,
        (Mode::Ask, Some(person)) if ending.may_ask() => {
            ask(workspace, person, is_kept, ending).await
        }
        (Mode::Ask, _) => Answer::Nobody(STOPPED),
        (Mode::Show, _) if is_kept => Answer::Later,
        (Mode::Show, _) => Answer::No,
    };
    let guard = ending.hold().await;
    let signal = ending.last_signal();
    let answer = match answer {
        Answer::Yes if signal.is_some() && !has_changes => Answer::No,
        Answer::Yes if signal.is_some() => Answer::Nobody(STOPPED),
        answer => answer,
    };
    let done = {
        let workspace = workspace.clone();
        let work =
            tokio::task::spawn_blocking(move || carry_out(&workspace, answer, short.as_deref()));
        work.await.unwrap_or_else(|error| Done {
            settled: Settled::Dropped,
            told: Some(error.to_string()),
            is_left: true,
        })
    };
    let Done { settled, told, is_left } = done;
    if answer == Answer::No && has_changes {
        // Noted first, so that the agent is told whatever becomes of this program.
        held.iter_mut().for_each(|held| held.note_dropped(true));
    }
    if settled != Settled::Kept && workspace.has_scratch_files() {
        warn("what is in /tmp is not among the changes, and goes with this run");
    }
    if !is_left || settled == Settled::Kept {
        saving::note_all(workspace);
    }
    drop(guard);
    if !is_left && settled != Settled::Kept {
        discard(workspace, ending).await;
    }
    let exit = signal.or_else(|| ending.ending_signal()).unwrap_or(Exit::Failed);
    let failure = told.map(|told| Failure::new(exit, told));
    Settlement { settled, failure }
}

/// What was done with the changes.
#[derive(Debug)]
struct Done {
    settled: Settled,
    /// What is told where they are not in the folder although nobody said no.
    told: Option<String>,
    /// Whether what the agent has made is nowhere but in the overlay, which is to stay.
    is_left: bool,
}

/// Applies the changes, drops them, or leaves them with the session whose first digits these are.
fn carry_out(workspace: &Workspace, answer: Answer, short: Option<&str>) -> Done {
    let done = |settled| Done { settled, told: None, is_left: false };
    let mut is_conflict = false;
    let why = match answer {
        Answer::No => return done(Settled::Dropped),
        Answer::Later => None,
        Answer::Nobody(why) => Some(why.to_owned()),
        Answer::Yes => match workspace.apply() {
            Ok(()) => return done(Settled::Applied),
            Err(error) => {
                is_conflict = matches!(error, ApplyError::Changed(_));
                Some(told(error))
            }
        },
    };
    let Some(short) = short.filter(|_| workspace.kept_in().is_some()) else {
        return put_elsewhere(workspace, &why.unwrap_or_default());
    };
    match workspace.save() {
        Ok(()) => {
            let over = if is_conflict { OVER } else { "" };
            let how = format!("innerloop resume {short} goes on with them{over}");
            let told = why.map(|why| format!("{why}; the session keeps the changes: {how}"));
            Done { settled: Settled::Kept, told, is_left: true }
        }
        Err(error) => {
            let why = why.map(|why| format!("{why}; ")).unwrap_or_default();
            let why = format!("{why}the changes can't be kept with the session: {error}");
            Done { is_left: true, ..put_elsewhere(workspace, &why) }
        }
    }
}

/// Copies what the agent has made to a folder of its own.
fn put_elsewhere(workspace: &Workspace, why: &str) -> Done {
    let (told, is_left) = match keep(workspace) {
        Ok(place) => {
            (format!("{why}; what the agent has made is kept in {}", place.display()), false)
        }
        Err(error) => {
            (format!("{why}; what the agent has made can't be kept either: {error}"), true)
        }
    };
    Done { settled: Settled::Dropped, told: Some(told), is_left }
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

/// Asks whether to apply the changes, until the answer is one. Where the session is kept, no letter
/// alone drops what the agent has made: a no means that it is not applied, here as in the middle of
/// a conversation.
async fn ask(workspace: &Workspace, person: &Person, can_wait: bool, ending: &Ending) -> Answer {
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    let choice = match can_wait {
        true => "[y]es, [l]ater (the session keeps them), or drop",
        false => "[y]es, [n]o (they are dropped)",
    };
    loop {
        let question = format!("apply these changes to {folder}? {choice}: ");
        let answer = tokio::select! {
            answer = person.answer(Question::open(question)) => answer,
            () = ending.hurry() => None,
        };
        match answer.as_deref().map(str::trim).map(str::to_lowercase).as_deref() {
            Some("y" | "yes") => return Answer::Yes,
            Some("drop") => return Answer::No,
            Some("n" | "no" | "q" | "quit" | "l" | "later") if can_wait => return Answer::Later,
            Some("n" | "no" | "q" | "quit") => return Answer::No,
            Some(_) => {}
            None => {
                // Behind the question.
                terminal::tell("\n");
                return match (can_wait, ending.is_hurried()) {
                    (true, false) => Answer::Later,
                    (_, true) => Answer::Nobody(STOPPED),
                    (false, false) => Answer::Nobody("nobody said whether to apply the changes"),
                };
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
