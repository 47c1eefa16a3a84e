//! Bulk calls on files for the shell: a file's attributes, all entries of a folder with theirs, a
//! whole file. Each is one step where WASI needs several, and each call out of a guest waits for a
//! thread. They go through `GuestFiles`, so that they reach and change no more than WASI's calls.

use super::{
    errno,
    files::{GuestFiles, OpenFlags},
    listing::file_type,
    wasi_error::CallError,
};
use innerloop_workspace::PathStat;

/// The descriptor of the folder that a shell sees as `/`.
const ROOT: i32 = 3;

/// The largest file in bytes that is read whole.
const MAX_FILE: u64 = 64 << 20;

/// The most bytes of a folder's entries.
const MAX_LIST: usize = 64 << 20;

/// The number of bytes that describe a file: its kind (1), permissions (2), size (8) and the time
/// of its last modification (8).
pub(super) const ABOUT: usize = 19;

/// The description of the file, folder or link at a path. A link is not followed.
pub(super) fn stat(files: &mut GuestFiles, path: &str) -> Result<[u8; ABOUT], CallError> {
    files.stat(ROOT, path, false).map(|found| about(&found))
}

/// Sets a file's permissions, as mode bits.
pub(super) fn set_mode(files: &mut GuestFiles, path: &str, mode: u32) -> Result<(), CallError> {
    files.set_mode(ROOT, path, mode)
}

/// All entries of a folder except `.` and `..`, in the order of their names: the description of
/// each, the length of its name in two bytes, and its name.
pub(super) fn list(files: &mut GuestFiles, path: &str) -> Result<Vec<u8>, CallError> {
    let mut list = Vec::new();
    for (name, found) in files.entries(ROOT, path)? {
        // WASI's paths are UTF-8: no guest could name such a file, and its neighbours must not be
        // hidden by an error.
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

/// The whole content of a file.
pub(super) fn read(files: &mut GuestFiles, path: &str) -> Result<Vec<u8>, CallError> {
    let how = OpenFlags { follow: true, read: true, ..OpenFlags::default() };
    // Opened as a guest opens it, so that the checks and the limit of open files hold. The
    // descriptor is closed whether or not it could be read.
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
