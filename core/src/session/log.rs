//! The log of a session: a header, the accepted inputs and, now and then, a snapshot, one line of
//! JSON each. The log is the session: replayed, it gives the same outputs byte for byte
//! (`docs/decisions.md#durability`). The host writes a line before it carries out what follows from
//! it. The lines between the header and the newest snapshot may be dropped.

use super::{REPLAY_VERSION, Session, snapshot::RestoreError};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
#[cfg(feature = "schema")]
use innerloop_json::schema::{SchemaTable, ValueSchema, WriteSchema};
use innerloop_json::{FromJson, RawJson, ToJson, to_string};
use innerloop_types::{
    config::{ConfigError, SessionConfig},
    input::{Input, RejectionReason},
    json::Json,
    output::OutputBatch,
    time::{SessionInstant, UnixMillis},
};

const FORMAT: &str = "innerloop-log";

/// The log's first line.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct LogHeader {
    /// `innerloop-log`.
    format: String,
    /// The version of what follows from the inputs.
    replay: u32,
    /// The wall time at which the session was opened.
    pub wall: UnixMillis,
    /// The configuration that it was opened with.
    pub config: SessionConfig,
}

impl LogHeader {
    /// Returns the header of a session that is opened with `config` at `wall`.
    #[must_use]
    pub fn new(config: &SessionConfig, wall: UnixMillis) -> Self {
        Self { format: FORMAT.into(), replay: REPLAY_VERSION, wall, config: config.clone() }
    }

    /// Returns the line, with its line feed.
    #[must_use]
    pub fn line(&self) -> String {
        line(self)
    }
}

/// An input.
#[derive(ToJson)]
struct EntryRef<'a> {
    /// The session time at which it came.
    at: SessionInstant,
    /// The input.
    input: &'a Input,
}

/// A snapshot.
#[derive(ToJson)]
struct SnapshotRef<'a> {
    /// The session as it stood.
    snapshot: &'a Json,
}

/// A line behind the header: an input with its time, or a snapshot.
#[derive(FromJson)]
#[json(deny_unknown_fields)]
struct LogLineFields<'a> {
    at: Option<SessionInstant>,
    input: Option<Input>,
    snapshot: Option<RawJson<'a>>,
}

enum LogEntry<'a> {
    Input(SessionInstant, Input),
    Snapshot(RawJson<'a>),
}

impl<'a> LogEntry<'a> {
    fn read(line: usize, text: &'a str) -> Result<Self, LogError> {
        let LogLineFields { at, input, snapshot } =
            innerloop_json::from_str(text).map_err(|error| LogError::unreadable(line, &error))?;
        match (at, input, snapshot) {
            (Some(at), Some(input), None) => Ok(Self::Input(at, input)),
            (None, None, Some(snapshot)) => Ok(Self::Snapshot(snapshot)),
            _ => {
                let message = "it is neither an input with its time nor a snapshot";
                Err(LogError::unreadable(line, message))
            }
        }
    }
}

/// Returns the header of a session that has a past, with its line feed and the configuration in
/// force.
#[must_use]
pub fn header(session: &Session, wall: UnixMillis) -> String {
    let opened = UnixMillis(wall.0.saturating_sub(session.now().0));
    LogHeader::new(&session.own_config(), opened).line()
}

/// Returns the line of an input that comes at `at`, with its line feed.
#[must_use]
pub fn entry(input: &Input, at: SessionInstant) -> String {
    line(&EntryRef { at, input })
}

/// Returns the line of a snapshot, with its line feed. Write one whenever the session is idle: the
/// lines between it and the header may then be dropped.
#[must_use]
pub fn snapshot(session: &Session) -> String {
    line(&SnapshotRef { snapshot: &session.snapshot_json() })
}

