//! A session's log as a host keeps it in memory. With a snapshot for each input, a log grows with
//! the square of the conversation; this one has only the newest, so that it is never longer than
//! the session that it restores.

use alloc::string::String;
use innerloop_json::joined;

/// The maximum number of bytes of a log that stays whole.
const SHORT: usize = 64 * 1024;

/// The newest part of a log: its first line, the newest snapshot and the lines behind it. The lines
/// before that snapshot are kept only while they are short.
#[derive(Debug, Default)]
pub struct MemoryLog {
    header: String,
    /// The lines before the newest snapshot, without other snapshots; empty once dropped.
    before: String,
    was_dropped: bool,
    snapshot: String,
    after: String,
}

impl MemoryLog {
    /// Appends the lines of a step, and the snapshot behind them if there is one.
    pub fn push(&mut self, lines: &str, snapshot: Option<&str>) {
        // The first line is the header. A log is read from it, so it stays whatever is dropped.
        let lines = if self.header.is_empty() {
            let end = lines.find('\n').map_or(lines.len(), |end| end + 1);
            let (header, rest) = lines.split_at_checked(end).unwrap_or((lines, ""));
            self.header.push_str(header);
            rest
        } else {
            lines
        };
        self.after.push_str(lines);
        let Some(snapshot) = snapshot else { return };
        let after = core::mem::take(&mut self.after);
        // All or nothing, and for good: lines behind a gap would not replay.
        if self.was_dropped || self.before.len() + after.len() > SHORT {
            self.was_dropped = true;
            self.before = String::new();
        } else {
            self.before.push_str(&after);
        }
        self.snapshot.clear();
        self.snapshot.push_str(snapshot);
    }

    /// Returns the log's text, from which a session can be resumed.
    #[must_use]
    pub fn text(&self) -> String {
        joined(&[&*self.header, &self.before, &self.snapshot, &self.after], "")
    }
}
