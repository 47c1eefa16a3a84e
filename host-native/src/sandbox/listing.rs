//! Folders are listed once per round. wasmtime reads a whole folder anew for each buffer that a
//! guest fills, which is quadratic in the folder's size. Here the first call of a round reads all
//! entries, and the following calls are served from them.

use super::{errno, memory::Scratch};
use std::{fs, path::Path};
use wasmtime_wasi::p1::{WasiP1Ctx, wasi_snapshot_preview1 as wasi};

/// Sizes of the buffer that are tried in turn, in bytes. The first holds about a thousand names.
const SIZES: [i32; 3] = [64 << 10, 2 << 20, 64 << 20];

/// How often a folder is read again because an entry was removed meanwhile.
const TRIES: usize = 5;

/// The length of an entry without its name, and where in it the name's length is.
const HEAD: usize = 24;
const NAME_LENGTH: usize = 16;

/// All entries of a folder, encoded as `fd_readdir` gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing(Vec<u8>);

impl Listing {
    /// Reads the folder `fd` whole, or gives the error number.
    pub(super) async fn read(wasi: &mut WasiP1Ctx, fd: i32) -> wasmtime::Result<Result<Self, i32>> {
        let mut tries = 0;
        for len in SIZES {
            let size = len.unsigned_abs() as usize;
            loop {
                let mut own = Scratch::new(size);
                let (at, result) = (own.data(), own.result());
                let code =
                    wasi::fd_readdir(wasi, &mut own.memory(), fd, at, len, 0, result).await?;
                if code == errno::NOENT && tries < TRIES {
                    tries += 1;
                    continue;
                }
                if code != errno::SUCCESS {
                    return Ok(Err(code));
                }
                let used = usize::try_from(own.result_u64()).unwrap_or(size);
                if used < size {
                    return Ok(Ok(Self(own.into_data(used))));
                }
                break;
            }
        }
        Ok(Err(errno::NOMEM))
    }

    /// Reads the folder `fd`, which is at `path` on the host, without names that are not UTF-8: one
    /// of those makes wasmtime refuse the whole listing. The names come from the path, and may
    /// belong to another folder if the host has just moved this one, so each is checked in `fd`.
    pub(super) async fn read_leniently(
        wasi: &mut WasiP1Ctx,
        fd: i32,
        path: &Path,
    ) -> wasmtime::Result<Result<Self, i32>> {
        let names = fs::read_dir(path).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let all = [".".to_owned(), "..".to_owned()].into_iter().chain(names);
        let mut listing = Vec::new();
        let mut next = 0_u64;
        for name in all {
            // The workspace's `..` is out of reach: like wasmtime, report the folder itself.
            let seen = if name == ".." { "." } else { name.as_str() };
            let Some((inode, kind)) = look(wasi, fd, seen).await? else { continue };
            let Ok(length) = u32::try_from(name.len()) else { continue };
            next += 1;
            listing.extend_from_slice(&next.to_le_bytes());
            listing.extend_from_slice(&inode.to_le_bytes());
            listing.extend_from_slice(&length.to_le_bytes());
            listing.extend_from_slice(&[kind, 0, 0, 0]);
            listing.extend_from_slice(name.as_bytes());
        }
        Ok(Ok(Self(listing)))
    }

    /// The entries from the one with the number `cookie` on.
    pub(super) fn from(&self, cookie: i64) -> &[u8] {
        let mut rest = self.0.as_slice();
        for _ in 0..cookie {
            let length = rest.get(NAME_LENGTH..).and_then(<[u8]>::first_chunk);
            let Some(name) = length.map(|length| u32::from_le_bytes(*length)) else { return &[] };
            rest = rest.get(HEAD.saturating_add(name as usize)..).unwrap_or_default();
        }
        rest
    }
}

/// The number and the type of an entry of the folder `fd`, if it is there.
async fn look(wasi: &mut WasiP1Ctx, fd: i32, name: &str) -> wasmtime::Result<Option<(u64, u8)>> {
    const STAT_BYTES: usize = 64;
    const INODE_FIELD: usize = 8;
    const TYPE_FIELD: usize = 16;
    let Ok(len) = i32::try_from(name.len()) else { return Ok(None) };
    let mut own = Scratch::with_text(STAT_BYTES, name);
    let (stat, text) = (own.data(), own.text());
    let code = wasi::path_filestat_get(wasi, &mut own.memory(), fd, 0, text, len, stat).await?;
    let kind = own.data_u64(TYPE_FIELD).to_le_bytes();
    Ok((code == errno::SUCCESS).then(|| (own.data_u64(INODE_FIELD), kind[0])))
}
