//! The diff of a run: the first `before` and the last `after` of each changed path, as a unified
//! diff for people. Both the texts that are kept for it and the time that it takes are bounded;
//! a file that is left out for that has one line in its place and is counted.

use crate::{FileChange, FileState, digest::Digest};
use innerloop_types::action::{ChangeKind, ReportedChange};
use similar::TextDiff;
use std::{
    collections::BTreeMap,
    mem,
    time::{Duration, Instant},
};

/// The maximum number of bytes of texts that are kept for a diff; of others only the digest is.
const KEPT: usize = 64 << 20;

/// The time limits for the diff of one file, and for all diffs together: where much was moved
/// around, the time of a diff grows with the square of the file.
const EACH: Duration = Duration::from_millis(250);
const ALL: Duration = Duration::from_secs(2);

/// The largest file that is created or deleted and still shown when the diff has been stopped.
const BRIEF: usize = 4 << 10;

/// The changes of a run so far, by path.
#[derive(Clone, Debug, Default)]
pub struct RunChanges {
    spans: BTreeMap<String, SnapshotPair>,
    /// The number of bytes of the texts that are kept.
    kept: usize,
}

#[derive(Clone, Debug)]
struct SnapshotPair {
    first: FileSnapshot,
    last: FileSnapshot,
    /// Its permissions at both ends, where they are told.
    modes: Option<(Option<u32>, u32)>,
}

/// A unified diff, and how much it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// A unified diff; empty if nothing differs.
    pub text: String,
    /// The number of files that may be texts but have only one line in it.
    pub hidden: HiddenCounts,
}

/// The number of changed texts that are not shown, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenCounts {
    /// There was no room for them.
    pub for_room: usize,
    /// There was no time for them.
    pub for_time: usize,
}

/// The state of a file at one end of the run.
#[derive(Clone, Debug)]
enum FileSnapshot {
    Absent,
    /// A text; the text itself is kept only if there is room for it.
    Text {
        digest: Digest,
        size: usize,
        text: Option<String>,
    },
    /// It is not UTF-8, or too large to be shown: its size and digest, where they are known.
    Opaque(Option<(u64, Option<Digest>)>),
    /// The size and digest of what may be a text, for which there was no room.
    Unread(u64, Option<Digest>),
    /// An empty folder.
    Folder,
}

impl RunChanges {
    /// Adds what one tool call changed.
    pub fn add(&mut self, change: &ReportedChange) {
        let last = self.side(change.kind == ChangeKind::Deleted, change.after.as_deref());
        if let Some(span) = self.spans.get_mut(&change.path) {
            self.kept -= span.last.kept();
            span.last = last;
            return;
        }
        let first = self.side(change.kind == ChangeKind::Created, change.before.as_deref());
        self.spans.insert(change.path.clone(), SnapshotPair { first, last, modes: None });
    }

    /// Adds the change of a file over the whole session.
    pub fn add_file(&mut self, change: &FileChange) {
        let last = self.state(&change.after);
        if let Some(span) = self.spans.get_mut(&change.path) {
            self.kept -= span.last.kept();
            span.last = last;
            span.modes = change.modes().or(span.modes);
            return;
        }
        let (first, modes) = (self.state(&change.before), change.modes());
        self.spans.insert(change.path.clone(), SnapshotPair { first, last, modes });
    }

    /// Returns one side of a change, with its text if there is room for it.
    fn side(&mut self, is_absent: bool, text: Option<&str>) -> FileSnapshot {
        match text {
            _ if is_absent => FileSnapshot::Absent,
            Some(text) => self.text(text),
            None => FileSnapshot::Opaque(None),
        }
    }

    fn state(&mut self, state: &FileState) -> FileSnapshot {
        match state {
            FileState::Absent => FileSnapshot::Absent,
            FileState::Folder => FileSnapshot::Folder,
            FileState::Text(text) => self.text(text),
            FileState::Link(target) => self.text(&format!("a symbolic link to {target}\n")),
            FileState::Opaque { size, digest, unread: true, .. } => {
                FileSnapshot::Unread(*size, *digest)
            }
            FileState::Opaque { size, digest, .. } => FileSnapshot::Opaque(Some((*size, *digest))),
        }
    }

