//! An archive on this machine: its form, its digest, and its files. It may be hostile: reading is
//! bounded at every step, and no file is returned or unpacked before its digest is checked.

use super::{
    error::InstallError,
    members::{self, TarMemberKind},
    unpack,
};
use base64ct::{Base64, Encoding as _};
use flate2::read::MultiGzDecoder;
use innerloop_workspace::{
    digest::Digest,
    platform::{DirBuilderExt as _, FileExt as _},
};
use sha2::{Digest as _, Sha512};
use std::{
    cell::Cell,
    fs::{self, DirBuilder, File},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::ControlFlow,
    path::Path,
};
use zip::{ZipArchive, result::ZipError};

/// The most bytes of a zip that are read for its directory.
const DIRECTORY: u64 = 16 << 20;

/// The most unpacked bytes of a `.tar.gz` that are searched for a file.
const PASSED: u64 = 4 << 30;

/// The most bytes of a tar for each member, beside the member's content.
const HEADS: u64 = 4 << 10;

/// An archive on this machine, as a file without a name.
#[derive(Debug)]
pub struct PackageArchive {
    file: File,
    form: ArchiveFormat,
    /// The archive's name for messages.
    what: String,
}

#[derive(Clone, Copy, Debug)]
enum ArchiveFormat {
    Zip,
    TarGz,
    /// A bare module, which any file's name stands for.
    Module,
}

/// The digest that an index says an archive has.
#[derive(Debug)]
pub(super) enum ExpectedDigest {
    /// SHA-256 in hexadecimal.
    Sha256(String),
    /// SHA-512 in Base64.
    Sha512(String),
}

impl PackageArchive {
    /// Opens the archive in a file.
    ///
    /// # Errors
    /// [`InstallError::Damaged`] if it has none of the known forms.
    pub(super) fn open(file: File, what: String) -> Result<Self, InstallError> {
        // By its first bytes: names and content types of servers say little.
        let mut start = [0; 4];
        let form = match file.read_exact_at(&mut start, 0) {
            Ok(()) if start == *b"PK\x03\x04" => ArchiveFormat::Zip,
            Ok(()) if start.starts_with(b"\x1f\x8b") => ArchiveFormat::TarGz,
            Ok(()) if start == *b"\0asm" => ArchiveFormat::Module,
            _ => {
                let why = "it is neither a wheel, a zip, a .tar.gz nor a .wasm".to_owned();
                return Err(InstallError::Damaged { what, why });
            }
        };
        Ok(Self { file, form, what })
    }

    /// Checks the digest of the whole archive.
    ///
    /// # Errors
    /// [`InstallError::Digest`] if it differs.
    pub(super) fn check(&self, expected: &ExpectedDigest) -> Result<(), InstallError> {
        let free = Cell::new(u64::MAX);
        let mut all = self.window(&free);
        let (found, expected) = match expected {
            ExpectedDigest::Sha256(hex) => {
                let digest = Digest::of_rest(&mut all).map_err(damaged(&self.what))?;
                (digest.to_string(), hex.to_ascii_lowercase())
            }
            ExpectedDigest::Sha512(text) => {
                let mut hash = HashWriter(Sha512::new());
                io::copy(&mut all, &mut hash).map_err(damaged(&self.what))?;
                (Base64::encode_string(&hash.0.finalize()), text.clone())
            }
        };
        same(&self.what, found, &expected)
    }

