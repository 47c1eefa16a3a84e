//! The files of a folder, in the order of their paths. Links are not followed.

use std::{
    fs::{self, DirEntry},
    path::{Path, PathBuf},
};

/// Folders that others have filled.
const LEFT_OUT: [&str; 2] = ["node_modules", "target"];

/// Calls `each` with every file below `path`, or with the file that stands there.
///
/// # Errors
/// There is nothing, or it can't be read. A folder further down that can't be is left out.
pub(crate) fn files(path: &Path, each: &mut impl FnMut(&Path)) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", path.display());
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_file() {
        each(path);
        return Ok(());
    }
    // A stack, so that no depth of folders is too deep.
    let mut waiting = entries(path).map_err(failed)?;
    while let Some(entry) = waiting.pop() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => waiting.extend(entries(&path).unwrap_or_default()),
            Ok(kind) if kind.is_file() => each(&plain(&path)),
            _ => {}
        }
    }
    Ok(())
}

/// The entries of a folder that count, the last one first.
fn entries(folder: &Path) -> std::io::Result<Vec<DirEntry>> {
    let counts = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !name.starts_with('.') && !LEFT_OUT.contains(&&*name)
    };
    let mut entries: Vec<DirEntry> = fs::read_dir(folder)?.flatten().filter(counts).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    Ok(entries)
}

/// The path without the `./` at its beginning.
fn plain(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}
