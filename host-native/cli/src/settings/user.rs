//! The user's own file.

use super::layer::{SettingSource, SettingsLayer};
use innerloop_workspace::{app_dirs, plain_file, private_files::is_absent};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Most bytes of such a file.
const MAX_BYTES: u64 = 1 << 20;

/// Returns where it is, or would be; nowhere for a user without a home.
pub(super) fn path() -> Option<PathBuf> {
    app_dirs::config().map(|folder| folder.join("config.toml"))
}

/// Returns what it says, if there is one.
///
/// # Errors
/// It can't be read or understood.
pub(super) fn read() -> Result<Option<SettingsLayer>, String> {
    let Some(path) = path() else { return Ok(None) };
    let told = |why: String| format!("cannot use {}: {why}", path.display());
    let Some(text) = text(&path).map_err(|error| told(error.to_string()))? else {
        return Ok(None);
    };
    SettingsLayer::of_text(SettingSource::User(path.clone()), &text).map(Some).map_err(told)
}

/// The text of a settings file; nothing if there is none.
pub(super) fn text(path: &Path) -> io::Result<Option<String>> {
    // A pipe would be waited for.
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
