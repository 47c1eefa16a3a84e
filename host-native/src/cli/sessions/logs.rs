//! Logs of sessions: read from files with a bound, and taken up where they can go on.

use crate::{
    cli::{exit::Failure, style::harmless},
    http::wall_time,
};
use innerloop_core::{Session, id::AgentId, log, status::AgentState};
use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// Largest log that is read.
const MOST_LOG: u64 = 1 << 30;

/// Whether what names a session is a file: an id has no dot and no folder.
pub(crate) fn is_file(named: &str) -> bool {
    named.contains(['/', '.']) || Path::new(named).is_file()
}

/// The whole lines of a log. What a crash has cut behind them is left out.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let unusable =
        |error: io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let too_large = || {
        Failure::usage(format!(
            "{} has more than 1 GiB, which is more than is read of a log",
            path.display()
        ))
    };
    let file = File::open(path).map_err(unusable)?;
    if file.metadata().map_err(unusable)?.len() > MOST_LOG {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(MOST_LOG + 1).read_to_end(&mut bytes).map_err(unusable)?;
    if bytes.len() as u64 > MOST_LOG {
        return Err(too_large());
    }
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(end);
    String::from_utf8(bytes).map_err(|_| {
        Failure::configuration(format!("{} is no session's log: it is no text", path.display()))
    })
}

/// The session of that log, as it stands.
pub(crate) fn session(text: &str, named: &str) -> Result<Session, Failure> {
    let resumed = log::resume(text, wall_time());
    let resumed = resumed.map_err(|error| {
        Failure::configuration(format!("{} is no session's log: {error}", harmless(named)))
    })?;
    Ok(resumed.session)
}

/// The session of the longest beginning of a log in which it is still open: the end of the program
/// that has written it was not the session's, and what has failed for good may go well the next
/// time.
pub(crate) fn still_open(text: &str, named: &str) -> Result<Session, Failure> {
    let whole = session(text, named)?;
    if !is_closed(&whole) {
        return Ok(whole);
    }
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let beginning = |lines: usize| {
        let end = lines.checked_sub(1).and_then(|last| ends.get(last)).copied();
        session(text.get(..end.unwrap_or_default()).unwrap_or_default(), named)
    };
    // A session that is closed stays so, and it was closed a few lines before the end.
    let (mut closed, mut step) = (ends.len(), 1);
    let (mut open, mut found) = loop {
        let lines = closed.saturating_sub(step).max(1);
        let candidate = beginning(lines)?;
        if !is_closed(&candidate) {
            break (lines, candidate);
        }
        if lines == 1 {
            return Ok(candidate);
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
    Ok(found)
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
        time::Instant,
    };

    #[test]
    fn the_end_of_a_program_is_not_that_of_its_session() {
        let endpoint = EndpointId("some".to_owned());
        let model = ModelConfig { endpoint, name: "some".to_owned(), ..ModelConfig::default() };
        let id = SessionId("an-id".to_owned());
        let config = SessionConfig { id, model, ..SessionConfig::default() };
        let header = log::Header::new(&config, wall_time()).line();
        let line = |command| log::entry(&Input::command(command), Instant(1));
        let steer = line(Command::Steer { parts: vec![Part::text("x")] });
        let (close, tick) = (line(Command::Close), log::entry(&Input::Tick, Instant(2)));
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
            let found = still_open(&log, "it").unwrap();
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
        std::fs::write(&path, b"\xff\n").unwrap();
        assert!(read(&path).unwrap_err().message.contains("it is no text"));
        File::create(&path).unwrap().set_len(MOST_LOG + 1).unwrap();
        assert!(read(&path).unwrap_err().message.contains("more than 1 GiB"));
    }
}
