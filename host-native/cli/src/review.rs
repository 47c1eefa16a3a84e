//! What becomes of a run's changes: they are in the folder already, or they are applied at the end,
//! after a question if somebody can be asked, or not at all.

pub(super) use super::mode::ChangeMode;

use super::{
    applying,
    approval::PersonHandle,
    console::warn,
    exit::{CliError, ExitReason},
    interrupts::ShutdownHandle,
    question::Question,
    sessions::LockedSession,
    style::harmless,
    terminal,
};
use innerloop_host::http::wall_time;
use innerloop_workspace::{ApplyError, RefusedChanges, Workspace, app_dirs};
use std::{io, path::PathBuf, process, time::Duration};

/// Most paths that are named where changes can't be applied.
const NAMED: usize = 20;

/// Most temporary files that are named.
const NAMED_TEMPORARY: usize = 5;

/// The time for which the end of the program waits for the removal of the overlay's files.
const LAST_REMOVAL: Duration = Duration::from_millis(100);

/// The message if the program is to end at once.
const STOPPED: &str = "nothing was applied";

/// The reason why changes are not applied if nobody knows whether they are complete.
const PARTIAL: &str = "nothing was applied without a yes, since an earlier program was stopped \
                       while a call changed files: look at them first";

/// The advice in a session that goes on, if something else has changed what is to be applied.
const OVER: &str = ", where /diff shows them beside what is there now, and /apply over applies \
                    them all the same";

/// Other ways to say that changes are not to be applied now. None of them discards anything.
pub(super) const NOT_NOW: [(&str, &str); 3] =
    [("no", "not now"), ("l", "not now"), ("later", "not now")];

/// The fate of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeDisposition {
    /// They are in the folder, or there are none.
    Applied,
    /// They stay with the session.
    Kept,
    /// They are gone, or stand where nothing sees them.
    Dropped,
}

/// The outcome of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReviewOutcome {
    pub(super) settled: ChangeDisposition,
    /// The message, and the way that the program ends, if the outcome is not the wished one.
    pub(super) failure: Option<CliError>,
}

/// The changes of a session.
#[derive(Debug)]
pub(super) struct PendingChanges<'a> {
    pub(super) mode: ChangeMode,
    pub(super) workspace: &'a Workspace,
    /// The session, if it is kept.
    pub(super) held: Option<&'a mut LockedSession>,
    /// True if it has changed anything.
    pub(super) has_changes: bool,
}

/// The answer to the question whether the changes go into the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewAnswer {
    Yes,
    /// Nothing is to become of them.
    Drop,
    /// The changes stay with the session, or where that is not kept, in a folder of their own.
    Later,
    /// Nobody has said, and this is what is told of it.
    Nobody(&'static str),
}

