//! Folders and files that belong to the user alone: the cache of compiled modules and its key,
//! settings with keys, overlays that are kept. They are made and read without following a link that
//! somebody has put in their place, and nothing is used that others could have written.

use crate::platform::{DirBuilderExt as _, close_folder, create, open_quietly as open, rights};
use std::{
    fs::{self, File, Metadata, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    time::{Duration, SystemTime},
};

/// The age from which a temporary file that nobody holds locked is an abandoned one.
// A file is created first and locked then; in between it looks like one that was left.
const LOCKED: Duration = Duration::from_secs(10);

/// Creates a private folder and the folder around it, or checks those that exist.
///
/// # Errors
/// The system's, or that one belongs to somebody else, is a link, or can be written to by others.
pub fn folder(folder: &Path) -> io::Result<()> {
    // Both are checked: whoever can write to the one around could replace this one.
    let Some(cache) = folder.parent() else { return owned(folder) };
    if let Some(around) = cache.parent() {
        fs::create_dir_all(around)?;
    }
    owned(cache)?;
    owned(folder)?;
    close(folder)
}

/// Reads a file of this user's that no other user can read, nobody can write to, and that has no
/// other name.
///
/// # Errors
/// The system's, or that the file is not such a one.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file as [`read`] reads one, with the same errors.
pub fn opened(path: &Path) -> io::Result<File> {
    // What counts is the open file: the path may lead to another one by now.
    let file = open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || !is_own(&found) || !is_closed(&found) {
        return Err(unfit(path, "is not private"));
    }
    Ok(file)
}

/// Reads a file of this user's of at most `most` bytes; `None` if there is none. `forbidden` holds
/// the mode bits that it must not have.
///
/// # Errors
/// The system's, or that the file is not such a one, with what to do.
pub fn read_own(path: &Path, most: u64, forbidden: u32) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        opened => opened?,
    };
    let found = file.metadata()?;
    if !found.is_file() || found.len() > most {
        return Err(unfit(path, &format!("is no plain file of at most {most} bytes")));
    }
    if !is_own(&found) {
        return Err(unfit(path, "belongs to another user"));
    }
    if mode(&found) & forbidden != 0 {
        let what = if forbidden & 0o044 == 0 { "changed" } else { "read" };
        let fix = format!("chmod 600 '{}'", path.display());
        return Err(unfit(path, &format!("can be {what} by other users; fix it with {fix}")));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Returns whether the error says that nothing stands there.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Writes these bytes to a file that its owner can read and nobody can write to. They go into a new
/// file beside it, which is renamed, so that nobody reads half a file.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, 0o400)
}

/// Writes these bytes in the same way to a file that its owner can change, in a folder that is
/// created for its owner alone if there is none. Others have the permissions that they had before.
pub fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let before = fs::symlink_metadata(path).map_or(0, |found| mode(&found) & 0o666);
    replace(path, bytes, before | 0o600)
}

/// Creates a folder for this user alone, or closes an existing one to all others.
///
/// # Errors
/// The system's, or that the folder belongs to another user.
pub fn closed(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = fs::metadata(folder)?;
    if found.is_dir() && is_own(&found) {
        return close(folder);
    }
    Err(unfit(folder, "belongs to another user"))
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = path.with_extension(format!("{:016x}.tmp", u64::from_ne_bytes(random()?)));
    let mut file = create(&temporary, mode)?;
    // Not all file systems have locks. Without one, only the file's age protects it from `sweep`.
    let _ = lock(&file);
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes the temporary files of programs that were killed while they wrote.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_temporary = path.extension().is_some_and(|end| end == "tmp");
        let written = entry.metadata().and_then(|found| found.modified());
        let is_old = |at: SystemTime| at.elapsed().is_ok_and(|age| age > LOCKED);
        if is_temporary && written.is_ok_and(is_old) && is_left(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns whether nobody holds the lock of a temporary file.
fn is_left(path: &Path) -> bool {
    // The files that this program makes can be opened by their owner. Nobody writes to anything
    // else that ends with `.tmp` in these folders, such as a link.
    open(path).map_or(true, |file| !matches!(lock(&file), Err(TryLockError::WouldBlock)))
}

/// Locks a file until the handle is closed.
fn lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Returns random bytes of the system that nobody can guess.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Makes the error that says why a file or folder is not used.
fn unfit(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{} {why}", path.display()))
}

/// Creates a folder, or checks that an existing one is the user's and only the user's to change.
fn owned(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // A link counts as no folder: whoever made it could make it lead elsewhere later.
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(unfit(folder, "is not a folder"));
    }
    if !is_own(&found) {
        return Err(unfit(folder, "belongs to another user"));
    }
    if mode(&found) & 0o022 != 0 {
        return Err(unfit(folder, "can be written to by other users; remove it or chmod 700 it"));
    }
    Ok(())
}

/// Lets nobody else look into the folder, unless that is so already.
fn close(folder: &Path) -> io::Result<()> {
    if mode(&fs::metadata(folder)?) & 0o077 == 0 {
        return Ok(());
    }
    close_folder(folder)
}

fn is_own(found: &Metadata) -> bool {
    rights(found).is_own
}

/// Returns the mode bits, none of which are set on a system without modes.
fn mode(found: &Metadata) -> u32 {
    // There the access control lists of the user's folders keep others out, and are not looked at.
    rights(found).mode.unwrap_or(0)
}

/// Returns whether nobody but its owner can read a file, nobody can write to it, and it has one
/// name; false on a system without modes.
fn is_closed(found: &Metadata) -> bool {
    // No guest can make such a file: whatever one makes, its owner can write to. So a file in a
    // folder that a guest has put in the place of this one does not count.
    let rights = rights(found);
    rights.mode.is_some_and(|mode| mode & 0o277 == 0) && rights.links == Some(1)
}
