//! The functions that the module imports beside WASI. Every such call is here, and nothing else in
//! the crate needs `unsafe`.

use innerloop_json::to_string;
use innerloop_shell_protocol::{ProgramLaunch, ShellReply};
use std::io;

/// The host's functions, by pointer and length.
#[expect(unsafe_code, reason = "imports are declared in no other way")]
mod imported {
    #[link(wasm_import_module = "innerloop")]
    unsafe extern "C" {
        pub(super) fn reply(at: *const u8, len: usize);
        pub(super) fn program_start(at: *const u8, len: usize) -> i32;
        pub(super) fn program_write(program: i32, at: *const u8, len: usize) -> i32;
        pub(super) fn program_close(program: i32);
        pub(super) fn program_read(program: i32, channel: i32, at: *mut u8, len: usize) -> i32;
        pub(super) fn program_status(program: i32) -> i32;
        pub(super) fn program_end(program: i32);
        pub(super) fn programs_wait(timeout_ms: i32);
        pub(super) fn path_stat(at: *const u8, len: usize, result: *mut u8) -> i32;
        pub(super) fn path_set_mode(at: *const u8, len: usize, mode: i32) -> i32;
        pub(super) fn folder_list(at: *const u8, len: usize) -> i64;
        pub(super) fn file_read(at: *const u8, len: usize) -> i64;
        pub(super) fn take(at: *mut u8);
    }

    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub(super) fn path_symlink(
            target: *const u8,
            target_len: usize,
            folder: i32,
            link: *const u8,
            link_len: usize,
        ) -> i32;
    }
}

/// Gives the reply to the host.
#[expect(unsafe_code, reason = "an import; the host reads the bytes that the slice owns")]
pub(crate) fn reply(reply: &ShellReply) {
    let text = to_string(reply);
    unsafe { imported::reply(text.as_ptr(), text.len()) }
}

/// The descriptor of the folder that is `/`.
// WASI numbers the folders that a module is given from 3 on, behind the standard streams.
const ROOT: i32 = 3;

/// Creates a link, which the standard library can't do on WASI; both paths are text.
#[expect(unsafe_code, reason = "an import; the host reads the bytes that the slices own")]
pub(crate) fn make_link(target: &str, link: &str) -> io::Result<()> {
    let link = link.trim_start_matches('/');
    let errno = unsafe {
        imported::path_symlink(target.as_ptr(), target.len(), ROOT, link.as_ptr(), link.len())
    };
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// The metadata of a file that the host knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStat {
    /// The type as WASI numbers it: 3 for a folder, 4 for a file, 7 for a link.
    pub(crate) kind: u8,
    /// The permissions, as far as the host knows them.
    pub(crate) mode: u16,
    pub(crate) size: u64,
    /// The time of the last write, in nanoseconds since 1970.
    pub(crate) modified: u64,
}

/// The number of bytes that an encoded [`FileStat`] takes.
const ABOUT: usize = 19;

impl FileStat {
    fn of(bytes: &[u8; ABOUT]) -> Self {
        let [kind, low, high, rest @ ..] = bytes;
        let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (size, modified) = (word(rest.first_chunk()), word(rest.last_chunk()));
        Self { kind: *kind, mode: u16::from_le_bytes([*low, *high]), size, modified }
    }
}