    /// Reads one of the archive's files, of at most `most` bytes and with this SHA-256 in
    /// hexadecimal. Any name gives a bare `.wasm`.
    ///
    /// # Errors
    /// [`InstallError`] if there is no such file, it is larger or damaged, or its digest differs.
    pub fn read(&self, file: &str, most: u64, sha_256: &str) -> Result<Vec<u8>, InstallError> {
        let what = self.named(file);
        let bytes = self.with(file, |content| {
            let mut bytes = Vec::new();
            // One byte more than is allowed shows that the file is larger. The size that an archive
            // states is not trusted.
            let mut content = content.take(most.saturating_add(1));
            content.read_to_end(&mut bytes).map_err(damaged(&what))?;
            Ok(bytes)
        })?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
            return Err(InstallError::TooLarge { what, most });
        }
        same(&what, Digest::of(&bytes).to_string(), &sha_256.to_ascii_lowercase())?;
        Ok(bytes)
    }

    /// Unpacks a tar that is one of the archive's files into a new folder, which only the user may
    /// enter: plain files, folders, and links that stay inside. `most` bounds the bytes of all
    /// files and names; members and folders may be 100,000 each. Nothing is unpacked before the
    /// tar's SHA-256, in hexadecimal, is checked, and a failure leaves nothing.
    ///
    /// # Errors
    /// [`InstallError`] if there is no such file, its digest differs, it is damaged or too large, a
    /// member is something else or leads outside, or `into` exists.
    pub fn unpack_tar(
        &self,
        file: &str,
        into: &Path,
        most: u64,
        sha_256: &str,
    ) -> Result<(), InstallError> {
        let what = self.named(file);
        // The tar is read twice, first for its digest: unpacking an unchecked tar and removing it
        // afterwards would give it a moment on the disk. The file has no name, so that nobody
        // changes it in between.
        let digest = self.with(file, |tar| {
            let bound = most.saturating_add(HEADS * members::MOST);
            let mut tar = tar.take(bound.saturating_add(1));
            let digest = Digest::of_rest(&mut tar).map_err(damaged(&what))?;
            let fits = tar.limit() > 0;
            let too_large = || InstallError::TooLarge { what: what.clone(), most: bound };
            fits.then_some(digest).ok_or_else(too_large)
        })?;
        same(&what, digest.to_string(), &sha_256.to_ascii_lowercase())?;
        DirBuilder::new().mode(0o700).create(into).map_err(InstallError::file(into))?;
        let unpacked = self.with(file, |tar| unpack::unpack(tar, &what, into, most));
        if unpacked.is_err() {
            // A failed removal says less than the error that led to it.
            let _ = fs::remove_dir_all(into);
        }
        unpacked
    }

    /// Passes the content of one of the archive's files to `work`.
    fn with<T>(
        &self,
        file: &str,
        work: impl FnOnce(&mut dyn Read) -> Result<T, InstallError>,
    ) -> Result<T, InstallError> {
        let none = || InstallError::NoFile { what: self.what.clone(), file: file.to_owned() };
        let left = Cell::new(u64::MAX);
        match self.form {
            ArchiveFormat::Module => work(&mut self.window(&left)),
            ArchiveFormat::Zip => {
                // The library reads the whole directory at once, and that may be of any size.
                left.set(DIRECTORY);
                let zip = ZipArchive::new(self.window(&left));
                let mut zip = zip.map_err(|error| damaged(&self.what)(error.into()))?;
                left.set(u64::MAX);
                match zip.by_name(file) {
                    Ok(mut content) => work(&mut content),
                    Err(ZipError::FileNotFound) => Err(none()),
                    Err(error) => Err(damaged(&self.named(file))(error.into())),
                }
            }
            ArchiveFormat::TarGz => {
                // A few bytes of gzip unpack to gigabytes, so that the search itself is bounded.
                let tar = MultiGzDecoder::new(self.window(&left)).take(PASSED);
                let (mut work, mut done) = (Some(work), None);
                members::each(tar, &self.what, |member, content| {
                    let is_file = matches!(member.kind, TarMemberKind::File { .. });
                    let path = member.path.strip_prefix(".").unwrap_or(&member.path);
                    if !is_file || path != Path::new(file) {
                        return Ok(ControlFlow::Continue(()));
                    }
                    done = work.take().map(|work| work(content));
                    Ok(ControlFlow::Break(()))
                })?;
                done.ok_or_else(none)?
            }
        }
    }

    const fn window<'a>(&'a self, left: &'a Cell<u64>) -> FileWindow<'a> {
        FileWindow { file: &self.file, at: 0, left }
    }

    fn named(&self, file: &str) -> String {
        match self.form {
            ArchiveFormat::Module => self.what.clone(),
            ArchiveFormat::Zip | ArchiveFormat::TarGz => format!("{file} of {}", self.what),
        }
    }
}

/// A reader of a file with its own position and a bound on the bytes that it may read.
#[derive(Debug)]
struct FileWindow<'a> {
    file: &'a File,
    at: u64,
    left: &'a Cell<u64>,
}

impl Read for FileWindow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        let length = u64::try_from(count).map_err(io::Error::other)?;
        let left = self.left.get().checked_sub(length);
        self.left.set(left.ok_or_else(|| io::Error::other("it has too many files"))?);
        self.at = self.at.saturating_add(length);
        Ok(count)
    }
}

impl Seek for FileWindow<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

struct HashWriter(Sha512);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn damaged(what: &str) -> impl FnOnce(io::Error) -> InstallError {
    |error| InstallError::Damaged { what: what.to_owned(), why: error.to_string() }
}

fn same(what: &str, found: String, expected: &str) -> Result<(), InstallError> {
    if found == expected {
        return Ok(());
    }
    let (what, expected) = (what.to_owned(), expected.to_owned());
    Err(InstallError::Digest { what, expected, found })
}
