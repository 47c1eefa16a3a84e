//! `innerloop sessions`: the sessions that are kept, to list, show, export, delete and fork.

mod about;
mod show;
mod store;

pub(super) use about::{About, Options};
pub(super) use show::title;
pub(super) use store::{Held, Kept, Store, new_id};

use super::{
    args::{SessionsArgs, SessionsCommand},
    console::{say, warn},
    exit::Failure,
    style::{brief, harmless},
};
use crate::{http::wall_time, journal::Journal};
use innerloop_core::{Session, id::AgentId, log, status::AgentState};
use innerloop_driver::{Driver, Parts};
use serde_json::json;
use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Characters of a title and of a folder in a list.
const TITLE: usize = 60;

/// Largest log that is read from a file.
const MOST_LOG: u64 = 1 << 30;

pub(super) fn carry_out(args: SessionsArgs) -> Result<(), Failure> {
    match args.command {
        SessionsCommand::List { workspace, json } => list(workspace.as_deref(), json),
        SessionsCommand::Show { which, form } => {
            let session = session(&log_of(&which.session)?, &which.session)?;
            say(show::shown(&session, form).trim_end_matches('\n'));
            Ok(())
        }
        SessionsCommand::Export { which, file } => {
            let text = log_of(&which.session)?;
            let mut journal = Journal::create(&file).map_err(Failure::usage)?;
            journal.append(&text, true).map_err(Failure::usage)
        }
        SessionsCommand::Delete { ids, older_than } => delete(&ids, older_than),
        SessionsCommand::Fork { which, turns } => fork(&which.session, turns),
    }
}

fn list(folder: Option<&Path>, as_json: bool) -> Result<(), Failure> {
    let folder = folder.map(fs::canonicalize).transpose().map_err(Failure::usage)?;
    let store = Store::open()?;
    let all = store.list().into_iter();
    let all = all.filter(|kept| folder.as_ref().is_none_or(|it| *it == kept.about.workspace));
    let all: Vec<Kept> = all.collect();
    if all.is_empty() && !as_json {
        warn("no session is kept yet; innerloop run keeps one");
    }
    for kept in all {
        let about = &kept.about;
        if as_json {
            let used = kept.used.duration_since(UNIX_EPOCH).unwrap_or_default();
            let line = json!({
                "id": about.id, "title": about.title, "workspace": about.workspace,
                "provider": about.provider, "model": about.model, "opened": about.opened,
                "used": u64::try_from(used.as_millis()).unwrap_or(u64::MAX),
                "bytes": kept.size(), "fork_of": about.fork_of,
            });
            say(&line.to_string());
            continue;
        }
        let (id, used) = (kept.short(), age(kept.used));
        let title = if about.title.is_empty() { "(nothing was said)" } else { &about.title };
        let workspace = brief(&about.workspace.display().to_string(), TITLE);
        say(&format!("{id}  {used:>8}  {}  {workspace}", padded(&brief(title, TITLE))));
    }
    Ok(())
}

/// The text with spaces up to the width of a column.
fn padded(text: &str) -> String {
    format!("{text:TITLE$}")
}