/// Brings the changes, if there are any, where they belong. What nobody has decided about, and what
/// can't be applied, stays with the session; where that is not kept, it is put elsewhere, and the
/// failure says where.
pub(super) async fn settle(
    pending: PendingChanges<'_>,
    person: Option<&PersonHandle>,
    ending: &ShutdownHandle,
) -> ReviewOutcome {
    let PendingChanges { mode, workspace, mut held, has_changes } = pending;
    if mode == ChangeMode::InPlace {
        return ReviewOutcome { settled: ChangeDisposition::Applied, failure: None };
    }
    // One whose log could not be written is not kept, whatever holds its overlay.
    let short = held.as_deref().filter(|held| held.has_log()).map(|held| held.short().to_owned());
    let is_kept = workspace.kept_in().is_some() && short.is_some();
    let answer = match (mode, person) {
        (ChangeMode::Apply, person) if has_changes && workspace.is_partial() => match person {
            Some(person) if ending.may_ask() => ask(workspace, person, is_kept, ending).await,
            _ => ReviewAnswer::Nobody(PARTIAL),
        },
        (ChangeMode::InPlace | ChangeMode::Apply, _) => ReviewAnswer::Yes,
        (ChangeMode::Ask, _) if !has_changes => ReviewAnswer::Drop,
        (ChangeMode::Ask, Some(person)) if ending.may_ask() => {
            ask(workspace, person, is_kept, ending).await
        }
        (ChangeMode::Ask, _) => ReviewAnswer::Nobody(STOPPED),
        (ChangeMode::Show, _) if is_kept => ReviewAnswer::Later,
        (ChangeMode::Show, _) => ReviewAnswer::Drop,
    };
    let guard = ending.hold().await;
    let signal = ending.last_signal();
    let answer = match answer {
        ReviewAnswer::Yes if signal.is_some() && !has_changes => ReviewAnswer::Drop,
        ReviewAnswer::Yes if signal.is_some() => ReviewAnswer::Nobody(STOPPED),
        answer => answer,
    };
    // Applying forgets them.
    let temporary = workspace.temporary_files();
    let done = {
        let (workspace, stop) = (workspace.clone(), ending.clone());
        let work = tokio::task::spawn_blocking(move || {
            carry_out(&workspace, answer, short.as_deref(), &stop)
        });
        work.await.unwrap_or_else(|error| DispositionResult {
            settled: ChangeDisposition::Dropped,
            told: Some(error.to_string()),
            is_left: true,
        })
    };
    let DispositionResult { settled, told, is_left } = done;
    if answer == ReviewAnswer::Drop && has_changes {
        // Noted first, so that the agent is told whatever becomes of this program.
        held.iter_mut().for_each(|held| held.note_dropped(true));
    }
    if settled != ChangeDisposition::Kept && !temporary.is_empty() {
        warn(&told_temporary(&temporary));
    }
    drop(guard);
    if !is_left && settled != ChangeDisposition::Kept {
        discard(workspace, ending).await;
    }
    // One may have come meanwhile, and stopped it.
    let signal = signal.or_else(|| ending.last_signal());
    let exit = signal.or_else(|| ending.ending_signal()).unwrap_or(ExitReason::Failed);
    let failure = told.map(|told| CliError::new(exit, told));
    ReviewOutcome { settled, failure }
}

/// The result of carrying out the answer.
#[derive(Debug)]
struct DispositionResult {
    settled: ChangeDisposition,
    /// The message if the changes are not in the folder although nobody said no.
    told: Option<String>,
    /// True if what the agent has made is nowhere but in the overlay, which is to stay.
    is_left: bool,
}

/// Applies the changes, drops them, or leaves them with the session whose first digits these are.
fn carry_out(
    workspace: &Workspace,
    answer: ReviewAnswer,
    short: Option<&str>,
    ending: &ShutdownHandle,
) -> DispositionResult {
    let done = |settled| DispositionResult { settled, told: None, is_left: false };
    let mut is_conflict = false;
    let why = match answer {
        ReviewAnswer::Drop => return done(ChangeDisposition::Dropped),
        ReviewAnswer::Later => None,
        ReviewAnswer::Nobody(why) => Some(why.to_owned()),
        ReviewAnswer::Yes => match applying::apply(workspace, &|| ending.is_hurried()) {
            Ok(()) => return done(ChangeDisposition::Applied),
            Err(error) => {
                is_conflict = matches!(error, ApplyError::Changed(_));
                Some(told(error))
            }
        },
    };
    let Some(short) = short.filter(|_| workspace.kept_in().is_some()) else {
        return put_elsewhere(workspace, why);
    };
    match workspace.save() {
        Ok(()) => {
            let over = if is_conflict { OVER } else { "" };
            let how = format!("innerloop resume {short} goes on with them{over}");
            let told = why.map(|why| format!("{why}; the session keeps the changes: {how}"));
            DispositionResult { settled: ChangeDisposition::Kept, told, is_left: true }
        }
        Err(error) => {
            let why = why.map(|why| format!("{why}; ")).unwrap_or_default();
            let why = format!("{why}the changes can't be kept with the session: {error}");
            DispositionResult { is_left: true, ..put_elsewhere(workspace, Some(why)) }
        }
    }
}

