//! The command lines that agents type, with bash's answers: `fixtures/shell/lines.json`, which the
//! test binary `shell-lines` makes and the tests of both hosts read.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// The fixture.
pub const LINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/shell/lines.json");

/// All of it.
#[derive(Debug, Deserialize)]
pub struct Lines {
    /// The files of the folder that each line is carried out in, by their paths.
    pub files: BTreeMap<String, String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A command line and what bash answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Line {
    /// What the case is called.
    pub name: String,
    /// The command line.
    pub line: String,
    /// What it prints.
    #[serde(default)]
    pub stdout: String,
    /// What it prints on standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Its exit status.
    #[serde(default)]
    pub status: i32,
    /// Why our shell answers otherwise, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
}

impl Lines {
    /// Reads the fixture.
    pub fn read() -> Self {
        serde_json::from_str(&fs::read_to_string(LINES).unwrap()).unwrap()
    }

    /// Writes the fixture, a line of it for each of the lines.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self) -> io::Result<()> {
        let files = serde_json::to_string_pretty(&self.files)?.replace('\n', "\n  ");
        let lines: Vec<String> =
            self.lines.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let lines = lines.join(",\n    ");
        let text = format!("{{\n  \"files\": {files},\n  \"lines\": [\n    {lines}\n  ]\n}}\n");
        fs::write(LINES, text)
    }

    /// Puts the files into a folder; a script can be executed.
    ///
    /// # Errors
    /// If one can't be written.
    pub fn put(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, text)?;
            if text.starts_with("#!") {
                fs::set_permissions(&path, Permissions::from_mode(0o755))?;
            }
        }
        Ok(())
    }
}

/// The fixture of lines that are nested without measure, which the tests of both hosts read.
#[derive(Debug, Deserialize)]
pub struct NestedLines {
    /// How deep each is nested.
    pub depth: usize,
    /// The lines.
    pub lines: Vec<NestedLine>,
}

/// A line that is nested, and what our shell says to it.
#[derive(Debug, Deserialize)]
pub struct NestedLine {
    /// What the case is called.
    pub name: String,
    /// What stands before all that is nested.
    pub before: String,
    /// What each level begins with.
    pub open: String,
    /// What stands in the innermost level.
    pub inner: String,
    /// What each level ends with.
    pub close: String,
    /// What stands behind all that is nested.
    pub after: String,
    /// Its exit status.
    pub status: i32,
    /// What it prints.
    pub stdout: String,
    /// A part of what it prints on standard error.
    pub stderr: String,
}

impl NestedLines {
    /// Reads the fixture.
    pub fn read() -> Self {
        let path = Path::new(LINES).with_file_name("nested.json");
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }
}

impl NestedLine {
    /// The command line.
    pub fn text(&self, depth: usize) -> String {
        let Self { before, open, inner, close, after, .. } = self;
        format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth))
    }
}