/// A line of a log: a header first, then inputs and snapshots.
#[cfg(feature = "schema")]
#[derive(ToJson)]
#[json(untagged)]
#[expect(dead_code, reason = "lines are written one by one: this says what they are")]
enum LogLine<'a> {
    Header(&'a LogHeader),
    Input(EntryRef<'a>),
    Snapshot(SnapshotRef<'a>),
}

/// Returns the schema of a log's lines.
#[cfg(feature = "schema")]
pub fn line_schema(table: &mut SchemaTable) -> ValueSchema {
    LogLine::write_schema(table)
}

fn line(value: &impl ToJson) -> String {
    let mut line = to_string(value);
    line.push('\n');
    line
}

/// A log that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[json(rename_all = "snake_case", keyed)]
pub enum LogError {
    /// A line cannot be read.
    #[error("line {line} of the log cannot be read: {message}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        /// The reason why it cannot be read.
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
        /// The reason for the refusal.
        reason: RejectionReason,
    },
    /// A line's snapshot cannot be restored.
    #[error("line {line} of the log: {error}")]
    Snapshot {
        /// Counted from 1.
        line: usize,
        /// The reason why it cannot be restored.
        error: RestoreError,
    },
}

impl LogError {
    fn unreadable(line: usize, message: &(impl ToString + ?Sized)) -> Self {
        Self::Unreadable { line, message: message.to_string() }
    }
}

/// A session made again from its log.
#[derive(Debug)]
pub struct ReplayedSession {
    /// The session as it stood after the last whole line.
    pub session: Session,
    /// The outputs that followed from the opening and from each line.
    pub outputs: Vec<OutputBatch>,
}

/// Replays a log. A last line without its line feed is left out: a crash cut it before it was
/// durable, so that nothing has followed from it. Where the first inputs were dropped, replay
/// begins with the snapshot that stands for them; other snapshots are skipped.
///
/// # Errors
/// The first line that cannot be read or does not fit; or that the log is of another version.
pub fn replay(text: &str) -> Result<ReplayedSession, LogError> {
    let mut outputs = Vec::new();
    let session = replay_each(text, &mut |following| outputs.push(following))?;
    Ok(ReplayedSession { session, outputs })
}

/// Replays a log like [`replay`], but hands over what followed from the opening and from each line
/// at once: each request holds all that was said before it, so that the outputs of a long log
/// together take far more memory than the log.
///
/// # Errors
/// Like [`replay`]; what followed from the lines before has been handed over by then.
pub fn replay_each(text: &str, each: &mut dyn FnMut(OutputBatch)) -> Result<Session, LogError> {
    let (header, lines) = read(text)?;
    if header.replay != REPLAY_VERSION {
        return Err(LogError::Version { found: header.replay, expected: REPLAY_VERSION });
    }
    let (mut session, opening) = Session::open(header.config, header.wall)?;
    each(opening);
    for (index, (line, text)) in lines.enumerate() {
        match LogEntry::read(line, text)? {
            LogEntry::Input(at, input) => each(given(&mut session, line, at, input)?),
            // Only there does a snapshot stand for inputs that are gone. Others are passed over, so
            // that a replay shows what follows from the inputs themselves.
            LogEntry::Snapshot(snapshot) if index == 0 => {
                session = restored(line, snapshot, header.wall)?;
            }
            LogEntry::Snapshot(_) => {}
        }
    }
    Ok(session)
}

/// A session that goes on from its log.
#[derive(Debug)]
pub struct ResumedSession {
    /// The session. Ask [`Session::owed`] for the effects that were open.
    pub session: Session,
    /// The number of inputs behind the newest snapshot that were left out, because the log comes
    /// from a version that behaves differently.
    pub left_out: usize,
}

/// Resumes the session of a log, at the wall time `wall`: from its newest snapshot and the inputs
/// behind it, without a look at what came before.
///
/// # Errors
/// The first line that is needed and cannot be read or does not fit; or that the log is of
/// another version and holds no snapshot.
pub fn resume(text: &str, wall: UnixMillis) -> Result<ResumedSession, LogError> {
    let (header, lines) = read(text)?;
    // Told by its first bytes. Lines before the newest snapshot are not parsed: there may be many,
    // and of another version.
    let is_snapshot = |(_, text): &(usize, &str)| text.starts_with("{\"snapshot\":");
    let newest = lines.clone().filter(is_snapshot).last();
    let same = header.replay == REPLAY_VERSION;
    let mut session = match newest {
        Some((line, text)) => match LogEntry::read(line, text)? {
            LogEntry::Snapshot(snapshot) => restored(line, snapshot, header.wall)?,
            LogEntry::Input(..) => return Err(LogError::unreadable(line, "it is no snapshot")),
        },
        None if same => Session::open(header.config, header.wall)?.0,
        None => {
            return Err(LogError::Version { found: header.replay, expected: REPLAY_VERSION });
        }
    };
    let first = newest.map_or(0, |(line, _)| line + 1);
    let mut left_out = 0;
    for (line, text) in lines.filter(|(line, _)| *line >= first) {
        if !same {
            // An input of another version may have another form, so that it is not even read.
            left_out += 1;
        } else if let LogEntry::Input(at, input) = LogEntry::read(line, text)? {
            let _ = given(&mut session, line, at, input)?;
        }
    }
    // Time did not pass for the session while it was closed: its clock goes on from where it stood.
    session.epoch = UnixMillis(wall.0.saturating_sub(session.now.0));
    Ok(ResumedSession { session, left_out })
}

/// Returns the header and the whole lines behind it, with their numbers.
fn read(text: &str) -> Result<(LogHeader, impl Iterator<Item = (usize, &str)> + Clone), LogError> {
    let whole = text.rfind('\n').and_then(|end| text.get(..=end)).unwrap_or_default();
    let mut lines = (1..).zip(whole.lines());
    let (_, first) = lines.next().ok_or_else(|| LogError::unreadable(1, "the log is empty"))?;
    let header: LogHeader =
        innerloop_json::from_str(first).map_err(|error| LogError::unreadable(1, &error))?;
    if header.format != FORMAT {
        return Err(LogError::unreadable(1, "this is not an Innerloop log"));
    }
    Ok((header, lines.filter(|(_, line)| !line.trim().is_empty())))
}

fn given(
    session: &mut Session,
    line: usize,
    at: SessionInstant,
    input: Input,
) -> Result<OutputBatch, LogError> {
    session
        .handle(input, at)
        .map_err(|rejected| LogError::Refused { line, reason: rejected.reason })
}

/// Restores the session of a snapshot line, in the time of a session that was opened at `opened`.
fn restored(line: usize, snapshot: RawJson<'_>, opened: UnixMillis) -> Result<Session, LogError> {
    let mut session = Session::restore(snapshot.text().as_bytes(), opened)
        .map_err(|error| LogError::Snapshot { line, error })?;
    // `restore` lets the session begin now. The inputs behind the snapshot have the times of the
    // original session, and events must tell the same wall time again.
    session.epoch = opened;
    Ok(session)
}
