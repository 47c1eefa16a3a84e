//! The arguments of a call in the user's editor, through a temporary file that only the user may
//! read.

use innerloop_core::json::Json;
use innerloop_host::journal::private;
use serde_json::Value;
use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{self, Command},
};

/// Opens the arguments in the editor; returns them as the user leaves them, or none if they are
/// unchanged.
///
/// # Errors
/// There is no editor, it has failed, or the text is no longer JSON.
pub(super) async fn edited(arguments: &Json) -> Result<Option<Json>, String> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR"));
    let editor = editor.ok_or("there is no editor; set VISUAL or EDITOR")?;
    let value: Value = serde_json::from_str(arguments.text()).map_err(|error| error.to_string())?;
    let text = format!("{value:#}\n");
    let file = env::temp_dir().join(format!("innerloop-call-{}.json", process::id()));
    let before = text.clone();
    // On another thread, so that signals are still handled while the editor runs.
    let work = tokio::task::spawn_blocking(move || through(&editor, &file, &text));
    let after = work.await.map_err(io::Error::other).flatten();
    let after = after.map_err(|error| format!("the editor failed: {error}"))?;
    if after == before {
        return Ok(None);
    }
    let json = Json::parse(after.trim()).map_err(|error| format!("that is no JSON: {error}"))?;
    Ok(Some(json))
}

fn through(editor: &std::ffi::OsStr, file: &PathBuf, text: &str) -> io::Result<String> {
    let removed = TempFileGuard(file);
    // `create_new`: in a shared temporary folder somebody else may have put a link there.
    let mut written = private(fs::OpenOptions::new().write(true).create_new(true)).open(file)?;
    written.write_all(text.as_bytes())?;
    drop(written);
    let edited = run(editor, file).and_then(|()| fs::read_to_string(file));
    drop(removed);
    edited
}

/// Runs the editor through a shell, since `VISUAL` and `EDITOR` may hold options. The variable and
/// the file reach the shell as data, not as part of the script.
fn run(editor: &std::ffi::OsStr, file: &Path) -> io::Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", "eval \"$INNERLOOP_EDITOR\" '\"$1\"'", "sh"]).arg(file);
    ended(command.env("INNERLOOP_EDITOR", editor))
}

fn ended(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// A guard that removes the file.
struct TempFileGuard<'a>(&'a Path);

impl Drop for TempFileGuard<'_> {
    fn drop(&mut self) {
        drop(fs::remove_file(self.0));
    }
}
