//! The notices about changes that deserve a close look: changes that no diff shows, files whose
//! names make them dangerous, and files that are not text.

use super::{
    number_format::counted,
    style::{OutputStyle, TextColour, harmless},
    terminal::columns,
    wrap::wrapped,
};
use innerloop_workspace::{FileChange, diff::HiddenCounts};

/// The most files that are named because they have no diff. Files with dangerous names are always
/// named.
const NOTICES: usize = 20;

/// Returns a line for each such change of these files; empty if there is none. `hidden` counts the
/// texts that no diff shows; `is_all` is false if more files were touched than are watched.
pub(super) fn of(
    files: &[FileChange],
    is_all: bool,
    hidden: HiddenCounts,
    style: OutputStyle,
) -> String {
    let mut lines: Vec<String> = Vec::new();
    if !is_all {
        lines.push("  more files were touched than are watched\n".to_owned());
    }
    let reasons = [
        (hidden.for_room, "since too much is changed to keep it all"),
        (hidden.for_time, "since there was no time to compare them"),
    ];
    for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
        let are = if count == 1 { "is" } else { "are" };
        let texts = counted(count as u64, "changed text");
        lines.push(format!("  {texts} {are} not shown, {why}\n"));
    }
    let mut others: Vec<String> = Vec::new();
    for file in files.iter().filter(|file| !file.is_same()) {
        if let Some(notice) = file.notice() {
            let lines = if file.warning().is_some() { &mut lines } else { &mut others };
            lines.push(format!("  {}: {notice}\n", harmless(&file.path)));
        }
    }
    let more = others.len().saturating_sub(NOTICES);
    others.truncate(NOTICES);
    if more > 0 {
        others.push(format!("  … and {}\n", counted(more as u64, "other file")));
    }
    lines.append(&mut others);
    if lines.is_empty() {
        return String::new();
    }
    let text = lines.concat();
    let text = wrapped(text.trim_end(), columns());
    format!("{}\n{text}\n\n", style.paint(TextColour::Yellow, "Look closely at:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColourChoice;
    use innerloop_workspace::FileState;

    fn created(path: &str, after: FileState) -> FileChange {
        FileChange::of(path, FileState::Absent, after)
    }

    #[test]
    fn no_crowd_hides_what_deserves_a_look() {
        let opaque = |unread| FileState::Opaque { size: 1, digest: None, version: (1, 1), unread };
        let mut files: Vec<FileChange> =
            (0..30).map(|n| created(&format!("!{n:02}"), opaque(false))).collect();
        files.push(created(".husky/pre-commit", FileState::Text("x".into())));
        files.push(created("src/main.rs", opaque(true)));
        let hidden = HiddenCounts { for_room: 1_234, for_time: 1 };
        let notices = of(&files, false, hidden, OutputStyle::new(ColourChoice::Never));
        let lines: Vec<&str> = notices.lines().collect();
        let first = [
            "Look closely at:",
            "  more files were touched than are watched",
            "  1,234 changed texts are not shown, since too much is changed to keep it all",
            "  1 changed text is not shown, since there was no time to compare them",
            "  .husky/pre-commit: Git may run it",
            "  !00: no text, or too long to be shown",
        ];
        assert_eq!(lines.get(..6), Some(first.as_slice()), "{notices}");
        let last = ["  !19: no text, or too long to be shown", "  … and 11 other files", ""];
        assert_eq!(lines.get(24..), Some(last.as_slice()), "{notices}");
    }
}
