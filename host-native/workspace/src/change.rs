//! A changed file as it is reported to the user and the model: its state before and after, and why
//! it should be looked at closely. Paths are shown as text, and no two paths are shown alike.

use super::{
    file_stat::{EntryKind, PathStat},
    sensitive,
    state::{FileState, escaped},
};
use innerloop_types::action::{ChangeKind, ReportedChange};
use std::path::Path;

/// A file that was changed, or opened to be changed.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Its path, with `/` between names.
    pub path: String,
    /// The state of the file before the change.
    pub before: FileState,
    /// The state of the file after the change.
    pub after: FileState,
    /// True if it has other names (hard links), under which the change is seen, too.
    pub(super) has_other_names: bool,
    /// Its permissions before, if it existed, and now; `None` unless they differ or a new file can
    /// be executed.
    pub(super) modes: Option<(Option<u32>, u32)>,
}

impl FileChange {
    pub(super) fn new(path: &Path, before: FileState, after: FileState) -> Self {
        Self { path: shown(path), before, after, has_other_names: false, modes: None }
    }

    /// Adds the permissions, from the attributes before and now.
    pub(super) fn with_modes(
        mut self,
        (before, now): (Option<PathStat>, Option<PathStat>),
    ) -> Self {
        let before = before.filter(|it| it.kind == EntryKind::File);
        // The plain mode of a new file is not news, but that it can be executed is.
        let is_told = |now: &PathStat| match before {
            Some(before) => before.permissions() != now.permissions(),
            None => now.is_executable(),
        };
        let now = now.filter(|now| now.kind == EntryKind::File && is_told(now));
        self.modes = now.map(|now| (before.map(|it| it.permissions()), now.permissions()));
        self
    }

    /// Returns its permissions before, if it existed, and now, as mode bits; `None` unless they
    /// differ or a new file can be executed.
    #[must_use]
    pub const fn modes(&self) -> Option<(Option<u32>, u32)> {
        self.modes
    }

    /// Makes a change of the file at that path, from one state to another.
    #[must_use]
    pub fn of(path: &str, before: FileState, after: FileState) -> Self {
        Self::new(Path::new(path), before, after)
    }

    /// Returns the same with these permissions, for tests.
    #[cfg(test)]
    pub(crate) fn of_modes(self, before: Option<u32>, now: u32) -> Self {
        Self { modes: Some((before, now)), ..self }
    }

    /// Returns the kind of change. A file that was opened for writing counts as modified, even if
    /// it is the same as before.
    #[must_use]
    pub const fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (FileState::Absent, _) => ChangeKind::Created,
            (_, FileState::Absent) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        }
    }

    /// Returns whether the file is the same as before, as far as that is known.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.before.is_same(&self.after) && self.modes.is_none()
    }

    /// Returns why this change should be looked at closely, if there is a reason.
    #[must_use]
    pub fn notice(&self) -> Option<&'static str> {
        let content = match &self.after {
            _ if self.is_same() => None,
            FileState::Opaque { unread: true, .. } => Some("there was no room to show it"),
            FileState::Opaque { .. } => Some("no text, or too long to be shown"),
            FileState::Link(_) => Some("a symbolic link"),
            _ => None,
        };
        self.warning().or(content)
    }

    /// Returns why this change should be looked at closely whatever the file holds, if there is a
    /// reason.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        let linked = self.has_other_names.then_some("it has other names, which show the change");
        let path = Path::new(&self.path);
        // Only the scripts of a manifest such as `package.json` matter, not each change of it.
        let part = || sensitive::why_part(path, self.before.as_written(), self.after.as_written());
        let is_run = |mode: u32| mode & 0o111 != 0;
        let runs =
            self.modes.is_some_and(|(before, now)| is_run(now) && !before.is_some_and(is_run));
        let runs = runs.then_some("it can be executed now");
        sensitive::why(path).or_else(part).or(linked).or(runs)
    }

    /// Returns the change in the form in which an outcome reports it.
    pub(super) fn told(self) -> ReportedChange {
        let text = |state: &FileState| state.text().map(str::to_owned);
        let (kind, before, after) = (self.kind(), text(&self.before), text(&self.after));
        ReportedChange { path: self.path, kind, before, after }
    }
}

/// Returns whether there is nothing to report of a path, given its states before and after, and the
/// attributes of its entry before and now.
pub(super) fn is_untold(
    before: &FileState,
    after: &FileState,
    (stood, stands): (Option<PathStat>, Option<PathStat>),
) -> bool {
    let is_folder = |found: Option<PathStat>| found.is_some_and(|it| it.kind == EntryKind::Folder);
    // A folder's state says whether it is empty. One that gets its first entry or loses its last
    // one is no change of its own: the entry is reported under its own path.
    let is_nothing = (before, after) == (&FileState::Absent, &FileState::Absent);
    is_nothing || (is_folder(stood) && is_folder(stands))
}

/// Returns the path as text with `/` between names. No two paths are shown alike.
pub(super) fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(escaped).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    #[test]
    fn no_two_paths_are_shown_alike() {
        let cases: [(&[u8], &str); 9] = [
            (b"d/a", "d/a"),
            ("d/ä".as_bytes(), "d/ä"),
            (b"d/a\xff", "d/a\\xff"),
            ("d/a\u{fffd}".as_bytes(), "d/a\u{fffd}"),
            (b"d/a\\xff", "d/a\\x5cxff"),
            (b"d/a\\b\\", "d/a\\b\\"),
            (b"\\\xff\xfe", "\\\\xff\\xfe"),
            (b"\\x\xff", "\\x\\xff"),
            (b"\\x5cxff", "\\x5cx5cxff"),
        ];
        for (path, want) in cases {
            assert_eq!(shown(Path::new(OsStr::from_bytes(path))), want, "{path:?}");
        }
        let all: std::collections::BTreeSet<_> = cases.iter().map(|(_, shown)| shown).collect();
        assert_eq!(all.len(), cases.len());
    }
}
