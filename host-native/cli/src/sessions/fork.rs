//! `innerloop sessions fork`: a copy of a session up to some turn, with the changes that are not
//! applied. The original is only read: also a session that another program works with can be
//! forked, but without its changes.

use super::{
    logs,
    open_session::LockedSession,
    session_facts::SessionInfo,
    store::{SessionStore, new_id},
    stored_session::StoredSession,
};
use crate::{
    console::{say, warn},
    exit::CliError,
};
use innerloop_core::id::AgentId;
use innerloop_driver::{Driver, DriverOptions};
use innerloop_host::{http::wall_time, journal::Journal};
use innerloop_workspace::Workspace;
use std::{fmt::Display, path::Path};

pub(super) fn fork(named: &str, turns: Option<usize>) -> Result<(), CliError> {
    let store = SessionStore::open()?;
    let (kept, log) = if logs::is_file(named) {
        (None, logs::read(Path::new(named))?)
    } else {
        let kept = store.find(named, Path::new("."))?;
        let log = kept.log()?;
        (Some(kept), log)
    };
    let (session, damaged) = logs::still_open(&log, named)?;
    damaged.iter().for_each(|line| warn(&logs::told_damage(named, *line)));
    let all = session.history(AgentId::ROOT).map_or(0, |history| history.turns().len());
    let turns = turns.unwrap_or(all);
    if turns > all {
        return Err(CliError::usage(format!("the session has {all} turns; --turns takes no more")));
    }
    let about = match &kept {
        Some(kept) => kept.about.clone(),
        None => SessionInfo::of_log(&session, Path::new("."))?,
    };
    let unusable = |error: &dyn Display| CliError::configuration(error);
    let parts = || DriverOptions { keeps_log: true, ..DriverOptions::default() };
    let driver = Driver::restore(&session.snapshot(), wall_time(), parts());
    let driver = driver.map_err(|error| unusable(&error))?;
    let id = new_id()?;
    let mut forked =
        driver.fork(id.clone(), turns, wall_time(), parts()).map_err(|error| unusable(&error))?;
    let fork_of = Some(session.id().0.clone());
    let about = SessionInfo { id: id.0.clone(), opened: wall_time().0, fork_of, ..about };
    let mut held = store.create(about)?;
    if let Some(kept) = kept.filter(StoredSession::has_changes) {
        take_changes(kept, &mut held, turns < all);
    }
    let mut journal = Journal::replace(&held.kept.log_path()).map_err(CliError::configuration)?;
    journal.append(&forked.start().log, true).map_err(CliError::configuration)?;
    say(&id.0);
    Ok(())
}

/// Gives the fork a copy of the session's changes. If that fails, the user is warned, and the
/// fork's agent reads it when it goes on.
fn take_changes(from: StoredSession, fork: &mut LockedSession, is_earlier: bool) {
    match copied(from, &fork.kept) {
        Ok(()) if is_earlier => {
            warn("the fork has all changes of the session, also those that were made after");
        }
        Ok(()) => {}
        Err(failure) => {
            warn(&format!("the fork begins without the session's changes: {}", failure.message));
            fork.note_dropped(true);
        }
    }
}

/// Copies the overlay while both sessions are locked.
fn copied(from: StoredSession, to: &StoredSession) -> Result<(), CliError> {
    let from = from.hold()?;
    let folder = Workspace::insist(&from.kept.about.workspace).map_err(CliError::usage)?;
    let overlay = folder.overlay_in(&from.kept.overlay()).map_err(CliError::usage)?;
    overlay.copy_overlay(&to.overlay()).map_err(CliError::usage)
}
