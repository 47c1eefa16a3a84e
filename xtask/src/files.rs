//! Files and folders, with reasons that name the path. A copy is written only when its bytes
//! differ, so that nothing is rebuilt for its modification time alone.

use std::fs;
use std::io;
use std::path::Path;

use crate::failure::TaskError;

/// Reads a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, TaskError> {
    fs::read(file).map_err(|error| failed("read", file, &error))
}

/// Returns whether a file is there and was written after another.
pub(crate) fn is_newer(path: &Path, than: &Path) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    written(path).zip(written(than)).is_some_and(|(one, other)| one > other)
}

/// Returns whether both files exist and hold the same bytes.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Writes a file and the folders above it, unless it holds these bytes already; says whether it
/// wrote.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_if_changed(file: &Path, bytes: &[u8]) -> Result<bool, TaskError> {
    if fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        create_folder(folder)?;
    }
    fs::write(file, bytes).map_err(|error| failed("write", file, &error))?;
    Ok(true)
}

/// Copies a file unless the copy holds the same bytes already; says whether it wrote.
///
/// # Errors
/// When one cannot be read or the other not written.
pub(crate) fn copy_if_changed(from: &Path, to: &Path) -> Result<bool, TaskError> {
    write_if_changed(to, &read(from)?)
}

/// Copies a folder with all that is in it; a link is an error, since the copy must stand alone.
///
/// # Errors
/// When something cannot be read, written, or is neither file nor folder.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<(), TaskError> {
    create_folder(to)?;
    let entries = fs::read_dir(from).map_err(|error| failed("list", from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed("list", from, &error))?;
        let kind = entry.file_type().map_err(|error| failed("look at", &entry.path(), &error))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            write_if_changed(&target, &read(&entry.path())?)?;
        } else {
            return Err(TaskError(format!(
                "{} is neither file nor folder",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

/// Creates a folder and those above it.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn create_folder(folder: &Path) -> Result<(), TaskError> {
    fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))
}

/// Removes a folder with all that is in it; one that is not there is fine.
///
/// # Errors
/// When it is there and cannot be removed.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), TaskError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", folder, &error))
        }
        _ => Ok(()),
    }
}

/// Gives a file another name.
///
/// # Errors
/// When it cannot be renamed.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), TaskError> {
    fs::rename(from, to).map_err(|error| failed("rename", from, &error))
}

/// Lets everybody read a folder and all that is in it, its owner write, and everybody run what
/// `is_program` says.
///
/// # Errors
/// When something cannot be listed or changed.
pub(crate) fn set_modes(
    folder: &Path,
    is_program: &dyn Fn(&Path) -> bool,
) -> Result<(), TaskError> {
    set_mode(folder, 0o755)?;
    for entry in fs::read_dir(folder).map_err(|error| failed("list", folder, &error))? {
        let path = entry.map_err(|error| failed("list", folder, &error))?.path();
        match path.is_dir() {
            true => set_modes(&path, is_program)?,
            false => set_mode(&path, if is_program(&path) { 0o755 } else { 0o644 })?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Result<(), TaskError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|error| failed("change the mode of", path, &error))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> Result<(), TaskError> {
    Ok(())
}

fn failed(verb: &str, path: &Path, error: &io::Error) -> TaskError {
    TaskError(format!("cannot {verb} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process;

    #[test]
    fn only_other_bytes_are_written() -> Result<(), TaskError> {
        let folder = env::temp_dir().join(format!("xtask-files-{}", process::id()));
        let file = folder.join("deep/file");
        assert!(write_if_changed(&file, b"one")?);
        assert!(!write_if_changed(&file, b"one")?);
        assert!(write_if_changed(&file, b"two")?);
        let copy = folder.join("copy");
        copy_folder(&folder.join("deep"), &copy)?;
        assert!(same(&file, &copy.join("file")));
        assert!(!same(&file, &copy.join("nothing")) && !same(&copy, &copy));
        remove_folder(&folder)?;
        remove_folder(&folder)
    }
}
