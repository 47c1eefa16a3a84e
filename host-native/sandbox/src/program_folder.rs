//! The folder of installed programs, `$XDG_DATA_HOME/innerloop/programs`: installing programs in it
//! and removing them. A program is one file `NAME.wasm`; the assets that it sees beside the
//! workspace are in the folder `NAME.files` beside it. A program that is there is whole, with all
//! its assets.

use super::{
    compiler::check,
    error::ModuleError,
    manifest::{ManifestEntry, ProgramAsset},
};
use crate::install::{InstallError, PackageArchive};
use innerloop_workspace::{app_dirs, digest::Digest, plain_file, private_files};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The largest module in bytes.
const MAX_MODULE: u64 = 256 << 20;

/// The most bytes that an asset unpacks to.
const MAX_ASSET: u64 = 1 << 30;

/// The reason why a program could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The user has no home folder.
    #[error("there is no home folder to install it in; set XDG_DATA_HOME")]
    NoFolder,
    /// The manifest pins no digest for a program of that name.
    #[error("nobody says what {0}'s bytes must be; pin them by sha256 in tools.toml")]
    NotPinned(String),
    /// The archive could not be fetched, or is not the one that was asked for.
    #[error(transparent)]
    Archive(#[from] InstallError),
    /// The program is not a module that can be run.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The file system refuses to write it.
    #[error("cannot write to {}: {error}", path.display())]
    Unwritable {
        /// The path that it was to be written to.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// The folder of installed programs; `None` if this user has no home folder.
pub fn folder() -> Option<PathBuf> {
    app_dirs::data().map(|data| data.join("programs"))
}

/// The folder of a program's unpacked assets, beside its file.
pub(crate) fn assets(program: &Path) -> PathBuf {
    program.with_extension("files")
}

/// The folder of an asset among those of its program.
pub(crate) fn asset(assets: &Path, asset: &ProgramAsset) -> PathBuf {
    // Named by its digest and only renamed into place when it is whole: one that exists is right,
    // and another version of the program never sees it.
    assets.join(&asset.sha_256)
}

/// Makes the folder of installed programs unless it exists, and returns it.
///
/// # Errors
/// [`PutError`] if there is no home folder, or the folder can't be made or is not the user's own.
pub fn made() -> Result<PathBuf, PutError> {
    let folder = folder().ok_or(PutError::NoFolder)?;
    private_files::folder(&folder)
        .map_err(|error| PutError::Unwritable { path: folder.clone(), error })?;
    // A program that was killed while it wrote here has left temporary files.
    private_files::sweep(&folder);
    Ok(folder)
}

/// Installs a program of an archive.
///
/// # Errors
/// [`PutError`] if the program is not pinned, the archive has other bytes, or the file system
/// refuses.
pub fn put(name: &str, entry: &ManifestEntry, archive: &PackageArchive) -> Result<(), PutError> {
    let (Some(source), Some(sha_256)) = (&entry.source, &entry.sha_256) else {
        return Err(PutError::NotPinned(name.to_owned()));
    };
    let path = made()?.join(format!("{name}.wasm"));
    let module = archive.read(&source.file, MAX_MODULE, sha_256)?;
    // The module comes last: a program whose file exists has its assets.
    put_assets(&path, entry, archive)?;
    write(&path, &module)
}

/// Installs a program that is a file of this machine.
///
/// # Errors
/// [`PutError`] if it is not a module, has other bytes than are pinned, or the file system refuses.
pub fn put_file(name: &str, entry: &ManifestEntry, file: &Path) -> Result<(), PutError> {
    let unreadable = |error| PutError::Archive(InstallError::File { path: file.to_owned(), error });
    // Only for a better message: reading is bounded and refuses pipes by itself.
    let found = fs::metadata(file).map_err(unreadable)?;
    if !found.is_file() || found.len() > MAX_MODULE {
        return Err(unreadable(io::Error::other("it is no file of at most 256 MiB")));
    }
    let module = plain_file::bytes(file, MAX_MODULE).map_err(unreadable)?;
    check(&module)?;
    if let Some(pinned) = &entry.sha_256 {
        let found = Digest::of(&module).to_string();
        if found != *pinned {
            let (path, version) = (file.to_owned(), entry.version.clone());
            return Err(ModuleError::Pinned { path, version, found, pinned: pinned.clone() }.into());
        }
    }
    let path = made()?.join(format!("{name}.wasm"));
    write(&path, &module)
}

fn write(path: &Path, module: &[u8]) -> Result<(), PutError> {
    private_files::write(path, module)
        .map_err(|error| PutError::Unwritable { path: path.to_owned(), error })
}

fn put_assets(
    program: &Path,
    entry: &ManifestEntry,
    archive: &PackageArchive,
) -> Result<(), PutError> {
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        |error| PutError::Unwritable { path, error }
    };
    let assets = assets(program);
    for it in &entry.assets {
        let place = asset(&assets, it);
        if place.is_dir() {
            continue;
        }
        fs::create_dir_all(&assets).map_err(unwritable(&assets))?;
        // An installation that was killed may have left its unfinished folder.
        let unfinished = place.with_extension("tmp");
        removed(&unfinished).map_err(unwritable(&unfinished))?;
        archive.unpack_tar(&it.file, &unfinished, MAX_ASSET, &it.sha_256)?;
        fs::rename(&unfinished, &place).map_err(unwritable(&place))?;
    }
    Ok(())
}

/// Removes a program and its assets, and returns whether it was there.
///
/// # Errors
/// The error of the system if something can't be removed.
pub fn remove(name: &str) -> io::Result<bool> {
    let Some(folder) = folder() else { return Ok(false) };
    let path = folder.join(format!("{name}.wasm"));
    // The module goes first, so that a program whose file exists always has its assets.
    let was_there = removed(&path)?;
    Ok(removed(&assets(&path))? || was_there)
}

fn removed(path: &Path) -> io::Result<bool> {
    // A link is removed, not what it leads to.
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
