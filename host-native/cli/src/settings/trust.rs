//! The user's answers about projects' files: which may be obeyed. An answer is stored with the
//! digest of the file that was shown, so that it no longer holds when the file changes.

use super::project::ProjectFile;
use innerloop_sandbox::toml_place::place;
use innerloop_workspace::{app_dirs, private_files};
use serde::Deserialize;
use std::{collections::BTreeMap, io, path::PathBuf};
use toml_edit::{DocumentMut, Item, Table, value};

/// The most bytes of the stored answers.
const MAX_BYTES: u64 = 4 << 20;

/// The write permissions of group and others, with which the file is refused: anybody who could
/// write to it could answer yes in the user's place.
const FORBIDDEN: u32 = 0o022;

/// The record that is kept of one folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    sha256: String,
    trusted: bool,
}

/// Returns the answer about a project's file as it is now; none if it was never given or the file
/// has changed since.
///
/// # Errors
/// The stored answers can't be read.
pub(super) fn said(file: &ProjectFile) -> Result<Option<bool>, String> {
    let Some(folder) = file.folder.to_str() else { return Ok(None) };
    let Some(text) = kept()? else { return Ok(None) };
    let all: BTreeMap<String, TrustRecord> =
        toml::from_str(&text).map_err(|error| unusable(&place(&text, &error)))?;
    // A no lapses with the file, too: another content is another question.
    let same = all.get(folder).filter(|kept| kept.sha256 == file.digest.to_string());
    Ok(same.map(|kept| kept.trusted))
}

/// Stores the answer about a project's file as it is now; removes it if `answer` is none.
///
/// # Errors
/// The answers can't be read or written.
pub(super) fn keep(file: &ProjectFile, answer: Option<bool>) -> Result<(), String> {
    let folder = file.folder.to_str().ok_or("the folder's path is no text in UTF-8")?;
    let text = kept()?.unwrap_or_default();
    let mut all: DocumentMut = text.parse().map_err(|_| unusable("it is no TOML"))?;
    match answer {
        Some(trusted) => {
            let mut kept = Table::new();
            kept.insert("sha256", value(file.digest.to_string()));
            kept.insert("trusted", value(trusted));
            all.insert(folder, Item::Table(kept));
        }
        None => drop(all.remove(folder)),
    }
    let path = path().map_err(|error| error.to_string())?;
    let written = private_files::keep(&path, all.to_string().as_bytes());
    written.map_err(|error| app_dirs::unwritten(&path, &error))
}

fn kept() -> Result<Option<String>, String> {
    // Without a home folder nothing was ever stored; that is not an error for a reader.
    let Ok(path) = path() else { return Ok(None) };
    let bytes =
        private_files::read_own(&path, MAX_BYTES, FORBIDDEN).map_err(|error| error.to_string())?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| unusable("it is no text in UTF-8"))
}

fn unusable(why: &str) -> String {
    let path = path().map(|path| path.display().to_string()).unwrap_or_default();
    format!("cannot use {path}: {why}; remove it to be asked again")
}

fn path() -> io::Result<PathBuf> {
    let none = || io::Error::other("there is no home folder; set INNERLOOP_HOME");
    Ok(app_dirs::state().ok_or_else(none)?.join("trust.toml"))
}
