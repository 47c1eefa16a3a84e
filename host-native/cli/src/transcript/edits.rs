//! The changes of a call, shown right below it: a small diff, or the names of the files. Both are
//! bounded in lines and time, since a call may change thousands of files.

use crate::{
    number_format::counted,
    style::{TextStyle, harmless},
    wrap::{LineWrapper, Margin},
};
use innerloop_core::action::{ChangeKind, ReportedChange};
use innerloop_workspace::diff::RunChanges;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The most lines of a call's diff.
const LINES: usize = 20;

/// The time limit of a call's diff. The file that is being compared when it is reached is finished.
const TIME: Duration = Duration::from_millis(100);

/// The most characters of a line.
const CHARS: usize = 200;

/// The most files that are named.
const NAMED: usize = 6;

/// Shows the diff of a call's changes.
pub(super) fn diff(changes: &[ReportedChange], flow: &mut LineWrapper) {
    // A call may report the same file several times: one diff shows what came of all of it.
    let mut files: BTreeMap<&str, RunChanges> = BTreeMap::new();
    for change in changes {
        files.entry(&change.path).or_default().add(change);
    }
    let is_one = files.len() == 1;
    let end = Instant::now() + TIME;
    let mut lines: Vec<(TextStyle, String)> = Vec::new();
    let mut files = files.values();
    for changes in files.by_ref() {
        // A file that was changed and changed back has no difference.
        let Some((path, kind)) = changes.files().next() else { continue };
        match kind {
            ChangeKind::Created | ChangeKind::Modified if is_one => {}
            ChangeKind::Created => lines.push((TextStyle::BOLD, format!("new: {path}"))),
            ChangeKind::Modified => lines.push((TextStyle::BOLD, path.to_owned())),
            ChangeKind::Deleted => lines.push((TextStyle::BOLD, format!("deleted: {path}"))),
        }
        if kind != ChangeKind::Deleted {
            add_diff(&changes.unified_until(|| Instant::now() > end).text, &mut lines);
        }
        if lines.len() > LINES {
            break;
        }
    }
    show(&lines, files.len(), flow);
}

/// Shows the first lines, and how many more lines and files there are.
fn show(lines: &[(TextStyle, String)], files: usize, flow: &mut LineWrapper) {
    let left_out = lines.len().saturating_sub(LINES);
    // Hiding a single line would save none: the line that says so takes its place.
    let left_out = if left_out > 1 || files > 0 { left_out } else { 0 };
    for (look, line) in lines.iter().take(lines.len() - left_out) {
        let line = harmless(line);
        let line = cut(&line);
        // On a terminal the indentation becomes the margin, so that wrapped rows keep it.
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let indent = if flow.is_terminal() { spaces } else { 0 };
        let (first, rest) = (" ".repeat(2 + indent), " ".repeat(4 + indent));
        flow.set_margin(Margin::new(first, rest).full());
        flow.text(line.get(indent..).unwrap_or_default(), *look);
        flow.newline();
    }
    let more: Vec<String> = [(left_out, "line"), (files, "file")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count as u64, &format!("more {what}")))
        .collect();
    if !more.is_empty() {
        flow.set_margin(Margin::spaces(2));
        flow.text(&format!("… {}", more.join(" and ")), TextStyle::DIM);
        flow.newline();
    }
}

/// Adds the lines of a file's diff, without the two that name the file.
fn add_diff(diff: &str, lines: &mut Vec<(TextStyle, String)>) {
    let names = if diff.starts_with("--- ") { 2 } else { 0 };
    for line in diff.lines().skip(names) {
        let look = match line.as_bytes().first() {
            Some(b'+') => TextStyle::GREEN,
            Some(b'-') => TextStyle::RED,
            Some(b'@') if line.starts_with("@@ -0,0 ") => continue,
            Some(b'@') => TextStyle::CYAN,
            Some(b' ') => TextStyle::PLAIN,
            _ => TextStyle::DIM,
        };
        // An empty line of context consists of its leading space.
        let line = if look == TextStyle::PLAIN { line.trim_end() } else { line };
        lines.push((look, line.to_owned()));
    }
}

/// Returns the beginning of the line.
fn cut(line: &str) -> String {
    let mut chars = line.chars();
    let mut cut: String = chars.by_ref().take(CHARS).collect();
    if chars.next().is_some() {
        cut.push('…');
    }
    cut
}

/// Returns the names of the files that a program has changed, in a line.
pub(super) fn names(changes: &[ReportedChange]) -> String {
    let mut paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let more = paths.len().saturating_sub(NAMED);
    paths.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("changed: {}{more}", harmless(&paths.join(", ")).replace('\n', "\\u000a"))
}
