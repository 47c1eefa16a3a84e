//! Archives of programs for the sandbox: fetched from PyPI, npm, an address or this machine, within
//! bounds. Neither publishers nor indexes nor mirrors are trusted: no file of an archive is used
//! before its SHA-256 is the one that was asked for. The manifest says which programs there are,
//! and [`program_folder`](super::program_folder) where they go.

mod archive;
mod download;
mod error;
mod index;
mod members;
mod settings;
mod unpack;

pub use archive::PackageArchive;
pub use error::InstallError;
pub use settings::PackageIndexes;

use download::{FileDownloader, parse, shown};
use index::ArchiveLocation;
use reqwest::Url;
use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// The most bytes of an archive.
const LARGEST: u64 = 200_000_000;

/// The source of a program's archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageSpec {
    /// A wheel of PyPI for any machine.
    Pypi {
        /// The project's name, in any spelling that PyPI takes.
        name: String,
        /// The exact version.
        version: String,
    },
    /// A package of npm.
    Npm {
        /// The name, which may have a scope.
        name: String,
        /// The exact version.
        version: String,
    },
    /// An address of HTTP or HTTPS of an archive (`.whl`, `.zip`, `.tgz`, `.tar.gz`) or of a
    /// bare `.wasm`.
    Url(String),
    /// An archive or a module that is a file of this machine.
    File(PathBuf),
}

/// A function that receives the progress of a download: the bytes so far, and the total if that is
/// known. The count starts again when the download does.
pub type OnBytes<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

impl PackageSpec {
    /// Fetches the archive into a file without a name in the folder `scratch`, which is gone as
    /// soon as the [`PackageArchive`] is dropped. No key is sent, and no cookie. The digest of an
    /// index is checked if it gives one.
    ///
    /// # Errors
    /// [`InstallError`] if there is no connection or no such package, the digest differs, the
    /// archive has more than 200 MB or another form, or the file system refuses.
    pub async fn fetch(
        &self,
        indexes: &PackageIndexes,
        scratch: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<PackageArchive, InstallError> {
        let download = FileDownloader::into(scratch);
        let found = match self {
            Self::File(path) => return self.taken(path.clone(), scratch.to_owned()).await,
            // Nobody vouches for the whole archive here. Its files are checked when they are read.
            Self::Url(address) => ArchiveLocation { address: parse(address)?, digest: None },
            Self::Pypi { name, version } => {
                index::wheel(&download, &indexes.pypi, name, version).await?
            }
            Self::Npm { name, version } => {
                index::package(&download, &indexes.npm, name, version).await?
            }
        };
        let file = download.get(&found.address, "*/*", LARGEST, on_bytes).await?;
        let what = self.to_string();
        blocking(move || {
            let archive = PackageArchive::open(file, what)?;
            found.digest.map_or(Ok(()), |digest| archive.check(&digest))?;
            Ok(archive)
        })
        .await
    }

    /// Opens an archive as a copy of a file, which nobody changes between its check and its use.
    async fn taken(&self, path: PathBuf, scratch: PathBuf) -> Result<PackageArchive, InstallError> {
        let what = self.to_string();
        blocking(move || {
            // Checked before it is opened: opening a pipe would wait for its other end.
            if !path.metadata().map_err(InstallError::file(&path))?.is_file() {
                let error = io::Error::other("it is no file");
                return Err(InstallError::File { path, error });
            }
            let from = File::open(&path).map_err(InstallError::file(&path))?;
            let mut copy = tempfile::tempfile_in(&scratch).map_err(InstallError::file(&scratch))?;
            let mut from = io::Read::take(from, LARGEST + 1);
            let length = io::copy(&mut from, &mut copy).map_err(InstallError::file(&path))?;
            if length > LARGEST {
                return Err(InstallError::TooLarge { what, most: LARGEST });
            }
            PackageArchive::open(copy, what)
        })
        .await
    }
}

impl fmt::Display for PackageSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pypi { name, version } => write!(f, "{name} {version} of PyPI"),
            Self::Npm { name, version } => write!(f, "{name} {version} of npm"),
            Self::Url(address) => match Url::parse(address) {
                Ok(url) => f.write_str(&shown(&url)),
                Err(_) => f.write_str("an address"),
            },
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Carries out work that waits for the disk on a thread for that.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(InstallError::Damaged { what: "the archive".to_owned(), why: error.to_string() })
    })
}
