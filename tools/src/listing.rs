//! The listing of a folder on WASI, by few calls. The C library asks for some 4 KiB at a time, and
//! runtimes read the whole folder for each call, so that a folder of 50,000 files takes minutes.
//! Some fail for a folder that holds a name which is not UTF-8. A host that lists in their place
//! finds the folder's path at the beginning of the bytes that it is to fill, with a NUL behind it.

use innerloop_tools::{EntryKind, FolderEntry};
use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, wasi::ffi::OsStrExt},
    path::Path,
};

/// The number of bytes that are asked for at first, and at most.
const FIRST_BYTES: usize = 64 << 10;
const MOST_BYTES: usize = 32 << 20;

/// The length of the head of an entry, in bytes: the cookie behind it, its inode, the length of its
/// name, and its kind.
const HEAD: usize = 24;

#[expect(unsafe_code, reason = "imports are declared in no other way")]
mod imported {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub(super) fn fd_readdir(
            folder: i32,
            into: *mut u8,
            length: usize,
            cookie: u64,
            used: *mut usize,
        ) -> i32;
    }
}

/// Lists the entries of a folder.
pub(crate) fn list(path: &Path) -> io::Result<Vec<FolderEntry>> {
    let folder = File::open(path)?;
    let (mut entries, mut cookie) = (Vec::new(), 0);
    let mut bytes = vec![0; FIRST_BYTES];
    loop {
        let name = path.as_os_str().as_bytes().iter().chain(&[0]);
        bytes.iter_mut().zip(name).for_each(|(byte, of_name)| *byte = *of_name);
        let used = fill(&folder, &mut bytes, cookie)?;
        let is_last = used < bytes.len();
        let before = cookie;
        let mut rest = bytes.get(..used).unwrap_or_default();
        while let Some((head, names)) = rest.split_first_chunk::<HEAD>() {
            // An entry that is cut off comes again, since the cookie is still that of the one
            // before.
            let Some((entry, next, behind)) = entry(head, names) else { break };
            cookie = next;
            entries.extend(entry);
            rest = behind;
        }
        // The second condition ends the loop under a host that gives no whole entry however many
        // bytes it may fill.
        if is_last || (cookie == before && bytes.len() >= MOST_BYTES) {
            return Ok(entries);
        }
        bytes.resize((bytes.len() * 8).min(MOST_BYTES), 0);
    }
}

/// Asks for what comes behind the cookie, and returns how many bytes that is; all of them if there
/// is more.
#[expect(unsafe_code, reason = "an import; the host writes into the bytes that the slice owns")]
fn fill(folder: &File, into: &mut [u8], cookie: u64) -> io::Result<usize> {
    let mut used = 0;
    let errno = unsafe {
        imported::fd_readdir(
            folder.as_raw_fd(),
            into.as_mut_ptr(),
            into.len(),
            cookie,
            &raw mut used,
        )
    };
    if errno == 0 { Ok(used) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Returns an entry, the cookie behind it, and the bytes behind it; `None` if its name is cut off.
fn entry<'a>(head: &[u8; HEAD], names: &'a [u8]) -> Option<(Option<FolderEntry>, u64, &'a [u8])> {
    let (next, rest) = head.split_first_chunk::<8>()?;
    let (_inode, rest) = rest.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (name, behind) = names.split_at_checked(length)?;
    let kind = match rest.first()? {
        3 => EntryKind::Folder,
        4 => EntryKind::File,
        7 => EntryKind::Link,
        _ => EntryKind::Other,
    };
    let entry = match str::from_utf8(name) {
        Ok("." | "..") => None,
        Ok(name) => Some(FolderEntry { name: name.to_owned(), kind }),
        Err(_) => Some(FolderEntry::unnameable(String::from_utf8_lossy(name).into_owned())),
    };
    Some((entry, u64::from_le_bytes(*next), behind))
}
