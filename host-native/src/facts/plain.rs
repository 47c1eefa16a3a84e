//! Plain files below a folder. A link on the way, and anything that is neither file nor folder,
//! counts as absent: a link may lead outside, and opening a pipe may block.

use std::{
    fs::{self, File, Metadata},
    io::Read as _,
    path::{Component, Path, PathBuf},
};

/// What stands at `below`, which may itself be a link; no folder on the way to it is one.
pub(super) fn entry(base: &Path, below: impl AsRef<Path>) -> Option<(PathBuf, Metadata)> {
    let mut place = base.to_owned();
    let mut found: Option<Metadata> = None;
    for component in below.as_ref().components() {
        let Component::Normal(name) = component else { return None };
        if found.is_some_and(|folder| !folder.is_dir()) {
            return None;
        }
        place.push(name);
        found = Some(fs::symlink_metadata(&place).ok()?);
    }
    Some((place, found?))
}

/// The folder at `below`.
pub(super) fn folder(base: &Path, below: &str) -> Option<PathBuf> {
    let (place, found) = entry(base, below)?;
    found.is_dir().then_some(place)
}

/// The first `most` bytes of the file at `below`.
pub(super) fn start(base: &Path, below: impl AsRef<Path>, most: u64) -> Option<Vec<u8>> {
    let (place, found) = entry(base, below)?;
    if !found.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(place).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The file at `below`, if it has no more bytes than that.
pub(super) fn whole(base: &Path, below: impl AsRef<Path>, most: u64) -> Option<Vec<u8>> {
    let bytes = start(base, below, most + 1)?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

/// A short text file.
pub(super) fn text(base: &Path, below: &str) -> Option<String> {
    String::from_utf8(whole(base, below, 64 * 1024)?).ok()
}
