//! The logs of sessions: read from files with a bound, and resumed as far as they are sound. A
//! damaged line costs what follows it, not the session: reading goes back to the newest whole
//! snapshot, or stops before the damage, and says so.

use crate::{console::warn, exit::CliError, style::harmless};
use innerloop_core::{
    Session,
    id::AgentId,
    log::{self, LogError},
    status::AgentState,
};
use innerloop_host::http::wall_time;
use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// The most bytes of a log that is read.
const MOST_LOG: u64 = 1 << 30;

/// The most damaged places that are worked around: each costs another pass over the log, and a log
/// of a third party could have any number of them.
const MOST_DAMAGES: usize = 32;

/// Returns whether a session is named by a file: an id has neither a dot nor a slash.
pub(crate) fn is_file(named: &str) -> bool {
    named.contains(['/', '.']) || Path::new(named).is_file()
}

/// Reads the whole lines of a log. A last line that a crash has cut is left out.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    let unusable =
        |error: io::Error| CliError::usage(format!("cannot read {}: {error}", path.display()));
    let too_large = || {
        CliError::usage(format!(
            "{} has more than 1 GiB, which is more than is read of a log",
            path.display()
        ))
    };
    let file = File::open(path).map_err(unusable)?;
    if file.metadata().map_err(unusable)?.len() > MOST_LOG {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // The length may be 0 for a pipe, and the file may grow, so that reading is bounded, too.
    file.take(MOST_LOG + 1).read_to_end(&mut bytes).map_err(unusable)?;
    if bytes.len() as u64 > MOST_LOG {
        return Err(too_large());
    }
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(end);
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| legible(error.as_bytes())))
}

/// Replaces each line that is not UTF-8 with one that no log has. Line numbers stay right, and the
/// lines around it can be read.
fn legible(bytes: &[u8]) -> String {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| std::str::from_utf8(line).unwrap_or("\u{fffd}\n")).collect()
}

/// The readable part of a log, and its session.
struct ReadableLog<'a> {
    session: Session,
    text: Cow<'a, str>,
    /// The line from which nothing is read any more; 1 if the header alone is damaged.
    damaged: Option<usize>,
}

/// Returns the session of that log. If the log is damaged, it is the session of the lines before
/// the damage, with a warning.
pub(crate) fn session(text: &str, named: &str) -> Result<Session, CliError> {
    let ReadableLog { session, damaged, .. } = readable(text, named)?;
    damaged.into_iter().for_each(|line| warn(&told_damage(named, line)));
    Ok(session)
}

/// Returns the warning about a log that is damaged from a line on.
pub(crate) fn told_damage(named: &str, line: usize) -> String {
    let named = harmless(named);
    match line {
        1 => format!("the log of {named} is damaged at its beginning: what follows can be read"),
        line => format!(
            "the log of {named} is damaged: line {line} and what follows can't be read; the \
             session is what it was before"
        ),
    }
}

/// Returns the readable part of a log: up to the first damaged line after its newest whole
/// snapshot.
fn readable<'a>(text: &'a str, named: &str) -> Result<ReadableLog<'a>, CliError> {
    let unreadable = |error: LogError| {
        CliError::configuration(format!("{} is no session's log: {error}", harmless(named)))
    };
    let (mut text, mut damaged) = (Cow::Borrowed(text), None::<usize>);
    for _ in 0..MOST_DAMAGES {
        let error = match log::resume(&text, wall_time()) {
            Ok(resumed) => return Ok(ReadableLog { session: resumed.session, text, damaged }),
            Err(error) => error,
        };
        let line = match &error {
            LogError::Unreadable { line, .. }
            | LogError::Refused { line, .. }
            | LogError::Snapshot { line, .. } => *line,
            LogError::Config(_) => 1,
            _ => return Err(unreadable(error)),
        };
        let rest = match line {
            1 => headed(&text),
            line => beginning(&text, line - 1).map(str::to_owned),
        };
        text = Cow::Owned(rest.ok_or_else(|| unreadable(error))?);
        // The warning is about the worse damage: lost lines, not a header that was replaced.
        damaged = match damaged {
            Some(before) if before > 1 && (line == 1 || before < line) => Some(before),
            _ => Some(line),
        };
    }
    Err(CliError::configuration(format!("{} is damaged in too many places", harmless(named))))
}

/// Returns the first `lines` lines of a log.
fn beginning(text: &str, lines: usize) -> Option<&str> {
    let (end, _) = text.match_indices('\n').nth(lines.checked_sub(1)?)?;
    text.get(..=end)
}

