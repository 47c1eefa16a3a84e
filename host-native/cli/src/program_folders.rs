//! The checks of the program's own folders for `innerloop doctor`: where they are, how much they
//! hold, and whether they can be written to.

use super::diagnostic::CheckFinding::{self, Fine, Warning};
use innerloop_workspace::{
    app_dirs,
    platform::{is_writable, room},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The free space below which a warning is given.
const LITTLE: u64 = 512 << 20;

/// The most entries of a folder that are counted.
const MOST_ENTRIES: usize = 100_000;

/// Returns the findings about each folder, by its name.
pub(super) fn findings() -> Vec<(&'static str, CheckFinding)> {
    let config = "XDG_CONFIG_HOME";
    vec![
        ("cache", finding(app_dirs::cache(), "compiled modules", "INNERLOOP_CACHE_DIR", true)),
        ("state", finding(app_dirs::state(), "sessions and keys", "XDG_STATE_HOME", true)),
        ("data", finding(app_dirs::data(), "installed programs", "XDG_DATA_HOME", true)),
        ("config", finding(app_dirs::config(), "settings and tools.toml", config, false)),
    ]
}

fn finding(folder: Option<PathBuf>, what: &str, variable: &str, is_written: bool) -> CheckFinding {
    let Some(folder) = folder else {
        return Warning(format!("there is no home folder for {what}; set {variable}"));
    };
    let shown = folder.display();
    // A folder that does not exist yet is made when it is needed: what counts is its nearest parent
    // that exists.
    let Some(there) = folder.ancestors().find(|folder| folder.is_dir()) else {
        return Warning(format!("{shown} can't be looked at; set {variable} to another folder"));
    };
    if is_written && !is_writable(there) {
        let advice = format!("make it so, or set {variable} to another folder");
        return Warning(format!("{} is not writable, for {what}; {advice}", there.display()));
    }
    if let Some(room) = room(there).filter(|room| is_written && *room < LITTLE) {
        let advice = format!("make room, or set {variable} to another folder");
        return Warning(format!("{shown} has only {} left, for {what}; {advice}", size(room)));
    }
    match there == folder {
        true => Fine(format!("{shown}, {} of {what}", size(held(&folder)))),
        false => Fine(format!("{shown}, not made yet, for {what}")),
    }
}

/// Returns the bytes of the files below a folder, without following links.
fn held(folder: &Path) -> u64 {
    let (mut bytes, mut left) = (0, MOST_ENTRIES);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(fewer) = usize::checked_sub(left, 1) else { return bytes };
            left = fewer;
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes += found.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
