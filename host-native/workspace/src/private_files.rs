//! A folder, and files in it, that belong to the user alone: how they are made and read without
//! following a link that somebody has put in their place.

use crate::platform::{DirBuilderExt as _, close_folder, create, open_quietly as open, rights};
use std::{
    fs::{self, File, Metadata, TryLockError},
    io::{self, Read as _, Write as _},
    path::Path,
    time::{Duration, SystemTime},
};

/// After this time, whoever writes to a temporary file holds its lock.
const LOCKED: Duration = Duration::from_secs(10);

/// Makes the folder and the cache folder around it, or checks them: whoever can write to either
/// could put an artefact there.
pub fn folder(folder: &Path) -> io::Result<()> {
    let Some(cache) = folder.parent() else { return owned(folder) };
    if let Some(around) = cache.parent() {
        fs::create_dir_all(around)?;
    }
    owned(cache)?;
    owned(folder)?;
    close(folder)
}

/// Reads a file of this user's that nobody else can read or has a name for.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens such a file.
pub fn opened(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || !is_own(&found) || !is_closed(&found) {
        return Err(unfit(path, "is not private"));
    }
    Ok(file)
}

/// Reads a file of this user's of no more bytes than `most`; nothing if there is none. What others
/// may do with it, as bits of its mode, must not be in `forbidden`.
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

/// Writes these bytes into a new file beside the target and renames it, so that nobody reads half
/// a file. Its owner may read it, nobody may write to it. Its lock is held until then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, 0o400)
}

/// The same for a file that its owner may change, too, in a folder that is made for its owner
/// alone if there is none. Others may do with it what they could before.
pub fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let before = fs::symlink_metadata(path).map_or(0, |found| mode(&found) & 0o666);
    replace(path, bytes, before | 0o600)
}

/// Makes a folder of this user's alone, or closes one that is there to all others.
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
    // Not all file systems have locks; without one, whoever writes must be quick.
    let _ = lock(&file);
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes what a program has left that was ended while it wrote.
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

/// Returns whether nobody holds the lock of what stands there.
fn is_left(path: &Path) -> bool {
    // What cannot be opened is nothing that this program has made.
    open(path).map_or(true, |file| !matches!(lock(&file), Err(TryLockError::WouldBlock)))
}

/// Takes the lock of a file, which ends with whoever holds it.
fn lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// The error that says why something is not used.
fn unfit(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{} {why}", path.display()))
}

fn owned(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
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

/// Lets nobody else look into the folder.
fn close(folder: &Path) -> io::Result<()> {
    if mode(&fs::metadata(folder)?) & 0o077 == 0 {
        return Ok(());
    }
    close_folder(folder)
}

fn is_own(found: &Metadata) -> bool {
    rights(found).is_own
}

/// Returns who may do what with it, as bits. A system without them has others' rights where this
/// program does not look: what lies in a user's own folders is kept from others by these.
fn mode(found: &Metadata) -> u32 {
    rights(found).mode.unwrap_or(0)
}

/// A guest can make no such file: WASI knows no modes, so that whatever one makes can be written
/// to. Where there are none, no file is.
fn is_closed(found: &Metadata) -> bool {
    let rights = rights(found);
    rights.mode.is_some_and(|mode| mode & 0o277 == 0) && rights.links == Some(1)
}
