//! The user's own settings file: its path, and its settings if it is there.

use super::layer::{SettingSource, SettingsLayer};
use innerloop_workspace::{app_dirs, plain_file, private_files::is_absent};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// The most bytes of such a file.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the path of the file, whether or not it exists; none for a user without a home.
pub(super) fn path() -> Option<PathBuf> {
    app_dirs::config().map(|folder| folder.join("config.toml"))
}

/// Reads the file, if there is one.
///
/// # Errors
/// It can't be read or parsed.
pub(super) fn read() -> Result<Option<SettingsLayer>, String> {
    let Some(path) = path() else { return Ok(None) };
    let told = |why: String| format!("cannot use {}: {why}", path.display());
    let Some(text) = text(&path).map_err(|error| told(error.to_string()))? else {
        return Ok(None);
    };
    SettingsLayer::of_text(SettingSource::User(path.clone()), &text).map(Some).map_err(told)
}

/// Returns the text of a settings file; none if there is no file.
pub(super) fn text(path: &Path) -> io::Result<Option<String>> {
    // Opening a pipe would block until somebody writes to it, so that the kind is checked first.
    match fs::metadata(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() || found.len() > MAX_BYTES => {
            let why = format!("it is no plain file of at most {MAX_BYTES} bytes");
            return Err(io::Error::other(why));
        }
        Ok(_) => {}
    }
    let mut text = String::new();
    plain_file::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}
