//! The review of a session's changes at its end: they are in the folder already, or they are
//! applied, after a question if somebody can be asked, or they are kept or dropped. Changes that
//! should be applied are dropped only if the person says so; otherwise they stay somewhere, and the
//! user is told where.

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

/// The most paths that are named if changes can't be applied.
const NAMED: usize = 20;

/// The most temporary files that are named.
const NAMED_TEMPORARY: usize = 5;

/// The time for which the end of the program waits for the removal of the overlay's files.
const LAST_REMOVAL: Duration = Duration::from_millis(100);

/// The message if the program should end at once.
const STOPPED: &str = "nothing was applied";

/// The reason why changes that may be incomplete are not applied.
const PARTIAL: &str = "nothing was applied without a yes, since an earlier program was stopped \
                       while a call changed files: look at them first";

/// The advice for a session that keeps its changes because something else has changed the files.
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
    /// They are gone, or copied to a folder that no session uses.
    Dropped,
}

/// The outcome of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReviewOutcome {
    pub(super) settled: ChangeDisposition,
    /// The error, if the changes could not be settled as the user wants.
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
    /// The changes are dropped.
    Drop,
    /// The changes stay with the session, or, if that is not kept, in a folder of their own.
    Later,
    /// Nobody has answered; the text is the error about that.
    Nobody(&'static str),
}

/// Settles the changes: applies, keeps or drops them. Changes that nobody has decided about, or
/// that can't be applied, stay with the session; if that is not kept, they are copied to a folder
/// that the error names.
pub(super) async fn settle(
    pending: PendingChanges<'_>,
    person: Option<&PersonHandle>,
    ending: &ShutdownHandle,
) -> ReviewOutcome {
    let PendingChanges { mode, workspace, mut held, has_changes } = pending;
    if mode == ChangeMode::InPlace {
        return ReviewOutcome { settled: ChangeDisposition::Applied, failure: None };
    }
    // A session without a log can't be resumed, so that it does not count as kept.
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
    // From here to the drop of the guard no signal ends the program: changes that are half applied
    // would have to be undone by the next one. A signal that came before is seen here.
    let guard = ending.hold().await;
    let signal = ending.last_signal();
    let answer = match answer {
        ReviewAnswer::Yes if signal.is_some() && !has_changes => ReviewAnswer::Drop,
        ReviewAnswer::Yes if signal.is_some() => ReviewAnswer::Nobody(STOPPED),
        answer => answer,
    };
    // Read before, since applying removes them from the overlay.
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
        // Noted before anything is removed, so that the agent is told even if this program is
        // killed in between.
        held.iter_mut().for_each(|held| held.note_dropped(true));
    }
    if settled != ChangeDisposition::Kept && !temporary.is_empty() {
        warn(&told_temporary(&temporary));
    }
    drop(guard);
    if !is_left && settled != ChangeDisposition::Kept {
        discard(workspace, ending).await;
    }
    // A signal may have come meanwhile, and stopped the application.
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
    /// True if the changes are only in the overlay, which must not be removed.
    is_left: bool,
}

/// Applies the changes, drops them, or leaves them with the session; `short` is its short id.
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

/// Copies the changes to a folder of their own. `why` is the reason if that is not what was wanted.
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

/// Returns the reason why changes can't be applied, with some of the paths.
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

/// Returns the notice that files in `/tmp` are not applied.
fn told_temporary(paths: &[String]) -> String {
    let named: Vec<_> = paths.iter().take(NAMED_TEMPORARY).map(|it| format!("/{it}")).collect();
    let more = match paths.len().saturating_sub(NAMED_TEMPORARY) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("files in /tmp are not applied: {}{more}", harmless(&named.join(", ")))
}

/// Returns the message about changes that the system has refused.
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

/// Removes the overlay's files. If the program should end at once, the next one removes the rest.
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

/// Asks whether to apply the changes until there is an answer. A no means not now, as in the middle
/// of a conversation; only the word `drop` drops them.
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
        // `drop` is not a word of the choice, whose first letter would be enough: dropping takes
        // the whole word.
        let question = Question::open(format!("{prompt}, or drop: "));
        let answer = tokio::select! {
            answer = person.answer(question) => answer,
            () = ending.hurry() => None,
        };
        let Some(answer) = answer else {
            // Ends the line of the question.
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
