//! Paths inside the workspace: whatever the model wrote becomes a clean relative path, or an error
//! that says why it cannot. Nothing but [`WorkspacePath`] reaches the files, so that no tool has to
//! think of `..` again.

use innerloop_types::path::{resolved, seen};
use std::fmt;

/// The longest path, in bytes: that of Linux.
const MAX_BYTES: usize = 4096;

/// A path below the workspace's root: names joined by `/`, without `.`, `..` or empty names. The
/// root itself is the empty path. It is displayed as seen from the folder of the agent that named
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspacePath {
    text: String,
    /// The length of the part that names the folder it is seen from, in bytes.
    seen_from: usize,
}

/// The reason why a text is not a path inside the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The text is empty, but a file is needed.
    Empty,
    /// A NUL character, which no path can contain.
    Nul,
    /// More than 4,096 bytes.
    TooLong,
    /// It leads out of the workspace.
    Outside,
    /// It leads out of the folder that it is to stay in.
    Astray,
    /// It names a folder, but a file is needed.
    Folder,
}

impl WorkspacePath {
    /// Returns the workspace's root.
    #[must_use]
    pub const fn root() -> Self {
        Self { text: String::new(), seen_from: 0 }
    }

    /// Parses the folder of an agent, from which paths are seen.
    ///
    /// # Errors
    /// As [`WorkspacePath::parse`].
    pub fn folder(text: &str) -> Result<Self, PathError> {
        let Self { text, .. } = Self::parse(text)?;
        Ok(Self { seen_from: text.len(), text })
    }

    /// Parses the path of a file or folder: a leading `/` means the workspace's root, `\` counts as
    /// `/`, and `.`, `..` and repeated slashes are resolved.
    ///
    /// # Errors
    /// [`PathError::Nul`], [`PathError::TooLong`], or [`PathError::Outside`] for a path that climbs
    /// above the root, starts with a drive letter or stands below `~`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        Self::root().at(text)
    }

    /// Parses a path as an agent in this folder means it: it begins here, a leading `/` still means
    /// the workspace's root, and either way it must lead to this folder or below.
    ///
    /// # Errors
    /// As [`WorkspacePath::parse`]; [`PathError::Astray`] for a path that leaves this folder.
    pub fn at(&self, text: &str) -> Result<Self, PathError> {
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.len() > MAX_BYTES {
            return Err(PathError::TooLong);
        }
        if has_drive(text) {
            return Err(PathError::Outside);
        }
        let resolved = resolved(&self.text, text).ok_or(PathError::Outside)?;
        let path = Self { text: resolved, seen_from: self.seen_from };
        match seen(&self.text, &path.text) {
            None => Err(PathError::Astray),
            // A path with `~` means the home folder; without a shell it would name a folder in the
            // workspace.
            Some(seen) if seen == "~" || seen.starts_with("~/") => Err(PathError::Outside),
            Some(_) => Ok(path),
        }
    }

    /// Parses the path of a file.
    ///
    /// # Errors
    /// As [`WorkspacePath::parse`]; [`PathError::Empty`] for an empty text, and
    /// [`PathError::Folder`] for the root and for a trailing slash.
    pub fn parse_file(text: &str) -> Result<Self, PathError> {
        Self::root().file_at(text)
    }

    /// Parses the path of a file as an agent in this folder means it.
    ///
    /// # Errors
    /// As [`WorkspacePath::at`] and [`WorkspacePath::parse_file`].
    pub fn file_at(&self, text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        let path = self.at(text)?;
        if path == *self || text.ends_with(['/', '\\']) {
            return Err(PathError::Folder);
        }
        Ok(path)
    }

    /// Returns the path from the workspace's root on; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the path from the folder on that it is seen from; empty for the folder itself.
    #[must_use]
    pub fn seen(&self) -> &str {
        let seen = self.text.get(self.seen_from..).unwrap_or_default();
        seen.strip_prefix('/').unwrap_or(seen)
    }

    /// Returns a path of the workspace as it is seen from this folder.
    pub(crate) fn seen_here<'a>(&self, path: &'a str) -> &'a str {
        seen(&self.text, path).unwrap_or(path)
    }

    /// Returns the folder that the path is seen from.
    pub(crate) fn seen_from(&self) -> Self {
        let text = self.text.get(..self.seen_from).unwrap_or_default().to_owned();
        Self { text, seen_from: self.seen_from }
    }

    /// Returns whether this is the workspace's root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the path of the entry `name` of this folder; `name` is not parsed.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let mut text = String::with_capacity(self.text.len() + 1 + name.len());
        if !self.is_root() {
            text.push_str(&self.text);
            text.push('/');
        }
        text.push_str(name);
        Self { text, seen_from: self.seen_from }
    }

    /// Returns the folder that holds this entry; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let above = self.text.rsplit_once('/').map_or("", |(above, _)| above);
        Some(Self { text: above.to_owned(), seen_from: self.seen_from })
    }

    /// Returns the last name of the path; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.rsplit_once('/').map_or(self.as_str(), |(_, name)| name)
    }

    /// Returns the names of the path, from the root down.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.text.split('/').filter(|name| !name.is_empty())
    }

    /// Returns the path from the workspace's root on.
    pub(crate) fn into_string(self) -> String {
        self.text
    }

    /// Returns the path relative to the folder `above`; the whole path if it is not below that.
    #[must_use]
    pub fn relative_to(&self, above: &Self) -> &str {
        if above.is_root() { &self.text } else { above.seen_here(&self.text) }
    }
}

