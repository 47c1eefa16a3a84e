//! `innerloop sessions apply` and `keep`: apply or copy the changes of a session. Both work from
//! the overlay alone and never read the log, so that a damaged log loses no work.

use super::{
    applying,
    args::{KeptArgs, OutputArgs, SessionsArgs, SessionsCommand},
    console::{say, warn},
    exit::{CliError, ExitReason},
    interrupts::{ShutdownHandle, SignalStream},
    key_in_use::KeyInUse,
    mode::ChangeMode,
    report::RunReport,
    review, run_view,
    sessions::{self, ListedSession, SessionStore},
    setup,
    style::{OutputStyle, harmless},
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

/// The warning if the changes may be incomplete.
const PARTIAL: &str = "a call was cut off when the program of the session was stopped, so that a \
                       file may be changed by half";

/// Runs a command about sessions that are kept.
pub(super) async fn sessions(args: SessionsArgs) -> Result<(), CliError> {
    match args.command {
        SessionsCommand::Apply { which, yes, over } => apply(&which, yes, over).await,
        SessionsCommand::Keep { which, to } => keep(&which, &to),
        SessionsCommand::Kept(command) => sessions::carry_out(command),
    }
}

/// Applies the changes of a session.
async fn apply(which: &KeptArgs, is_sure: bool, over: bool) -> Result<(), CliError> {
    let listed = find(which)?;
    let _lock = listed.lock()?;
    let workspace = taken_up(&listed, which)?;
    let mut report = RunReport::new(&KeyInUse::default(), ChangeMode::Apply);
    report.without_run();
    report.compare(&workspace, &ShutdownHandle::default()).await;
    let output = OutputArgs { json: false, quiet: false, color: None };
    run_view::changes(
        &report,
        output,
        OutputStyle::new(output.color.unwrap_or_default()),
        ChangeMode::Apply,
    );
    if workspace.is_partial() && !is_sure && !confirmed()? {
        return Err(CliError::new(ExitReason::Failed, "nothing was applied"));
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
        let exit = signal.unwrap_or(ExitReason::Failed);
        CliError::new(exit, format!("{}{advice}", review::told(error)))
    })?;
    workspace.discard();
    warn(&format!("applied to {}", harmless(&workspace.root().display().to_string())));
    Ok(())
}

/// Applies the changes in an overlay. A signal stops that, and what was done is undone.
async fn applied(
    workspace: &Workspace,
) -> Result<(Result<(), ApplyError>, Option<ExitReason>), CliError> {
    let mut interrupts = SignalStream::new()?;
    let (is_stopped, overlay) = (Arc::new(AtomicBool::new(false)), workspace.clone());
    let stopped = Arc::clone(&is_stopped);
    let mut applied =
        spawn_blocking(move || applying::apply(&overlay, &|| stopped.load(Ordering::Relaxed)));
    let (done, signal) = tokio::select! {
        done = &mut applied => (done, None),
        signal = interrupts.next() => {
            is_stopped.store(true, Ordering::Relaxed);
            // Waited for: the program must not end before everything is undone.
            (applied.await, Some(signal))
        }
    };
    let broken = |error| CliError::new(ExitReason::Failed, format!("cannot apply: {error}"));
    Ok((done.map_err(broken)?, signal))
}

/// Copies the files that a session has changed.
fn keep(which: &KeptArgs, to: &Path) -> Result<(), CliError> {
    let listed = find(which)?;
    let _lock = listed.lock()?;
    let workspace = taken_up(&listed, which)?;
    if workspace.is_partial() {
        warn(PARTIAL);
    }
    workspace.keep(to).map_err(|error| {
        CliError::configuration(format!("can't keep the changes in {}: {error}", to.display()))
    })?;
    for change in workspace.changes().0.iter().filter(|it| it.after == FileState::Absent) {
        warn(&format!("the session has removed {}", harmless(&change.path)));
    }
    say(&to.display().to_string());
    Ok(())
}

fn find(which: &KeptArgs) -> Result<ListedSession, CliError> {
    let folder = which.workspace.as_deref().unwrap_or(Path::new("."));
    SessionStore::open()?.find_any(&which.session, folder)
}

/// Opens the session's workspace, with the changes of its agent.
fn taken_up(listed: &ListedSession, which: &KeptArgs) -> Result<Workspace, CliError> {
    let overlay = listed.overlay();
    let folder: Option<PathBuf> = Workspace::overlaid(&overlay).map_err(CliError::usage)?;
    let folder = folder.ok_or_else(|| {
        clear_up(listed);
        CliError::usage(format!("the session {} holds no changes", listed.short()))
    })?;
    // Any folder: the session was allowed to work on it when it began.
    let folder = setup::workspace(which.workspace.as_deref().unwrap_or(&folder), true)?;
    let workspace = folder.overlay_in(&overlay).map_err(CliError::usage)?;
    sessions::tell_taken_back(&workspace, "the session");
    Ok(workspace)
}

/// Removes the files that applying has put aside in the folder, if the program was killed after
/// everything was applied and before they were removed. Opening the overlay does that.
fn clear_up(listed: &ListedSession) {
    if let ListedSession::Kept(kept) = listed
        && kept.overlay().is_dir()
        && let Ok(folder) = Workspace::insist(&kept.about.workspace)
    {
        // An overlay that can't be opened is left as it is.
        drop(folder.overlay_in(&kept.overlay()));
    }
}

/// Asks whether to apply changes that may be incomplete.
fn confirmed() -> Result<bool, CliError> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(CliError::usage(format!(
            "nothing was applied: {PARTIAL}. Look at what is shown; --yes applies it"
        )));
    }
    warn(PARTIAL);
    let asked = write!(stderr(), "apply the changes all the same? [y]es, [n]o: ");
    let mut answer = String::new();
    let read = asked.and_then(|()| stdin().read_line(&mut answer));
    read.map_err(|error| CliError::new(ExitReason::Failed, error))?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