    fn text(&mut self, text: &str) -> FileSnapshot {
        let kept = self.kept + text.len();
        let fits = kept <= KEPT;
        if fits {
            self.kept = kept;
        }
        // A text that is not kept has a digest all the same: by that it is known whether the file
        // is in the end what it was.
        let (digest, size) = (Digest::of(text.as_bytes()), text.len());
        FileSnapshot::Text { digest, size, text: fits.then(|| text.to_owned()) }
    }

    /// Returns the paths of the files that differ from what they were, with the kind of change.
    pub fn files(&self) -> impl Iterator<Item = (&str, ChangeKind)> {
        self.changed().map(|(path, span)| (path, span.kind()))
    }

    fn changed(&self) -> impl Iterator<Item = (&str, &SnapshotPair)> {
        let changed = self.spans.iter().filter(|(_, span)| span.differs());
        changed.map(|(path, span)| (path.as_str(), span))
    }

    /// Returns a unified diff of all files; empty if nothing differs. A file whose diff takes too
    /// long has one line that says so.
    #[must_use]
    pub fn unified(&self) -> String {
        self.unified_until(|| false).text
    }

    /// Returns the same, but once it `is_stopped`, the files that are left have one line each.
    pub fn unified_until(&self, is_stopped: impl Fn() -> bool) -> UnifiedDiff {
        self.unified_by(is_stopped, Instant::now)
    }

    /// Returns the same by the time of `clock`, which tests set.
    fn unified_by(
        &self,
        is_stopped: impl Fn() -> bool,
        clock: impl Fn() -> Instant,
    ) -> UnifiedDiff {
        let mut changed: Vec<_> = self.changed().collect();
        // The smallest files come first, so that large ones do not use up their time. The map
        // below puts the diffs in the order of paths again.
        changed.sort_by_key(|(_, span)| span.first.kept() + span.last.kept());
        let end = clock() + ALL;
        let mut hidden = HiddenCounts::default();
        let texts: BTreeMap<_, _> = changed
            .into_iter()
            .map(|(path, span)| {
                let diff = if is_stopped() {
                    span.brief(path)
                } else {
                    span.unified(path, end.min(clock() + EACH), &clock)
                };
                let diff = diff.unwrap_or_else(|why| {
                    match why {
                        OmissionReason::Room => hidden.for_room += 1,
                        OmissionReason::Time => hidden.for_time += 1,
                    }
                    span.counted(path, why)
                });
                (path, diff)
            })
            .collect();
        UnifiedDiff { text: texts.into_values().collect(), hidden }
    }
}

/// The reason why a text has no diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OmissionReason {
    /// The text is not kept.
    Room,
    /// Comparing it takes too long, or was stopped.
    Time,
}

impl OmissionReason {
    /// Returns the reason as people read it.
    const fn told(self) -> &'static str {
        match self {
            Self::Room => "too much is changed to keep it all",
            Self::Time => "there was no time to compare them",
        }
    }
}

impl SnapshotPair {
    fn differs(&self) -> bool {
        self.modes.is_some() || self.has_other_content()
    }

    fn has_other_content(&self) -> bool {
        match (&self.first, &self.last) {
            (FileSnapshot::Text { digest, .. }, FileSnapshot::Text { digest: last, .. }) => {
                digest != last
            }
            (
                FileSnapshot::Opaque(_) | FileSnapshot::Unread(..),
                FileSnapshot::Opaque(_) | FileSnapshot::Unread(..),
            ) => {
                // Without digests nobody knows, and a change that did not happen does less harm in
                // a review than one that is missing.
                let digests = (self.first.digest(), self.last.digest());
                !matches!(digests, (Some(first), Some(last)) if first == last)
            }
            (first, last) => mem::discriminant(first) != mem::discriminant(last),
        }
    }

    fn kind(&self) -> ChangeKind {
        match (&self.first, &self.last) {
            (FileSnapshot::Absent, _) => ChangeKind::Created,
            (_, FileSnapshot::Absent) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        }
    }

    fn names(&self, path: &str) -> (String, String) {
        (name("a/", path, &self.first), name("b/", path, &self.last))
    }

    /// Returns the diff, or one line for a file that has none by its nature.
    ///
    /// # Errors
    /// The reason why a text was not compared.
    fn unified(
        &self,
        path: &str,
        end: Instant,
        clock: &impl Fn() -> Instant,
    ) -> Result<String, OmissionReason> {
        let has_content = self.has_other_content();
        let content = if has_content { self.content(path, end, clock)? } else { String::new() };
        let Some((before, now)) = self.modes else { return Ok(content) };
        let before = before.map(|before| format!("{before:03o} before, ")).unwrap_or_default();
        Ok(format!("Mode of {}: {before}{now:03o} now\n{content}", self.names(path).1))
    }