/// Returns the metadata of what stands at a path, even if it is a link.
#[expect(unsafe_code, reason = "an import; the host writes as many bytes as there is room for")]
pub(crate) fn stat(path: &str) -> io::Result<FileStat> {
    let mut about = [0; ABOUT];
    let errno = unsafe { imported::path_stat(path.as_ptr(), path.len(), about.as_mut_ptr()) };
    if errno == 0 { Ok(FileStat::of(&about)) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Sets the permissions of a file, as mode bits, if the host can store them.
#[expect(unsafe_code, reason = "an import; the host reads the bytes that the slice owns")]
pub(crate) fn set_mode(path: &str, mode: u32) -> io::Result<()> {
    let mode = mode.cast_signed();
    let errno = unsafe { imported::path_set_mode(path.as_ptr(), path.len(), mode) };
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Returns the entries of a folder with their metadata, ordered by name.
#[expect(unsafe_code, reason = "an import; the host reads the bytes that the slice owns")]
pub(crate) fn list(path: &str) -> io::Result<Vec<(String, FileStat)>> {
    let list = taken(unsafe { imported::folder_list(path.as_ptr(), path.len()) })?;
    let (mut entries, mut rest) = (Vec::new(), list.as_slice());
    while let Some((about, more)) = rest.split_first_chunk::<ABOUT>() {
        let Some((length, more)) = more.split_first_chunk::<2>() else { break };
        let Some((name, more)) = more.split_at_checked(u16::from_le_bytes(*length).into()) else {
            break;
        };
        entries.push((String::from_utf8_lossy(name).into_owned(), FileStat::of(about)));
        rest = more;
    }
    Ok(entries)
}

/// Reads a whole file.
#[expect(unsafe_code, reason = "an import; the host reads the bytes that the slice owns")]
pub(crate) fn read(path: &str) -> io::Result<Vec<u8>> {
    taken(unsafe { imported::file_read(path.as_ptr(), path.len()) })
}

/// Takes what the host has found: this many bytes, or a negative error number.
#[expect(unsafe_code, reason = "an import; the host writes as many bytes as it has said")]
fn taken(length: i64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length)
        .map_err(|_| io::Error::from_raw_os_error(i32::try_from(-length).unwrap_or(i32::MAX)))?;
    // In two steps, as the host can't allocate in the module's memory: first the length, then the
    // bytes.
    let mut found = vec![0; length];
    unsafe { imported::take(found.as_mut_ptr()) }
    Ok(found)
}

/// A program that was started. Dropping the handle ends it.
#[derive(Debug)]
pub(crate) struct ProgramHandle(i32);

/// The output streams of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutputStream {
    Out = 1,
    Err = 2,
}

/// The result of an attempt to move bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferResult {
    /// The number of bytes that were moved, at least one.
    Bytes(usize),
    /// No bytes now, but perhaps later.
    Nothing,
    /// No bytes ever again: nobody is at the other end.
    Ended,
}

impl TransferResult {
    fn of(count: i32) -> Self {
        match usize::try_from(count) {
            Ok(0) => Self::Nothing,
            Ok(count) => Self::Bytes(count),
            Err(_) => Self::Ended,
        }
    }
}

#[expect(unsafe_code, reason = "imports; the host keeps to the slices that it is given")]
impl ProgramHandle {
    /// Starts a program; `None` if the host has none of that name, or too many are running.
    pub(crate) fn new(launch: &ProgramLaunch) -> Option<Self> {
        let text = to_string(launch);
        let number = unsafe { imported::program_start(text.as_ptr(), text.len()) };
        (number >= 0).then_some(Self(number))
    }

    /// Gives the program the first of these bytes to read.
    pub(crate) fn write(&self, bytes: &[u8]) -> TransferResult {
        TransferResult::of(unsafe { imported::program_write(self.0, bytes.as_ptr(), bytes.len()) })
    }

    /// Ends the program's input.
    pub(crate) fn close(&self) {
        unsafe { imported::program_close(self.0) }
    }

    /// Takes the program's output, as much as fits.
    pub(crate) fn read(&self, channel: OutputStream, into: &mut [u8]) -> TransferResult {
        let (at, len) = (into.as_mut_ptr(), into.len());
        TransferResult::of(unsafe { imported::program_read(self.0, channel as i32, at, len) })
    }

    /// Returns its exit status, once it has ended.
    pub(crate) fn status(&self) -> Option<i32> {
        let status = unsafe { imported::program_status(self.0) };
        (status >= 0).then_some(status)
    }
}

#[expect(unsafe_code, reason = "an import; the number is one that the host gave")]
impl Drop for ProgramHandle {
    fn drop(&mut self) {
        unsafe { imported::program_end(self.0) }
    }
}

/// Waits until some program has read, printed or ended, or the time is over.
#[expect(unsafe_code, reason = "an import without pointers")]
pub(crate) fn wait_for_programs(timeout_ms: i32) {
    unsafe { imported::programs_wait(timeout_ms) }
}
