//! The copy of the sources that faults are put into, so that nobody's work is touched; and which
//! lines have changed.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::suites::CRATES;
use crate::failure::TaskError;
use crate::files;
use crate::process;
use crate::workspace::Workspace;

/// Keeps others from putting faults into the same copy, for as long as the file is held.
///
/// # Errors
/// When another run goes on, or the lock cannot be written.
pub(crate) fn lock(out: &Path) -> Result<File, TaskError> {
    files::create_folder(out)?;
    let path = out.join("lock");
    let unwritable = |error| TaskError(format!("cannot write {}: {error}", path.display()));
    let file = File::create(&path).map_err(unwritable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(TaskError("another run goes on here".to_owned())),
        Err(TryLockError::Error(error)) => Err(unwritable(error)),
    }
}

/// Makes `tree` a copy of all files that git knows or would take. What is the same stays as it is,
/// so that it is not built again.
///
/// # Errors
/// When git does not answer, or a file cannot be copied.
pub(crate) fn copy(workspace: &Workspace, tree: &Path) -> Result<(), TaskError> {
    let mut git = workspace.program("git", "");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = process::capture(&mut git)?;
    // A file that was removed is listed until that is committed.
    let here = listed.split('\0').filter(|path| workspace.path(path).is_file());
    let kept: BTreeSet<PathBuf> = here.map(PathBuf::from).collect();
    for path in &kept {
        files::copy_if_changed(&workspace.path(&path.to_string_lossy()), &tree.join(path))?;
    }
    remove_others(tree, Path::new(""), &kept)
}

/// Removes the files below a folder that are not in the list.
fn remove_others(tree: &Path, inside: &Path, kept: &BTreeSet<PathBuf>) -> Result<(), TaskError> {
    let folder = tree.join(inside);
    let failed = |error| TaskError(format!("cannot tidy {}: {error}", folder.display()));
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = inside.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            remove_others(tree, &path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes a diff of what has changed in the crates since the upstream branch, or since the last
/// commit but one where there is none or nothing is ahead of it. Nothing if nothing has changed.
///
/// # Errors
/// When git does not answer, or the diff cannot be written.
pub(crate) fn changes(workspace: &Workspace, out: &Path) -> Result<Option<PathBuf>, TaskError> {
    let git = |arguments: &[&str]| {
        process::capture(
            workspace.program("git", "").args(["-c", "core.quotepath=off"]).args(arguments),
        )
    };
    let folders = CRATES.map(|(folder, _)| format!("{folder}/src"));
    let diff = |base: &str| {
        let paths = folders.iter().map(String::as_str);
        let words = ["diff", "--no-color", "--no-ext-diff", base, "--"];
        git(&words.into_iter().chain(paths).collect::<Vec<_>>())
    };
    let upstream = git(&["merge-base", "HEAD", "@{upstream}"]);
    let mut base = upstream.unwrap_or_else(|_| "HEAD~".to_owned());
    let mut text = diff(&base)?;
    if text.is_empty() && base != "HEAD~" {
        base = "HEAD~".to_owned();
        text = diff(&base)?;
    }
    if text.is_empty() {
        return Ok(None);
    }
    println!("== lines changed since {base}");
    let file = out.join("changes.diff");
    files::write_if_changed(&file, format!("{text}\n").as_bytes())?;
    Ok(Some(file))
}
