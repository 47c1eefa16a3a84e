//! The log of a session: a header and the accepted inputs, a JSON line each. The log is the
//! session: replayed, it gives the same outputs byte for byte (DESIGN rule 9). The host writes a
//! line before it carries out what follows from it.

use super::{REPLAY_VERSION, Session};
use crate::{
    nouns::{
        config::{ConfigError, SessionConfig},
        input::{Input, Reason},
        output::Outputs,
    },
    words::time::{Instant, UnixMillis},
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "innerloop-log";

/// The log's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    format: String,
    replay: u32,
    /// The wall time at which the session was opened.
    pub wall: UnixMillis,
    /// What it was opened with.
    pub config: SessionConfig,
}

impl Header {
    /// For a session that is opened with `config` at `wall`.
    #[must_use]
    pub fn new(config: SessionConfig, wall: UnixMillis) -> Self {
        Self { format: FORMAT.into(), replay: REPLAY_VERSION, wall, config }
    }

    /// The line, with its line feed.
    #[must_use]
    pub fn line(&self) -> String {
        line(self)
    }
}

#[derive(Serialize)]
struct EntryRef<'a> {
    at: Instant,
    input: &'a Input,
}

#[derive(Deserialize)]
struct Entry {
    at: Instant,
    input: Input,
}

/// The line of an input that comes at `at`, with its line feed.
#[must_use]
pub fn entry(input: &Input, at: Instant) -> String {
    line(&EntryRef { at, input })
}

fn line(value: &impl Serialize) -> String {
    // Plain data with text keys has no way to fail.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// A log that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// A line cannot be read.
    #[error("line {line} of the log cannot be read: {message}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// The log comes from a version that behaves differently.
    #[error("the log has replay version {found}, this program replays version {expected}")]
    Version {
        /// The log's version.
        found: u32,
        /// The version that can be replayed.
        expected: u32,
    },
    /// The header's configuration cannot work.
    #[error("the log's configuration cannot work: {0}")]
    Config(#[from] ConfigError),
    /// A line holds what the session refuses, so that it cannot have been accepted.
    #[error("line {line} of the log does not fit what came before: {reason}")]
    Refused {
        /// Counted from 1.
        line: usize,
        /// Why.
        reason: Reason,
    },
}

/// A session made again from its log.
#[derive(Debug)]
pub struct Replayed {
    /// The session as it stood after the last whole line.
    pub session: Session,
    /// What followed from the opening and from each line.
    pub outputs: Vec<Outputs>,
}

/// Replays a log. A last line without its line feed was cut by a crash before it was durable, and
/// is left out.
///
/// # Errors
/// The first line that cannot be read or does not fit, or that the log is of another version.
pub fn replay(text: &str) -> Result<Replayed, LogError> {
    let whole = text.rfind('\n').and_then(|end| text.get(..=end)).unwrap_or_default();
    let mut lines = whole.lines().enumerate();
    let unreadable = |line: usize, message: String| LogError::Unreadable { line, message };
    let (_, first) = lines.next().ok_or_else(|| unreadable(1, "the log is empty".into()))?;
    let header: Header =
        serde_json::from_str(first).map_err(|error| unreadable(1, error.to_string()))?;
    if header.format != FORMAT {
        return Err(unreadable(1, "this is not an Innerloop log".into()));
    }
    if header.replay != REPLAY_VERSION {
        return Err(LogError::Version { found: header.replay, expected: REPLAY_VERSION });
    }
    let (mut session, opening) = Session::open(header.config, header.wall)?;
    let mut outputs = Vec::from([opening]);
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = index + 1;
        let Entry { at, input } = serde_json::from_str(line)
            .map_err(|error| unreadable(line_number, error.to_string()))?;
        let follows = session
            .handle(input, at)
            .map_err(|rejected| LogError::Refused { line: line_number, reason: rejected.reason })?;
        outputs.push(follows);
    }
    Ok(Replayed { session, outputs })
}