    fn content(
        &self,
        path: &str,
        end: Instant,
        clock: &impl Fn() -> Instant,
    ) -> Result<String, OmissionReason> {
        if self.has_no_diff() {
            return Ok(self.line(path, ""));
        }
        let (from, to) = self.names(path);
        let (Some(first), Some(last)) = (self.first.text(), self.last.text()) else {
            return Err(OmissionReason::Room);
        };
        // A created or deleted file needs no comparison, so that its diff takes no time to speak
        // of, however long it is.
        if first.is_empty() || last.is_empty() {
            return Ok(unified(first, last, &from, &to, None));
        }
        if clock() >= end {
            return Err(OmissionReason::Time);
        }
        let diff = unified(first, last, &from, &to, Some(end));
        // A diff that meets its deadline is no error to the library: it is only coarse, and would
        // show far more changes than there are.
        if clock() < end { Ok(diff) } else { Err(OmissionReason::Time) }
    }

    /// Returns the same where no time is left.
    fn brief(&self, path: &str) -> Result<String, OmissionReason> {
        // A clock that has stopped at the deadline: short files that are new or gone are shown, and
        // nothing is compared.
        let now = Instant::now();
        let is_long = self.first.kept() + self.last.kept() > BRIEF;
        if is_long { Err(OmissionReason::Time) } else { self.unified(path, now, &|| now) }
    }

    /// Returns whether one side is not a text, so that there is no diff however much room there is.
    fn has_no_diff(&self) -> bool {
        [&self.first, &self.last].into_iter().any(|side| match side {
            FileSnapshot::Opaque(_) | FileSnapshot::Folder => true,
            FileSnapshot::Text { text: Some(text), .. } => text.contains('\0'),
            FileSnapshot::Text { text: None, .. }
            | FileSnapshot::Absent
            | FileSnapshot::Unread(..) => false,
        })
    }

    /// Returns the line for a text that was not compared.
    fn counted(&self, path: &str, why: OmissionReason) -> String {
        let why = why.told();
        let (Some(first), Some(last)) = (self.first.text(), self.last.text()) else {
            return self.line(path, &format!(" ({why})"));
        };
        let (from, to) = self.names(path);
        let (before, now) = (first.lines().count(), last.lines().count());
        format!("Files {from} and {to} differ: {before} lines before, {now} now ({why})\n")
    }

    /// Returns the line for a file that is not looked into, with `why` at its end.
    fn line(&self, path: &str, why: &str) -> String {
        let (from, to) = self.names(path);
        match (&self.first, &self.last) {
            (FileSnapshot::Folder, _) => return format!("Empty folder {from} is gone\n"),
            (_, FileSnapshot::Folder) => return format!("Empty folder {to} is new\n"),
            _ => {}
        }
        let what = if self.has_no_diff() { "Binary or large files" } else { "Files" };
        let details = match (self.first.size(), self.last.size()) {
            (None, None) => String::new(),
            (first, last) => {
                let told = |size: Option<String>| size.unwrap_or_else(|| "nothing".to_owned());
                format!(": {} before, {} now", told(first), told(last))
            }
        };
        format!("{what} {from} and {to} differ{details}{why}\n")
    }
}

/// Returns the diff, which is coarse if the time is up before it is done.
fn unified(first: &str, last: &str, from: &str, to: &str, end: Option<Instant>) -> String {
    let mut config = TextDiff::configure();
    if let Some(end) = end {
        config.deadline(end);
    }
    let diff = config.diff_lines(first, last);
    diff.unified_diff().context_radius(3).header(from, to).to_string()
}

fn name(side: &str, path: &str, content: &FileSnapshot) -> String {
    if matches!(content, FileSnapshot::Absent) {
        "/dev/null".to_owned()
    } else {
        quoted(&format!("{side}{path}"))
    }
}

