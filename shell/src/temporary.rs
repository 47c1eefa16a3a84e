//! The content of `/tmp` in memory, as it is kept from one command line of an agent to the next.

use base64ct::{Base64, Encoding as _};
use bashkit::{FileSystem, InMemoryFs, Metadata};
use innerloop_json::{FromJson, ToJson};
use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The largest number of bytes that are kept.
const MOST: u64 = 4 << 20;

/// A file, folder or link.
#[derive(ToJson, FromJson)]
pub(crate) struct TmpEntry {
    path: String,
    mode: u32,
    is: TmpContent,
}

#[derive(ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum TmpContent {
    Folder,
    /// The bytes of a file as Base64.
    File(String),
    Link(String),
}

/// Returns all that is in a folder, folders before what is in them. Files that are too large to
/// keep are named on standard error.
pub(crate) async fn kept(files: &InMemoryFs, folder: &Path) -> Vec<TmpEntry> {
    let (mut all, mut open, mut size) = (Vec::new(), vec![folder.to_owned()], 0);
    while let Some(folder) = open.pop() {
        for entry in files.read_dir(&folder).await.unwrap_or_default() {
            let path = folder.join(&entry.name);
            size += entry.metadata.size;
            if size > MOST {
                size -= entry.metadata.size;
                let words = "is not there for the next command line: it is too large";
                // If standard error is closed, nobody is left to report it to.
                let _told = writeln!(io::stderr(), "bash: {} {words}", path.display());
                continue;
            }
            let Some(is) = content(files, &path, &entry.metadata).await else { continue };
            if matches!(is, TmpContent::Folder) {
                open.push(path.clone());
            }
            let path = path.to_string_lossy().into_owned();
            all.push(TmpEntry { path, mode: entry.metadata.mode, is });
        }
    }
    all
}

async fn content(files: &InMemoryFs, path: &Path, found: &Metadata) -> Option<TmpContent> {
    Some(match found.file_type {
        kind if kind.is_dir() => TmpContent::Folder,
        kind if kind.is_symlink() => {
            TmpContent::Link(files.read_link(path).await.ok()?.to_string_lossy().into_owned())
        }
        _ => TmpContent::File(Base64::encode_string(&files.read_file(path).await.ok()?)),
    })
}

/// Restores entries, and returns their paths.
pub(crate) async fn restored(files: &InMemoryFs, kept: &[TmpEntry]) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    for TmpEntry { path, mode, is } in kept {
        let path = PathBuf::from(path);
        let made = match is {
            TmpContent::Folder => files.mkdir(&path, true).await,
            TmpContent::Link(target) => files.symlink(Path::new(target), &path).await,
            TmpContent::File(text) => match Base64::decode_vec(text) {
                Ok(bytes) => files.write_file(&path, &bytes).await,
                Err(_) => continue,
            },
        };
        // A link has no mode of its own; `chmod` would change its target.
        let is_link = matches!(is, TmpContent::Link(_));
        if made.is_ok() && (is_link || files.chmod(&path, *mode).await.is_ok()) {
            paths.insert(path);
        }
    }
    paths
}
