//! A session's log as a host keeps it in memory.

use alloc::string::String;

/// A log of at most so many bytes stays whole.
const SHORT: usize = 64 * 1024;

/// The newest part of a log: its first line, the newest snapshot and what came after. What came
/// before that snapshot is kept only as long as it is short. So the log is never longer than what
/// it stands for, however many snapshots there were.
#[derive(Debug, Default)]
pub struct MemoryLog {
    header: String,
    /// The lines before the newest snapshot, without other snapshots; empty once they were dropped.
    before: String,
    was_dropped: bool,
    snapshot: String,
    after: String,
}

impl MemoryLog {
    /// Takes the lines of a step, and the snapshot behind them if there is one.
    pub fn push(&mut self, lines: &str, snapshot: Option<&str>) {
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
        if self.was_dropped || self.before.len() + after.len() > SHORT {
            self.was_dropped = true;
            self.before = String::new();
        } else {
            self.before.push_str(&after);
        }
        self.snapshot.clear();
        self.snapshot.push_str(snapshot);
    }

    /// The log's text.
    #[must_use]
    pub fn text(&self) -> String {
        [&*self.header, &self.before, &self.snapshot, &self.after].concat()
    }
}
