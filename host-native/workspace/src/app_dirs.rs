//! The folders in which this program keeps files of its own on this machine. `$INNERLOOP_HOME` is
//! one folder for settings, state and installed programs alike; the cache, which can be lost, has a
//! variable of its own. None of them is created here.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// Returns the cache folder: `$INNERLOOP_CACHE_DIR`, else `innerloop` in `$XDG_CACHE_HOME` or
/// `~/.cache`.
pub fn cache() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("INNERLOOP_CACHE_DIR")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("innerloop")))
        .or_else(|| Some(env::home_dir()?.join(".cache").join("innerloop")))
}

/// Returns the folder for sessions and other state: `$INNERLOOP_HOME`, else `innerloop` in
/// `$XDG_STATE_HOME` or `~/.local/state`.
pub fn state() -> Option<PathBuf> {
    of_user("XDG_STATE_HOME", &[".local", "state"])
}

/// Returns the folder for the user's settings: `$INNERLOOP_HOME`, else `innerloop` in
/// `$XDG_CONFIG_HOME` or `~/.config`.
pub fn config() -> Option<PathBuf> {
    of_user("XDG_CONFIG_HOME", &[".config"])
}

/// Returns the folder for installed programs: `$INNERLOOP_HOME`, else `innerloop` in
/// `$XDG_DATA_HOME` or `~/.local/share`.
pub fn data() -> Option<PathBuf> {
    of_user("XDG_DATA_HOME", &[".local", "share"])
}

/// Returns the folders whose files decide what the next run does, and with which keys and programs.
pub fn of_next_run() -> impl Iterator<Item = PathBuf> {
    // The second one holds the user's commands; what other programs keep beside them is theirs.
    let own = [".agents", ".claude/commands"];
    let own = env::home_dir().into_iter().flat_map(move |home| own.map(|name| home.join(name)));
    [config(), state(), data()].into_iter().flatten().chain(own)
}

/// Returns the message for a file or folder of these that can't be written, with what to do.
pub fn unwritten(path: &Path, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or set INNERLOOP_HOME to another folder"
        }
        _ => "set INNERLOOP_HOME to a folder that can be written to",
    };
    format!("cannot write {}: {error}; {advice}", path.display())
}

/// Returns `$INNERLOOP_HOME`, else `innerloop` in the folder that a variable names, or below the
/// home folder.
fn of_user(variable: &str, below_home: &[&str]) -> Option<PathBuf> {
    // The XDG Base Directory Specification has programs ignore paths that are not absolute.
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("INNERLOOP_HOME").or_else(|| {
        let folder = set(variable)
            .or_else(|| Some(env::home_dir()?.join(below_home.iter().collect::<PathBuf>())))?;
        Some(folder.join("innerloop"))
    })
}

/// Returns whether `folder`, or a link or folder on the way to it, is in `root`, or `root` in
/// `folder`; true if that cannot be found out.
pub fn meets(folder: &Path, root: &Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else { return true };
    // Each folder on the way is resolved, not the last one alone: a link in the workspace that
    // leads out of it could be replaced by a guest.
    let lies_inside = folder
        .ancestors()
        .any(|on_the_way| real(on_the_way).is_none_or(|on_the_way| on_the_way.starts_with(root)));
    lies_inside || real(&folder).is_none_or(|folder| root.starts_with(folder))
}

/// Returns the real path, also of something that does not exist yet.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Some(real),
        Err(_) => Some(real(path.parent()?)?.join(path.file_name()?)),
    }
}