/// Returns a name as git writes it: in quotes, with escapes, where it is not one plain line.
fn quoted(name: &str) -> String {
    // A file's name may hold line breaks, by which it could forge lines of the diff.
    let special = |c: char| c.is_ascii_control() || c == '"' || c == '\\';
    if !name.contains(special) {
        return name.to_owned();
    }
    let mut out = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl FileSnapshot {
    /// Returns the number of bytes of text that are kept.
    fn kept(&self) -> usize {
        match self {
            Self::Text { text: Some(text), .. } => text.len(),
            _ => 0,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Absent => Some(""),
            // A text with NUL counts as binary: neither a terminal nor `patch` can handle it.
            Self::Text { text, .. } => text.as_deref().filter(|text| !text.contains('\0')),
            Self::Opaque(_) | Self::Unread(..) | Self::Folder => None,
        }
    }

    /// Returns its size as text, for example `5 bytes (SHA-256 2cf2…)`.
    fn size(&self) -> Option<String> {
        match self {
            Self::Opaque(Some((size, digest))) | Self::Unread(size, digest) => {
                let digest = digest.map(|digest| format!(" (SHA-256 {digest})"));
                Some(format!("{size} bytes{}", digest.unwrap_or_default()))
            }
            Self::Text { size, .. } => Some(format!("{size} bytes")),
            _ => None,
        }
    }

    const fn digest(&self) -> Option<Digest> {
        match self {
            Self::Opaque(Some((_, digest))) | Self::Unread(_, digest) => *digest,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn change(
        path: &str,
        kind: ChangeKind,
        before: Option<&str>,
        after: Option<&str>,
    ) -> ReportedChange {
        let own = |text: Option<&str>| text.map(str::to_owned);
        ReportedChange { path: path.to_owned(), kind, before: own(before), after: own(after) }
    }

    #[test]
    fn the_first_before_and_the_last_after_count() {
        let mut changes = RunChanges::default();
        changes.add(&change("a.js", ChangeKind::Modified, Some("one\ntwo\n"), Some("1\ntwo\n")));
        changes.add(&change("a.js", ChangeKind::Modified, Some("1\ntwo\n"), Some("one\n2\n")));
        changes.add(&change("new", ChangeKind::Created, None, Some("x")));
        changes.add(&change("same", ChangeKind::Modified, Some("x"), Some("y")));
        changes.add(&change("same", ChangeKind::Modified, Some("y"), Some("x")));
        changes.add(&change("brief", ChangeKind::Created, None, Some("x")));
        changes.add(&change("brief", ChangeKind::Deleted, Some("x"), None));
        changes.add(&change("pic", ChangeKind::Modified, None, None));
        let files: Vec<_> = changes.files().collect();
        let want = [
            ("a.js", ChangeKind::Modified),
            ("new", ChangeKind::Created),
            ("pic", ChangeKind::Modified),
        ];
        assert_eq!(files, want);
        let want = "--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
                    --- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n\
                    Binary or large files a/pic and b/pic differ\n";
        assert_eq!(changes.unified(), want);
    }

    /// A clock that goes forward by so much whenever somebody looks at it.
    fn clock(step: Duration) -> impl Fn() -> Instant {
        let now = Cell::new(Instant::now());
        move || {
            now.set(now.get() + step);
            now.get()
        }
    }

    #[test]
    fn a_diff_that_takes_too_long_is_one_line_that_says_so() {
        let mut changes = RunChanges::default();
        for index in 0..40 {
            let path = format!("file-{index:02}");
            changes.add(&change(&path, ChangeKind::Modified, Some("a\nb\n"), Some("a\nc\n")));
        }
        let whole = changes.unified_by(|| false, clock(Duration::ZERO));
        assert_eq!(whole.hidden, HiddenCounts::default());
        assert_eq!(whole.text.matches("\n-b\n+c\n").count(), 40);
        let late = changes.unified_by(|| false, clock(EACH));
        assert_eq!(late.hidden, HiddenCounts { for_room: 0, for_time: 40 });
        let line = "Files a/file-39 and b/file-39 differ: 2 lines before, 2 now (there was no time \
                    to compare them)\n";
        assert!(late.text.ends_with(line), "{}", late.text);

        // Once it is stopped, nothing is compared at all.
        changes.add(&change("new", ChangeKind::Created, None, Some("x\n")));
        changes.add(&change("short", ChangeKind::Modified, Some("x\n"), Some("y\n")));
        changes.add(&change("long", ChangeKind::Created, None, Some(&"x".repeat(BRIEF + 1))));
        let UnifiedDiff { text, hidden } = changes.unified_until(|| true);
        assert_eq!(hidden, HiddenCounts { for_room: 0, for_time: 42 });
        assert_eq!(text.lines().filter(|line| line.starts_with("Files ")).count(), 42);
        assert!(text.contains("+++ b/new\n@@ -0,0 +1 @@\n+x\n"), "{} bytes", text.len());
    }

    #[test]
    fn a_small_file_is_compared_before_large_ones() {
        let mut changes = RunChanges::default();
        let (before, after) = ("a\n".repeat(50), "b\n".repeat(50));
        for index in 0..40 {
            let path = format!("!pad-{index:02}");
            changes.add(&change(&path, ChangeKind::Modified, Some(&before), Some(&after)));
        }
        changes.add(&change("src/main.rs", ChangeKind::Modified, Some("x\n"), Some("y\n")));
        let UnifiedDiff { text, hidden } = changes.unified_by(|| false, clock(EACH * 2 / 5));
        assert!(text.ends_with("+++ b/src/main.rs\n@@ -1 +1 @@\n-x\n+y\n"), "{text}");
        let lines = text.lines().filter(|line| line.starts_with("Files a/!pad-")).count();
        assert!((1..40).contains(&lines), "some are shown, and then the time is up: {lines}");
        assert_eq!(hidden, HiddenCounts { for_room: 0, for_time: lines });
    }

    #[test]
    fn a_path_that_is_added_twice_keeps_what_it_was_first() {
        let mut changes = RunChanges::default();
        let text = |text: &str| FileState::Text(text.into());
        for (before, after) in [("a\n", "b\n"), ("b\n", "c\n")] {
            changes.add_file(&FileChange::of("x", text(before), text(after)));
        }
        assert_eq!(changes.unified(), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n");
        assert_eq!(changes.kept, 4);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut changes = RunChanges::default();
        let text = "x".repeat(KEPT / 4);
        for index in 0..100 {
            let path = format!("{index}");
            changes.add(&change(&path, ChangeKind::Modified, Some("y"), Some(&text)));
            changes.add(&change("same", ChangeKind::Modified, Some(&text), Some(&text)));
        }
        let kept = |span: &SnapshotPair| span.first.kept() + span.last.kept();
        assert_eq!(changes.spans.values().map(kept).sum::<usize>(), changes.kept);
        assert!(changes.kept <= KEPT, "{}", changes.kept);
        assert_eq!(changes.files().count(), 100, "each is told, and what is the same is not");
        let diff = changes.unified_by(|| false, clock(Duration::ZERO));
        assert_eq!(diff.hidden, HiddenCounts { for_room: 98, for_time: 0 });
        let line = "Files a/99 and b/99 differ: 1 bytes before, 16777216 bytes now (too much is \
                    changed to keep it all)\n";
        assert!(diff.text.contains(line));
        changes.add(&change("99", ChangeKind::Modified, Some(&text), Some("y")));
        assert_eq!(changes.files().count(), 99, "the digest still tells");
    }

    #[test]
    fn no_name_and_no_content_breaks_the_lines() {
        let mut changes = RunChanges::default();
        changes.add(&change("a\n+++ b/x\u{1b}", ChangeKind::Created, None, Some("x\n")));
        changes.add(&change("b \"é\\", ChangeKind::Deleted, Some("x\n"), None));
        changes.add(&change("nul", ChangeKind::Modified, Some("x\n"), Some("x\0\n")));
        let want = "--- /dev/null\n+++ \"b/a\\n+++ b/x\\033\"\n@@ -0,0 +1 @@\n+x\n\
                    --- \"a/b \\\"é\\\\\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                    Binary or large files a/nul and b/nul differ: 2 bytes before, 3 bytes now\n";
        assert_eq!(changes.unified(), want);
    }

    #[test]
    fn who_may_execute_a_file_is_shown() {
        let text = |text: &str| FileState::Text(text.into());
        let mut changes = RunChanges::default();
        let script = || text("#!/bin/sh\n");
        for change in [
            FileChange::of("a", script(), script()).of_modes(Some(0o644), 0o755),
            FileChange::of("b", FileState::Absent, text("x\n")).of_modes(None, 0o755),
            FileChange::of("c", script(), script()),
        ] {
            changes.add_file(&change);
        }
        let want = "Mode of b/a: 644 before, 755 now\n\
                    Mode of b/b: 755 now\n\
                    --- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(changes.unified(), want);
        assert_eq!(changes.files().map(|(path, _)| path).collect::<Vec<_>>(), ["a", "b"]);
    }
}
