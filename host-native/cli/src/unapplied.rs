//! `innerloop sessions apply` and `keep`: what a session's agent has changed, from its overlay
//! alone, so that a log that cannot be read loses no work.

use super::{
    applying,
    args::{KeptArgs, OutputArgs, SessionsArgs, SessionsCommand},
    console::{say, warn},
    exit::{Exit, Failure},
    interrupts::{Ending, Interrupts},
    key_in_use::KeyInUse,
    mode::Mode,
    report::Report,
    review,
    sessions::{self, Listed, Store},
    setup,
    style::{Style, harmless},
    view,
};
use innerloop_workspace::{ApplyError, FileState, Workspace};
use std::{
    io::{IsTerminal as _, Write as _, stderr, stdin},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::task::spawn_blocking;

/// What is asked for where nobody knows whether the changes are whole.
const PARTIAL: &str = "a call was cut off when the program of the session was stopped, so that a \
                       file may be changed by half";

/// Carries out what is asked of kept sessions.
pub(super) async fn sessions(args: SessionsArgs) -> Result<(), Failure> {
    match args.command {
        SessionsCommand::Apply { which, yes, over } => apply(&which, yes, over).await,
        SessionsCommand::Keep { which, to } => keep(&which, &to),
        SessionsCommand::Kept(command) => sessions::carry_out(command),
    }
}

/// Applies what the session has changed.
async fn apply(which: &KeptArgs, is_sure: bool, over: bool) -> Result<(), Failure> {
    let listed = find(which)?;
    let _lock = listed.lock()?;
    let workspace = taken_up(&listed, which)?;
    let mut report = Report::new(&KeyInUse::default(), Mode::Apply);
    report.without_run();
    report.compare(&workspace, &Ending::default()).await;
    let output = OutputArgs { json: false, quiet: false, color: None };
    view::changes(&report, output, Style::new(output.color.unwrap_or_default()), Mode::Apply);
    if workspace.is_partial() && !is_sure && !confirmed()? {
        return Err(Failure::new(Exit::Failed, "nothing was applied"));
    }
    workspace.accept_partial();
    if over {
        workspace.rebase();
    }
    let short = listed.short();
    let (applied, signal) = applied(&workspace).await?;
    applied.map_err(|error| {
        let advice = match (over, &error) {
            (true, _) | (_, ApplyError::Stopped) => String::new(),
            _ => format!(
                "; innerloop sessions apply {short} --over applies them all the same, and \
                 innerloop sessions keep {short} DIR copies them"
            ),
        };
        let exit = signal.unwrap_or(Exit::Failed);
        Failure::new(exit, format!("{}{advice}", review::told(error)))
    })?;
    workspace.discard();
    warn(&format!("applied to {}", harmless(&workspace.root().display().to_string())));
    Ok(())
}

/// Applies what a workspace's overlay holds. A signal stops it, and then what was done is undone.
async fn applied(workspace: &Workspace) -> Result<(Result<(), ApplyError>, Option<Exit>), Failure> {
    let mut interrupts = Interrupts::new()?;
    let (is_stopped, overlay) = (Arc::new(AtomicBool::new(false)), workspace.clone());
    let stopped = Arc::clone(&is_stopped);
    let mut applied =
        spawn_blocking(move || applying::apply(&overlay, &|| stopped.load(Ordering::Relaxed)));
    let (done, signal) = tokio::select! {
        done = &mut applied => (done, None),
        signal = interrupts.next() => {
            is_stopped.store(true, Ordering::Relaxed);
            (applied.await, Some(signal))
        }
    };
    let broken = |error| Failure::new(Exit::Failed, format!("cannot apply: {error}"));
    Ok((done.map_err(broken)?, signal))
}

/// Copies what the session has changed.
fn keep(which: &KeptArgs, to: &Path) -> Result<(), Failure> {
    let listed = find(which)?;
    let _lock = listed.lock()?;
    let workspace = taken_up(&listed, which)?;
    if workspace.is_partial() {
        warn(PARTIAL);
    }
    workspace.keep(to).map_err(|error| {
        Failure::configuration(format!("can't keep the changes in {}: {error}", to.display()))
    })?;
    for change in workspace.changes().0.iter().filter(|it| it.after == FileState::Absent) {
        warn(&format!("the session has removed {}", harmless(&change.path)));
    }
    say(&to.display().to_string());
    Ok(())
}

fn find(which: &KeptArgs) -> Result<Listed, Failure> {
    let folder = which.workspace.as_deref().unwrap_or(Path::new("."));
    Store::open()?.find_any(&which.session, folder)
}

/// The session's workspace, with what its agent has changed.
fn taken_up(listed: &Listed, which: &KeptArgs) -> Result<Workspace, Failure> {
    let overlay = listed.overlay();
    let folder: Option<PathBuf> = Workspace::overlaid(&overlay).map_err(Failure::usage)?;
    let folder = folder.ok_or_else(|| {
        clear_up(listed);
        Failure::usage(format!("the session {} holds no changes", listed.short()))
    })?;
    // It was allowed when the session began.
    let folder = setup::workspace(which.workspace.as_deref().unwrap_or(&folder), true)?;
    let workspace = folder.overlay_in(&overlay).map_err(Failure::usage)?;
    sessions::tell_taken_back(&workspace, "the session");
    Ok(workspace)
}

/// Removes what an application has left in the folder whose program was ended after its last step.
fn clear_up(listed: &Listed) {
    if let Listed::Kept(kept) = listed
        && kept.overlay().is_dir()
        && let Ok(folder) = Workspace::insist(&kept.about.workspace)
    {
        // What can't be taken up is left as it is.
        drop(folder.overlay_in(&kept.overlay()));
    }
}

/// Asks whether changes are applied that may not be whole.
fn confirmed() -> Result<bool, Failure> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "nothing was applied: {PARTIAL}. Look at what is shown; --yes applies it"
        )));
    }
    warn(PARTIAL);
    let asked = write!(stderr(), "apply the changes all the same? [y]es, [n]o: ");
    let mut answer = String::new();
    let read = asked.and_then(|()| stdin().read_line(&mut answer));
    read.map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
