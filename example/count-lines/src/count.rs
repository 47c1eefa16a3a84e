//! Counting one file, piece by piece, and what language it is in.

use serde::Serialize;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// Files, and what is in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FileCounts {
    pub(crate) files: u64,
    /// Line breaks, and a last line without one.
    pub(crate) lines: u64,
    /// Words, which white space separates.
    pub(crate) words: u64,
    pub(crate) bytes: u64,
}

impl FileCounts {
    /// Returns what is in a file; nothing if it is binary: if it holds a zero byte.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        Self::read(File::open(path)?)
    }

    fn read(mut text: impl Read) -> io::Result<Option<Self>> {
        let mut count = Self { files: 1, ..Self::default() };
        let mut piece = vec![0; PIECE];
        let (mut is_in_word, mut is_in_line) = (false, false);
        loop {
            let length = text.read(&mut piece)?;
            let bytes = piece.get(..length).unwrap_or_default();
            if bytes.contains(&0) {
                return Ok(None);
            }
            let Some(last) = bytes.last() else { break };
            is_in_line = *last != b'\n';
            for byte in bytes {
                let is_space = byte.is_ascii_whitespace();
                count.words += u64::from(!is_space && !is_in_word);
                count.lines += u64::from(*byte == b'\n');
                is_in_word = !is_space;
            }
            count.bytes += bytes.len() as u64;
        }
        count.lines += u64::from(is_in_line);
        Ok(Some(count))
    }

    /// Adds what another one has.
    pub(crate) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.lines += other.lines;
        self.words += other.words;
        self.bytes += other.bytes;
    }
}

/// A file's language, by its name.
pub(crate) fn language(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        "Makefile" | "makefile" | "GNUmakefile" => return "Make",
        "Dockerfile" => return "Docker",
        _ => {}
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "" => "other",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" => "C++",
        "cs" => "C#",
        "css" | "scss" => "CSS",
        "go" => "Go",
        "htm" | "html" => "HTML",
        "java" => "Java",
        "cjs" | "js" | "jsx" | "mjs" => "JavaScript",
        "json" | "jsonl" => "JSON",
        "kt" => "Kotlin",
        "md" => "Markdown",
        "php" => "PHP",
        "py" => "Python",
        "rb" => "Ruby",
        "rs" => "Rust",
        "bash" | "sh" => "Shell",
        "sql" => "SQL",
        "swift" => "Swift",
        "toml" => "TOML",
        "cts" | "mts" | "ts" | "tsx" => "TypeScript",
        "yaml" | "yml" => "YAML",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_words_are_counted_as_wc_does_and_a_last_line_as_well() {
        for (text, lines, words) in [
            ("", 0, 0),
            ("one", 1, 1),
            ("one\n", 1, 1),
            ("one two\n\n three", 3, 3),
            ("\n\n", 2, 0),
        ] {
            let bytes = text.len() as u64;
            let count = FileCounts { files: 1, lines, words, bytes };
            assert_eq!(FileCounts::read(text.as_bytes()).unwrap(), Some(count), "{text:?}");
        }
        let long = "word ".repeat(50_000);
        assert_eq!(FileCounts::read(long.as_bytes()).unwrap().unwrap().words, 50_000);
        assert_eq!(FileCounts::read(&b"a\0b"[..]).unwrap(), None);
    }

    #[test]
    fn a_language_goes_by_the_name() {
        for (path, name) in
            [("a/b.rs", "Rust"), ("Makefile", "Make"), ("a.zig", "zig"), ("a", "other")]
        {
            assert_eq!(language(Path::new(path)), name);
        }
    }
}
