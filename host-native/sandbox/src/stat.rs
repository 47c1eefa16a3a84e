//! The attributes of files, folders and descriptors, and the times that a guest sets, in WASI's
//! layout. Nothing here touches a file.

use super::{
    files::{FileHandle, OpenNode},
    listing::file_type,
};
use innerloop_workspace::{
    EntryKind, PathStat,
    platform::{Errno, Result as System, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT},
};

/// A file's attributes as WASI's `filestat`.
pub(super) fn encoded(found: &PathStat) -> [u8; 64] {
    // Every field has eight bytes in this layout. The kind is one byte and seven of padding, which
    // a little-endian word gives.
    let kind = u64::from(file_type(found.kind));
    let PathStat { device, inode, links, size, accessed, modified, changed, .. } = *found;
    words([device, inode, kind, links, size, accessed, modified, changed])
}

/// The rights that WASI knows for a folder and its entries.
const FOLDER_RIGHTS: u64 = 0b111_1011_0111_1111_1110_0000_0000;
/// The rights that WASI knows for a file.
const FILE_RIGHTS: u64 = 0b1000_1110_0000_0000_0001_1111_1111;
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;
/// The flag of a file that is written at its end only.
const APPEND: u64 = 1;

/// A descriptor's attributes as WASI's `fdstat`; `None` for a standard stream.
pub(super) fn described(node: &OpenNode) -> Option<[u8; 24]> {
    // A folder reports every right, also one that is read-only: wasi-libc opens a file with no more
    // rights than its folder's, and what a guest may really do is judged when it tries.
    let (kind, flags, base, inheriting) = match node {
        OpenNode::Standard(_) => return None,
        OpenNode::Folder(_) => (EntryKind::Folder, 0, FOLDER_RIGHTS, FOLDER_RIGHTS | FILE_RIGHTS),
        OpenNode::File(FileHandle { reads, writes, appends, .. }) => {
            let read = if *reads { 0 } else { READ };
            let write = if *writes { 0 } else { WRITE };
            let rights = FILE_RIGHTS & !read & !write;
            (EntryKind::File, if *appends { APPEND } else { 0 }, rights, rights)
        }
    };
    // The kind is the first byte, the flags are the third and the fourth.
    Some(words([u64::from(file_type(kind)) | flags << 16, base, inheriting]))
}

fn words<const WORDS: usize, const BYTES: usize>(words: [u64; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The times that a guest sets.
///
/// # Errors
/// `INVAL` if a time is to be set both to a value and to the present.
pub(super) fn times(accessed: i64, modified: i64, flags: i32) -> System<Timestamps> {
    const ACCESSED: i32 = 1;
    const ACCESSED_NOW: i32 = 2;
    const MODIFIED: i32 = 4;
    const MODIFIED_NOW: i32 = 8;
    let time = |value: i64, set: i32, now: i32| {
        let value = value.cast_unsigned();
        let (seconds, rest) = (value / 1_000_000_000, value % 1_000_000_000);
        Ok(match (flags & set != 0, flags & now != 0) {
            (true, true) => return Err(Errno::INVAL),
            (true, false) => Timespec {
                tv_sec: seconds.cast_signed(),
                tv_nsec: rest.try_into().map_err(|_| Errno::INVAL)?,
            },
            (false, true) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
            (false, false) => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        })
    };
    Ok(Timestamps {
        last_access: time(accessed, ACCESSED, ACCESSED_NOW)?,
        last_modification: time(modified, MODIFIED, MODIFIED_NOW)?,
    })
}