/// How long ago that was, in the largest unit.
fn age(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The log of a session that is kept, or of a file.
fn log_of(named: &str) -> Result<String, Failure> {
    let path = Path::new(named);
    // An id has no dot and no folder: whoever names a file says so.
    if named.contains(['/', '.']) || path.is_file() {
        let unusable = |error| Failure::usage(format!("cannot read {named}: {error}"));
        let size = fs::metadata(path).map_err(unusable)?.len();
        if size > MOST_LOG {
            return Err(Failure::usage(format!("{named} has more than 1 GiB")));
        }
        return fs::read_to_string(path).map_err(unusable);
    }
    Store::open()?.find(named, Path::new("."))?.log()
}

/// The session of that log, as it stands.
pub(super) fn session(text: &str, named: &str) -> Result<Session, Failure> {
    let resumed = log::resume(text, wall_time());
    let resumed = resumed.map_err(|error| {
        Failure::configuration(format!("{} is no session's log: {error}", harmless(named)))
    })?;
    Ok(resumed.session)
}

fn delete(ids: &[String], older_than: Option<u32>) -> Result<(), Failure> {
    let store = Store::open()?;
    let chosen: Vec<Kept> = match older_than {
        None => ids.iter().map(|id| store.find(id, Path::new("."))).collect::<Result<_, _>>()?,
        Some(days) => {
            let days = Duration::from_secs(u64::from(days) * 86_400);
            let is_old = |kept: &Kept| kept.used.elapsed().is_ok_and(|age| age > days);
            store.list().into_iter().filter(is_old).collect()
        }
    };
    let count = chosen.len();
    for kept in chosen {
        // One that is worked with stays.
        kept.hold()?.delete()?;
    }
    warn(&format!("deleted: {count} session{}", if count == 1 { "" } else { "s" }));
    Ok(())
}

fn fork(named: &str, turns: Option<usize>) -> Result<(), Failure> {
    let store = Store::open()?;
    let kept = store.find(named, Path::new("."))?;
    let log = kept.log()?;
    let (log, source) = still_open(&log)?;
    let all = source.history(AgentId::ROOT).map_or(0, |history| history.turns().len());
    let turns = turns.unwrap_or(all);
    if turns > all {
        return Err(Failure::usage(format!("the session has {all} turns; --turns takes no more")));
    }
    let parts = || Parts { keeps_log: true, ..Parts::default() };
    let unusable = |error: &dyn std::fmt::Display| Failure::configuration(error);
    let driver = Driver::resume(log, wall_time(), parts());
    let driver = driver.map_err(|error| unusable(&error))?;
    let id = new_id();
    let mut forked =
        driver.fork(id.clone(), turns, wall_time(), parts()).map_err(|error| unusable(&error))?;
    let about = About {
        id: id.0.clone(),
        opened: wall_time().0,
        fork_of: Some(kept.about.id.clone()),
        ..kept.about
    };
    let held = store.create(about).map_err(|error| unusable(&error))?;
    let mut journal = Journal::replace(&held.kept.log_path()).map_err(Failure::configuration)?;
    journal.append(&forked.start().log, true).map_err(Failure::configuration)?;
    say(&id.0);
    Ok(())
}

/// The longest beginning of a log in which the session is still open, and the session: the end of
/// the program that has written it was not the session's, and what has failed for good may go well
/// the next time.
pub(super) fn still_open(text: &str) -> Result<(&str, Session), Failure> {
    let whole = session(text, "it")?;
    if !is_closed(&whole) {
        return Ok((text, whole));
    }
    // A session that is closed stays so: what is looked for lies behind all that is open.
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let beginning = |lines: usize| {
        let end = lines.checked_sub(1).and_then(|last| ends.get(last)).copied();
        text.get(..end.unwrap_or_default()).unwrap_or_default()
    };
    let (mut open, mut closed) = (1, ends.len());
    let mut found = session(beginning(open), "it")?;
    while open + 1 < closed {
        let middle = open.midpoint(closed);
        let candidate = session(beginning(middle), "it")?;
        if is_closed(&candidate) {
            closed = middle;
        } else {
            (open, found) = (middle, candidate);
        }
    }
    Ok((beginning(open), found))
}

fn is_closed(session: &Session) -> bool {
    session.status(AgentId::ROOT).is_none_or(|status| status.state == AgentState::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::{
        config::{ModelConfig, SessionConfig},
        id::EndpointId,
        input::{Command, Input},
        message::Part,
        time::Instant,
    };

    #[test]
    fn the_end_of_a_program_is_not_that_of_its_session() {
        let endpoint = EndpointId("some".to_owned());
        let model = ModelConfig { endpoint, name: "some".to_owned(), ..ModelConfig::default() };
        let config = SessionConfig { id: new_id(), model, ..SessionConfig::default() };
        let header = log::Header::new(&config, wall_time()).line();
        let line = |command| log::entry(&Input::command(command), Instant(1));
        let steer = line(Command::Steer { parts: vec![Part::text("x")] });
        let (close, tick) = (line(Command::Close), log::entry(&Input::Tick, Instant(2)));
        let cases = [
            (header.clone(), header.clone()),
            (format!("{header}{steer}"), format!("{header}{steer}")),
            (format!("{header}{close}"), header.clone()),
            (format!("{header}{steer}{steer}{close}"), format!("{header}{steer}{steer}")),
            (format!("{header}{steer}{close}{tick}"), format!("{header}{steer}")),
        ];
        for (log, open) in cases {
            let (found, session) = still_open(&log).unwrap();
            assert_eq!(found, open);
            assert!(!is_closed(&session));
        }
    }
}
