//! `innerloop sessions`: the sessions that are kept, to list, show, export, delete and fork; and
//! their store, which `run`, `resume` and conversations use. Changes that are not applied exist
//! only here, so that nothing deletes them without `--force`.

mod fork;
mod interrupted;
mod list;
mod logs;
mod open_session;
mod session_facts;
mod show;
mod store;
mod stored_session;

pub(super) use interrupted::{put_right, tell_taken_back};
pub(super) use logs::{is_file, read, still_open, told_damage};
pub(super) use open_session::LockedSession;
pub(super) use session_facts::{SessionInfo, SessionOptions, names};
pub(super) use show::{last_exchange, title};
pub(super) use store::{SessionStore, new_id};
pub(super) use stored_session::ListedSession;

use super::{
    args::KeptCommand,
    console::{say, warn},
    exit::CliError,
};
use innerloop_host::journal::Journal;
use std::{collections::BTreeSet, path::Path, time::Duration};

pub(super) fn carry_out(command: KeptCommand) -> Result<(), CliError> {
    match command {
        KeptCommand::List { workspace, json } => list::list(workspace.as_deref(), json),
        KeptCommand::Show { which, form } => {
            let session = logs::session(&log_of(&which.session)?, &which.session)?;
            say(show::shown(&session, form).trim_end_matches('\n'));
            Ok(())
        }
        KeptCommand::Export { which, file } => {
            let text = log_of(&which.session)?;
            let mut journal = Journal::create(&file).map_err(CliError::usage)?;
            journal.append(&text, true).map_err(CliError::usage)
        }
        KeptCommand::Delete { ids, older_than, force } => delete(&ids, older_than, force),
        KeptCommand::Fork { which, turns } => fork::fork(&which.session, turns),
    }
}

/// Returns the log of a session that is kept, or of a file.
fn log_of(named: &str) -> Result<String, CliError> {
    if is_file(named) {
        return read(Path::new(named));
    }
    SessionStore::open()?.find(named, Path::new("."))?.log()
}

/// Deletes sessions; those with changes that are not applied only by `force`. A session that is in
/// use, or that `--older-than` has chosen, is skipped with a warning if it can't be deleted.
fn delete(ids: &[String], older_than: Option<u32>, force: bool) -> Result<(), CliError> {
    let store = SessionStore::open()?;
    let chosen: Vec<ListedSession> = match older_than {
        None => {
            ids.iter().map(|id| store.find_any(id, Path::new("."))).collect::<Result<_, _>>()?
        }
        Some(days) => {
            let days = Duration::from_secs(u64::from(days) * 86_400);
            let is_old = |it: &ListedSession| it.used().elapsed().is_ok_and(|age| age > days);
            store.list()?.into_iter().filter(is_old).collect()
        }
    };
    let (mut count, mut seen, mut left) = (0, BTreeSet::new(), Vec::new());
    for listed in chosen.iter().filter(|listed| seen.insert(listed.id().to_owned())) {
        let deleted = match listed.has_changes() && !force {
            true => Err(unapplied(listed.short())),
            false => listed.delete(),
        };
        match deleted {
            Ok(()) => count += 1,
            Err(failure) => left.push(failure),
        }
    }
    store.sweep();
    // A session that was named and not deleted is a failure; the program's last line is the last of
    // them. By age, whatever can be deleted is, and the rest is only warned of.
    let last = if older_than.is_none() { left.pop() } else { None };
    left.iter().for_each(|failure| warn(&failure.message));
    warn(&format!("deleted: {count} session{}", if count == 1 { "" } else { "s" }));
    last.map_or(Ok(()), Err)
}

fn unapplied(short: &str) -> CliError {
    CliError::usage(format!(
        "the session {short} holds changes that are not applied: innerloop sessions apply {short} \
         applies them, and --force deletes them, too"
    ))
}