/// Copies what the agent has made to a folder of its own. Without a reason that is as wished.
fn put_elsewhere(workspace: &Workspace, why: Option<String>) -> DispositionResult {
    let (told, is_left) = match (keep(workspace), why) {
        (Ok(place), None) => {
            warn(&format!("what the agent has made is kept in {}", place.display()));
            (None, false)
        }
        (Ok(place), Some(why)) => {
            let told = format!("{why}; what the agent has made is kept in {}", place.display());
            (Some(told), false)
        }
        (Err(error), why) => {
            let why = why.map(|why| format!("{why}; ")).unwrap_or_default();
            (Some(format!("{why}what the agent has made can't be kept either: {error}")), true)
        }
    };
    DispositionResult { settled: ChangeDisposition::Dropped, told, is_left }
}

/// Returns why changes can't be applied, with no more than some of the paths.
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

/// That files in the system's folder for temporary ones are not applied.
fn told_temporary(paths: &[String]) -> String {
    let named: Vec<_> = paths.iter().take(NAMED_TEMPORARY).map(|it| format!("/{it}")).collect();
    let more = match paths.len().saturating_sub(NAMED_TEMPORARY) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("files in /tmp are not applied: {}{more}", harmless(&named.join(", ")))
}

/// That the system refused what the agent was to change.
pub(super) fn told_refused(refused: &RefusedChanges) -> String {
    let RefusedChanges { path, error, others } = refused;
    let others = match others {
        0 => String::new(),
        1 => " and 1 other file".to_owned(),
        others => format!(" and {others} other files"),
    };
    format!("{}{others} could not be changed: {error}", harmless(path))
}

fn keep(workspace: &Workspace) -> io::Result<PathBuf> {
    let none = || io::Error::other("there is no home folder; set XDG_STATE_HOME");
    let kept = app_dirs::state().ok_or_else(none)?.join("kept");
    let place = kept.join(format!("{}-{}", wall_time().0, process::id()));
    workspace.keep(&place)?;
    Ok(place)
}

/// Removes what the overlay holds. If the program is to end at once, the next one removes the rest.
async fn discard(workspace: &Workspace, ending: &ShutdownHandle) {
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

/// Asks whether to apply the changes, until the answer is one. A no means not now, here as in the
/// middle of a conversation: only a word drops what the agent has made.
async fn ask(
    workspace: &Workspace,
    person: &PersonHandle,
    can_wait: bool,
    ending: &ShutdownHandle,
) -> ReviewAnswer {
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    let kept = if can_wait { "the session keeps them" } else { "kept in a folder of their own" };
    let words = [("yes", ""), ("not now", kept)];
    let asked = format!("apply these changes to {folder}? ");
    let choice = Question::choice(&asked, &words).also(&NOT_NOW);
    let prompt = choice.prompt.trim_end_matches(": ");
    loop {
        let question = Question::open(format!("{prompt}, or drop: "));
        let answer = tokio::select! {
            answer = person.answer(question) => answer,
            () = ending.hurry() => None,
        };
        let Some(answer) = answer else {
            // Behind the question.
            terminal::tell("\n");
            return match (can_wait, ending.is_hurried()) {
                (true, false) => ReviewAnswer::Later,
                (_, true) => ReviewAnswer::Nobody(STOPPED),
                (false, false) => ReviewAnswer::Nobody("nobody said whether to apply the changes"),
            };
        };
        match choice.word(&answer) {
            Some("yes") => return ReviewAnswer::Yes,
            Some(_) => return ReviewAnswer::Later,
            None => match answer.trim().to_lowercase().as_str() {
                "drop" => return ReviewAnswer::Drop,
                "q" | "quit" | "exit" => return ReviewAnswer::Later,
                _ => {}
            },
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
