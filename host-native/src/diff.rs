//! What changed in the workspace over a run: the first `before` and the last `after` of each
//! path, as a unified diff.

use innerloop_core::action::{Change, ChangeKind};
use similar::TextDiff;
use std::collections::BTreeMap;

/// The changes of a run so far, by path.
#[derive(Clone, Debug, Default)]
pub struct Changes(BTreeMap<String, Span>);

#[derive(Clone, Debug)]
struct Span {
    first: Side,
    last: Side,
}

/// What a file was at one end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Side {
    Absent,
    Text(String),
    /// It is not UTF-8, or too large to be shown.
    Opaque,
}

impl Changes {
    /// Adds what one tool call changed.
    pub fn add(&mut self, change: &Change) {
        let created = change.kind == ChangeKind::Created;
        let deleted = change.kind == ChangeKind::Deleted;
        let first = side(created, change.before.as_deref());
        let last = side(deleted, change.after.as_deref());
        self.0
            .entry(change.path.clone())
            .and_modify(|span| span.last = last.clone())
            .or_insert(Span { first, last });
    }

    /// The paths that differ from what they were, with what happened to each.
    pub fn files(&self) -> impl Iterator<Item = (&str, ChangeKind)> {
        let changed = self.0.iter().filter(|(_, span)| span.differs());
        changed.map(|(path, span)| (path.as_str(), span.kind()))
    }

    /// A unified diff of all of them; empty if nothing differs.
    #[must_use]
    pub fn unified(&self) -> String {
        let changed = self.0.iter().filter(|(_, span)| span.differs());
        changed.map(|(path, span)| span.unified(path)).collect()
    }
}

fn side(absent: bool, text: Option<&str>) -> Side {
    match text {
        _ if absent => Side::Absent,
        Some(text) => Side::Text(text.to_owned()),
        None => Side::Opaque,
    }
}

impl Span {
    /// Two opaque sides count as different: what they hold is not known.
    fn differs(&self) -> bool {
        self.first != self.last || self.first == Side::Opaque
    }

    fn kind(&self) -> ChangeKind {
        match (&self.first, &self.last) {
            (Side::Absent, _) => ChangeKind::Created,
            (_, Side::Absent) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        }
    }

    fn unified(&self, path: &str) -> String {
        let (from, to) = (name("a/", path, &self.first), name("b/", path, &self.last));
        let (Some(first), Some(last)) = (self.first.text(), self.last.text()) else {
            return format!("Binary or large files {from} and {to} differ\n");
        };
        let diff = TextDiff::from_lines(first, last);
        diff.unified_diff().context_radius(3).header(&from, &to).to_string()
    }
}

fn name(side: &str, path: &str, content: &Side) -> String {
    if *content == Side::Absent { "/dev/null".to_owned() } else { quoted(&format!("{side}{path}")) }
}

/// A name as git writes it: in quotes, with escapes, where it would not be one plain line.
fn quoted(name: &str) -> String {
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

impl Side {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Absent => Some(""),
            // Text holds no NUL, and a terminal and `patch` make nothing of it.
            Self::Text(text) if text.contains('\0') => None,
            Self::Text(text) => Some(text),
            Self::Opaque => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, kind: ChangeKind, before: Option<&str>, after: Option<&str>) -> Change {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Change { path: path.to_owned(), kind, before: own(before), after: own(after) }
    }

    #[test]
    fn the_first_before_and_the_last_after_count() {
        let mut changes = Changes::default();
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

    #[test]
    fn no_name_and_no_content_breaks_the_lines() {
        let mut changes = Changes::default();
        changes.add(&change("a\n+++ b/x\u{1b}", ChangeKind::Created, None, Some("x\n")));
        changes.add(&change("b \"é\\", ChangeKind::Deleted, Some("x\n"), None));
        changes.add(&change("nul", ChangeKind::Modified, Some("x\n"), Some("x\0\n")));
        let want = "--- /dev/null\n+++ \"b/a\\n+++ b/x\\033\"\n@@ -0,0 +1 @@\n+x\n\
                    --- \"a/b \\\"é\\\\\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                    Binary or large files a/nul and b/nul differ\n";
        assert_eq!(changes.unified(), want);
    }
}
