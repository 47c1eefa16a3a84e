//! What a shell does to many files, each in one step where WASI needs several: what stands at a
//! path, all entries of a folder with what each is, all of a file. Judged as everything else.

use super::{
    errno,
    files::{GuestFiles, OpenFlags},
    listing::file_type,
    wasi_error::CallError,
};
use innerloop_workspace::PathStat;

/// The folder that a shell sees as `/`.
const ROOT: i32 = 3;

/// The largest file that is read whole.
const MAX_FILE: u64 = 64 << 20;

/// Most bytes of a folder's entries.
const MAX_LIST: usize = 64 << 20;

/// The number of bytes that describe a file: its kind, its permissions, its size and the time at
/// which it was last modified.
pub(super) const ABOUT: usize = 19;

/// Returns what stands at a path, be it a link.
pub(super) fn stat(files: &mut GuestFiles, path: &str) -> Result<[u8; ABOUT], CallError> {
    files.stat(ROOT, path, false).map(|found| about(&found))
}

/// Gives a file permissions, as mode bits.
pub(super) fn set_mode(files: &mut GuestFiles, path: &str, mode: u32) -> Result<(), CallError> {
    files.set_mode(ROOT, path, mode)
}

/// All entries of a folder, in the order of their names, none of which is `.` or `..`: what each
/// is, the length of its name in two bytes, its name.
pub(super) fn list(files: &mut GuestFiles, path: &str) -> Result<Vec<u8>, CallError> {
    let mut list = Vec::new();
    for (name, found) in files.entries(ROOT, path)? {
        // No guest can name it otherwise.
        let Some((name, length)) = name.to_str().zip(u16::try_from(name.len()).ok()) else {
            continue;
        };
        if list.len() > MAX_LIST {
            return Err(CallError::Errno(errno::NOMEM));
        }
        list.extend(about(&found));
        list.extend(length.to_le_bytes());
        list.extend(name.as_bytes());
    }
    Ok(list)
}

/// All that a file holds.
pub(super) fn read(files: &mut GuestFiles, path: &str) -> Result<Vec<u8>, CallError> {
    let how = OpenFlags { follow: true, read: true, ..OpenFlags::default() };
    let fd = files.open(ROOT, path, how)?.cast_signed();
    let read = files.read_all(fd, MAX_FILE);
    files.close(fd)?;
    read
}

fn about(found: &PathStat) -> [u8; ABOUT] {
    let mut about = [0; ABOUT];
    let [low, high, ..] = (found.mode & 0o7777).to_le_bytes();
    let fields = [file_type(found.kind), low, high].into_iter();
    let fields = fields.chain(found.size.to_le_bytes()).chain(found.modified.to_le_bytes());
    for (place, byte) in about.iter_mut().zip(fields) {
        *place = byte;
    }
    about
}