/// The path from the folder on that it is seen from, with `.` for the folder itself.
impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.seen().is_empty() { "." } else { self.seen() })
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "The path is empty. Name a file, for example src/main.rs.",
            Self::Nul => "The path contains a NUL character. Remove it.",
            Self::TooLong => "The path is longer than 4,096 bytes. Use a shorter one.",
            Self::Outside => "leads out of the workspace. Use a path relative to the workspace.",
            Self::Astray => {
                "leads out of your working directory. Use a path relative to that directory."
            }
            Self::Folder => "names a folder. Name a file.",
        })
    }
}

/// Returns whether `text` starts like `C:\` or `c:/`.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns a name in lower case, each letter by itself.
pub(crate) fn lower_case(name: &str) -> String {
    name.chars().map(lower).collect()
}

/// Returns a letter of the Latin, Greek, Cyrillic or Armenian script in lower case. The standard
/// library knows the rare ones, too, by tables that take 11 KB of the page's module.
fn lower(letter: char) -> char {
    let code = u32::from(letter);
    let lower = match code {
        0x41..=0x5a | 0xc0..=0xd6 | 0xd8..=0xde | 0x391..=0x3a1 | 0x3a3..=0x3ab | 0x410..=0x42f => {
            code + 0x20
        }
        0x178 => 0xff,
        0x37f => 0x3f3,
        0x386 => 0x3ac,
        0x388..=0x38a => code + 0x25,
        0x38c => 0x3cc,
        0x38e..=0x38f => code + 0x3f,
        0x400..=0x40f => code + 0x50,
        0x4c0 => 0x4cf,
        0x531..=0x556 => code + 0x30,
        // Pairs whose lower letter has the odd number.
        0x100..=0x12f
        | 0x132..=0x137
        | 0x14a..=0x177
        | 0x370..=0x373
        | 0x376..=0x377
        | 0x460..=0x481
        | 0x48a..=0x4bf
        | 0x4d0..=0x52f
        | 0x1e00..=0x1e95
        | 0x1ea0..=0x1eff => code | 1,
        // Pairs whose lower letter has the even number.
        0x139..=0x148 | 0x179..=0x17e | 0x4c1..=0x4ce => code + code % 2,
        _ => code,
    };
    char::from_u32(lower).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::lower;

    #[test]
    fn letters_have_the_lower_case_of_the_standard_library() {
        // All but the capital I with a dot, whose lower case is two characters.
        let letters = ('\0'..='\u{17f}').chain('\u{370}'..='\u{3ce}').chain('\u{400}'..='\u{587}');
        for letter in letters.chain('\u{1e00}'..='\u{1e95}').chain('\u{1ea0}'..='\u{1eff}') {
            let expected: Vec<char> = letter.to_lowercase().collect();
            if letter != '\u{130}' {
                assert_eq!([lower(letter)], expected[..], "{:x}", u32::from(letter));
            }
        }
    }
}