/// Returns a log from its newest whole snapshot on, with a new header in place of the damaged one.
fn headed(text: &str) -> Option<String> {
    const SNAPSHOT: &str = "{\"snapshot\":";
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        end -= line.len();
        let snapshot = line.strip_prefix(SNAPSHOT).and_then(|it| it.trim_end().strip_suffix('}'));
        let Some(snapshot) = snapshot else { continue };
        let wall = wall_time();
        if let Ok(session) = Session::restore(snapshot.as_bytes(), wall) {
            return Some(log::header(&session, wall) + text.get(end..)?);
        }
    }
    None
}

/// Returns the session of the longest beginning of a log in which it is still open. A program that
/// ends closes its session, and so does an error, but both may be resumed. Also returns the line
/// from which the log is damaged, if it is.
pub(crate) fn still_open(text: &str, named: &str) -> Result<(Session, Option<usize>), CliError> {
    let ReadableLog { session: whole, text, damaged } = readable(text, named)?;
    if !is_closed(&whole) {
        return Ok((whole, damaged));
    }
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let beginning = |lines: usize| {
        let end = lines.checked_sub(1).and_then(|last| ends.get(last)).copied();
        session(text.get(..end.unwrap_or_default()).unwrap_or_default(), named)
    };
    // A closed session stays closed, so that a binary search works. It was closed a few lines
    // before the end, so that growing steps from there find a short range to search: each probe
    // replays the log.
    let (mut closed, mut step) = (ends.len(), 1);
    let (mut open, mut found) = loop {
        let lines = closed.saturating_sub(step).max(1);
        let candidate = beginning(lines)?;
        if !is_closed(&candidate) {
            break (lines, candidate);
        }
        if lines == 1 {
            return Ok((candidate, damaged));
        }
        (closed, step) = (lines, step * 2);
    };
    while open + 1 < closed {
        let middle = open.midpoint(closed);
        let candidate = beginning(middle)?;
        if is_closed(&candidate) {
            closed = middle;
        } else {
            (open, found) = (middle, candidate);
        }
    }
    Ok((found, damaged))
}

fn is_closed(session: &Session) -> bool {
    session.status(AgentId::ROOT).is_none_or(|status| status.state == AgentState::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::{
        config::{ModelConfig, SessionConfig},
        id::{EndpointId, SessionId},
        input::{Command, Input},
        message::Part,
        time::SessionInstant,
    };

    #[test]
    fn the_end_of_a_program_is_not_that_of_its_session() {
        let endpoint = EndpointId("some".to_owned());
        let model = ModelConfig { endpoint, name: "some".to_owned(), ..ModelConfig::default() };
        let id = SessionId("an-id".to_owned());
        let config = SessionConfig { id, model, ..SessionConfig::default() };
        let header = log::LogHeader::new(&config, wall_time()).line();
        let line = |command| log::entry(&Input::command(command), SessionInstant(1));
        let steer = line(Command::Steer { parts: vec![Part::text("x")] });
        let (close, tick) = (line(Command::Close), log::entry(&Input::Tick, SessionInstant(2)));
        let ticks = tick.repeat(40);
        let cases = [
            (header.clone(), header.clone()),
            (format!("{header}{steer}"), format!("{header}{steer}")),
            (format!("{header}{close}"), header.clone()),
            (format!("{header}{steer}{steer}{close}"), format!("{header}{steer}{steer}")),
            (format!("{header}{steer}{close}{tick}"), format!("{header}{steer}")),
            (format!("{header}{steer}{close}{ticks}"), format!("{header}{steer}")),
            (format!("{header}{ticks}{close}{ticks}"), format!("{header}{ticks}")),
        ];
        for (log, open) in cases {
            let (found, _) = still_open(&log, "it").unwrap();
            assert_eq!(found.snapshot(), session(&open, "it").unwrap().snapshot());
            assert!(!is_closed(&found));
        }
    }

    #[test]
    fn a_log_is_read_up_to_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, b"{\"a\":1}\n{\"b\":\xe2\x82").unwrap();
        assert_eq!(read(&path).unwrap(), "{\"a\":1}\n");
        std::fs::write(&path, b"{}\n\xff\n[]\n").unwrap();
        assert_eq!(read(&path).unwrap(), "{}\n\u{fffd}\n[]\n");
        File::create(&path).unwrap().set_len(MOST_LOG + 1).unwrap();
        assert!(read(&path).unwrap_err().message.contains("more than 1 GiB"));
    }
}
