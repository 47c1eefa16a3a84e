//! The file of keys that `innerloop login` writes, which only its user may read. Its content never
//! appears in an error.

use innerloop_driver::ApiKey;
use innerloop_workspace::{app_dirs, private_files};
use std::{collections::BTreeMap, path::PathBuf};
use toml_edit::{DocumentMut, value};

/// The most bytes of the file.
const MAX_BYTES: u64 = 1 << 20;

/// The permissions with which the file is refused: all of group and others.
const FORBIDDEN: u32 = 0o077;

/// The beginning of a new file.
const HEAD: &str =
    "# The keys that `innerloop login` was given. They are nobody else's business.\n";

/// Returns the path of the file, whether or not it exists; none for a user without a home.
pub(super) fn path() -> Option<PathBuf> {
    app_dirs::state().map(|folder| folder.join("credentials.toml"))
}

/// Reads the keys, by their providers' names. They are read anew each time: another program may
/// have written one meanwhile.
///
/// # Errors
/// The file can't be read or parsed, or others may read it.
pub(super) fn read() -> Result<BTreeMap<String, ApiKey>, String> {
    let Some(text) = text()? else { return Ok(BTreeMap::new()) };
    // The parser's message would quote the line, and with it a key.
    let keys: BTreeMap<String, String> = toml::from_str(&text).map_err(|_| unfit())?;
    Ok(keys.into_iter().map(|(name, key)| (name, ApiKey::new(&key))).collect())
}

/// Stores a provider's key, or removes it; returns whether there was one before.
///
/// # Errors
/// As [`read`], or the file can't be written.
pub(super) fn put(provider: &str, key: Option<&ApiKey>) -> Result<bool, String> {
    let path = path().ok_or("there is no home folder; set INNERLOOP_HOME")?;
    let text = text()?.unwrap_or_else(|| HEAD.to_owned());
    let mut file: DocumentMut = text.parse().map_err(|_| unfit())?;
    let before = match key {
        Some(key) => file.insert(provider, value(key.expose())),
        None => file.remove(provider),
    };
    if key.is_some() || before.is_some() {
        let closed = path.parent().map_or(Ok(()), private_files::closed);
        let written = closed.and_then(|()| private_files::keep(&path, file.to_string().as_bytes()));
        written.map_err(|error| app_dirs::unwritten(&path, &error))?;
    }
    Ok(before.is_some())
}

fn text() -> Result<Option<String>, String> {
    let Some(path) = path() else { return Ok(None) };
    let bytes =
        private_files::read_own(&path, MAX_BYTES, FORBIDDEN).map_err(|error| error.to_string())?;
    bytes.map(String::from_utf8).transpose().map_err(|_| unfit())
}

fn unfit() -> String {
    let path = path().map(|path| path.display().to_string()).unwrap_or_default();
    format!("cannot use {path}: it should hold lines of the form PROVIDER = \"KEY\"")
}
